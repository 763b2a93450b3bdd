"""Each case exactly as many people as it needs: at once, over hours, over jumps of the clock."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onlooker.annotate import accounts
from onlooker.annotate.assigning import next_case, order_for
from onlooker.annotate.database import Database
from onlooker.annotate.submitting import Desk, Submission, draft, put_aside, submit

from .made import Hands, join, make_bundle, make_desk
from .test_store import good


def ask(desk: Desk, rater: str) -> str | None:
    work = next_case(desk.store, desk.study, desk.cases, rater)
    return None if work is None else work.case


def answer_all(desk: Desk, rater: str) -> list[str]:
    done = []
    while (case := ask(desk, rater)) is not None:
        submit(desk, rater, case, Submission(f"key-{case}-{rater}", 0, good(desk, case)), {})
        done.append(case)
    return done


@pytest.mark.parametrize("overlap", [1, 3])
def test_w01_twenty_who_ask_at_once_share_the_tasks(database: Database, tmp_path: Path, overlap: int) -> None:
    desk = make_desk(database, make_bundle(tmp_path / "b", 20), overlap=overlap)
    raters = [join(desk) for _ in range(20)]
    with ThreadPoolExecutor(20) as pool:
        first = list(pool.map(lambda rater: ask(desk, rater), raters))
        # Asking again, from another tab, gives the same task.
        assert list(pool.map(lambda rater: ask(desk, rater), raters)) == first
        assert max(Counter(first).values()) <= overlap
        done = list(pool.map(lambda rater: answer_all(desk, rater), raters))
    counts = Counter(case for cases in done for case in cases)
    assert counts == dict.fromkeys(desk.cases.ordinary, overlap)
    assert all(len(set(cases)) == len(cases) for cases in done)
    assert set(desk.store.held().values()) == {overlap}


def test_w03_one_who_finishes_all_takes_nothing_from_the_others(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle, overlap=3)
    everyone = [join(desk) for _ in range(4)]
    for rater in everyone[:3]:
        assert sorted(answer_all(desk, rater)) == ["q0", "q1", "q2", "q3"]
    assert ask(desk, everyone[3]) is None


def test_every_rater_has_an_order_of_his_own_that_is_stored(database: Database, tmp_path: Path) -> None:
    desk = make_desk(
        database,
        make_bundle(tmp_path / "b", 12),
        warm_up=["q3"],
        gold={"every": 4, "answers": {"q5": {"answer": ["B"]}}},
    )
    one, other = join(desk), join(desk)
    first, second = desk.store.order(one), desk.store.order(other)
    assert first != second
    assert first == order_for(desk.study, desk.cases, one)
    assert first[0] == second[0] == "q3"
    assert first[5] == "q5", "after four ordinary ones"
    assert sorted(first) == sorted(desk.cases.by_id)


def test_what_is_abandoned_goes_to_others_and_a_late_answer_does_not_count_twice(
    database: Database, tmp_path: Path
) -> None:
    hands = Hands()
    desk = make_desk(database, make_bundle(tmp_path / "b", 1), overlap=1, clock=hands.clock(), patience_min=10)
    slow, quick, late = join(desk), join(desk), join(desk)
    assert ask(desk, slow) == "q0"
    hands.go(9 * 60)
    draft(desk, slow, "q0", {"answer": ["A"]})
    hands.go(9 * 60)
    assert ask(desk, quick) is None, "typing is activity"
    hands.go(2 * 60)
    assert ask(desk, quick) == "q0"
    submit(desk, quick, "q0", Submission("key-quick", 0, {"answer": ["B"]}), {})
    kept = submit(desk, slow, "q0", Submission("key-slow", 0, {"answer": ["A"]}), {})
    assert kept.state == "surplus", "kept, and not counted"
    assert desk.store.held() == {"q0": 1}
    assert ask(desk, late) is None


def test_one_who_comes_back_in_time_goes_on_with_the_same_case(database: Database, tmp_path: Path) -> None:
    hands = Hands()
    desk = make_desk(database, make_bundle(tmp_path / "b", 1), overlap=1, clock=hands.clock(), patience_min=10)
    slow = join(desk)
    assert ask(desk, slow) == "q0"
    hands.go(3600)
    assert ask(desk, slow) == "q0"
    assert submit(desk, slow, "q0", Submission("key-slow", 0, {"answer": ["A"]}), {}).state == "answered"


@pytest.mark.parametrize("jump", [86_400.0 * 365, -86_400.0 * 365])
def test_a_jump_of_the_clock_takes_nothing_from_anybody(database: Database, tmp_path: Path, jump: float) -> None:
    hands = Hands()
    desk = make_desk(database, make_bundle(tmp_path / "b", 1), overlap=1, clock=hands.clock(), patience_min=10)
    one, other = join(desk), join(desk)
    assert ask(desk, one) == "q0"
    hands.wall += jump
    assert ask(desk, other) is None
    work = submit(desk, one, "q0", Submission("key-one", 0, {"answer": ["A"]}), {})
    assert work.seconds == 0.0


def test_time_in_which_the_server_was_down_counts_for_nobody(database: Database, tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path / "b", 1)
    hands = Hands()
    desk = make_desk(database, bundle, overlap=1, clock=hands.clock(), patience_min=10)
    one, other = join(desk), join(desk)
    assert ask(desk, one) == "q0"
    again = Hands()  # another boot: its steady clock begins anew
    again.steady, again.wall = 3.0, hands.wall + 7 * 86_400
    desk = make_desk(database, bundle, overlap=1, clock=again.clock(), patience_min=10)
    assert ask(desk, other) is None
    again.go(11 * 60)
    assert ask(desk, other) == "q0"


def test_skipped_comes_back_last_and_cannot_play_is_no_rating(database: Database, tmp_path: Path) -> None:
    """W07: a report on the medium frees the case for others and is in no count of answers."""
    desk = make_desk(database, make_bundle(tmp_path / "b", 3), overlap=1)
    rater = join(desk)
    first = ask(desk, rater)
    assert first is not None
    put_aside(desk, rater, first, "skipped", "key-skip-1")
    second = ask(desk, rater)
    assert second not in {None, first}
    assert second is not None
    put_aside(desk, rater, second, "cannot_play", "key-cannot", "blank picture")
    rest = answer_all(desk, rater)
    assert rest[-1] == first
    assert second not in rest
    assert desk.store.held()[second] == 0
    assert answer_all(desk, join(desk)) == [second]


def test_w15_a_rater_who_leaves_detached_or_deleted(database: Database, tmp_path: Path) -> None:
    desk = make_desk(database, make_bundle(tmp_path / "b", 5), overlap=1)
    kept, gone, third = join(desk, name="Kim Kept"), join(desk, name="Gil Gone"), join(desk)
    for rater, number in ((kept, 2), (gone, 2)):
        for _ in range(number):
            case = ask(desk, rater)
            assert case is not None
            submit(desk, rater, case, Submission(f"key-{rater}-{case}", 0, good(desk, case)), {})
    open_case = ask(desk, gone)
    accounts.withdraw(desk.store, kept, "detach")
    accounts.withdraw(desk.store, gone, "delete")
    works = {(w.rater, w.state) for w in desk.store.works()}
    assert works == {(kept, "answered"), (gone, "withdrawn")}
    held = desk.store.held()
    assert sorted(held.values()) == [0, 0, 0, 1, 1], "what was deleted is wanted again"
    assert open_case is not None
    assert held[open_case] == 0
    assert len(answer_all(desk, third)) == 3
    assert desk.store.database.rows("SELECT * FROM people") == []
    bodies = [event.body for event in desk.store.events(rater=gone) if event.kind != "withdrawn"]
    assert set(map(str, bodies)) == {"None"}
    assert [(e.rater, (e.body or {})["mode"]) for e in desk.store.events("withdrawn")] == [
        (kept, "detach"),
        (gone, "delete"),
    ]
    works_anew, held_anew = desk.store.replay()
    assert works_anew == {(w.rater, w.case): w for w in desk.store.works()}
    assert held_anew == desk.store.held()


def test_names_kept_for_too_long_are_told(database: Database, tmp_path: Path) -> None:
    hands = Hands()
    settings: dict[str, Any] = {"retention": {"days": 30}}
    desk = make_desk(database, make_bundle(tmp_path / "b"), clock=hands.clock(), **settings)
    named = join(desk, name="Kim")
    join(desk)
    assert accounts.overdue_names(desk.store, desk.study) == []
    hands.go(31 * 86_400)
    assert accounts.overdue_names(desk.store, desk.study) == [named]
    accounts.withdraw(desk.store, named, "detach")
    assert accounts.overdue_names(desk.store, desk.study) == []
