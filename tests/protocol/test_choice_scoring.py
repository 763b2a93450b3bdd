from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.errors import InputError
from onlooker.protocol.choice_scoring import choice_family
from onlooker.records.public import OpenItem
from tests.score.made import Made, choice, metrics_of, said


def test_standard_scoring_worked_by_hand(tmp_path: Path) -> None:
    """Right, wrong, unreadable; two values of a label, an item under both, one under neither."""
    items = [
        choice("q0", "e0", skill="gaze"),
        choice("q1", "e0", skill=["gaze", "turn"]),
        choice("q2", "e1", skill="turn"),
        choice("q3", "e1", select="all"),
    ]
    references = [{"item": f"q{n}", "answer": ["D"]} for n in range(3)] + [{"item": "q3", "answer": ["A", "C"]}]
    made = Made(tmp_path, choice_family("mine", "skill", ["skill"]), items, references)
    found = metrics_of(made.score([said("q0", "D"), said("q1", "A"), said("q2", "who knows"), said("q3", "C, A")]))
    assert {name: (one["value"], one["n"]) for name, one in found.items()} == {
        "accuracy": (0.5, 4),
        "accuracy.skill.gaze": (0.5, 2),
        "accuracy.skill.turn": (0.0, 2),
    }


def test_the_nearest_text_counts_only_where_the_family_says_so(tmp_path: Path) -> None:
    item = choice("q0", "e0") | {
        "options": [{"id": "A", "text": "the man in the red coat"}, {"id": "B", "text": "nobody at all"}]
    }
    for near_text, value in ((True, 1.0), (False, 0.0)):
        folder = tmp_path / str(near_text)
        folder.mkdir()
        family = choice_family("mine", "skill", [], near_text=near_text)
        made = Made(folder, family, [item], [{"item": "q0", "answer": ["A"]}])
        assert metrics_of(made.score([said("q0", "man in a red coat")]))["accuracy"]["value"] == value


def test_an_item_of_another_task_is_refused() -> None:
    item = OpenItem.model_validate({"id": "q", "episode": "e", "task": "open", "question": "Why?"})
    with pytest.raises(InputError, match="mine has no items of this task, found 'open'"):
        choice_family("mine", "skill", []).parse(item, "A", None)
