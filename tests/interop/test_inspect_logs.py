"""Logs of Inspect as predictions: every sample a row, the same scores as in the log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onlooker.catalog import load_benchmark
from onlooker.cli.main import main
from onlooker.errors import InputError
from onlooker.interop.rows import Matching
from onlooker.records.bundle import open_bundle
from onlooker.records.results import read_predictions
from onlooker.score.score import score_bundle
from tests.interop.making import MAKERS, inspect, pieces, said, siv, write_rows

pytest.importorskip("inspect_ai")

if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage, ModelOutput


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")


def own_log(bundle: Path, logs: Path, condition: str | None = None, **options: Any) -> Path:
    """A log of our task: q0 right, q1 wrong, q2 empty, q3 cut off, q4 an error, q5 refused; others wrong."""
    from onlooker.interop.inspect_registry import any_family

    replies = [
        said("(A)"),
        said('{"answer": "B"}'),
        said(""),
        said("Answ", "max_tokens"),
        None,
        said("No.", "content_filter"),
    ]

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        words = str(pieces(messages[0]))
        number = next((n for n in range(6) if f"Which colour, {n}?" in words), 1)
        found = replies[number]
        if found is None:
            raise RuntimeError("the server is gone")
        return found

    return Path(inspect(any_family(bundle=str(bundle), condition=condition), reply, logs, **options).location)


def test_every_sample_is_a_row_and_the_scores_agree(tmp_path: Path) -> None:
    from inspect_ai.log import read_eval_log

    bundle = siv(tmp_path / "bundle", lost=True)
    log = own_log(bundle, tmp_path / "logs", "cot")
    out = tmp_path / "predictions.jsonl"
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]) == 0
    rows = {row.item: row for row in read_predictions([out])}
    assert {item: row.status for item, row in rows.items()} == {
        "q0": "ok",
        "q1": "ok",
        "q2": "empty",
        "q3": "truncated",
        "q4": "error",
        "q5": "refused",
        "q6": "error",
    }
    right = rows["q0"]
    assert right.raw == "(A)"
    assert (right.model, right.condition, right.seed) == ("mockllm/model", "cot", None)
    assert right.usage is not None
    # What was read from a cache is part of the prompt: 10 + 5.
    assert (right.usage.input_tokens, right.usage.output_tokens) == (15, 3)
    assert (right.cost_usd, right.served_model) == (None, "served-model")
    assert right.latency_s is not None
    assert 0 <= right.latency_s < 60
    assert right.prompt_sha256 is not None
    assert right.media_sha256 is not None
    assert rows["q4"].extra["error"] == {"kind": "inspect", "message": "RuntimeError('the server is gone')"}
    assert "no such file" in rows["q6"].extra["error"]["message"]
    assert rows["q6"].prompt_sha256 is None
    scored = score_bundle(open_bundle(bundle), load_benchmark("sivbench").scoring, [out], draws=200)
    found = scored.scores["models"]["mockllm/model"]["cot"]
    results = read_eval_log(str(log), header_only=True).results
    assert results is not None
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(results.scores[0].metrics["credit"].value)
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(1 / 7)
    assert found["metrics"]["accuracy"]["low"] is not None
    assert found["coverage"]["error"] == 2
    assert found["coverage"]["missing"] == 0


@pytest.mark.parametrize(
    ("family", "condition", "metric", "n", "value"),
    [
        ("mmhbench", "question_only", "accuracy", 3, 1.0),
        ("reactionbench", "matching", "srm.accuracy", 1, 0.0),
        ("psycheme", "question_only", "raw.micro", 3, 0.0),
    ],
)
def test_every_family_scores_in_a_log_what_it_scores_here(
    family: str, condition: str, metric: str, n: int, value: float, tmp_path: Path
) -> None:
    """All replies are B. The open question of PsycheMME waits for a judge: unscored there, unjudged here."""
    from inspect_ai.log import read_eval_log

    bundle, out = MAKERS[family](tmp_path / "bundle"), tmp_path / "predictions.jsonl"
    log = own_log(bundle, tmp_path / "logs", condition)
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]) == 0
    scored = score_bundle(open_bundle(bundle), load_benchmark(family).scoring, [out], draws=200)
    found = scored.scores["models"]["mockllm/model"][condition]["metrics"][metric]
    results = read_eval_log(str(log), header_only=True).results
    assert results is not None
    assert (found["value"], found["n"]) == (value, n)
    assert (results.scores[0].metrics["credit"].value, results.scores[0].scored_samples) == (value, n)


def test_epochs_are_seeds(tmp_path: Path) -> None:
    bundle = siv(tmp_path / "bundle")
    log = own_log(bundle, tmp_path / "logs", "text_only", epochs=3)
    out = tmp_path / "predictions.jsonl"
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out), "--model", "mine"]) == 0
    rows = read_predictions([out])
    assert [(row.item, row.seed) for row in rows[:4]] == [("q0", 0), ("q0", 1), ("q0", 2), ("q1", 0)]
    assert {row.model for row in rows} == {"mine"}


def test_samples_that_were_not_run_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = siv(tmp_path / "bundle")
    log = own_log(bundle, tmp_path / "logs", "text_only", limit=2)
    out = tmp_path / "predictions.jsonl"
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]) == 0
    assert "2 predictions of 2 of 6 items" in capsys.readouterr().out
    scored = score_bundle(open_bundle(bundle), load_benchmark("sivbench").scoring, [out], draws=200)
    assert scored.scores["models"]["mockllm/model"]["text_only"]["coverage"]["missing"] == 4


def test_a_condition_for_some_items_owes_those_only(tmp_path: Path) -> None:
    bundle = MAKERS["psycheme"](tmp_path / "bundle")
    log = own_log(bundle, tmp_path / "logs", "none")
    out = tmp_path / "imported" / "predictions.jsonl"
    out.parent.mkdir()
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]) == 0
    assert json.loads((out.parent / "plan.json").read_text(encoding="utf-8")) == {"items": ["p0", "p1"]}
    again = ["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]
    assert main(again) == 0, "the same plan may lie there"
    (out.parent / "plan.json").write_text('{"items": ["p2"]}', encoding="utf-8")
    assert main(again) == 1


def test_another_state_of_the_bundle_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = siv(tmp_path / "bundle")
    log = own_log(bundle, tmp_path / "logs", "text_only")
    rows = [json.loads(line) for line in (bundle / "items.jsonl").read_text(encoding="utf-8").splitlines()]
    rows[0]["question"] = "Another one?"
    write_rows(bundle / "items.jsonl", rows)
    out = tmp_path / "predictions.jsonl"
    assert main(["import", "inspect", str(log), "--bundle", str(bundle), "--out", str(out)]) == 1
    assert "made on other episodes or items" in capsys.readouterr().err
    assert not out.exists()


def test_a_scorer_that_fails_takes_no_reply_away(tmp_path: Path) -> None:
    from inspect_ai import task_with
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer
    from inspect_ai.solver import TaskState

    from onlooker.interop.inspect_logs import import_logs
    from onlooker.interop.inspect_registry import siv_bench

    @scorer(metrics=[accuracy()])
    def broken() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            raise ValueError("no judge")

        return score

    bundle = siv(tmp_path / "bundle")
    made = task_with(siv_bench(bundle=str(bundle), condition="text_only"), scorer=broken())
    log = inspect(made, lambda messages: said("A"), tmp_path / "logs")
    assert all(sample.error is not None for sample in log.samples or [])
    found = import_logs([Path(log.location)], open_bundle(bundle))
    assert [(row.raw, row.status) for row in found.rows] == [("A", "ok")] * 6


def foreign_log(folder: Path, ids: list[str | int], **metadata: str) -> Path:
    """A log of somebody else's task."""
    from inspect_ai import Task
    from inspect_ai.dataset import Sample

    samples = [Sample(id=one, input=f"Which colour, {n}?", metadata=metadata) for n, one in enumerate(ids)]
    return Path(inspect(Task(dataset=samples), lambda messages: said("A"), folder).location)


def test_a_foreign_log_needs_a_condition_and_known_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from onlooker.interop.inspect_logs import import_logs

    folder = siv(tmp_path / "bundle")
    bundle = open_bundle(folder)
    log = foreign_log(tmp_path / "logs", ["q1", "q0"])
    with pytest.raises(InputError, match="--condition NAME"):
        import_logs([log], bundle)
    found = import_logs([log], bundle, condition="origin")
    assert [(row.item, row.condition, row.prompt_sha256) for row in found.rows] == [
        ("q0", "origin", None),
        ("q1", "origin", None),
    ]
    other = foreign_log(tmp_path / "logs", [7, "q0", "x"], item="q3")
    with pytest.raises(InputError, match="2 of 3 rows") as refused:
        import_logs([other], bundle, condition="origin")
    assert "sample 7: id 7 is no item" in str(refused.value)
    assert "sample x: id 'x' is no item" in str(refused.value)
    with pytest.raises(InputError, match="answered already by"):
        import_logs([other], bundle, Matching(id_field="item"), condition="origin")
    asked = import_logs([other], bundle, Matching(question_field="input"), condition="origin")
    assert [row.item for row in asked.rows] == ["q0", "q1", "q2"]
    with pytest.raises(InputError, match="answered already by"):
        import_logs([log, log], bundle, condition="origin")


def test_no_log_is_said_to_be_none(tmp_path: Path) -> None:
    from onlooker.interop.inspect_logs import import_logs

    bundle = open_bundle(siv(tmp_path / "bundle"))
    for name, content in (("empty.eval", b""), ("text.eval", b"no zip"), ("text.json", b"[]")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match="cannot be read as a log of Inspect"):
            import_logs([tmp_path / name], bundle)
    with pytest.raises(InputError, match="no such file"):
        import_logs([tmp_path / "gone.eval"], bundle)
