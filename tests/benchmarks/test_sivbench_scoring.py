"""SIV-Bench's groups and reading rules, worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.benchmarks.sivbench.scoring import FAMILY
from tests.score.made import Made, choice, judged, metrics_of, said, value_of


def test_groups_and_qualities_worked_by_hand(tmp_path: Path) -> None:
    items = [
        choice("q0", "e0", dimension="SSR", subtask="RI", relation="friends"),
        choice("q1", "e0", dimension="SSR", subtask="II", relation="friends"),
        choice("q2", "e1", dimension="SSU", subtask="AR"),
    ]
    made = Made(tmp_path, FAMILY, items, [{"item": f"q{i}", "answer": ["D"]} for i in range(3)])
    qualities = {"relevance": 4, "alignment": 3, "coherence": 5, "depth": 2, "conciseness": 4.5, "overall": 4}
    labels = [judged("q0", "reasoning_quality", qualities), judged("q2", "reasoning_quality", qualities | {"depth": 1})]
    result = made.score([said("q0", "D"), said("q1", "A"), said("q2", "(D)")], labels)
    found = {name: (m["value"], m["n"]) for name, m in metrics_of(result).items()}
    expected = {
        "accuracy": (2 / 3, 3),
        "accuracy.dimension.SSR": (1 / 2, 2),
        "accuracy.dimension.SSU": (1, 1),
        "accuracy.subtask.AR": (1, 1),
        "accuracy.subtask.II": (0, 1),
        "accuracy.subtask.RI": (1, 1),
        "accuracy.relation.friends": (1 / 2, 2),
        "reasoning.relevance": (4, 2),
        "reasoning.alignment": (3, 2),
        "reasoning.coherence": (5, 2),
        "reasoning.depth": (1.5, 2),
        "reasoning.conciseness": (4.5, 2),
        "reasoning.overall": (4, 2),
    }
    assert set(found) == set(expected)
    for name, pair in expected.items():
        assert found[name] == pytest.approx(pair)


def test_traps_of_the_published_scorer_are_not_ours(tmp_path: Path) -> None:
    item = choice("q0", "e0") | {
        "options": [
            {"id": "A", "text": "friends"},
            {"id": "B", "text": "Error: the printer is broken"},
            {"id": "C", "text": "They are not friends"},
        ]
    }
    made = Made(tmp_path, FAMILY, [item], [{"item": "q0", "answer": ["C"]}])
    for raw, credit in [
        ("Because she smiles, the answer is C", 1),
        ("They are not friends", 1),
        ("They are no longer on speaking terms", 0),
        ("Error: the printer is broken", 0),
    ]:
        result = made.score([said("q0", raw)])
        assert value_of(result, "accuracy") == credit
        assert metrics_of(result)["accuracy"]["n"] == 1
