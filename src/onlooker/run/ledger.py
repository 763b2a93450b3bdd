"""The ledger of a run: one SQLite file, one row for each call that finished, written the moment it finishes.

SQLite's write-ahead log with full synchronisation keeps every committed row through kill -9 and power loss. The JSONL
files beside it are exports, made anew from the ledger whenever a run stops.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, OnlookerError

LEDGER_NAME = "ledger.sqlite"

# How long one process waits for another that writes.
_PATIENCE_S = 60.0

_M001_INITIAL = (
    """
CREATE TABLE calls (
    item TEXT NOT NULL,
    part TEXT NOT NULL,          -- '' where the item is one call
    condition TEXT NOT NULL,
    seed TEXT NOT NULL,          -- '' where the run has no seed
    call_sha256 TEXT,            -- model, parameters, prompt and media of the call; NULL: none could be made
    final INTEGER NOT NULL,      -- 0: may be asked again when the run goes on (an error that can pass)
    prediction TEXT NOT NULL,
    request TEXT NOT NULL,
    finished_at REAL NOT NULL,
    PRIMARY KEY (item, part, condition, seed)
) STRICT
""",
    """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    item TEXT NOT NULL,
    part TEXT NOT NULL,
    condition TEXT NOT NULL,
    seed TEXT NOT NULL,
    started_at REAL NOT NULL,
    seconds REAL NOT NULL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER
) STRICT
""",
    """
CREATE TABLE plans (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL
) STRICT
""",
    """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    started_at REAL NOT NULL,
    ended_at REAL,               -- NULL: was killed
    calls INTEGER NOT NULL DEFAULT 0
) STRICT
""",
)
_MIGRATIONS = {"m001_initial": _M001_INITIAL}


@dataclass(frozen=True, slots=True, order=True)
class CallKey:
    """Which call of a run: item, part (None: the item is one call), condition, seed (None: the run has none)."""

    item: str
    part: str | None
    condition: str
    seed: int | None

    def columns(self) -> tuple[str, str, str, str]:
        """As stored: text, with '' for None, so that the primary key holds (SQL's NULL is never equal to itself)."""
        return (self.item, self.part or "", self.condition, "" if self.seed is None else str(self.seed))


@dataclass(frozen=True, slots=True)
class Entry:
    """A finished call: its row of ``predictions.jsonl`` and what was sent, both as JSON objects.

    ``call_sha256`` is None where no call could be made, since its media could not be read.
    """

    key: CallKey
    call_sha256: str | None
    final: bool
    prediction: dict[str, Any]
    request: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call, also those that failed: they may have cost something."""

    key: CallKey
    started_at: float
    seconds: float
    outcome: str
    message: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class Ledger:
    """The ledger file of a run folder. Used from one thread; several processes wait for one another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._db = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
            self._write_ahead()
            self._db.execute("PRAGMA synchronous=FULL")
            self._migrate()
        except (sqlite3.DatabaseError, OSError) as error:
            raise InputError(
                f"this ledger cannot be opened ({error}); its answers are paid for, so nothing is started anew over it",
                where=str(path),
                remedy="make room or mend the permissions; if the file is damaged, restore it or choose another --out",
            ) from error

    def _write_ahead(self) -> None:
        """Switch to the write-ahead log. Of two processes that do so at once SQLite turns one away without waiting."""
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
            else:
                return

    def _migrate(self) -> None:
        # One transaction, so that of two processes that open a new ledger at once the second finds it made.
        with self._transaction():
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
            )
            done = {name for (name,) in self._db.execute("SELECT name FROM migrations")}
            unknown = done - set(_MIGRATIONS)
            if unknown:
                raise InputError(
                    f"this ledger was written by a newer onlooker (it has {', '.join(sorted(unknown))})",
                    where=str(self.path),
                    remedy="update onlooker",
                )
            for name, statements in _MIGRATIONS.items():
                if name not in done:
                    for statement in statements:
                        self._db.execute(statement)
                    self._db.execute("INSERT INTO migrations VALUES (?, ?)", (name, time.time()))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def plan(self) -> dict[str, Any] | None:
        """The plan that this ledger serves; None before the first session."""
        row = self._db.execute("SELECT document FROM plans").fetchone()
        return None if row is None else json.loads(row[0])

    def keep_plan(self, document: dict[str, Any]) -> None:
        """Keep the plan beside the answers to it."""
        self._write("INSERT OR REPLACE INTO plans VALUES (1, ?)", (json.dumps(document, ensure_ascii=False),))

    def start_session(self) -> int:
        """Note that a process works on the run; returns the session's number."""
        cursor = self._write("INSERT INTO sessions (started_at) VALUES (?)", (time.time(),))
        if cursor.lastrowid is None:
            raise OnlookerError("SQLite gave no row number for a new session", where=str(self.path))
        return cursor.lastrowid

    def end_session(self, session: int, calls: int) -> None:
        """Note that the process ended in order, after so many finished calls."""
        self._write("UPDATE sessions SET ended_at = ?, calls = ? WHERE id = ?", (time.time(), calls, session))

    def record(self, entry: Entry) -> None:
        """Commit a finished call. An entry that may be asked again is replaced; a final one never is."""
        final = self._write(
            "SELECT 1 FROM calls WHERE item = ? AND part = ? AND condition = ? AND seed = ? AND final = 1",
            entry.key.columns(),
        ).fetchone()
        if final:
            raise OnlookerError("this call already has its final answer", where=str(self.path), value=entry.key)
        self._write(
            "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *entry.key.columns(),
                entry.call_sha256,
                int(entry.final),
                json.dumps(entry.prediction, ensure_ascii=False),
                json.dumps(entry.request, ensure_ascii=False),
                time.time(),
            ),
        )

    def record_attempt(self, attempt: Attempt) -> None:
        """Commit one try of a call."""
        self._write(
            "INSERT INTO attempts (item, part, condition, seed, started_at, seconds, outcome, message,"
            " input_tokens, output_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *attempt.key.columns(),
                attempt.started_at,
                attempt.seconds,
                attempt.outcome,
                attempt.message,
                attempt.input_tokens,
                attempt.output_tokens,
            ),
        )

    def _write(self, statement: str, values: tuple[object, ...]) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise OnlookerError(
                f"the ledger cannot be written ({error}); what it holds is kept",
                where=str(self.path),
                remedy="make room or mend the permissions, then run the same command again",
            ) from error

    def finished(self) -> dict[CallKey, bool]:
        """Every recorded call: is it final?"""
        rows = self._db.execute("SELECT item, part, condition, seed, final FROM calls")
        return {_key(i, p, c, s): bool(final) for i, p, c, s, final in rows}

    def entries(self) -> Iterator[Entry]:
        """All recorded calls, in no stated order."""
        rows = self._db.execute(
            "SELECT item, part, condition, seed, call_sha256, final, prediction, request FROM calls"
        )
        for item, part, condition, seed, sha, final, prediction, request in rows:
            key = _key(item, part, condition, seed)
            yield Entry(key, sha, bool(final), json.loads(prediction), json.loads(request))

    def totals(self) -> dict[str, float | int | None]:
        """Calls, attempts, tokens and seconds of all sessions together. Tokens are None where no reply stated them."""
        calls = self._db.execute("SELECT count(*) FROM calls").fetchone()[0]
        attempts, seconds, tokens_in, tokens_out = self._db.execute(
            "SELECT count(*), total(seconds), sum(input_tokens), sum(output_tokens) FROM attempts"
        ).fetchone()
        sessions, first = self._db.execute("SELECT count(*), min(started_at) FROM sessions").fetchone()
        return {
            "calls": calls,
            "attempts": attempts,
            "call_seconds": seconds,
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "sessions": sessions,
            "started_at": first,
        }

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._db.close()


def _key(item: str, part: str, condition: str, seed: str) -> CallKey:
    return CallKey(item, part or None, condition, int(seed) if seed else None)


def refuse_lost(ledger: Path, answers: Path) -> None:
    """Raise ``InputError`` where answers were exported and the ledger they came from is gone: they are paid for."""
    lost = not ledger.exists() or ledger.stat().st_size == 0
    if lost and answers.exists() and answers.stat().st_size > 0:
        raise InputError(
            f"the ledger is gone, but {answers.name} holds its answers: asking anew would pay for them twice",
            where=str(ledger),
            remedy="restore the ledger, or choose another --out",
        )
