"""``onlooker report`` of runs that were judged: the judgements count and stand beside their answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.catalog import load_benchmark
from onlooker.cli.main import main
from onlooker.models.request import Reply
from onlooker.models.scripted import ScriptedModel
from tests.benchmarks.small_bundles import make_bundle, session_of


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run whose rationales nobody has judged."""
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    bundle = make_bundle(tmp_path, "reactionbench")
    (bundle.path / "ratings.jsonl").unlink()
    benchmark = load_benchmark("reactionbench")
    model = ScriptedModel(lambda _: Reply("The cup falls.", "ok"), script_id="s")
    session_of(bundle, tmp_path / "run", model, [benchmark.condition("rationale")], benchmark).work()
    return tmp_path / "run"


def judge(run: Path, *judges: str) -> None:
    answers = [json.loads(line) for line in (run / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    keys = [{name: row[name] for name in ("item", "model", "condition", "seed")} for row in answers]
    said = {"rubric": "grounded_rationale", "labels": {"cue": 1, "link": 2, "faithful": 1}, "status": "ok"}
    rows = [json.dumps({**key, **said, "judge": name, "explanation": "<b>why</b>"}) for name in judges for key in keys]
    (run / "judgements.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


def page(run: Path, *options: str) -> str:
    out = run.parent / "report.html"
    assert main(["report", str(run), "--out", str(out), "--draws", "10", *options]) == 0
    return out.read_text(encoding="utf-8")


def test_a_judged_run_is_not_reported_as_unjudged(run: Path) -> None:
    assert "3 unjudged" in page(run)
    judge(run, "one")
    judged = page(run)
    assert "3 of 3 scored" in judged
    assert "3 unjudged" not in judged
    assert judged.count("grounded_rationale by one:") == 3
    assert "<b>cue: 1, link: 2, faithful: 1</b>" in judged
    assert "&lt;b&gt;why&lt;/b&gt;" in judged


def test_of_several_judges_one_is_named(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge(run, "one", "two")
    assert main(["report", str(run), "--out", str(run.parent / "r.html")]) != 0
    assert "name the one that counts with --judge" in capsys.readouterr().err
    judged = page(run, "--judge", "two")
    assert "of the judges two counts" in judged
    assert judged.count("grounded_rationale by one:") == judged.count("grounded_rationale by two:") == 3
