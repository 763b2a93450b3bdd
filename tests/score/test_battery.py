"""The shortcut battery, worked by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.benchmarks.sivbench.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.score.battery import shortcut_battery
from tests.score.made import Made, Row, choice, said


def made(folder: Path) -> Made:
    items = [choice(f"q{n}", f"e{n}") for n in range(4)]
    return Made(folder, FAMILY, items, [{"item": f"q{n}", "answer": ["A"]} for n in range(4)])


def answers(condition: str, letters: str, **fields: object) -> list[Row]:
    return [said(f"q{n}", letter, condition=condition, **fields) for n, letter in enumerate(letters)]


def test_losses_and_changed_answers(tmp_path: Path) -> None:
    bundle = made(tmp_path)
    moved = {"A": "D", "B": "A", "C": "B", "D": "C"}
    rows = [
        *answers("origin", "AAAB"),  # 3 of 4
        *answers("origin+wrong_video", "ABBB"),  # 1 of 4
        *answers("origin+frames_shuffled", "AAAC"),  # 3 of 4, one other answer
        *answers("origin+options_rotated_1", "BBBC", options_shown=moved),  # A A A B once mapped back
        *answers("text_only", "BBB?"),  # 0 of 4, three answers told
    ]
    found = shortcut_battery(
        bundle.bundle, FAMILY, [bundle.predictions(rows)], "m", "origin", "accuracy", without=["text_only"], draws=100
    ).report
    by_name = {row["condition"]: row for row in found["variations"]}
    assert list(by_name) == [
        "text_only",
        "origin+wrong_video",
        "origin+frames_shuffled",
        "origin+options_rotated_1",
    ], "in the order of what is taken away"
    assert {name: (row["value"], row["loss"]) for name, row in by_name.items()} == {
        "text_only": (0.0, 0.75),
        "origin+wrong_video": (0.25, 0.5),
        "origin+frames_shuffled": (0.75, 0.0),
        "origin+options_rotated_1": (0.75, 0.0),
    }
    assert {name: (row["changed"], row["compared"]) for name, row in by_name.items()} == {
        "text_only": (pytest.approx(1.0), 3),
        "origin+wrong_video": (0.5, 4),
        "origin+frames_shuffled": (0.25, 4),
        "origin+options_rotated_1": (0.0, 4),
    }
    assert by_name["text_only"]["takes_away"] == "any medium at all"
    assert by_name["origin+wrong_video"]["mcnemar"] == {"a_only": 2, "b_only": 0, "p": 0.5}
    low, high = by_name["origin+wrong_video"]["low"], by_name["origin+wrong_video"]["high"]
    assert low <= 0.5 <= high


def test_without_a_variation_there_is_no_battery(tmp_path: Path) -> None:
    bundle = made(tmp_path)
    files = [bundle.predictions(answers("origin", "AAAA"))]
    with pytest.raises(InputError, match="no answers under a variation"):
        shortcut_battery(bundle.bundle, FAMILY, files, "m", "origin", "accuracy")
    with pytest.raises(InputError, match="there is origin"):
        shortcut_battery(bundle.bundle, FAMILY, files, "m", "cot", "accuracy")
