"""Votes over a bundle."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.score.vote import vote_models
from tests.score.made import Made, choice, said


@pytest.fixture
def made(tmp_path: Path) -> Made:
    items = [
        choice("q0", "e0", capability="G"),
        choice("q1", "e1", capability="T", select="all"),
        {"id": "q2", "episode": "e1", "task": "open", "question": "Why?", "labels": {"capability": "T"}},
    ]
    answers = [["A"], ["A", "B"], "since"]
    references = [{"item": f"q{i}", "answer": a} for i, a in enumerate(answers)]
    return Made(tmp_path, FAMILY, items, references, episodes=[{"id": "e0", "labels": {"place": "home"}}])


def test_a_set_of_options_is_one_vote_and_open_questions_have_none(made: Made) -> None:
    replies = {"x": ("A", "A, B"), "y": ("A", "B and A"), "z": ("C", "A"), "w": ("hm", "B")}
    rows = [said(f"q{i}", raw, model=m) for m, both in replies.items() for i, raw in enumerate(both)]
    report = vote_models(made.bundle, FAMILY, [made.predictions(rows)]).report
    # Each question: two of four electors name the answer: the most, but not more than half.
    assert report["overall"] == {
        "best": 1,
        "best_model": "x",
        "oracle": 1,
        "plurality": 1,
        "majority": 0,
        "ties": 0,
        "n": 2,
    }
    assert set(report["groups"]) == {"G", "T"}
    assert report["groups"]["T"]["n"] == 1


def test_several_conditions_or_seeds_need_a_choice(made: Made) -> None:
    file = made.predictions([said("q0", "A"), said("q0", "A", condition="d")])
    with pytest.raises(InputError, match="--condition"):
        vote_models(made.bundle, FAMILY, [file])
    assert vote_models(made.bundle, FAMILY, [file], condition="d").report["condition"] == "d"
    with pytest.raises(InputError, match="no predictions of this condition"):
        vote_models(made.bundle, FAMILY, [file], condition="x")
    seeds = made.predictions([said("q0", "A", seed=1), said("q0", "A", seed=2)])
    with pytest.raises(InputError, match="several seeds"):
        vote_models(made.bundle, FAMILY, [seeds])


def test_a_label_that_no_item_has_is_an_error(made: Made) -> None:
    file = made.predictions([said("q0", "A")])
    with pytest.raises(InputError) as caught:
        vote_models(made.bundle, FAMILY, [file], by="mood")
    assert str(caught.value) == "--by: no item has this label, found 'mood'. Remedy: one of capability, place"
    found = vote_models(made.bundle, FAMILY, [file], by="place")
    assert found.report["groups"]["home"]["n"] == 1


def test_a_label_of_items_without_a_vote_groups_nothing_and_says_so(tmp_path: Path) -> None:
    items = [
        choice("q0", "e0"),
        {"id": "q1", "episode": "e0", "task": "open", "question": "Why?", "labels": {"capability": "T"}},
    ]
    made = Made(tmp_path, FAMILY, items, [{"item": "q0", "answer": ["A"]}, {"item": "q1", "answer": "since"}])
    found = vote_models(made.bundle, FAMILY, [made.predictions([said("q0", "A")])])
    assert found.report["groups"] == {}
    assert found.notes == ["no item that counts has the label capability"]


def test_files_without_a_row(made: Made) -> None:
    empty = made.predictions([], "empty.jsonl")
    with pytest.raises(InputError) as caught:
        vote_models(made.bundle, FAMILY, [empty])
    assert str(caught.value) == (
        "--predictions: no predictions to vote with. Remedy: pass files with predictions: those given have no row"
    )
    found = vote_models(made.bundle, FAMILY, [empty, made.predictions([said("q0", "A")])])
    assert found.notes == [f"no predictions in {empty}"]
