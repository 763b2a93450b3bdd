"""Votes worked by hand."""

from __future__ import annotations

import pytest

from onlooker.stats.voting import Vote, count_votes

RIGHT = ["A", "A", "A", "A"]
VOTES: dict[str, list[str | None]] = {
    "x": ["A", "B", "A", None],
    "y": ["A", "B", "B", None],
    "z": ["B", "A", "C", "A"],
}


def test_votes_worked_by_hand() -> None:
    found = count_votes(VOTES, RIGHT)
    # Right: x 2, y 1, z 2: the first name of the equal ones. Each question has one right voter.
    assert (found.best, found.best_model, found.oracle) == (0.5, "x", 1)
    # Plurality: right; wrong; three tied, a third; one vote, right. Majority: of three only the
    # first is right.
    assert found.plurality == pytest.approx((1 + 0 + 1 / 3 + 1) / 4)
    assert (found.majority, found.ties, found.n) == (0.25, 1, 4)


def test_a_missing_vote_stays_in_the_electorate() -> None:
    found = count_votes({"a": ["A"], "b": ["A"], "c": [None], "d": [None]}, ["A"])
    assert (found.plurality, found.majority) == (1, 0)


def test_no_question_has_no_result() -> None:
    assert count_votes({"x": []}, []) == Vote(None, None, None, None, None, 0, 0)
