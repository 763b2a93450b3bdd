"""Predictions, judgements and the plan as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.errors import InputError
from onlooker.records.jsonl import write_rows, write_text
from onlooker.records.results import (
    Judgement,
    Plan,
    Prediction,
    read_judgements,
    read_plan,
    read_predictions,
)


def prediction(item: str = "q", seed: int | None = None, part: str | None = None) -> Prediction:
    return Prediction(item=item, part=part, model="m", condition="full", seed=seed, raw="B", status="ok")


def judgement(judge: str = "j") -> Judgement:
    return Judgement(item="q", model="m", condition="c", judge=judge, rubric="r", status="ok")


def test_predictions_of_several_files(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write_rows(one, [prediction(), prediction(seed=1)])
    write_rows(two, [prediction(seed=2), prediction(part="m1")])
    found = read_predictions([one, two])
    assert [(row.seed, row.part) for row in found] == [(None, None), (1, None), (2, None), (None, "m1")]


def test_the_same_prediction_twice_names_both_lines(tmp_path: Path) -> None:
    one, two = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write_rows(one, [prediction("p"), prediction(seed=3)])
    write_rows(two, [prediction("r"), prediction("s"), prediction(seed=3)])
    with pytest.raises(InputError) as caught:
        read_predictions([one, two])
    assert str(caught.value) == (
        f"{two}, line 3: the same prediction as {one}, line 2: item q, model m, condition full, seed 3. "
        "Remedy: keep one of the two rows"
    )


def test_judgements_differ_by_judge(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    write_rows(path, [judgement("a"), judgement("b")])
    assert len(read_judgements([path])) == 2
    write_rows(path, [judgement("a"), judgement("b"), judgement("a")])
    with pytest.raises(InputError, match=r"line 3: the same judgement as .*line 1: item q, .*judge a"):
        read_judgements([path])


@pytest.mark.parametrize(
    ("field", "text", "expected"),
    [
        (
            "status",
            '"done"',
            'status: expected "ok", "empty", "truncated", "refused" or "error", found "done"',
        ),
        ("seed", "true", "seed: expected a whole number, found true"),
        ("seed", "1.5", "seed: expected a whole number, found 1.5"),
        ("cost_usd", "-1", "cost_usd: expected 0 or more, found -1"),
        ("raw", "null", "raw: expected text, found null"),
    ],
)
def test_a_wrong_field(tmp_path: Path, field: str, text: str, expected: str) -> None:
    path = tmp_path / "p.jsonl"
    start = '{"item": "q", "model": "m", "condition": "c", "raw": "", "status": "ok"'
    path.write_text(f'{start}, "{field}": {text}}}\n')
    with pytest.raises(InputError) as caught:
        read_predictions([path])
    assert str(caught.value).startswith(f"{path}, line 1, {expected}. Remedy: ")


def test_plan_beside_the_predictions(tmp_path: Path) -> None:
    beside = tmp_path / "predictions.jsonl"
    assert read_plan(beside) is None
    write_text(tmp_path / "plan.json", '{\n "items": ["a", "b"],\n "seed": 7\n}\n')
    plan = read_plan(beside)
    assert plan == Plan(items=("a", "b"), seed=7)
    assert plan.extra == {"seed": 7}
    write_text(tmp_path / "plan.json", '{"items": "a"}')
    with pytest.raises(InputError) as caught:
        read_plan(beside)
    assert str(caught.value) == (
        f'{tmp_path / "plan.json"}, items: expected a list, found "a". Remedy: write a list: [...]'
    )
