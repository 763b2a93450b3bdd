"""``onlooker analyze`` as a person meets it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.sivbench.scoring import FAMILY
from onlooker.catalog import load_benchmark
from onlooker.cli.main import main
from onlooker.errors import InputError
from tests.score.made import Made, choice, said


@pytest.fixture
def made(tmp_path: Path) -> Made:
    items = [choice(f"q{k}", f"e{k}", options="ABCDE", dimension="SSU", subtask="AR") for k in range(4)]
    return Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])


@pytest.fixture
def predictions(made: Made) -> Path:
    return made.predictions([said(f"q{k}", letter, condition="origin") for k, letter in enumerate("AABA")])


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_it_writes_the_findings_and_the_figures(
    made: Made, predictions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" / "deep"
    words = [
        "analyze",
        str(made.path),
        "subtasks",
        "--predictions",
        str(predictions),
        "--out",
        str(out),
        "--draws",
        "100",
    ]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "0.75" in printed
    assert "subtasks-1.pdf" in printed
    report = read(out / "subtasks.json")
    assert report["data"]["runs"]["m:origin"]["AR"]["value"] == 0.75
    assert report["bundle"]["family"] == "sivbench"
    assert report["settings"] == {"draws": 100, "seed": 42, "judge": None, "options": {}}
    assert report["source"] == "section 3.3, figure 6"
    assert report["tables"][0]["rows"][0][:4] == ["m:origin", "AR", 4, 0.75]
    drawn = [f"subtasks-1.{kind}" for kind in ("pdf", "png", "svg")]
    tables = [f"subtasks-table1.{kind}" for kind in ("csv", "md", "tex")]
    assert sorted(p.name for p in out.iterdir()) == [*drawn, *tables, "subtasks.json"]
    with (out / "subtasks-table1.csv").open(encoding="utf-8", newline="") as file:
        head, row, *_ = csv.reader(file)
    assert head == report["tables"][0]["columns"]
    assert row[:4] == ["m:origin", "AR", "4", "0.75"]
    first = (out / "subtasks.json").read_bytes(), (out / "subtasks-1.svg").read_bytes()
    assert main(words) == 0
    assert first == ((out / "subtasks.json").read_bytes(), (out / "subtasks-1.svg").read_bytes())


def test_options_no_figures_and_no_predictions(made: Made, predictions: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    few = ["--draws", "100", "--no-figures", "--out", out]
    asked = ["analyze", str(made.path), "hard", "--predictions", str(predictions), *few]
    assert main([*asked, "--option", "size=1", "where=subtask:AR"]) == 0
    assert read(tmp_path / "out" / "hard.json")["data"]["items"] == [{"item": "q2", "joint_error": 1.0}]
    assert read(tmp_path / "out" / "hard.json")["settings"]["options"] == {"size": "1", "where": "subtask:AR"}
    assert main(["analyze", str(made.path), "surface", *few]) == 0
    assert [p.name for p in sorted((tmp_path / "out").iterdir()) if p.suffix == ".json"] == [
        "hard.json",
        "surface.json",
    ]
    assert not list((tmp_path / "out").glob("*.svg"))


@pytest.mark.parametrize("family", ["sivbench", "mmhbench"])
def test_a_familys_name_lists_its_analyses(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", family]) == 0
    printed = capsys.readouterr().out
    analyses = load_benchmark(family).analyses
    assert analyses
    for analysis in analyses:
        assert f"{analysis.name}: {analysis.says} ({analysis.source})" in printed


def test_a_bundle_lists_its_familys_analyses(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", str(made.path)]) == 0
    assert "relations:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said_back"),
    [
        (["analyze", "sivbench", "subtasks", "--out", "x"], "needs the bundle whose answers it looks at"),
        (["analyze", "no-such-family"], "no installed benchmark of this family"),
        (["analyze", "BUNDLE", "subtasks"], "name a folder with --out"),
        (["analyze", "BUNDLE", "nothing", "--out", "x"], "has no analysis of this name"),
        (["analyze", "BUNDLE", "subtasks", "--out", "x"], "name predictions with --predictions"),
        (["analyze", "BUNDLE", "surface", "--out", "x", "--option", "top"], "an option without a value"),
        (["analyze", "BUNDLE", "surface", "--out", "x", "--option", "top=1", "top=2"], "an option said twice"),
        (["analyze", "BUNDLE", "surface", "--out", "x", "--option", "size=2"], "no option of this name"),
    ],
)
def test_bad_input_is_answered_with_a_remedy(
    made: Made, words: list[str], said_back: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(made.path) if word == "BUNDLE" else word for word in words]) == 1
    shown = capsys.readouterr()
    assert said_back in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("family", ["sivbench", "mmhbench"])
def test_every_analysis_stands_in_the_familys_card(family: str) -> None:
    import onlooker

    card = (Path(onlooker.__file__).parent / "benchmarks" / family / "README.md").read_text(encoding="utf-8")
    assert {a.name for a in load_benchmark(family).analyses if f"`{a.name}`" not in card} == set()


SMILES = "Because she smiles, the answer is C"


def scored(made: Made, raw: str, out: Path, *more: str) -> Any:
    """What ``onlooker score`` writes for this reply to every question."""
    file = made.predictions([said(f"q{k}", raw, condition="origin") for k in range(4)])
    words = ["score", str(made.path), "--predictions", str(file), "--out", str(out), "--draws", "100"]
    assert main([*words, *more]) == 0
    return read(out)


def test_the_published_rule_reads_another_option_and_says_so(
    made: Made, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = tmp_path / "items.jsonl"
    own = scored(made, SMILES, tmp_path / "own.json", "--items-out", str(items))
    assert json.loads(items.read_text(encoding="utf-8").splitlines()[0])["parsed"] == ["C"]
    assert own["settings"] == {"draws": 100, "seed": 42, "level": 0.95}
    assert "published rule" not in capsys.readouterr().out
    tables = tmp_path / "tables"
    more = ("--parser", "official", "--items-out", str(items), "--tables", str(tables))
    theirs = scored(made, SMILES, tmp_path / "theirs.json", *more)
    assert json.loads(items.read_text(encoding="utf-8").splitlines()[0])["parsed"] == ["B"]
    assert theirs["settings"] == {"draws": 100, "seed": 42, "level": 0.95, "parser": "official"}
    run = theirs["models"]["m"]["origin"]
    assert run["notes"][0].startswith("read by official: the published rule with known faults")
    printed = capsys.readouterr().out
    assert "the published rule with known faults" in printed
    assert "4 items x 1 seed: 4 scored" in printed
    for table in tables.glob("*.md"):
        assert "the published rule with known faults" in table.read_text(encoding="utf-8")


def test_the_published_rule_reads_what_says_nothing(made: Made, tmp_path: Path) -> None:
    """It has no unparsed replies: the first capital that is a letter of an option counts, here of "Able"."""
    own = scored(made, "Able people smile", tmp_path / "own.json")["models"]["m"]["origin"]
    theirs = scored(made, "Able people smile", tmp_path / "t.json", "--parser", "official")["models"]["m"]["origin"]
    assert (own["coverage"]["unparsed"], own["metrics"]["accuracy"]["value"]) == (4, 0.0)
    assert (theirs["coverage"]["scored"], theirs["metrics"]["accuracy"]["value"]) == (4, 1.0)


def test_an_unknown_parser_lists_those_there_are(
    made: Made, predictions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["score", str(made.path), "--predictions", str(predictions), "--out", str(tmp_path / "s.json")]
    assert main([*words, "--parser", "lenient"]) == 1
    shown = capsys.readouterr().err
    assert "sivbench has no other parser of this name" in shown
    assert "one of official" in shown
    with pytest.raises(InputError, match="mmhbench has no other parser"):
        load_benchmark("mmhbench").scoring.read_by("official")


def test_score_writes_its_tables(made: Made, tmp_path: Path) -> None:
    scores = scored(made, "A", tmp_path / "s.json", "--tables", str(tmp_path / "tables"))
    names = sorted(p.name for p in (tmp_path / "tables").iterdir())
    assert names == [f"scores-table{k}.{kind}" for k in (1, 2) for kind in ("csv", "md", "tex")]
    with (tmp_path / "tables" / "scores-table2.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["metric"] for row in rows} == set(scores["models"]["m"]["origin"]["metrics"])
    assert (rows[0]["metric"], float(rows[0]["value"]), rows[0]["n"]) == ("accuracy", 1.0, "4")
