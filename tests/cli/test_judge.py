"""``onlooker judge`` and ``onlooker calibrate`` from the command line, on a run that a scripted model answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.benchmarks.mmhbench.scoring import FAMILY
from onlooker.cli.main import main
from tests.score.made import Made, choice, write_rows

POINTS = {"key_event": 4, "mechanism": 3, "options": {"A": 1, "B": 1, "C": 1, "D": 1}, "hallucination": 5}


def script(path: Path, *lines: dict[str, object]) -> str:
    write_rows(path, lines)
    return f"scripted:{path}"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three questions, answered with reasons."""
    items = [choice(f"q{n}", f"e{n}", perspective="third") for n in range(3)]
    references = [{"item": f"q{n}", "answer": ["A"], "explanation": {"key_event": "They part."}} for n in range(3)]
    made = Made(tmp_path, FAMILY, items, references)
    model = script(tmp_path / "model.jsonl", {"reply": "He waits for her because she had promised to come.\nAnswer: A"})
    out = tmp_path / "run"
    assert main(["eval", str(made.path), "--model", model, "--condition", "question_only", "--out", str(out)]) == 0
    return out


def judgements(run: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (run / "judgements.jsonl").read_text(encoding="utf-8").splitlines()]


def test_judging_scoring_and_a_panel(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    high = script(tmp_path / "high.jsonl", {"reply": json.dumps({**POINTS, "explanation": "close"})})
    low = script(tmp_path / "low.jsonl", {"reply": json.dumps({**POINTS, "key_event": 1})})
    assert main(["judge", str(run), "--judge", high, "--rubric", "mental_health_reasoning"]) == 0
    assert main(["judge", str(run), "--judge", low]) == 0
    assert main(["judge", str(run), "--panel", "median"]) == 0
    rows = judgements(run)
    assert {(row["judge"], row["status"]) for row in rows} == {
        ("scripted:high.jsonl", "ok"),
        ("scripted:low.jsonl", "ok"),
        ("panel:median", "ok"),
    }
    assert len(rows) == 9
    scores = tmp_path / "scores.json"
    words = ["score", str(tmp_path / "bundle"), "--predictions", str(run / "predictions.jsonl"), "--judgements"]
    words += [str(run / "judgements.jsonl"), "--judge", "panel:median", "--out", str(scores), "--draws", "50"]
    assert main(words) == 0
    metrics = json.loads(scores.read_text(encoding="utf-8"))["models"]["scripted:model.jsonl"]["question_only"]
    assert metrics["metrics"]["reasoning.key_event"]["value"] == 1.0
    # The judge's calls stand in the ledger of the run, under their role.
    capsys.readouterr()
    assert main(["ledger", str(run), "--out", str(tmp_path / "ledger.json")]) == 0
    assert "judge" in capsys.readouterr().out
    assert "judge" in (tmp_path / "ledger.json").read_text(encoding="utf-8")


def test_a_judge_that_is_down_is_a_failed_command_and_no_score(run: Path, tmp_path: Path) -> None:
    """Case J09."""
    down = script(tmp_path / "down.jsonl", {"fail": "error"})
    assert main(["judge", str(run), "--judge", down]) == 1
    assert [(row["status"], row["labels"]) for row in judgements(run)] == [("error", None)] * 3
    scores = tmp_path / "scores.json"
    words = ["score", str(tmp_path / "bundle"), "--predictions", str(run / "predictions.jsonl"), "--judgements"]
    assert main([*words, str(run / "judgements.jsonl"), "--out", str(scores), "--draws", "50"]) == 0
    found = json.loads(scores.read_text(encoding="utf-8"))["models"]["scripted:model.jsonl"]["question_only"]
    assert found["metrics"]["reasoning.key_event"]["value"] is None
    assert found["coverage"]["unjudged"] == 3


def test_low_coverage_is_warned_of(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Case J05: the mean is over what was judged, and the share that was not stands beside it."""
    vague = script(tmp_path / "vague.jsonl", {"reply": "rather good"})
    assert main(["judge", str(run), "--judge", vague]) == 0
    told = capsys.readouterr()
    assert "only 0.0 % of the replies have a valid judgement" in told.err
    assert "0.0 %" in told.out


def test_kin_are_warned_of(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    same = script(tmp_path / "model.jsonl", {"reply": json.dumps(POINTS)})
    assert main(["judge", str(run), "--judge", same]) == 0
    assert "of one family" in capsys.readouterr().err


def test_judging_again_asks_nothing_anew(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = script(tmp_path / "high.jsonl", {"reply": json.dumps(POINTS)})
    main(["judge", str(run), "--judge", judge])
    first = (run / "judgements.jsonl").read_bytes()
    capsys.readouterr()
    main(["judge", str(run), "--judge", judge])
    assert (run / "judgements.jsonl").read_bytes() == first


def test_calibrating_against_people(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = script(tmp_path / "high.jsonl", {"reply": json.dumps(POINTS)})
    assert main(["judge", str(run), "--judge", judge]) == 0
    people = [
        {**row, "judge": "human:r1", "labels": {**POINTS, "key_event": n}} for n, row in enumerate(judgements(run))
    ]
    write_rows(tmp_path / "people.jsonl", people)
    words = ["calibrate", str(tmp_path / "bundle"), "--judgements", str(run / "judgements.jsonl"), "--judgements"]
    out = tmp_path / "calibration.json"
    assert main([*words, str(tmp_path / "people.jsonl"), "--out", str(out), "--draws", "50"]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))["judges"]["scripted:high.jsonl"]["dimensions"]["key_event"]
    assert found["difference"]["value"] == 3.0
    assert found["people_mean"]["value"] is None, "the judge gave the same to all"
    assert "rho undefined" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--judge", "scripted:first", "--rubric", "verified"], "no such rubric"),
        (["--judge", "scripted:first", "--condition", "both"], "no answers under this condition"),
        (["--panel", "median"], "two or more judges"),
    ],
)
def test_what_cannot_be_judged_says_why(
    run: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    if words[0] == "--panel":
        words = [*words, "--rubric", "mental_health_reasoning"]
    assert main(["judge", str(run), *words]) == 1
    assert message in capsys.readouterr().err
