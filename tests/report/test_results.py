"""Reading scores.json: nothing is guessed, everything wrong is named."""

from __future__ import annotations

import dataclasses

import pytest

from onlooker.errors import InputError
from onlooker.report.content import ReportContent
from onlooker.report.results import Number, read_results


def test_question_only_series_stand_apart(content: ReportContent) -> None:
    results = read_results(content.sections[0])
    assert [(s.model, s.condition) for s in results.series] == [
        ("embedded", "origin"),
        ("embedded", "no_audio"),
        ("openai:gpt-5.5", "origin"),
        ("openai:gpt-5.5", "no_audio"),
    ]
    assert [s.condition for s in results.question_only] == ["text_only", "text_only"]
    assert (results.level, results.draws, results.seed) == (0.95, 10000, 7)


def test_label_values_are_those_of_the_scores_in_their_order(content: ReportContent) -> None:
    assert read_results(content.sections[0]).values_under("accuracy.dimension.") == ("SSU", "SSR", "SDP")


def test_a_bundle_without_scores_has_no_series(content: ReportContent) -> None:
    results = read_results(content.sections[1])
    assert results.series == results.question_only == ()


def test_undefined_says_why() -> None:
    assert Number(None, None, None, 0).why_no_value == "nothing to average over"
    assert Number(None, None, None, 5).why_no_value == "not defined on these items"
    assert Number(1.0, None, None, 3).why_no_interval == "fewer than two clusters to resample"
    assert Number(1.0, None, None, 3, "one channel").why_no_interval == "one channel"


COVERAGE = {"items": 2, "seeds": 1, "scored": 1, "missing": 1}
GOOD = {"value": 0.5, "low": 0.1, "high": 0.9, "n": 2}


@pytest.mark.parametrize(
    ("coverage", "number", "message"),
    [
        (COVERAGE | {"missing": 0}, GOOD, "the outcomes add up to 1, not to 2 items x 1 seeds"),
        (COVERAGE | {"scored": -1}, GOOD, "scored: not a count, found -1"),
        (COVERAGE, GOOD | {"value": float("nan")}, "value: neither a number nor null, found nan"),
        (COVERAGE, GOOD | {"value": True}, "neither a number nor null, found True"),
        (COVERAGE, GOOD | {"low": None}, "not an interval"),
        (COVERAGE, GOOD | {"low": 0.95}, "not an interval"),
        (COVERAGE, GOOD | {"n": None}, "accuracy, n: not a count, found None"),
        (COVERAGE, "0.5", "not an object, found '0.5'"),
        ([], GOOD, "coverage: not an object"),
    ],
)
def test_a_broken_score_is_named_with_its_place(
    content: ReportContent, coverage: object, number: object, message: str
) -> None:
    scores = {"models": {"m": {"origin": {"coverage": coverage, "metrics": {"accuracy": number}}}}}
    section = dataclasses.replace(content.sections[0], scores=scores)
    with pytest.raises(InputError) as caught:
        read_results(section)
    assert message in str(caught.value)
    assert "siv-sample" in str(caught.value)
