"""The named cases J03-J05 and J07, from a judge's reply to the mean: what cannot be read is no grade.

J01 and J02, and each reply of J03 and J04 on its own, are in tests/text/test_rules.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME
from onlooker.benchmarks.sivbench.scoring import FAMILY as SIVBENCH
from onlooker.benchmarks.sivbench.scoring import QUALITIES
from onlooker.score.score import ScoreResult
from onlooker.text import Parsed, parse_judgement
from tests.score.made import Made, Row, choice, coverage_of, judged, metrics_of, said, value_of


def row_of(item: str, reply: str, **fields: Any) -> Row:
    """The judgement that a judge's reply makes, as the engine writes it: labels or none."""
    found = parse_judgement(reply, "reasoning_quality")
    if isinstance(found, Parsed):
        return judged(item, "reasoning_quality", found.value, **fields)
    return judged(item, "reasoning_quality", None, status="unparsed", **fields)


def graded(depth: Any, **more: Any) -> str:
    return json.dumps(dict.fromkeys(QUALITIES, 4) | {"depth": depth} | more)


def score(folder: Path, judgements: Sequence[Row]) -> ScoreResult:
    """Scores of right answers to as many questions as there are judgements."""
    items = [choice(f"q{k}", f"e{k}", options="ABCDE", dimension="SSU") for k in range(len(judgements))]
    made = Made(folder, SIVBENCH, items, [{"item": i["id"], "answer": ["A"]} for i in items])
    return made.score([said(i["id"], "A") for i in items], judgements)


@pytest.mark.parametrize("reply", [*map(graded, (6, -1, "four", True, float("nan"), 12345, None)), '{"depth": 3}'])
def test_j03_a_grade_off_the_scale_is_neither_clamped_nor_averaged(tmp_path: Path, reply: str) -> None:
    result = score(tmp_path, [row_of("q0", graded(2)), row_of("q1", reply), row_of("q2", graded("4", mood=9))])
    # '4' is a number and an extra key no matter: (2 + 4) / 2.
    depth = metrics_of(result)["reasoning.depth"]
    assert (depth["value"], depth["n"]) == (3.0, 2)
    assert coverage_of(result) == {"items": 3, "seeds": 1, "scored": 2, "unjudged": 1}


def test_j03_a_fraction_is_kept_where_the_scale_is_not_of_whole_numbers(tmp_path: Path) -> None:
    result = score(tmp_path, [row_of("q0", graded(4.5)), row_of("q1", graded(2))])
    assert value_of(result, "reasoning.depth") == 3.25


@pytest.mark.parametrize("reply", ["[error 503] try in 5 s", "90", '{"credit": 90}', '{"credit": "90/100"}', ""])
def test_j04_an_error_text_is_no_credit(tmp_path: Path, reply: str) -> None:
    items = [
        {"id": f"n{k}", "episode": f"e{k}", "task": "open", "question": "Why?", "labels": {"capability": "N"}}
        for k in range(2)
    ]
    made = Made(tmp_path, PSYCHEME, items, [{"item": i["id"], "answer": "so"} for i in items])
    text = json.dumps({"answer": "so", **dict.fromkeys("GWNTSAMR")})
    found = parse_judgement(reply, "open_answer")
    labels = found.value if isinstance(found, Parsed) else None
    rows = [
        judged("n0", "open_answer", {"credit": 0.5}),
        judged("n1", "open_answer", labels, status="ok" if labels else "unparsed"),
    ]
    result = made.score([said("n0", text), said("n1", text)], rows)
    assert (value_of(result, "raw.micro"), metrics_of(result)["raw.micro"]["n"]) == (0.5, 1)
    # The item's row says so too: no credit, neither 0 nor 1.
    assert {row["item"]: row["credit"] for row in result.items} == {"n0": 0.5, "n1": None}
    assert coverage_of(result)["unjudged"] == 1


def test_j05_an_unreadable_verdict_is_not_the_worst_grade(tmp_path: Path) -> None:
    replies = [graded(4)] * 8 + ["I would say four.", '{"depth": 4, "relev']
    result = score(tmp_path, [row_of(f"q{k}", reply) for k, reply in enumerate(replies)])
    depth = metrics_of(result)["reasoning.depth"]
    assert (depth["value"], depth["n"]) == (4.0, 8)
    # Eight of ten are judged, and the answers of all ten still count.
    assert coverage_of(result) == {"items": 10, "seeds": 1, "scored": 8, "unjudged": 2}
    assert value_of(result, "accuracy") == 1.0
    notes = result.scores["models"]["m"]["c"]["notes"]
    assert "2 judgements do not count: the judge's status is unparsed" in notes


def test_j07_an_outage_is_no_number(tmp_path: Path) -> None:
    outage = judged("q1", "reasoning_quality", None, status="error")
    result = score(tmp_path, [row_of("q0", graded(5)), outage, row_of("q2", graded(5))])
    depth = metrics_of(result)["reasoning.depth"]
    assert (depth["value"], depth["n"]) == (5.0, 2)


def test_j07_a_sentinel_that_a_judge_wrote_is_no_number_either(tmp_path: Path) -> None:
    sentinel = judged("q1", "reasoning_quality", dict.fromkeys(QUALITIES, -1))
    result = score(tmp_path, [row_of("q0", graded(5)), sentinel, row_of("q2", graded(5))])
    depth = metrics_of(result)["reasoning.depth"]
    assert (depth["value"], depth["n"]) == (5.0, 2)
