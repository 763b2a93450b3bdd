"""One SQLite file with named migrations that several processes may write: what ledgers and caches of calls are made of.

The write-ahead log with full synchronisation keeps every committed row through kill -9 and power loss.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from onlooker.errors import InputError, OnlookerError

# How long one process waits for another that writes.
PATIENCE_S = 60.0

Migrations = Mapping[str, Sequence[str]]


class Database:
    """An open file. Used from one thread; several processes (and several of these) wait for one another.

    ``durable`` False: a commit survives kill -9, not a power loss, and costs a tenth. Raises ``InputError`` where the
    file cannot be opened: what it holds is paid for, so nothing is ever started anew over it.
    """

    def __init__(self, path: Path, *, durable: bool = True) -> None:
        self.path = path
        self._depth = 0
        self._durable = durable
        try:
            self._db = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None)
            self._write_ahead()
            self._db.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
        except (sqlite3.DatabaseError, OSError) as error:
            raise self._unopened(error) from error

    def _unopened(self, error: Exception) -> InputError:
        return InputError(
            f"this ledger cannot be opened ({error}); its answers are paid for, so nothing is started anew over it",
            where=str(self.path),
            remedy="make room or mend the permissions; if the file is damaged, restore it or choose another place",
        )

    def _write_ahead(self) -> None:
        """Switch to the write-ahead log. Of two processes that do so at once SQLite turns one away without waiting."""
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    raise
                time.sleep(0.02)
            else:
                return

    def migrate(self, prefix: str, migrations: Migrations) -> None:
        """Bring the tables of one owner up to date: all its migrations, and no others, have names with ``prefix``.

        Raises ``InputError`` where the file has one that is not known here: a newer onlooker wrote it.
        """
        try:
            # One transaction, so that of two processes that open a new file at once the second finds it made.
            with self.transaction():
                self._db.execute(
                    "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
                )
                done = {name for (name,) in self._db.execute("SELECT name FROM migrations")}
                unknown = {name for name in done if name.startswith(prefix)} - set(migrations)
                if unknown:
                    raise InputError(
                        f"this ledger was written by a newer onlooker (it has {', '.join(sorted(unknown))})",
                        where=str(self.path),
                        remedy="update onlooker",
                    )
                for name, statements in migrations.items():
                    if name not in done:
                        for statement in statements:
                            self._db.execute(statement)
                        self._db.execute("INSERT INTO migrations VALUES (?, ?)", (name, time.time()))
        except sqlite3.DatabaseError as error:
            raise self._unopened(error) from error

    @contextmanager
    def transaction(self, *, durable: bool = True) -> Iterator[None]:
        """All writes of the block or none. A block inside another belongs to the outer one.

        ``durable`` False: the commit survives kill -9 at once, and a power loss from the next durable one on.
        """
        if not durable and self._durable and self._depth == 0:
            self.write("PRAGMA synchronous=NORMAL")
            try:
                with self.transaction():
                    yield
            finally:
                self.write("PRAGMA synchronous=FULL")
            return
        if self._depth == 0:
            self.write("BEGIN IMMEDIATE")
        self._depth += 1
        try:
            yield
        except BaseException:
            self._depth -= 1
            if self._depth == 0 and self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._depth -= 1
        if self._depth == 0:
            try:
                self.write("COMMIT")
            except OnlookerError:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def write(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        """Run one statement. Raises ``OnlookerError`` with a remedy where the file cannot be written (a full disk)."""
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise OnlookerError(
                f"the ledger cannot be written ({error}); what it holds is kept",
                where=str(self.path),
                remedy="make room or mend the permissions, then run the same command again",
            ) from error

    def rows(self, statement: str, values: Sequence[object] = ()) -> Iterator[tuple[object, ...]]:
        """The rows of a query, streaming."""
        try:
            yield from self._db.execute(statement, values)
        except sqlite3.DatabaseError as error:
            raise self._unopened(error) from error

    def one(self, statement: str, values: Sequence[object] = ()) -> tuple[object, ...] | None:
        """The first row of a query; None where there is none."""
        try:
            row: tuple[object, ...] | None = self._db.execute(statement, values).fetchone()
        except sqlite3.DatabaseError as error:
            raise self._unopened(error) from error
        return row

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._db.close()
