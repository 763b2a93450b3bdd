"""The guide to a benchmark of one's own, followed to the letter: files written, commands run, numbers found."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs" / "new_benchmark.md").read_text(encoding="utf-8")
STANDARD, OWN_SCORING = GUIDE.split("## Where the standard scoring does not fit")


def blocks(text: str) -> dict[str, str]:
    """{file: content} of every fenced block; its file is the last path in backticks before it."""
    found: dict[str, str] = {}
    for before, content in re.findall(r"((?:^(?!```)[^\n]+\n)+)```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        named = re.findall(r"`((?:gaze_bench|tests|bundle)/[\w./]+|pyproject\.toml)`", before)
        assert len(named) == 1, before
        assert named[0] not in found
        found[named[0]] = content
    return found


def write(files: dict[str, str], folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def follow(folder: Path, command: str) -> str:
    """What a command of the guide prints."""
    words = shlex.split(command)
    assert words[0] == "onlooker"
    done = python(folder, "-m", "onlooker.cli.main", *words[1:])
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def metrics(folder: Path) -> dict[str, tuple[float, int]]:
    scores: dict[str, Any] = json.loads((folder / "run" / "scores.json").read_text(encoding="utf-8"))
    found = scores["models"]["scripted:first"]["question_only"]["metrics"]
    return {name: (one["value"], one["n"]) for name, one in found.items()}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The guide's package as pip would leave it: the files, and what its project file offers."""
    files = blocks(STANDARD)
    write(files, tmp_path)
    project = tomllib.loads(files["pyproject.toml"])["project"]
    (group, offers), *rest = project["entry-points"].items()
    assert not rest
    entries = "".join(f"{name} = {value}\n" for name, value in offers.items())
    info = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    write(
        {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n",
            f"{info}/entry_points.txt": f"[{group}]\n{entries}",
        },
        tmp_path,
    )
    return tmp_path


def test_the_guide_is_short_and_names_every_file() -> None:
    assert len(GUIDE.splitlines()) < 200
    assert set(blocks(STANDARD)) == {
        "pyproject.toml",
        "gaze_bench/__init__.py",
        "gaze_bench/taxonomy.py",
        "gaze_bench/conditions.py",
        "gaze_bench/prompts/ask.txt",
        "gaze_bench/scoring.py",
        "gaze_bench/protocol.py",
        "tests/test_gaze_bench.py",
        "bundle/bundle.yaml",
        "bundle/episodes.jsonl",
        "bundle/items.jsonl",
        "bundle/references.jsonl",
    }
    assert set(blocks(OWN_SCORING)) == {"gaze_bench/answers.py", "gaze_bench/scoring.py"}


def test_the_commands_of_the_guide_give_its_numbers(package: Path) -> None:
    listed = re.search(r"^```\n(pip install .*?)^```$", STANDARD, re.MULTILINE | re.DOTALL)
    assert listed
    install, describe, validate, evaluate, score, report = listed[1].splitlines()
    assert install == "pip install -e ."

    described = follow(package, describe)
    assert described.startswith("GazeBench (gazebench): Telling where people look and who speaks next\n")
    shown, words = described.split("== question_only")
    assert "2 frames of a clip, each after its time in seconds: \n[0.00 s]\n<frame of video by uniform:8>" in shown
    assert "The sound of the clip: <sound of video>" in shown
    assert "frames of a clip" not in words
    assert "sound of" not in words
    assert words.rstrip().endswith("Reply with the letter.")

    assert "bundle: 0 errors, " in follow(package, validate)
    assert "4 calls in this session, 0 of the plan left" in follow(package, evaluate)
    assert "50.0" in follow(package, score)
    assert metrics(package) == {
        "accuracy": (0.5, 4),
        "accuracy.skill.gaze": (1.0, 2),
        "accuracy.skill.turn": (0.0, 2),
    }
    follow(package, report)
    page = (package / "report.html").read_text(encoding="utf-8")
    assert "where somebody looks" in page
    assert "50.0%" in page
    # Chance: a third for each of three questions with one answer, a seventh where all that hold are asked.
    assert f"{100 * (3 / 3 + 1 / 7) / 4:.1f}%" == "28.6%"
    assert "28.6%" in page

    write(blocks(OWN_SCORING), package)
    follow(package, score)
    assert metrics(package) == {
        "accuracy": (0.625, 4),
        "accuracy.skill.gaze": (1.0, 2),
        "accuracy.skill.turn": (0.25, 2),
    }


@pytest.mark.parametrize("scoring", [{}, blocks(OWN_SCORING)], ids=["standard", "own"])
def test_the_tests_of_the_guide_pass_with_either_scoring(package: Path, scoring: dict[str, str]) -> None:
    write(scoring, package)
    done = python(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout


def test_a_mistake_in_the_package_is_one_message_with_its_place(package: Path) -> None:
    write({"gaze_bench/taxonomy.py": "SKILLS = {}\nLABELS = LabelRules()\n"}, package)
    done = python(package, "-m", "onlooker.cli.main", "describe", "gazebench")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "package gaze-bench, gaze_bench.protocol:BENCHMARK" in done.stderr
    assert "taxonomy.py, line 2" in done.stderr
    assert "NameError: name 'LabelRules' is not defined" in done.stderr
    assert python(package, "-m", "onlooker.cli.main", "describe", "sivbench").returncode == 0


def test_prompts_that_were_not_packed_are_one_message_with_the_remedy(package: Path) -> None:
    (package / "gaze_bench/prompts/ask.txt").unlink()
    (package / "gaze_bench/prompts").rmdir()
    done = python(package, "-m", "onlooker.cli.main", "describe", "gazebench")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "the package gaze_bench has no folder prompts" in done.stderr
    assert "package data" in done.stderr
