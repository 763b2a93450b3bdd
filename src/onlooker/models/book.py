"""The book of calls: what was asked of which model, what it answered, and what every attempt cost.

One SQLite file. An answer is keyed by its content (``call_sha256``): the same model, endpoint, settings, words and
media are the same call, whoever asks. Every attempt has a row, also those that failed; an answer that is read again
costs nothing and is counted as a hit. A run's ledger, a construction's ledger and a shared cache are all such books.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.models.database import Database
from onlooker.models.request import Reply, Request

BOOK_NAME = "calls.sqlite"
# The outcome of an attempt while it is under way, for ever if the process was killed meanwhile.
SENT = "sent"
# Answers read again are counted in memory and written together with the next row, at the latest after so many.
_HITS_KEPT = 1000

_MIGRATIONS = {
    "book_m001_initial": (
        """
CREATE TABLE answers (
    call_sha256 TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    reply TEXT NOT NULL,          -- a Reply as JSON
    seconds REAL NOT NULL,        -- how long the attempt that brought it took
    finished_at REAL NOT NULL
) STRICT
""",
        """
CREATE TABLE tries (
    id INTEGER PRIMARY KEY,
    call_sha256 TEXT NOT NULL,
    label TEXT NOT NULL,          -- what the call was for, for people
    role TEXT NOT NULL,           -- evaluated, judge, question, ...
    path TEXT NOT NULL,           -- serving path: the endpoint, or the kind of model where there is none
    model TEXT NOT NULL,
    served_model TEXT,            -- what the provider said it ran
    started_at REAL NOT NULL,     -- Unix seconds
    seconds REAL NOT NULL,        -- by a clock that never jumps
    outcome TEXT NOT NULL,        -- the reply's status, or the name of the error; 'sent' while under way
    message TEXT NOT NULL,
    kept INTEGER NOT NULL,        -- 1: this reply is the call's answer
    reply TEXT,                   -- the reply where it came and is not the answer
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL                 -- NULL: unknown
) STRICT
""",
        "CREATE INDEX tries_by_call ON tries (call_sha256)",
        "CREATE TABLE identity (id TEXT NOT NULL) STRICT",
        "INSERT INTO identity VALUES (lower(hex(randomblob(8))))",
        """
CREATE TABLE hits (
    book TEXT NOT NULL,           -- which book counted them: merged books keep their counts apart
    role TEXT NOT NULL,
    path TEXT NOT NULL,
    model TEXT NOT NULL,
    hits INTEGER NOT NULL,
    PRIMARY KEY (book, role, path, model)
) STRICT
""",
    ),
    # The most that an attempt can have cost whose cost is unknown, for budgets; NULL: it cost nothing, or unknown too.
    "book_m002_most_usd": ("ALTER TABLE tries ADD COLUMN most_usd REAL",),
}

_COLUMNS = (
    *("call_sha256", "label", "role", "path", "model", "served_model", "started_at", "seconds", "outcome", "message"),
    *("kept", "reply", "input_tokens", "output_tokens", "cached_tokens", "cost_usd"),
    "most_usd",
)
# What tells an attempt from every other.
_SAME_TRY = ("call_sha256", "label", "started_at", "seconds", "outcome")
_INSERT_TRY = f"INSERT INTO tries ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' * len(_COLUMNS))})"  # noqa: S608
_INSERT_HITS = "INSERT INTO hits VALUES (?, ?, ?, ?, ?) ON CONFLICT (book, role, path, model) DO UPDATE SET hits ="


@dataclass(frozen=True, slots=True)
class Digests:
    """A request in digests: ``call`` covers the model and all that is asked, ``prompt`` and ``media`` parts of it."""

    call: str
    prompt: str
    media: str


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer in a book, and how many seconds the attempt that brought it took."""

    reply: Reply
    seconds: float


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt at a call. ``cost_usd`` None: unknown. ``reply`` None: none came.

    ``most_usd``: what it can have cost at most, where ``cost_usd`` is unknown and a budget counts it.
    """

    call_sha256: str
    label: str
    role: str
    path: str
    model: str
    started_at: float
    seconds: float
    outcome: str
    message: str = ""
    reply: Reply | None = None
    cost_usd: float | None = None
    most_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Spending:
    """What a book holds for one serving path, model and role.

    Tokens are sums over the attempts that stated them (None: none did); ``cost_usd`` is the sum over the attempts whose
    cost is known (None: none is), ``unpriced`` counts the attempts with a reply of unknown cost, ``failed`` those
    without a reply, which carry no cost: also those under way, or under way when the process was killed.
    """

    path: str
    model: str
    role: str
    calls: int
    attempts: int
    failed: int
    hits: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    unpriced: int
    seconds: float


def digests(fingerprint: Mapping[str, str], request: Request, sample: int = 0) -> Digests:
    """The content key of a call: model (with endpoint and adapter), every setting, words and media (cases R01, R02).

    ``sample`` >= 0 tells apart draws that are wanted several times with all else equal.
    """
    settings = [
        (field.name, getattr(request, field.name))
        for field in dataclasses.fields(request)
        if field.name not in ("parts", "system")  # both are part of the prompt's digest
    ]
    prompt, media = request.prompt_sha256(), request.media_sha256()
    content = [sorted(fingerprint.items()), settings, prompt, media, sample]
    return Digests(hashlib.sha256(json.dumps(content).encode()).hexdigest(), prompt, media)


def call_sha256(fingerprint: Mapping[str, str], request: Request, sample: int = 0) -> str:
    """The content key alone, in hex."""
    return digests(fingerprint, request, sample).call


def serving_path(fingerprint: Mapping[str, str]) -> str:
    """Where a model is served: its endpoint, else its kind."""
    return fingerprint.get("endpoint") or fingerprint.get("kind") or "unknown"


class CallBook:
    """The book in the file ``path``; the folder is made where it is missing.

    ``database``: another part of the same file is open already (a run's ledger). ``durable`` False is for a cache whose
    answers stand in another book too. ``followed``: whoever asks writes a durable row of its own after each answer,
    so that the disk is waited for once. Raises ``InputError`` where the file is damaged or cannot be opened (case R09).
    """

    def __init__(
        self, path: Path, *, durable: bool = True, database: Database | None = None, followed: bool = False
    ) -> None:
        self.path = path
        if database is None:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"the folder cannot be made ({error.strerror})", where=str(path.parent), remedy="name another one"
                ) from error
            database = Database(path, durable=durable)
        self.database = database
        self._followed = followed
        database.migrate("book_", _MIGRATIONS)
        self._hits: Counter[tuple[str, str, str]] = Counter()

    @classmethod
    def shared(cls, folder: Path) -> CallBook:
        """The cache in a folder that many runs and processes share (``--cache DIR``)."""
        return cls(folder / BOOK_NAME, durable=False)

    @property
    def claims(self) -> Path:
        """The folder in which processes claim calls of this book."""
        return self.path.with_name(f"{self.path.name}.claims")

    def answer(self, call: str) -> Kept | None:
        """The answer of a call; None where it has none."""
        row: Any = self.database.one("SELECT reply, seconds FROM answers WHERE call_sha256 = ?", (call,))
        return None if row is None else Kept(_read_reply(row[0]), row[1])

    def keep(self, call: str, model: str, kept: Kept) -> None:
        """Keep an answer. Of two for one call the first stays: an answer never changes."""
        self.database.write(
            "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)",
            (call, model, _written_reply(kept.reply), kept.seconds, time.time()),
        )

    def begin(self, attempt: Try) -> int:
        """Note that an attempt is about to be sent; returns its number. It stays ``sent`` if the process is killed."""
        with self.database.transaction(durable=False):
            self._insert(replace(attempt, outcome=SENT), keep=False)
            number: Any = self.database.one("SELECT last_insert_rowid()")
        return int(number[0])

    def note(self, attempt: Try, *, keep: bool, begun: int | None = None) -> None:
        """Commit an attempt and, with ``keep``, its reply as the call's answer: all or nothing.

        ``begun``: the number that ``begin`` gave it.
        """
        with self.database.transaction(durable=not self._followed):
            self._write_hits()
            if begun is not None:
                self.database.write("DELETE FROM tries WHERE id = ?", (begun,))
            self._insert(attempt, keep=keep)
            if keep and attempt.reply is not None:
                self.keep(attempt.call_sha256, attempt.model, Kept(attempt.reply, attempt.seconds))

    def _insert(self, attempt: Try, *, keep: bool) -> None:
        reply = attempt.reply
        self.database.write(
            _INSERT_TRY,
            (
                attempt.call_sha256,
                attempt.label,
                attempt.role,
                attempt.path,
                attempt.model,
                reply and reply.served_model,
                attempt.started_at,
                attempt.seconds,
                attempt.outcome,
                attempt.message,
                int(keep),
                None if reply is None or keep else _written_reply(reply),
                reply and reply.input_tokens,
                reply and reply.output_tokens,
                reply and reply.cached_tokens,
                attempt.cost_usd,
                attempt.most_usd,
            ),
        )

    def hit(self, role: str, path: str, model: str) -> None:
        """Count an answer that was read again. Written with the next attempt, or when the book is closed."""
        self._hits[role, path, model] += 1
        if self._hits.total() >= _HITS_KEPT:
            self.flush()

    def flush(self) -> None:
        """Write the hits that are counted so far."""
        if self._hits:
            with self.database.transaction():
                self._write_hits()

    def _write_hits(self) -> None:
        if not self._hits:
            return
        own: Any = self.database.one("SELECT id FROM identity")
        for key, count in self._hits.items():
            self.database.write(f"{_INSERT_HITS} hits + excluded.hits", (own[0], *key, count))
        self._hits.clear()

    def absorb(self, other: CallBook) -> None:
        """Take over answers, attempts and hits of another book of the same calls. What is there already stays once."""
        other.flush()
        columns = ", ".join(_COLUMNS)
        with self.database.transaction():
            for row in other.database.rows("SELECT * FROM answers"):
                self.database.write("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row)
            for row in other.database.rows(f"SELECT {columns} FROM tries ORDER BY id"):  # noqa: S608  own names
                named = dict(zip(_COLUMNS, row, strict=True))
                same = " AND ".join(f"{name} = ?" for name in _SAME_TRY)
                key = [named[name] for name in _SAME_TRY]
                if self.database.one(f"SELECT 1 FROM tries WHERE {same}", key) is None:  # noqa: S608  own names
                    self.database.write(_INSERT_TRY, row)
            # Under way when the other book was absorbed the last time, ended since.
            self.database.write(
                "DELETE FROM tries WHERE outcome = ? AND EXISTS (SELECT 1 FROM tries AS ended"
                " WHERE ended.call_sha256 = tries.call_sha256 AND ended.label = tries.label"
                " AND ended.started_at = tries.started_at AND ended.outcome <> ?)",
                (SENT, SENT),
            )
            for row in other.database.rows("SELECT book, role, path, model, hits FROM hits"):
                self.database.write(f"{_INSERT_HITS} max(hits, excluded.hits)", row)

    def transaction(self) -> AbstractContextManager[None]:
        """All writes of the block or none."""
        return self.database.transaction()

    def spent_usd(self, role: str) -> float:
        """What all attempts in a role cost, for a budget: one of unknown cost counts as the most it can have been."""
        row = self.database.one("SELECT total(coalesce(cost_usd, most_usd)) FROM tries WHERE role = ?", (role,))
        return float(row[0]) if row else 0.0  # type: ignore[arg-type]  # SQLite's total is a float

    def spending(self) -> list[Spending]:
        """The cost ledger: one row for each serving path, model and role, in that order."""
        self.flush()
        counted = "SELECT role, path, model, sum(hits) FROM hits GROUP BY role, path, model"
        hits = {tuple(row[:3]): row[3] for row in self.database.rows(counted)}
        found: list[Spending] = []
        query = (
            "SELECT role, path, model, count(DISTINCT call_sha256), count(*),"
            " sum(outcome NOT IN ('ok', 'empty', 'truncated', 'refused', 'error')),"
            " sum(input_tokens), sum(output_tokens), sum(cached_tokens), sum(cost_usd),"
            " sum(cost_usd IS NULL AND outcome IN ('ok', 'empty', 'truncated', 'refused', 'error')), total(seconds)"
            " FROM tries GROUP BY role, path, model"
        )
        rows: list[Any] = list(self.database.rows(query))
        for role, path, model, calls, attempts, failed, read, written, cached, cost, unpriced, seconds in rows:
            again: Any = hits.pop((role, path, model), 0)
            found.append(
                Spending(
                    *(path, model, role, calls, attempts, failed, again),
                    *(read, written, cached, cost, unpriced, seconds),
                )
            )
        left: Any = hits
        for (role, path, model), again in left.items():
            found.append(Spending(path, model, role, 0, 0, 0, again, None, None, None, None, 0, 0.0))
        return sorted(found, key=lambda s: (s.path, s.model, s.role))

    def tries(self) -> Iterator[dict[str, Any]]:
        """Every attempt in the order in which it ended, as JSON values."""
        for row in self.database.rows(f"SELECT {', '.join(_COLUMNS)} FROM tries ORDER BY id"):  # noqa: S608  own names
            yield {name: value for name, value in zip(_COLUMNS, row, strict=True) if name != "reply"}

    def close(self) -> None:
        """Write what is counted and close the file. Safe to call twice."""
        if self._hits:
            self.flush()
        self.database.close()


def _written_reply(reply: Reply) -> str:
    return json.dumps({field.name: getattr(reply, field.name) for field in dataclasses.fields(reply)}, default=dict)


def _read_reply(written: str) -> Reply:
    return Reply(**json.loads(written))
