"""MMHBench's groups and the points of its explanations, worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.mmhbench.scoring import FAMILY
from tests.score.made import Made, choice, judged, metrics_of, said, value_of

POINTS = {
    "key_event": 2,
    "mechanism": 3.5,
    "options": {"A": 1.25, "B": 0.5, "C": 0, "D": 1},
    "hallucination": 4,
}


@pytest.fixture
def made(tmp_path: Path) -> Made:
    durations = [480.0, 599.9, 600.0, 1199.9, 1200.0]
    items = [
        choice("q0", "e0", perspective="third", topic="family"),
        choice("q1", "e1", perspective="first", questioner="MHP", responder="LES", topic="family"),
        choice("q2", "e2", perspective="first", questioner="LES", responder="MHP"),
        choice("q3", "e3", perspective="first", questioner="LES", responder="Others"),
        choice("q4", "e4") | {"perspective": "third"},
    ]
    episodes = [{"id": f"e{i}", "duration_s": d, "labels": {"topic": "health"}} for i, d in enumerate(durations)]
    references = [{"item": f"q{i}", "answer": ["C"]} for i in range(5)]
    return Made(tmp_path, FAMILY, items, references, episodes=episodes)


def test_groups_worked_by_hand(made: Made) -> None:
    result = made.score([said(f"q{i}", "C" if i in {1, 2, 4} else "A") for i in range(5)])
    expected = {
        "accuracy": (3 / 5, 5),
        "accuracy.perspective.first": (2 / 3, 3),
        "accuracy.perspective.third": (1 / 2, 2),
        "accuracy.questioner.LES": (1 / 2, 2),
        "accuracy.questioner.MHP": (1, 1),
        "accuracy.responder.LES": (1, 1),
        "accuracy.responder.MHP": (1, 1),
        "accuracy.responder.Others": (0, 1),
        # An item without a topic of its own has its episode's.
        "accuracy.topic.family": (1 / 2, 2),
        "accuracy.topic.health": (2 / 3, 3),
        "accuracy.duration.0to10": (1 / 2, 2),
        "accuracy.duration.10to20": (1 / 2, 2),
        "accuracy.duration.20plus": (1, 1),
    }
    found = metrics_of(result)
    assert set(found) == set(expected)
    for name, pair in expected.items():
        assert (found[name]["value"], found[name]["n"]) == pytest.approx(pair)


def test_points_of_explanations_worked_by_hand(made: Made) -> None:
    rows = [said("q0", "C"), said("q1", "A", status="refused")]
    labels = [
        judged("q0", "mental_health_reasoning", POINTS),
        judged("q1", "mental_health_reasoning", POINTS | {"key_event": 0}),
    ]
    result = made.score(rows, labels)
    assert value_of(result, "reasoning.key_event") == 1
    assert value_of(result, "reasoning.options") == pytest.approx(2.75)
    assert value_of(result, "reasoning.mean") == pytest.approx(((2 + 3.5 + 2.75 + 4) + (3.5 + 2.75 + 4)) / 8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"key_event": 5.5},
        {"hallucination": -1},
        {"options": {"A": 1, "B": 1, "C": 1}},
        {"options": {"A": 1.5, "B": 1, "C": 1, "D": 1}},
        {"options": [1, 1, 1, 1]},
        {"mechanism": None},
    ],
)
def test_points_off_their_scale_make_the_judgement_unparsed(made: Made, wrong: dict[str, Any]) -> None:
    result = made.score([said("q0", "C")], [judged("q0", "mental_health_reasoning", POINTS | wrong)])
    assert metrics_of(result)["reasoning.mean"] == {"value": None, "low": None, "high": None, "n": 0}
    assert value_of(result, "accuracy") == pytest.approx(1 / 5)
