"""The book of calls: keys by content, every attempt with its cost, hits, kills, two processes (R01, R02, R09, R10)."""

from __future__ import annotations

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.errors import InputError, OnlookerError
from onlooker.models.book import BOOK_NAME, CallBook, Kept, Try, call_sha256
from onlooker.models.claim import Claim
from onlooker.models.request import Image, Options, Reply, Request, Sound, Text

FRAME = Image(b"jpeg", 1.0, "0" * 64)
BASE = Request((Text("Who smiles?"), FRAME, Options(("A", "B"), ("she", "he"))), seed=1)
PRINT = {"kind": "openai", "model": "m", "endpoint": "https://one"}


def attempt(call: str, reply: Reply | None, outcome: str = "ok", *, role: str = "evaluated") -> Try:
    cost = None if reply is None else reply.cost_usd
    return Try(call, "origin q1", role, "https://one", "openai:m", 1.0, 0.5, outcome, "", reply, cost)


@pytest.mark.parametrize(
    ("fingerprint", "request_"),
    [
        pytest.param({**PRINT, "model": "n"}, BASE, id="model"),
        pytest.param({**PRINT, "endpoint": "https://two"}, BASE, id="endpoint"),
        pytest.param({**PRINT, "adapter": "lora-2"}, BASE, id="adapter"),
        pytest.param(PRINT, dataclasses.replace(BASE, temperature=0.7), id="temperature"),
        pytest.param(PRINT, dataclasses.replace(BASE, max_output_tokens=9), id="max tokens"),
        pytest.param(PRINT, dataclasses.replace(BASE, seed=2), id="seed"),
        pytest.param(PRINT, dataclasses.replace(BASE, top_p=0.9), id="top_p"),
        pytest.param(PRINT, dataclasses.replace(BASE, thinking_tokens=0), id="thinking"),
        pytest.param(PRINT, dataclasses.replace(BASE, json_object=True), id="json mode"),
        pytest.param(PRINT, dataclasses.replace(BASE, system="Be brief."), id="system prompt"),
        pytest.param(PRINT, dataclasses.replace(BASE, parts=(BASE.parts[1], BASE.parts[0], BASE.parts[2])), id="order"),
        pytest.param(
            PRINT,
            dataclasses.replace(BASE, parts=(*BASE.parts[:2], Options(("A", "B"), ("he", "she")))),
            id="option order",
        ),
        pytest.param(
            PRINT, dataclasses.replace(BASE, parts=(Text("Who smiled?"), *BASE.parts[1:])), id="subtitle text"
        ),
        pytest.param(
            PRINT,
            dataclasses.replace(BASE, parts=(BASE.parts[0], Image(b"jpeh", 1.0, "0" * 64), BASE.parts[2])),
            id="video bytes",
        ),
        pytest.param(PRINT, dataclasses.replace(BASE, parts=(*BASE.parts, FRAME)), id="number of frames"),
        pytest.param(
            PRINT,
            dataclasses.replace(BASE, parts=(BASE.parts[0], Sound(b"jpeg", 0, 1, "0" * 64), BASE.parts[2])),
            id="kind of part",
        ),
    ],
)
def test_whatever_changes_the_call_changes_its_key(fingerprint: dict[str, str], request_: Request) -> None:
    """Cases R01 and R02."""
    assert call_sha256(fingerprint, request_) != call_sha256(PRINT, BASE)


def test_the_same_content_has_the_same_key_in_another_process_and_samples_differ() -> None:
    here = call_sha256(PRINT, BASE)
    code = "from tests.models.test_book import *; print(call_sha256(PRINT, BASE))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == here
    assert call_sha256(dict(reversed(PRINT.items())), BASE) == here
    assert call_sha256(PRINT, BASE, 1) != here


@settings(max_examples=40, deadline=None)
@given(
    text=st.text(),
    tokens=st.none() | st.integers(0, 10**9),
    cost=st.none() | st.floats(0, 1e6),
    details=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.none(), max_size=3),
)
def test_an_answer_comes_back_as_it_was(
    tmp_path_factory: Any, text: str, tokens: int | None, cost: float | None, details: dict[str, object]
) -> None:
    book = CallBook(tmp_path_factory.mktemp("b") / "b.sqlite")
    reply = Reply(text, "ok", tokens, 1, tokens, cost, "m-2026", details)
    book.note(attempt("call", reply), keep=True)
    assert book.answer("call") == Kept(reply, 0.5)
    book.close()


def test_an_answer_never_changes_and_what_is_not_kept_is_no_answer(tmp_path: Path) -> None:
    book = CallBook(tmp_path / "b.sqlite")
    book.note(attempt("a", Reply("", "empty", 5, 0)), keep=False)
    assert book.answer("a") is None
    book.note(attempt("a", Reply("first", "ok")), keep=True)
    book.keep("a", "m", Kept(Reply("second", "ok"), 1.0))
    kept = book.answer("a")
    assert kept is not None
    assert kept.reply.text == "first"
    assert [t["outcome"] for t in book.tries()] == ["ok", "ok"]  # as noted: the attempt helper says ok
    book.close()


def test_spending_by_path_model_and_role(tmp_path: Path) -> None:
    """Two paid replies (one unusable), one failure, one of unknown cost, one hit: by hand."""
    book = CallBook(tmp_path / "b.sqlite")
    book.note(attempt("a", Reply("", "empty", 100, 0, None, 0.25), "empty"), keep=False)
    book.note(attempt("a", Reply("B", "ok", 100, 10, 40, 0.5)), keep=True)
    book.note(attempt("b", None, "TransientModelError"), keep=False)
    book.note(attempt("c", Reply("B", "ok", 7, 3), role="judge"), keep=True)
    book.hit("evaluated", "https://one", "openai:m")
    book.hit("question", "https://one", "openai:m")
    found = {s.role: s for s in book.spending()}
    one = found["evaluated"]
    assert (one.calls, one.attempts, one.failed, one.hits) == (2, 3, 1, 1)
    assert (one.input_tokens, one.output_tokens, one.cached_tokens) == (200, 10, 40)
    assert (one.cost_usd, one.unpriced, one.seconds) == (0.75, 0, 1.5)
    judge = found["judge"]
    assert (judge.calls, judge.cost_usd, judge.unpriced, judge.cached_tokens) == (1, None, 1, None)
    assert (found["question"].attempts, found["question"].hits, found["question"].cost_usd) == (0, 1, None)
    book.close()
    again = CallBook(tmp_path / "b.sqlite")
    assert {s.role: s.hits for s in again.spending()} == {"evaluated": 1, "judge": 0, "question": 1}
    again.close()


def test_an_attempt_under_way_at_a_kill_stays_in_the_book_without_a_cost(tmp_path: Path) -> None:
    code = textwrap.dedent(
        """
        import os, signal, sys
        from pathlib import Path
        from tests.models.test_book import *
        book = CallBook(Path(sys.argv[1]))
        begun = book.begin(attempt("a", None))
        book.note(attempt("a", Reply("A", "ok", 5, 1, None, 0.5)), keep=True, begun=begun)
        book.begin(attempt("b", None))
        os.kill(os.getpid(), signal.SIGKILL)
        """
    )
    path = tmp_path / "b.sqlite"
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == -signal.SIGKILL
    book = CallBook(path)
    assert [(t["call_sha256"], t["outcome"]) for t in book.tries()] == [("a", "ok"), ("b", "sent")]
    [spent] = book.spending()
    assert (spent.calls, spent.attempts, spent.failed, spent.cost_usd, spent.unpriced) == (2, 2, 1, 0.5, 0)
    book.close()


def test_a_damaged_cache_stops_with_a_message(tmp_path: Path) -> None:
    """Case R09: random bytes, and a folder where the file should be."""
    (tmp_path / BOOK_NAME).write_bytes(os.urandom(8192))
    with pytest.raises(InputError, match="cannot be opened"):
        CallBook.shared(tmp_path)
    (tmp_path / "other" / BOOK_NAME).mkdir(parents=True)
    with pytest.raises(InputError, match="cannot be opened"):
        CallBook.shared(tmp_path / "other")


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match="the folder cannot be made"):
        CallBook.shared(tmp_path / "file" / "cache")
    with pytest.raises(OnlookerError, match="a call cannot be claimed"):
        Claim.take(tmp_path / "file" / "claims", "call")


def test_a_book_damaged_in_the_middle_says_so_when_it_is_read(tmp_path: Path) -> None:
    book = CallBook(tmp_path / "b.sqlite")
    for n in range(400):
        book.note(attempt(f"call {n}", Reply("x" * 200, "ok")), keep=True)
    book.close()
    data = bytearray((tmp_path / "b.sqlite").read_bytes())
    data[8192 : len(data) // 2] = os.urandom(len(data) // 2 - 8192)
    (tmp_path / "b.sqlite").write_bytes(data)

    def read() -> None:
        book = CallBook(tmp_path / "b.sqlite")
        try:
            for n in range(400):
                book.answer(f"call {n}")
            list(book.tries())
        finally:
            book.close()

    with pytest.raises(InputError, match="cannot be opened"):
        read()


def test_two_processes_write_one_book(tmp_path: Path) -> None:
    """Case R10."""
    writer = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.models.test_book import *
        book = CallBook(Path(sys.argv[1]))
        for n in range(200):
            book.note(attempt(f"{sys.argv[2]} {n}", Reply("x", "ok", 1, 1)), keep=True)
            book.hit("evaluated", "https://one", "openai:m")
        book.close()
        """
    )
    path = tmp_path / "b.sqlite"
    many = [subprocess.Popen([sys.executable, "-c", writer, str(path), str(who)]) for who in range(3)]
    assert [p.wait() for p in many] == [0] * 3
    book = CallBook(path)
    [spent] = book.spending()
    assert (spent.calls, spent.attempts, spent.hits, spent.input_tokens) == (600, 600, 600, 600)
    book.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_a_full_disk_loses_no_committed_attempt(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's."""
    writer = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from onlooker.errors import OnlookerError
        from tests.models.test_book import *
        book = CallBook(Path(sys.argv[1]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        try:
            for n in range(100_000):
                book.note(attempt(f"call {n}", Reply("x" * 200, "ok", 1, 1)), keep=True)
                print(n, flush=True)
        except OnlookerError as error:
            print(error, file=sys.stderr)
        """
    )
    path = tmp_path / "b.sqlite"
    done = subprocess.run([sys.executable, "-c", writer, str(path)], capture_output=True, text=True, check=True)
    assert "cannot be written" in done.stderr
    committed = len(done.stdout.split())
    assert committed > 10
    book = CallBook(path)
    assert sum(1 for _ in book.tries()) == committed
    assert all(book.answer(f"call {n}") for n in range(committed))
    book.close()


def test_a_claim_is_held_by_one_and_freed_by_death(tmp_path: Path) -> None:
    holder = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from onlooker.models.claim import Claim
        claim = Claim.take(Path(sys.argv[1]), "call")
        print(claim is not None, flush=True)
        time.sleep(60)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", holder, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    assert Claim.take(tmp_path, "call") is None
    other = Claim.take(tmp_path, "another")
    assert other is not None
    assert Claim.take(tmp_path, "another") is None  # also inside one process
    other.release()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    freed = Claim.take(tmp_path, "call")
    assert freed is not None
    freed.release()
    assert list(tmp_path.iterdir()) == []


def test_reading_an_answer_again_is_cheap(tmp_path: Path) -> None:
    """At most 0.1 ms; the bound here leaves room for a busy machine."""
    book = CallBook(tmp_path / "b.sqlite")
    with book.transaction():
        for n in range(1000):
            book.keep(f"call {n}", "m", Kept(Reply("x" * 500, "ok"), 0.1))
    started = time.process_time()
    for n in range(1000):
        assert book.answer(f"call {n}") is not None
        book.hit("evaluated", "p", "m")
    spent_ms = time.process_time() - started
    book.close()
    assert spent_ms < 0.3, f"{spent_ms:.3f} ms an answer"


def test_an_attempt_that_ended_since_the_last_time_takes_the_place_of_its_beginning(tmp_path: Path) -> None:
    """A shard that was merged while it was at work, and again afterwards."""
    shard, whole = CallBook(tmp_path / "shard.sqlite"), CallBook(tmp_path / "whole.sqlite")
    reply = Reply("A", "ok", 5, 1, cost_usd=2.0)
    begun = shard.begin(attempt("a", None))
    whole.absorb(shard)
    shard.note(attempt("a", reply), keep=True, begun=begun)
    for _ in range(2):
        whole.absorb(shard)
        assert [t["outcome"] for t in whole.tries()] == ["ok"]
    [spent] = whole.spending()
    assert (spent.attempts, spent.failed, spent.cost_usd) == (1, 0, 2.0)
    shard.close()
    whole.close()


def test_a_book_of_the_release_before_is_brought_up_to_date(tmp_path: Path) -> None:
    from onlooker.models.book import _MIGRATIONS

    path = tmp_path / BOOK_NAME
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT")
        for statement in _MIGRATIONS["book_m001_initial"]:
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES ('book_m001_initial', 0)")
        db.execute(
            "INSERT INTO tries VALUES (1, 'a', 'q1', 'evaluated', 'p', 'm', NULL, 1.0, 2.0, 'ok', '', 1, NULL, 7, 1,"
            " NULL, 3.5)"
        )
    db.close()
    book = CallBook(path)
    assert book.spent_usd("evaluated") == 3.5
    assert [t["most_usd"] for t in book.tries()] == [None]
    book.close()
