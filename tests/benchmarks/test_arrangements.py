"""Who stands in for whom: fixed by rule and seed, from public data alone."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from onlooker.benchmarks.psycheme.arrangements import no_history, other_history, own_history
from onlooker.benchmarks.reactionbench.arrangements import cross_video, other_reaction
from onlooker.errors import InputError
from onlooker.records.public import ITEM, Episode, Item
from tests.score.made import choice


def asked(item: str, episode: str, history: str | None) -> Item:
    row = choice(item, episode)
    return ITEM.validate_python(row if history is None else {**row, "history": [{"when": "before", "text": history}]})


HISTORIES = [
    asked("a1", "a", "A likes tea."),
    asked("a2", "a", "A likes tea."),
    asked("b1", "b", "B was refused."),
    asked("c1", "c", "C waits."),
    asked("d1", "d", None),
]


def texts(item: Item) -> list[str]:
    return [entry.text for entry in item.history or ()]


def test_history_conditions_ask_the_same_items() -> None:
    own, none = own_history(HISTORIES, {}, None), no_history(HISTORIES, {}, None)
    other = other_history(HISTORIES, {}, 42)
    assert list(own.items) == list(none.items) == list(other.items) == ["a1", "a2", "b1", "c1"]
    assert own.left_out == none.left_out == {"d1": "has no history"}
    assert all(item.history is None for item in none.items.values())
    assert own.items["a1"] is HISTORIES[0]


@pytest.mark.parametrize("seed", [42, 2026, 3407])
def test_a_mismatched_history_is_another_episodes(seed: int) -> None:
    other = other_history(HISTORIES, {}, seed)
    for item in HISTORIES[:4]:
        assert texts(other.items[item.id]) != texts(item)
        assert other.donors[item.id].episode != item.episode
        assert other.items[item.id].model_copy(update={"history": item.history}) == item, "nothing else changes"


def test_seeds_differ_and_processes_agree() -> None:
    drawn = {
        seed: tuple(donor.item for donor in other_history(HISTORIES, {}, seed).donors.values())
        for seed in (42, 2026, 3407)
    }
    assert len(set(drawn.values())) > 1
    code = (
        "from tests.benchmarks.test_arrangements import HISTORIES; "
        "from onlooker.benchmarks.psycheme.arrangements import other_history; "
        "print([d.item for d in other_history(HISTORIES, {}, 42).donors.values()])"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout.strip() == str(list(drawn[42]))


def test_one_episode_has_no_other_history() -> None:
    alone = other_history(HISTORIES[:2], {}, 42)
    assert alone.items == {}
    assert alone.left_out["a1"] == "no other episode has another history"


def reaction(item: str, episode: str, start_s: float, end_s: float, **extra: Any) -> Item:
    candidates = [{"id": letter, "episode": episode, "start_s": 0.0, "end_s": 4.0} for letter in "AB"]
    window = {"start_s": start_s, "end_s": end_s}
    return ITEM.validate_python(
        {"id": item, "episode": episode, "task": "matching", "window": window, "candidates": candidates, **extra}
    )


def clip(name: str, creator: str | None, recording: str) -> Episode:
    return Episode.model_validate(
        {"id": name, "lineage": {"creator": creator, "recording": recording}, "duration_s": 60.0}
    )


EPISODES = {
    e.id: e
    for e in (
        clip("p", "ann", "r1"),
        clip("q", "ann", "r1"),
        clip("r", "ann", "r2"),
        clip("s", "ben", "r3"),
        clip("t", None, "r4"),
    )
}


def test_donors_are_of_the_same_creator_then_recording_then_frames_then_id() -> None:
    """Paper, appendix D.8."""
    items = [
        reaction("p1", "p", 0, 3),
        reaction("p2", "p", 10, 13),
        reaction("q1", "q", 0, 8),
        reaction("q2", "q", 5, 8.5),
        reaction("r1", "r", 0, 3),
        reaction("s1", "s", 0, 3),
        reaction("t1", "t", 0, 3),
    ]
    found = other_reaction(items, EPISODES, None)
    donors = {item: donor.item for item, donor in found.donors.items()}
    # p1 (3 frames): q1 has 8, q2 has 4; r1 has 3 but is of another recording.
    assert donors["p1"] == "q2"
    assert found.donors["p1"].window == (5.0, 8.5)
    # q1 (8 frames): p1 and p2 have 3 each; the id decides.
    assert donors["q1"] == "p1"
    # r1: nobody of its recording; p1, p2 have as many frames, the id decides.
    assert donors["r1"] == "p1"
    assert found.left_out == {
        "s1": "its creator has no other clip among the items",
        "t1": "its creator is not known",
    }
    assert donors == {i: d.item for i, d in other_reaction(list(reversed(items)), EPISODES, None).donors.items()}


def test_cross_video_candidates_are_those_of_the_field() -> None:
    cross = [
        {"id": "A", "episode": "q", "start_s": 1.0, "end_s": 2.0},
        {"id": "B", "episode": "r", "start_s": 3.0, "end_s": 4.0},
    ]
    items = [reaction("p1", "p", 0, 3, cross_video_candidates=cross), reaction("p2", "p", 0, 3)]
    found = cross_video(items, EPISODES, None)
    assert [c.episode for c in getattr(found.items["p1"], "candidates")] == ["q", "r"]  # noqa: B009 - a union type
    assert found.left_out == {"p2": "has no cross_video_candidates"}


@pytest.mark.parametrize(
    "cross",
    [
        "none",
        [{"id": "A", "episode": "q", "start_s": 1.0, "end_s": 2.0}],
        [
            {"id": "A", "episode": "q", "start_s": 1.0, "end_s": 2.0},
            {"id": "B", "episode": "zz", "start_s": 3.0, "end_s": 4.0},
        ],
    ],
)
def test_bad_cross_video_candidates_are_one_clear_error(cross: object) -> None:
    with pytest.raises(InputError, match="item p1, cross_video_candidates"):
        cross_video([reaction("p1", "p", 0, 3, cross_video_candidates=cross)], EPISODES, None)


def test_a_donor_that_the_item_names_is_taken() -> None:
    items = [reaction("p1", "p", 0, 3, donor="s"), reaction("q1", "q", 0, 3), reaction("s1", "s", 4, 6)]
    found = other_reaction(items, EPISODES, None)
    assert found.donors["p1"].item == "s1"
    assert found.donors["p1"].window == (4.0, 6.0)
    with pytest.raises(InputError, match="item p1, donor"):
        other_reaction([reaction("p1", "p", 0, 3, donor="p"), *items[1:]], EPISODES, None)
