"""What a guesser scores, worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.score.baseline import baselines
from tests.score.made import Made, choice


def test_chance_and_majority_worked_by_hand(tmp_path: Path) -> None:
    items = [
        choice("q0", "e0", capability="G"),
        choice("q1", "e1", capability="G", options="ABCDE"),
        choice("q2", "e1", capability="G"),
        choice("q3", "e2", capability="W", options="ABC", select="all"),
        choice("q4", "e2", capability="W", options="ABC", select="all"),
        {"id": "q5", "episode": "e0", "task": "open", "question": "Why?", "labels": {"capability": "G"}},
    ]
    answers = [["B"], ["B"], ["C"], ["A", "B"], ["B", "C"], "since"]
    references = [{"item": f"q{i}", "answer": answer} for i, answer in enumerate(answers)]
    found = baselines(Made(tmp_path, FAMILY, items, references).bundle, FAMILY, draws=100)
    chance, majority = found["chance"], found["majority"]
    assert chance["raw.capability.G"]["value"] == pytest.approx((1 / 4 + 1 / 5 + 1 / 4) / 3)
    assert chance["raw.capability.W"]["value"] == pytest.approx(1 / 7)
    assert chance["raw.micro"]["n"] == 5
    # The second place is right twice of three; of two sets named once each, the first place leads.
    assert majority["raw.capability.G"]["value"] == pytest.approx(2 / 3)
    assert majority["raw.capability.W"]["value"] == pytest.approx(1 / 2)
    assert majority["raw.format.open"]["value"] is None
    assert set(chance) == set(majority)
    assert not any(name.startswith("verified") for name in chance)
