from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from onlooker.errors import InputError, OnlookerError, RunLocked
from onlooker.models.book import Try
from onlooker.models.request import Reply
from onlooker.run.execute import Session
from onlooker.run.ledger import _MIGRATIONS, LEDGER_NAME, ROLE, CallKey, Entry, Ledger
from onlooker.run.lock import locked
from tests.run.test_session import Noting


def entry(item: str, *, raw: str = "A", final: bool = True, seed: int | None = None) -> Entry:
    return Entry(CallKey(item, None, "origin", seed), "0" * 64, final, {"item": item, "raw": raw}, {"item": item})


def test_what_was_recorded_is_there_after_reopening(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    rows = [entry("a"), entry("b", seed=0), entry("b", seed=1), entry('\u2028 😀 "')]
    for row in rows:
        ledger.record(row)
    ledger.close()
    again = Ledger(tmp_path / "l.sqlite")
    assert sorted(again.entries(), key=lambda e: e.key.columns()) == sorted(rows, key=lambda e: e.key.columns())
    assert again.finished() == {row.key: True for row in rows}
    again.close()


def test_a_final_answer_is_never_replaced_and_a_failure_is(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger.record(entry("a", raw="", final=False))
    ledger.record(entry("a", raw="B"))
    with pytest.raises(OnlookerError, match="already has its final answer"):
        ledger.record(entry("a", raw="C"))
    assert [e.prediction["raw"] for e in ledger.entries()] == ["B"]
    ledger.close()


def attempt(call: str, outcome: str, *, role: str = ROLE, reply: Reply | None = None) -> Try:
    cost = None if reply is None else reply.cost_usd
    return Try(call, "origin a", role, "http://one", "m", 0.0, 1.5, outcome, "", reply, cost)


def test_totals_count_every_attempt_and_keep_unknown_unknown(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger.book.note(attempt("a", "TransientModelError"), keep=False)
    assert ledger.totals()["input_tokens"] is None
    assert ledger.totals()["cost_usd"] is None
    ledger.book.note(attempt("a", "ok", reply=Reply("A", "ok", 10, 0, cost_usd=0.25)), keep=True)
    ledger.book.note(attempt("b", "ok", role="judge", reply=Reply("A", "ok", 99, 99)), keep=True)
    totals = ledger.totals()
    assert {name: totals[name] for name in ("attempts", "call_seconds", "input_tokens", "output_tokens")} == {
        "attempts": 2,
        "call_seconds": 3.0,
        "input_tokens": 10,
        "output_tokens": 0,
    }
    assert totals["cost_usd"] == 0.25
    ledger.close()


def test_a_ledger_of_before_the_book_keeps_its_attempts(tmp_path: Path) -> None:
    """What the first version wrote: the attempts had a table of their own."""
    path = tmp_path / "l.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT")
        for statement in _MIGRATIONS["m001_initial"]:
            db.execute(statement)
        db.execute("INSERT INTO migrations VALUES ('m001_initial', 0)")
        values = ("a", "", "origin", "", "sha", 1, '{"model": "m"}', "{}", 0.0)
        db.execute("INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        db.execute("INSERT INTO attempts VALUES (1, 'a', '', 'origin', '', 5.0, 2.0, 'ok', '', 7, 1)")
    db.close()
    ledger = Ledger(path)
    assert ledger.finished() == {CallKey("a", None, "origin", None): True}
    [spent] = ledger.book.spending()
    assert (spent.model, spent.role, spent.attempts, spent.input_tokens, spent.output_tokens) == ("m", ROLE, 1, 7, 1)
    assert (spent.cost_usd, spent.unpriced) == (None, 1)
    ledger.close()


@pytest.mark.parametrize("content", [b"", b"not a database at all, but long enough to be read as one" * 40])
def test_a_broken_ledger_stops_with_a_message_and_is_not_overwritten(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "l.sqlite"
    path.write_bytes(content)
    if not content:  # SQLite takes an empty file for a new database, and nothing is lost by that
        Ledger(path).close()
        return
    with pytest.raises(InputError, match="cannot be opened"):
        Ledger(path)
    assert path.read_bytes() == content


def test_a_ledger_of_a_newer_onlooker_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.sqlite"
    Ledger(path).close()
    with sqlite3.connect(path) as db:
        db.execute("INSERT INTO migrations VALUES ('m999_future', 0)")
    db.close()
    with pytest.raises(InputError, match="m999_future"):
        Ledger(path)


def test_kill_at_any_moment_loses_no_committed_row(tmp_path: Path) -> None:
    """The writer prints an id after its commit; whatever was printed before SIGKILL is in the ledger (case R03)."""
    writer = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.run.test_ledger import entry
        from onlooker.run.ledger import Ledger
        ledger = Ledger(Path(sys.argv[1]))
        start = len(ledger.finished())
        for n in range(start, start + 100_000):
            ledger.record(entry(f"i{n}", raw="x" * 200))
            print(n, flush=True)
        """
    )
    path = tmp_path / "l.sqlite"
    committed = -1
    for delay in (0.0, 0.002, 0.005, 0.011, 0.023):
        process = subprocess.Popen([sys.executable, "-c", writer, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        committed = max(committed, int(process.stdout.readline()))
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        for line in process.stdout.read().split("\n"):
            if line.isdigit():
                committed = max(committed, int(line))
        process.wait()
        process.stdout.close()
        ledger = Ledger(path)
        assert len(ledger.finished()) >= committed + 1
        ledger.close()


def test_two_writers_do_not_lose_rows_or_fail(tmp_path: Path) -> None:
    """Case R10, with two processes."""
    writer = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.run.test_ledger import entry
        from onlooker.run.ledger import Ledger
        ledger = Ledger(Path(sys.argv[1]))
        for n in range(100):
            ledger.record(entry(f"{sys.argv[2]}-{n}"))
        """
    )
    path = tmp_path / "l.sqlite"
    both = [subprocess.Popen([sys.executable, "-c", writer, str(path), who]) for who in "ab"]
    assert [p.wait() for p in both] == [0, 0]
    ledger = Ledger(path)
    assert len(ledger.finished()) == 200
    ledger.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    db.close()


def test_one_live_process_a_folder_and_a_dead_one_does_not_count(tmp_path: Path) -> None:
    """Case R06: two live runs are refused; the lock of a killed owner is free."""
    holder = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from onlooker.run.lock import locked
        with locked(Path(sys.argv[1])):
            print("held", flush=True)
            time.sleep(60)
        """
    )
    process = subprocess.Popen([sys.executable, "-c", holder, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(RunLocked, match=f"another process \\({process.pid}\\)"), locked(tmp_path):
        pass
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with locked(tmp_path):
        pass


def test_a_full_disk_stops_with_a_message_and_loses_nothing(tmp_path: Path) -> None:
    """The limit on a file's size stands for the disk's: SQLite is refused in the same place."""
    writer = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from onlooker.errors import OnlookerError
        from tests.run.test_ledger import entry
        from onlooker.run.ledger import Ledger
        ledger = Ledger(Path(sys.argv[1]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        try:
            for n in range(100_000):
                ledger.record(entry(f"i{n}", raw="x" * 200))
                print(n, flush=True)
        except OnlookerError as error:
            print(error, file=sys.stderr)
        """
    )
    path = tmp_path / "l.sqlite"
    done = subprocess.run([sys.executable, "-c", writer, str(path)], capture_output=True, text=True, check=True)
    assert "the ledger cannot be written" in done.stderr
    committed = len(done.stdout.split())
    assert committed > 10
    ledger = Ledger(path)
    assert len(ledger.finished()) == committed
    ledger.close()


def test_many_that_open_a_new_ledger_at_once_all_succeed(tmp_path: Path) -> None:
    """SQLite answers the switch to the write-ahead log with "locked" at once, whatever the time-out says."""
    opener = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from onlooker.run.ledger import Ledger
        time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
        for n in range(20):
            Ledger(Path(sys.argv[1]) / f"{n}.sqlite").close()
        """
    )
    at = str(time.time() + 1.5)
    many = [subprocess.Popen([sys.executable, "-c", opener, str(tmp_path), at]) for _ in range(6)]
    assert [process.wait() for process in many] == [0] * 6


def test_a_run_that_another_release_began_says_what_to_do(session: Callable[..., Session]) -> None:
    """A former release told less of a model: its answers are no answers to this plan, and the user is told."""
    made = session(Noting(), "text_only")
    made.work()
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    document = ledger.plan()
    assert document is not None
    del document["model"]["fingerprint"]["accepts"]
    ledger.keep_plan(document | {"onlooker": "0.0.9"})
    ledger.close()
    with pytest.raises(InputError, match=r"begun by another onlooker \(0\.0\.9\).*another --out.*scored"):
        session(Noting(), "text_only").work()
    session(Noting(), "text_only", seeds=[1], run="two").work()
    with pytest.raises(InputError, match="repeat the options of that run"):
        session(Noting(), "text_only", seeds=[2], run="two").work()
