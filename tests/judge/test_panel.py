"""Panels: the rule that joins labels, ties, members without labels."""

from __future__ import annotations

from typing import Any

import pytest

from onlooker.benchmarks.mmhbench.scoring import REASONING as MMH
from onlooker.benchmarks.psycheme.scoring import VERIFIED
from onlooker.benchmarks.reactionbench.scoring import RATIONALE
from onlooker.benchmarks.sivbench.scoring import REASONING
from onlooker.errors import InputError
from onlooker.judge.panel import Rule, join_panel
from onlooker.protocol.scoring import Rubric
from onlooker.records.public import ITEM, Item
from onlooker.records.results import Judgement
from tests.score.made import choice

ITEMS: dict[str, Item] = {"q": ITEM.validate_python(choice("q", "e"))}


def rows(rubric: Rubric, *labels: dict[str, Any] | None) -> list[Judgement]:
    return [
        Judgement(
            item="q",
            model="m",
            condition="c",
            judge=f"judge{n}",
            rubric=rubric.name,
            labels=one,
            status="unparsed" if one is None else "ok",
        )
        for n, one in enumerate(labels)
    ]


def panel(rubric: Rubric, rule: Rule, *labels: dict[str, Any] | None) -> Judgement:
    joined = join_panel(rows(rubric, *labels), rubric, ITEMS, rule)
    assert len(joined) == 1
    return joined[0]


def grade(cue: int, link: int, faithful: int) -> dict[str, Any]:
    return {"cue": cue, "link": link, "faithful": faithful}


def test_median_of_three_and_the_lower_of_two() -> None:
    assert panel(RATIONALE, "median", grade(0, 2, 1), grade(2, 2, 0), grade(1, 1, 1)).labels == grade(1, 2, 1)
    assert panel(RATIONALE, "median", grade(0, 2, 1), grade(2, 1, 1)).labels == grade(0, 1, 1)


def test_median_of_words_goes_by_their_order_not_the_alphabet() -> None:
    strong = {"evidence": "strong", "logic": "coherent"}
    weak = {"evidence": "weak", "logic": "acceptable"}
    insufficient = {"evidence": "insufficient", "logic": "weak"}
    assert panel(VERIFIED, "median", strong, weak, insufficient).labels == weak
    assert panel(VERIFIED, "median", strong, insufficient).labels == insufficient, "the worse of two"


def test_majority_is_more_than_half_and_a_tie_is_no_judgement() -> None:
    assert panel(RATIONALE, "majority", grade(1, 1, 1), grade(1, 1, 1), grade(2, 2, 0)).labels == grade(1, 1, 1)
    tie = panel(RATIONALE, "majority", grade(1, 1, 1), grade(2, 1, 1))
    assert (tie.status, tie.labels) == ("unparsed", None)
    assert tie.explanation is not None
    assert "no majority" in tie.explanation


def test_mean_is_for_scales_that_take_any_number() -> None:
    low, high = (dict.fromkeys(REASONING.scales, value) for value in (2, 5))
    assert panel(REASONING, "mean", low, high).labels == dict.fromkeys(REASONING.scales, 3.5)
    with pytest.raises(InputError, match="median or majority"):
        panel(RATIONALE, "mean", grade(1, 1, 1), grade(2, 1, 1))


def test_options_are_joined_one_by_one() -> None:
    def labels(a: float) -> dict[str, Any]:
        return {"key_event": 4, "mechanism": 4, "hallucination": 4, "options": {"A": a, "B": 1, "C": 1, "D": 0}}

    joined = panel(MMH, "mean", labels(0.5), labels(1.25)).labels
    assert joined is not None
    assert joined["options"] == {"A": 0.875, "B": 1, "C": 1, "D": 0}


def test_a_panel_needs_valid_labels_of_more_than_half() -> None:
    half = panel(RATIONALE, "median", grade(1, 1, 1), None)
    assert (half.status, half.labels) == ("unparsed", None)
    assert panel(RATIONALE, "median", grade(1, 1, 1), grade(1, 1, 1), None).labels == grade(1, 1, 1)
    off_scale = panel(RATIONALE, "median", grade(9, 1, 1), grade(9, 1, 1), grade(1, 1, 1))
    assert off_scale.labels is None, "labels off the scale are no labels"


def test_people_and_panels_are_no_members() -> None:
    two = rows(RATIONALE, grade(1, 1, 1), grade(1, 1, 1))
    human = two[0].model_copy(update={"judge": "human:r1", "labels": grade(2, 2, 1)})
    former = two[0].model_copy(update={"judge": "panel:median", "labels": grade(2, 2, 1)})
    joined = join_panel([*two, human, former], RATIONALE, ITEMS, "median")
    assert [(row.judge, row.labels) for row in joined] == [("panel:median", grade(1, 1, 1))]


def test_one_judge_is_no_panel() -> None:
    with pytest.raises(InputError, match="two or more"):
        join_panel(rows(RATIONALE, grade(1, 1, 1)), RATIONALE, ITEMS, "median")
