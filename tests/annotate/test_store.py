"""Events as the only truth: nothing changes, everything else can be made anew, on both databases."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onlooker.annotate import accounts
from onlooker.annotate.answers import AnswerRefused
from onlooker.annotate.assigning import next_case
from onlooker.annotate.database import Database, open_database
from onlooker.annotate.store import Store
from onlooker.annotate.submitting import Conflict, Desk, Submission, draft, played, put_aside, submit
from onlooker.errors import InputError, OnlookerError

from . import cluster
from .made import Hands, join, make_bundle, make_desk

ROOT = Path(__file__).parents[2]


def good(desk: Desk, case: str) -> dict[str, Any]:
    return {"answer": ["B"] if desk.cases.by_id[case].item.task == "choice" else "because"}


def answer(desk: Desk, rater: str, case: str, key: str = "", base: int = 0) -> None:
    submit(desk, rater, case, Submission(key or f"key-{rater}-{case}-{base}", base, good(desk, case)), {})


def test_events_cannot_be_changed_or_removed_even_by_sql(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle)
    rater = join(desk)
    for statement in (
        "DELETE FROM events",
        "UPDATE events SET body = '{}'",
        "UPDATE events SET rater = 'r-other'",
        "UPDATE events SET body = NULL, at = 0",
    ):
        with pytest.raises(OnlookerError, match=r"events (only grow|never change)"), database.transaction():
            database.run(statement)
    assert [event.kind for event in desk.store.events(rater=rater)] == ["joined", "logged_in"]


@pytest.mark.parametrize("seed", range(3))
def test_work_and_counts_follow_from_the_events_alone(database: Database, tmp_path: Path, seed: int) -> None:
    """Whatever people do in whatever order, replaying the events gives the tables, to the last field."""
    dice = random.Random(seed)
    hands = Hands()
    desk = make_desk(
        database, make_bundle(tmp_path / "b", 8), overlap=2, clock=hands.clock(), patience_min=1, warm_up=["q1"]
    )
    raters = [join(desk) for _ in range(5)]
    for step in range(150):
        hands.go(dice.choice([0.5, 5, 70]))
        rater = dice.choice(raters)
        if desk.store.rater(rater).state != "active":  # type: ignore[union-attr]
            continue
        works = desk.store.works(rater=rater)
        act = dice.choice(
            ["next", "next", "next", "answer", "answer", "change", "draft", "play", "skip", "optout", "leave"]
        )
        if act == "next" or not works:
            next_case(desk.store, desk.study, desk.cases, rater)
            continue
        work = dice.choice(works)
        match act:
            case "answer" | "change":
                sent = Submission(f"key-{step}-xx", work.version, good(desk, work.case))
                submit(desk, rater, work.case, sent, {})
            case "optout":
                submit(desk, rater, work.case, Submission(f"key-{step}-xx", work.version, opt_out="unclear"), {})
            case "draft":
                draft(desk, rater, work.case, {"answer": f"typed {step} \u0000 \U0001f600 '\""})
            case "play":
                played(desk, rater, work.case, {"video": [[step / 10, step / 10 + 0.3]]})
            case "skip":
                put_aside(desk, rater, work.case, dice.choice(["skipped", "cannot_play"]), f"key-{step}-xx")
            case "leave" if step > 100:
                accounts.withdraw(desk.store, rater, dice.choice(["detach", "delete"]))
    before_works = {(w.rater, w.case): w for w in desk.store.works()}
    before_held = desk.store.held()
    works_anew, held_anew = desk.store.replay()
    assert works_anew == before_works
    assert held_anew == before_held
    desk.store.rebuild()
    assert {(w.rater, w.case): w for w in desk.store.works()} == before_works
    assert desk.store.held() == before_held
    assert all(held <= 2 for case, held in before_held.items() if desk.cases.by_id[case].kind == "plain")


def test_a_change_is_a_new_event_and_the_first_answer_stays(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle)
    rater = join(desk)
    work = next_case(desk.store, desk.study, desk.cases, rater)
    assert work is not None
    first = submit(desk, rater, work.case, Submission("key-first", 0, {"answer": ["A"]}), {})
    second = submit(desk, rater, work.case, Submission("key-second", first.version, {"answer": ["B"]}), {})
    assert second.answer == {"answer": ["B"]}
    told = desk.store.events("answered", "changed", rater=rater)
    assert [(e.kind, (e.body or {})["answer"]) for e in told] == [
        ("answered", {"answer": ["A"]}),
        ("changed", {"answer": ["B"]}),
    ]


def test_w04_double_click_and_two_tabs_give_one_record(database: Database, bundle: Path) -> None:
    """One key is stored once however often it arrives; a second tab is warned, and neither answer is lost."""
    desk = make_desk(database, bundle)
    rater = join(desk)
    work = next_case(desk.store, desk.study, desk.cases, rater)
    assert work is not None
    sent = Submission("key-of-tab-one", 0, {"answer": ["A"]})
    first = submit(desk, rater, work.case, sent, {})
    assert submit(desk, rater, work.case, sent, {}) == first
    # The other tab, opened before, says the same: nothing new is stored, and nothing is wrong.
    assert submit(desk, rater, work.case, Submission("key-of-tab-two", 0, {"answer": ["A"]}), {}) == first
    with pytest.raises(Conflict) as warned:
        submit(desk, rater, work.case, Submission("key-of-tab-three", 0, {"answer": ["B"]}), {})
    assert warned.value.work == first
    assert len(desk.store.events("answered", "changed", rater=rater)) == 1
    submit(desk, rater, work.case, Submission("key-after-warning", first.version, {"answer": ["B"]}), {})
    assert [e.kind for e in desk.store.events("answered", "changed", rater=rater)] == ["answered", "changed"]


@pytest.mark.parametrize(
    "wrong",
    [None, {}, {"answer": []}, {"answer": ["C"]}, {"answer": ["A", "B"]}, {"answer": "A"}, {"answer": ["A"], "x": 1}],
)
def test_what_is_no_answer_is_refused_with_its_reason(database: Database, bundle: Path, wrong: object) -> None:
    desk = make_desk(database, bundle)
    rater = join(desk)
    work = next_case(desk.store, desk.study, desk.cases, rater)
    assert work is not None
    with pytest.raises(AnswerRefused) as refused:
        submit(desk, rater, work.case, Submission("key-wrong", 0, wrong), {})
    assert refused.value.faults
    assert desk.store.events("answered", rater=rater) == []


def test_a_database_refuses_another_study(database: Database, bundle: Path) -> None:
    make_desk(database, bundle)
    make_desk(database, bundle, overlap=5, breaks={"every_min": 10})
    with pytest.raises(InputError, match="the seed differs"):
        make_desk(database, bundle, seed=8)
    with pytest.raises(InputError, match="the cases differs"):
        make_desk(database, bundle, items={"ids": ["q1"]})


def test_what_a_newer_version_wrote_is_not_touched(database: Database, bundle: Path) -> None:
    make_desk(database, bundle)
    with database.transaction():
        database.run("INSERT INTO migrations VALUES ('m999_future', 0)")
    with pytest.raises(InputError, match="newer onlooker"):
        Store(database)


def test_what_is_acknowledged_survives_kill_9(address: str, tmp_path: Path) -> None:
    """A process that answers as fast as it can is killed; every answer that it acknowledged is there."""
    make_bundle(tmp_path / "bundle", 40)
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from onlooker.annotate.assigning import next_case
        from onlooker.annotate.database import open_database
        from onlooker.annotate.submitting import Submission, submit
        from tests.annotate.made import join, make_desk
        desk = make_desk(open_database(sys.argv[1], "killed"), Path(sys.argv[2]), overlap=50)
        while True:
            rater = join(desk)
            while (work := next_case(desk.store, desk.study, desk.cases, rater)) is not None:
                is_choice = desk.cases.by_id[work.case].item.task == "choice"
                sent = Submission("key-" + work.case, 0, {"answer": ["B"] if is_choice else "why"})
                submit(desk, rater, work.case, sent, {})
                print(rater, work.case, flush=True)
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, address, str(tmp_path / "bundle")],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path.cwd(),
    )
    assert process.stdout is not None
    told = [process.stdout.readline().split() for _ in range(60)]
    os.kill(process.pid, signal.SIGKILL)
    told += [line.split() for line in process.stdout.read().splitlines(keepends=False) if len(line.split()) == 2]
    process.wait()
    process.stdout.close()
    desk = make_desk(open_database(address, "killed"), tmp_path / "bundle", overlap=50)
    there = {(w.rater, w.case) for w in desk.store.works() if w.state == "answered"}
    assert {tuple(pair) for pair in told} <= there
    assert len(there) <= len(told) + 1
    desk.store.database.close()


def test_a_snapshot_is_of_one_moment_and_stops_no_writer(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle)
    join(desk)
    with database.snapshot():
        before = desk.store.raters()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(join, desk).result(timeout=20)
        assert desk.store.raters() == before
    assert len(desk.store.raters()) == len(before) + 1


def test_a_transaction_that_fails_leaves_nothing(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle)
    before = desk.store.events()

    def half() -> None:
        with database.transaction():
            desk.store.append("paused", rater="r-none")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert desk.store.events() == before


@pytest.mark.skipif(not cluster.is_installed(), reason=cluster.ABSENT)
def test_a_restart_of_the_postgresql_server_is_one_failed_request(tmp_path: Path) -> None:
    """What was acknowledged is there, the next request says what is wrong, the one after works."""
    pytest.importorskip("psycopg")
    with cluster.cluster() as address:
        desk = make_desk(open_database(address, "restarted"), make_bundle(tmp_path / "bundle"))
        rater = join(desk)
        cluster.restart(address)
        with pytest.raises(OnlookerError, match=r"what it holds is kept.*Remedy"):
            join(desk)
        join(desk)
        assert rater in {one.id for one in desk.store.raters()}
        desk.store.database.close()
    with pytest.raises(OnlookerError) as told:
        open_database(address.replace("onlooker@", "onlooker:password@"), "gone")
    assert "password" not in str(told.value)
