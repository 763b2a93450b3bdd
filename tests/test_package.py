"""The package as a whole: what importing it costs, and what it may load (cases K01, K02, K05)."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

HEAVY = (
    "av",
    "torch",
    "PIL",
    "cv2",
    "onnxruntime",
    "matplotlib",
    "openai",
    "xllamacpp",
    "faster_whisper",
    "fastapi",
    "scipy",
)
ROOT = Path(__file__).parent.parent


def loaded_by(code: str) -> set[str]:
    """The top modules in memory after a fresh interpreter ran the code."""
    printed = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*{{m.split('.')[0] for m in sys.modules}})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return set(printed.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import onlooker").isdisjoint({*HEAVY, "numpy", "pydantic", "jinja2"})


def test_the_command_line_loads_no_decoder_and_no_model_before_a_command_needs_it() -> None:
    assert loaded_by("import onlooker.cli.main as m; m.make_parser()").isdisjoint({*HEAVY, "numpy", "pydantic"})


def test_records_text_scoring_and_benchmarks_load_no_extra() -> None:
    code = (
        "import onlooker.records.validate, onlooker.text, onlooker.score\n"
        "from onlooker.catalog import families, load_benchmark\n"
        "[load_benchmark(f) for f in families()]"
    )
    assert loaded_by(code).isdisjoint(HEAVY)


def test_the_base_install_needs_no_decoder_and_no_model_runtime() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    base = {requirement.split(">")[0].split("=")[0].split("[")[0] for requirement in project["dependencies"]}
    assert base == {"jinja2", "numpy", "pydantic", "pyyaml", "rich"}
