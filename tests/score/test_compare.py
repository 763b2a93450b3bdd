"""Paired comparisons worked by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME
from onlooker.benchmarks.sivbench.scoring import FAMILY as SIVBENCH
from onlooker.errors import InputError
from onlooker.score.compare import compare_runs, split_name
from tests.score.made import Made, Row, choice, judged, said


def compare(made: Made, rows: list[Row], judgements: list[Row] | None = None, **options: Any) -> Any:
    files = [made.judgements(judgements)] if judgements else []
    return compare_runs(
        made.bundle, made.family, [made.predictions(rows)], "a:c", "b:c", files, **({"draws": 200} | options)
    )


@pytest.fixture
def made(tmp_path: Path) -> Made:
    items = [choice(f"q{i}", f"e{i % 5}", dimension="SSU") for i in range(10)]
    return Made(tmp_path, SIVBENCH, items, [{"item": f"q{i}", "answer": ["B"]} for i in range(10)])


def both(a: str, b: str) -> list[Row]:
    """One letter an item for each side; "." is unparsed, "-" missing, "!" an error."""
    return [
        said(f"q{i}", letter, model=model, status="error" if letter == "!" else "ok")
        for model, letters in (("a", a), ("b", b))
        for i, letter in enumerate(letters)
        if letter != "-"
    ]


def test_items_that_both_answered_are_paired(made: Made) -> None:
    # q8 is missing on one side and q9 an error: eight are left, and unparsed replies are wrong.
    found = compare(made, both("BBBB.AAAB-"[:9] + "!", "BAAA.BAA-B"))
    assert found.report["items"]["paired"] == 8
    accuracy = found.report["metrics"]["accuracy"]
    assert (accuracy["a"], accuracy["b"], accuracy["n"]) == (4 / 8, 2 / 8, 8)
    assert accuracy["difference"] == pytest.approx(2 / 8)
    assert found.report["mcnemar"] == {"a_only": 3, "b_only": 1, "p": pytest.approx(10 / 16)}
    assert found.report["wilcoxon"]["n"] == 4
    assert found.notes == ["2 items left out: not answered by both"]


def test_a_difference_turns_its_sign_with_its_sides(made: Made) -> None:
    rows = both("BBBBAAAABA", "BAABABABBB")
    there, back = (
        compare(made, rows),
        compare_runs(made.bundle, SIVBENCH, [made.folder / "predictions.jsonl"], "b:c", "a:c", draws=200),
    )
    one, other = there.report["metrics"]["accuracy"], back.report["metrics"]["accuracy"]
    assert one["difference"] == pytest.approx(-other["difference"])
    assert one["low"] == pytest.approx(-other["high"])
    assert there.report["mcnemar"]["p"] == back.report["mcnemar"]["p"]


def test_a_side_against_itself_differs_by_nothing(made: Made) -> None:
    made.predictions(both("BABABABABA", "B"))
    file = made.folder / "predictions.jsonl"
    found = compare_runs(made.bundle, SIVBENCH, [file], "a:c", "a:c", draws=200).report
    assert found["metrics"]["accuracy"] == {"a": 0.5, "b": 0.5, "difference": 0, "low": 0, "high": 0, "n": 10}
    assert found["mcnemar"]["p"] == 1
    assert found["wilcoxon"] == {"n": 0, "p": None}


def test_seeds_are_averaged_item_by_item_first(made: Made) -> None:
    rows = [said("q0", x, model="a", seed=s) for s, x in enumerate("BBA")]
    rows += [said("q1", "B", model="a", seed=0)]  # missing under the two other seeds
    rows += [said(q, "A", model="b") for q in ("q0", "q1")]
    accuracy = compare(made, rows).report["metrics"]["accuracy"]
    assert accuracy["a"] == pytest.approx((2 / 3 + 1) / 2)
    assert accuracy["n"] == 2


def test_pairing_goes_by_id_and_not_by_row(tmp_path: Path) -> None:
    items = [choice(f"q{i}", f"e{i % 10}") for i in range(100)]
    made = Made(tmp_path, SIVBENCH, items, [{"item": f"q{i}", "answer": ["B"]} for i in range(100)])
    rows = [said(f"q{i}", "B" if i < 50 else "A", model="a") for i in range(100)]
    rows += [said(f"q{i}", "B" if i < 40 else "A", model="b") for i in range(98)]
    random.Random(3).shuffle(rows)
    first = compare(made, rows)
    accuracy = first.report["metrics"]["accuracy"]
    assert accuracy["n"] == 98
    assert accuracy["difference"] == pytest.approx(10 / 98)
    assert first.notes == ["2 items left out: not answered by both"]
    random.Random(4).shuffle(rows)
    assert compare(made, rows).report == first.report


def test_an_unjudged_item_leaves_the_verified_metrics_only(tmp_path: Path) -> None:
    items = [choice(f"q{i}", f"e{i}", capability="G") for i in range(3)]
    made = Made(tmp_path, PSYCHEME, items, [{"item": f"q{i}", "answer": ["A"]} for i in range(3)])
    raw = '{"answer": "A", "G": "she nods"}'
    rows = [said(f"q{i}", raw, model=m) for m in "ab" for i in range(3)]
    labels = {"evidence": "normal", "logic": "acceptable"}
    judgements = [judged(f"q{i}", "verified", labels, model=m) for m, i in [("a", 0), ("a", 1), ("b", 1)]]
    judgements += [judged("q2", "verified", labels | {"logic": "coherent"}, model="b")]
    found = compare(made, rows, judgements).report
    assert found["metrics"]["raw.micro"]["n"] == 3
    assert found["metrics"]["verified.micro"]["n"] == 1
    assert found["metrics"]["verified.micro"]["a"] == pytest.approx(1 / 1.44)


def test_names_split_at_the_last_colon() -> None:
    assert split_name("lab/model:7b:full", "--a") == ("lab/model:7b", "full")
    for bad in ("model", ":full", "model:"):
        with pytest.raises(InputError) as caught:
            split_name(bad, "--a")
        assert str(caught.value) == (
            f"--a: expected MODEL:CONDITION, found {bad!r}. "
            "Remedy: write the model's name, a colon, and the condition, as the predictions have them"
        )


def test_a_side_that_is_not_there_lists_those_that_are(made: Made) -> None:
    with pytest.raises(InputError) as caught:
        compare(made, [said("q0", "B", model="a")])
    assert str(caught.value) == "--b: no predictions of this model and condition, found 'b:c'. Remedy: one of a:c"
    with pytest.raises(InputError) as caught:
        compare(made, [])
    assert str(caught.value) == (
        "--a: no predictions of this model and condition, found 'a:c'. "
        "Remedy: pass files with predictions: those given have no row"
    )


def test_what_did_not_count_and_few_draws_are_said(made: Made) -> None:
    labels = judged("q0", "reasoning_quality", {"depth": 3}, model="b")
    files = [made.predictions(both("B", "B")), made.predictions([], "empty.jsonl")]
    found = compare_runs(made.bundle, SIVBENCH, files, "a:c", "b:c", [made.judgements([labels])], draws=20)
    assert found.notes == [
        "the ends of the intervals are rough with so few draws: --draws 20, 10000 is the default",
        f"no predictions in {files[1]}",
        "9 items left out: not answered by both",
        "b:c: 1 judgements do not count: under the rubric reasoning_quality, relevance is missing or off its scale",
    ]


def test_no_item_in_common_has_no_difference(made: Made) -> None:
    found = compare(made, [said("q0", "B", model="a"), said("q1", "B", model="b")]).report
    assert found["items"]["paired"] == 0
    assert found["metrics"]["accuracy"]["difference"] is None
