"""What counts as an answer: moments, conditions, kinds of fields, playback."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.annotate.answers import AnswerRefused, check_answer
from onlooker.annotate.cases import Case
from onlooker.annotate.rows import rating_rows
from onlooker.annotate.work import Work, covers, merge
from onlooker.protocol.form import Checks, Choice, Form, Layout, OneOf, Scale, View, When, Words
from onlooker.records.public import ITEM

ANCHORS = tuple(Choice(n, name) for n, name in enumerate(("calm", "mild", "clear", "peak")))
INTENSITY = Form(
    name="intensity",
    title="Intensity",
    says="",
    tasks=("intensity",),
    layout=Layout("player", (View("reaction"),)),
    fields=(Scale("score", "How strong?", rubric="intensity", per="moment", anchors=ANCHORS),),
    shows=("moments",),
    playback="moments",
)
SCREEN = Form(
    name="screen",
    title="Screen",
    says="",
    tasks=("intensity",),
    layout=Layout("text", ()),
    fields=(
        Checks(
            "criteria", "Criteria", rubric="screening", criteria=(Choice("topic", "Topic?"), Choice("ethics", "OK?"))
        ),
        OneOf("verdict", "Verdict", rubric="verdict", choices=(Choice("keep", "Keep"), Choice("drop", "Drop"))),
        Words("reason", "Why drop?", when=When("verdict", ("drop",)), least_chars=3, most_chars=10),
    ),
)
ITEM_ROW = {
    "id": "v1",
    "episode": "e1",
    "task": "intensity",
    "moments": [{"id": "m0", "start_s": 1.0, "end_s": 3.0}, {"id": "m1", "start_s": 9.0, "end_s": 12.0}],
}
CASE = Case("v1", ITEM.validate_python(ITEM_ROW))


def work(**played: Any) -> Work:
    return Work("r-one", "v1", "assigned", 0.0, 0.0, played=played)


PLAYED = {"reaction": [[0.0, 3.1], [8.8, 11.9]]}
LENGTHS: dict[str, float | None] = {"reaction": 11.8}


def faults(form: Form, answer: Any, **played: Any) -> dict[str, str]:
    try:
        check_answer(form, CASE, answer, work(**played), LENGTHS)
    except AnswerRefused as refused:
        return refused.faults
    return {}


def test_every_moment_is_scored_and_played_in_full() -> None:
    answer = {"score": {"m0": 0, "m1": 3}}
    assert faults(INTENSITY, answer, **PLAYED) == {}
    assert faults(INTENSITY, answer) == {"playback": "play this first: moment m0, moment m1"}
    assert faults(INTENSITY, answer, reaction=[[0.0, 3.1], [9.0, 11.0]]) == {"playback": "play this first: moment m1"}
    assert faults(INTENSITY, answer, reaction=[[1.5, 12]]) == {"playback": "play this first: moment m0"}


@pytest.mark.parametrize(
    "scores",
    [{"m0": 0}, {"m0": 0, "m1": 4}, {"m0": 0, "m1": True}, {"m0": 0, "m1": "3"}, {"m0": 0, "m1": 1, "m2": 1}, 3, None],
)
def test_what_is_no_score_of_every_moment_is_refused(scores: Any) -> None:
    assert set(faults(INTENSITY, {"score": scores}, **PLAYED)) == {"score"}


def test_a_zero_is_a_rating() -> None:
    given_work = Work("r-one", "v1", "answered", 0, 0, 5, {"score": {"m0": 0, "m1": 3}}, at=0.0, seconds=1.5)
    rows = list(rating_rows(INTENSITY, CASE, given_work))
    assert [(row["unit"], row["value"], row["rubric"]) for row in rows] == [
        ("m0", 0, "intensity"),
        ("m1", 3, "intensity"),
    ]
    assert rows[0]["at"] == "1970-01-01T00:00:00Z"


def test_reasons_are_asked_only_where_they_belong() -> None:
    yes = {"criteria": {"topic": True, "ethics": False}}
    assert faults(SCREEN, {**yes, "verdict": "keep"}) == {}
    assert set(faults(SCREEN, {**yes, "verdict": "drop"})) == {"reason"}
    assert set(faults(SCREEN, {**yes, "verdict": "drop", "reason": " \u3000 x "})) == {"reason"}
    assert set(faults(SCREEN, {**yes, "verdict": "drop", "reason": "x" * 11})) == {"reason"}
    assert set(faults(SCREEN, {**yes, "verdict": "drop", "reason": "\ud800abc"})) == {"reason"}
    assert set(faults(SCREEN, {"verdict": "keep", "criteria": {"topic": True}})) == {"criteria"}
    assert set(faults(SCREEN, {"verdict": "keep", "criteria": {"topic": True, "ethics": 1}})) == {"criteria"}
    checked = check_answer(SCREEN, CASE, {**yes, "verdict": "keep", "reason": "left over"}, work(), {})
    assert "reason" not in checked, "an answer to what was not asked is not kept"
    rows = list(rating_rows(SCREEN, CASE, Work("r-one", "v1", "answered", 0, 0, 5, checked)))
    told = {row["rubric"]: row["value"] for row in rows}
    assert told == {"screening.topic": 1, "screening.ethics": 0, "verdict": "keep"}


STRETCHES = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 20)).map(lambda p: [p[0], p[0] + p[1]]))


@given(STRETCHES, st.randoms(use_true_random=False))
def test_merged_stretches_do_not_depend_on_their_order(stretches: list[list[float]], dice: Any) -> None:
    merged = merge(stretches)
    shuffled = list(stretches)
    dice.shuffle(shuffled)
    assert merge(shuffled) == merged
    assert merge(merged) == merged
    assert all(a[1] < b[0] for a, b in pairwise(merged))
    assert all(covers(merged, a, b) for a, b in stretches)
