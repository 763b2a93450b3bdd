"""Benchmarks of others, sound and broken, as installed packages are found: a broken one is named and stops no other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import onlooker
from onlooker.catalog import InstalledLabels, families, load_benchmark
from onlooker.errors import InputError

OWN = {"mmhbench", "psycheme", "reactionbench", "sivbench"}


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def offer(folder: Path, family: str, code: str, name: str = "") -> None:
    """Install a package whose module holds ``code`` and offers its BENCHMARK as ``family``."""
    module = f"third_party_{name or family}"
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[onlooker.benchmarks]\n{family} = {module}:BENCHMARK\n", encoding="utf-8")


BROKEN = {
    "raises": ("x = 1\n{}['skill']\n", r"KeyError: 'skill'\)"),
    "syntax": ("BENCHMARK = (\n", r"SyntaxError: '\(' was never closed"),
    "imports": ("import no_such_module_anywhere\n", "No module named 'no_such_module_anywhere'"),
    "leaves": ("import sys\nsys.exit(3)\n", "SystemExit: 3"),
    "lacks": ("OTHER = 1\n", "has no attribute 'BENCHMARK'"),
    "object": ("BENCHMARK = 'a string'\n", "is not one, found 'a string'"),
    "renamed": ("from onlooker.benchmarks.sivbench.protocol import BENCHMARK\n", "another family, found 'sivbench'"),
    "baseline": (
        """
from dataclasses import replace
from onlooker.benchmarks.sivbench.protocol import BENCHMARK as SOUND
BENCHMARK = replace(SOUND, baseline="none")
""",
        "benchmark sivbench: baseline names no condition, found 'none'",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_package_is_named_and_breaks_no_other(offered: Path, kind: str) -> None:
    code, message = BROKEN[kind]
    offer(offered, f"broken_{kind}", code)
    assert set(families()) == OWN | {f"broken_{kind}"}
    with pytest.raises(InputError, match=message) as caught:
        load_benchmark(f"broken_{kind}")
    assert f"package third_party_broken_{kind}, third_party_broken_{kind}:BENCHMARK" in str(caught.value)
    labels = InstalledLabels()
    assert set(labels) == OWN | {f"broken_{kind}"}
    assert labels["sivbench"] is load_benchmark("sivbench").labels
    with pytest.raises(InputError, match=message):
        labels.get(f"broken_{kind}")
    assert labels.get("unheard_of") is None


def test_the_line_at_fault_is_named(offered: Path) -> None:
    offer(offered, "faulty", "x = 1\n\n{}['skill']\n")
    with pytest.raises(InputError, match=r"third_party_faulty\.py, line 3: the benchmark faulty is installed"):
        load_benchmark("faulty")
    # Raised inside the standard library, but it is the package's own line that can be mended.
    offer(offered, "deeper", "import json\njson.loads('{')\n")
    with pytest.raises(InputError, match=r"third_party_deeper\.py, line 2: .*JSONDecodeError"):
        load_benchmark("deeper")


def test_a_family_offered_twice_names_both_packages(offered: Path) -> None:
    for name in ("one", "two"):
        offer(offered, "twice", "", name)
    with pytest.raises(InputError, match=r"package third_party_one, .* package third_party_two, .* uninstall all but"):
        load_benchmark("twice")


def test_an_unknown_family_lists_those_there_are() -> None:
    with pytest.raises(InputError, match="one of mmhbench, psycheme, reactionbench, sivbench"):
        load_benchmark("nope")


@pytest.mark.parametrize("command", [("describe", "sivbench"), ("validate", "bundle"), ("analyze", "sivbench")])
def test_a_source_folder_on_the_path_alone_says_that_it_is_not_installed(
    tmp_path: Path, command: tuple[str, str]
) -> None:
    """All that is installed here except onlooker itself, whose sources stand on the path."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(pytest.__file__).parent.parent.iterdir():
        if "onlooker" not in entry.name:
            (packages / entry.name).symlink_to(entry)
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(onlooker.__file__).parents[1]), str(packages)]),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-m", "onlooker.cli.main", *command],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "onlooker is not installed properly: no benchmark is found, not even its own" in done.stderr
    assert "pip install -e ." in done.stderr
