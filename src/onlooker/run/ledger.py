"""The ledger of a run: one SQLite file with a row for each answer that the plan owes, written the moment it arrives.

The same file is the run's book of calls (``onlooker.models.book``): what was asked, every attempt, what it cost. The
JSONL files beside it are exports, made anew from the ledger whenever a run stops.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, OnlookerError
from onlooker.models.book import CallBook
from onlooker.models.database import Database

LEDGER_NAME = "ledger.sqlite"
ROLE = "evaluated"

_MIGRATIONS = {
    "m001_initial": (
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
    ),
    # The attempts moved into the book of calls, which also knows role, serving path and cost.
    "m002_attempts_to_the_book": (
        f"""
INSERT INTO tries (call_sha256, label, role, path, model, started_at, seconds, outcome, message, kept,
                   input_tokens, output_tokens)
SELECT coalesce(c.call_sha256, ''), a.item || ' ' || a.condition, '{ROLE}', 'unknown',
       coalesce(json_extract(c.prediction, '$.model'), 'unknown'), a.started_at, a.seconds, a.outcome, a.message, 0,
       a.input_tokens, a.output_tokens
FROM attempts a LEFT JOIN calls c USING (item, part, condition, seed) ORDER BY a.id
""",  # noqa: S608  a constant of this file
        "DROP TABLE attempts",
    ),
    "m003_batches": (
        """
CREATE TABLE batches (
    id INTEGER PRIMARY KEY,
    handle TEXT,                 -- the provider's; NULL: about to be submitted
    created_at REAL NOT NULL,
    ended_at REAL                -- NULL: its answers are not here yet
) STRICT
""",
        """
CREATE TABLE batch_calls (
    batch INTEGER NOT NULL,
    call_sha256 TEXT NOT NULL,
    key TEXT NOT NULL,           -- the first row that the call answers, as JSON
    sent TEXT NOT NULL,          -- digests, parameters and words of the request, and the record of its media, as JSON
    PRIMARY KEY (batch, call_sha256)
) STRICT
""",
    ),
}


@dataclass(frozen=True, slots=True, order=True)
class CallKey:
    """Which row of a run: item, part (None: the item is one call), condition, seed (None: the run has none)."""

    item: str
    part: str | None
    condition: str
    seed: int | None

    def columns(self) -> tuple[str, str, str, str]:
        """As stored: text, with '' for None, so that the primary key holds (SQL's NULL is never equal to itself)."""
        return (self.item, self.part or "", self.condition, "" if self.seed is None else str(self.seed))


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer owed: its row of ``predictions.jsonl`` and what was sent, both as JSON objects.

    ``call_sha256`` is None where no call could be made, since its media could not be read.
    """

    key: CallKey
    call_sha256: str | None
    final: bool
    prediction: dict[str, Any]
    request: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """An entry as stored: the JSON texts, not read."""

    final: bool
    prediction: str
    request: str


@dataclass(frozen=True, slots=True)
class BatchCall:
    """A call that was handed over in a batch: its content key, the first row it answers, what was sent as JSON."""

    call_sha256: str
    key: CallKey
    sent: dict[str, Any]


class Ledger:
    """The ledger file of a run folder. Used from one thread; several processes wait for one another.

    Raises ``InputError`` where the file is damaged or cannot be opened: nothing is started anew over it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = Database(path)
        self.book = CallBook(path, database=self._db, followed=True)
        self._db.migrate("m", _MIGRATIONS)

    def plan(self) -> dict[str, Any] | None:
        """The plan that this ledger serves; None before the first session."""
        row: Any = self._db.one("SELECT document FROM plans")
        return None if row is None else json.loads(row[0])

    def keep_plan(self, document: dict[str, Any]) -> None:
        """Keep the plan beside the answers to it."""
        self._db.write("INSERT OR REPLACE INTO plans VALUES (1, ?)", (json.dumps(document, ensure_ascii=False),))

    def start_session(self) -> int:
        """Note that a process works on the run; returns the session's number."""
        cursor = self._db.write("INSERT INTO sessions (started_at) VALUES (?)", (time.time(),))
        if cursor.lastrowid is None:
            raise OnlookerError("SQLite gave no row number for a new session", where=str(self.path))
        return cursor.lastrowid

    def end_session(self, session: int, calls: int) -> None:
        """Note that the process ended in order, after so many finished calls."""
        self._db.write("UPDATE sessions SET ended_at = ?, calls = ? WHERE id = ?", (time.time(), calls, session))

    def record(self, *entries: Entry) -> None:
        """Commit the rows of a finished call, all or none. A final one is never replaced."""
        with self._db.transaction():
            for entry in entries:
                if self.is_final(entry.key):
                    raise OnlookerError("this call already has its final answer", where=str(self.path), value=entry.key)
                self._db.write(
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

    def is_final(self, key: CallKey) -> bool:
        """Whether a row has its final answer."""
        row = self._db.one(
            "SELECT 1 FROM calls WHERE item = ? AND part = ? AND condition = ? AND seed = ? AND final = 1",
            key.columns(),
        )
        return row is not None

    def open_batches(self) -> dict[int, str | None]:
        """Batches whose answers are not here yet: number and handle (None: it may have been submitted or not)."""
        rows: Iterator[Any] = self._db.rows("SELECT id, handle FROM batches WHERE ended_at IS NULL ORDER BY id")
        return dict(rows)

    def batch_calls(self, batch: int) -> list[BatchCall]:
        """The calls of a batch in the order in which they were put in."""
        rows: Iterator[Any] = self._db.rows(
            "SELECT call_sha256, key, sent FROM batch_calls WHERE batch = ? ORDER BY rowid", (batch,)
        )
        return [BatchCall(call, CallKey(**json.loads(key)), json.loads(sent)) for call, key, sent in rows]

    def plan_batch(self, calls: Sequence[BatchCall]) -> int:
        """Note a batch before it is submitted; returns its number."""
        with self._db.transaction():
            cursor = self._db.write("INSERT INTO batches (created_at) VALUES (?)", (time.time(),))
            batch = cursor.lastrowid or 0
            for call in calls:
                key = json.dumps(asdict(call.key), ensure_ascii=False)
                sent = json.dumps(call.sent, ensure_ascii=False)
                self._db.write("INSERT INTO batch_calls VALUES (?, ?, ?, ?)", (batch, call.call_sha256, key, sent))
        return batch

    def keep_handle(self, batch: int, handle: str) -> None:
        """Note how the provider calls a batch: from here on it is fetched, not submitted again."""
        self._db.write("UPDATE batches SET handle = ? WHERE id = ?", (handle, batch))

    def end_batch(self, batch: int) -> None:
        """Note that a batch is over; calls of it without an answer are owed again."""
        self._db.write("UPDATE batches SET ended_at = ? WHERE id = ?", (time.time(), batch))

    def finished(self) -> dict[CallKey, bool]:
        """Every recorded row: is it final?"""
        rows: Iterator[Any] = self._db.rows("SELECT item, part, condition, seed, final FROM calls")
        return {_key(i, p, c, s): bool(final) for i, p, c, s, final in rows}

    def written(self, key: CallKey) -> Written | None:
        """One row as stored; None where there is none."""
        row: Any = self._db.one(
            "SELECT final, prediction, request FROM calls WHERE item = ? AND part = ? AND condition = ? AND seed = ?",
            key.columns(),
        )
        return None if row is None else Written(bool(row[0]), row[1], row[2])

    def entry(self, key: CallKey) -> Entry | None:
        """One row; None where there is none."""
        row: Any = self._db.one(
            "SELECT call_sha256, final, prediction, request FROM calls"
            " WHERE item = ? AND part = ? AND condition = ? AND seed = ?",
            key.columns(),
        )
        return None if row is None else Entry(key, row[0], bool(row[1]), json.loads(row[2]), json.loads(row[3]))

    def absorb(self, other: Ledger) -> None:
        """Take over the calls, attempts, hits and sessions of another ledger of the same run; what is there stays."""
        self.book.absorb(other.book)
        with self._db.transaction():
            for row in other._db.rows("SELECT started_at, ended_at, calls FROM sessions"):
                if self._db.one("SELECT 1 FROM sessions WHERE started_at = ?", row[:1]) is None:
                    self._db.write("INSERT INTO sessions (started_at, ended_at, calls) VALUES (?, ?, ?)", row)

    def entries(self) -> Iterator[Entry]:
        """All recorded rows, streaming, in no stated order."""
        rows: Iterator[Any] = self._db.rows(
            "SELECT item, part, condition, seed, call_sha256, final, prediction, request FROM calls"
        )
        for item, part, condition, seed, sha, final, prediction, request in rows:
            key = _key(item, part, condition, seed)
            yield Entry(key, sha, bool(final), json.loads(prediction), json.loads(request))

    def totals(self) -> dict[str, float | int | None]:
        """Rows, attempts, tokens, cost and seconds of all sessions together, judges left out.

        Tokens and cost are None where nothing states them.
        """
        counted: Any = self._db.one("SELECT count(*) FROM calls")
        spent: Any = self._db.one(
            "SELECT count(*), total(seconds), sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(cost_usd)"
            " FROM tries WHERE role = ?",
            (ROLE,),
        )
        sessions: Any = self._db.one("SELECT count(*), min(started_at) FROM sessions")
        names = ("attempts", "call_seconds", "input_tokens", "output_tokens", "cached_tokens", "cost_usd")
        return {
            "calls": counted[0],
            **dict(zip(names, spent, strict=True)),
            "sessions": sessions[0],
            "started_at": sessions[1],
        }

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self.book.close()


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
