"""One database for a study, on SQLite or PostgreSQL: the same statements, one writer at a time.

Writers stand in line (SQLite: the file's write lock; PostgreSQL: an advisory lock held to the end of the transaction),
so that a transaction sees everything before it and nothing beside it. A write takes about a millisecond; a study has
hundreds of raters, not thousands of writes a second. In return every count is exact without a retry loop.

Statements use ``?`` for values and what both dialects share (``RETURNING``, ``ON CONFLICT``).
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from onlooker.errors import InputError, MissingExtra, OnlookerError

PATIENCE_S: Final = 60.0
"""How long one writer waits for another."""
Dialect: TypeAlias = Literal["sqlite", "postgresql"]
Row: TypeAlias = tuple[Any, ...]
Migrations: TypeAlias = Mapping[str, Mapping[Dialect, Sequence[str]]]
"""{name: {dialect: statements}}, in the order in which they are applied."""

# Any fixed number: with the schema's name it is the lock that keeps writers in line.
_LOCK: Final = 720_651_703


class _Held(threading.local):
    """The connection on which this thread has a transaction open, and whether that one may write."""

    connection: Any = None
    may_write = False


class Database(ABC):
    """An open database that threads may share. Connections are borrowed from a pool that grows with the threads that
    ask at once. Every method raises ``OnlookerError`` with a remedy where the database does not serve."""

    dialect: Dialect
    _snapshot: str

    def __init__(self) -> None:
        self._held = _Held()
        self._idle: list[Any] = []
        self._writing = threading.Lock()

    def rows(self, statement: str, values: Sequence[object] = ()) -> list[Row]:
        """All rows of a query."""
        if self._held.connection is not None:
            with self._told():
                return list(self._execute(self._held.connection, statement, values).fetchall())
        with self._told(), self._borrowed() as connection:
            return list(self._execute(connection, statement, values).fetchall())

    def one(self, statement: str, values: Sequence[object] = ()) -> Row | None:
        """The first row of a query; None where there is none."""
        return next(iter(self.rows(statement, values)), None)

    def run(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run a statement inside a transaction and return how many rows it touched."""
        assert self._held.may_write, "writes stand inside a transaction"
        with self._told():
            return int(self._execute(self._held.connection, statement, values).rowcount)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes of the block or none, alone among the writers; a block inside another belongs to the outer one.
        When the block has ended the writes are on disk."""
        if self._held.connection is not None:
            assert self._held.may_write, "no transaction inside a snapshot"
            yield
            return
        with self._writing, self._told(), self._borrowed() as connection:
            self._begin(connection)
            self._held.connection, self._held.may_write = connection, True
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                self._roll_back(connection)
                raise
            finally:
                self._held.connection, self._held.may_write = None, False

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Several reads of one moment, which no writer waits for."""
        if self._held.connection is not None:
            yield
            return
        with self._told(), self._borrowed() as connection:
            connection.execute(self._snapshot)
            self._held.connection = connection
            try:
                yield
            finally:
                self._held.connection = None
                self._roll_back(connection)

    def close(self) -> None:
        """Close the connections. Safe to call twice."""
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _borrowed(self) -> Iterator[Any]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            if self._is_lost(connection):
                # The others went to the same server: all are made anew.
                self.close()
            else:
                self._idle.append(connection)
            raise
        self._idle.append(connection)

    @abstractmethod
    def _connect(self) -> Any: ...

    @abstractmethod
    def _execute(self, connection: Any, statement: str, values: Sequence[object]) -> Any: ...

    @abstractmethod
    def _begin(self, connection: Any) -> None: ...

    @abstractmethod
    def _roll_back(self, connection: Any) -> None: ...

    @abstractmethod
    def _is_lost(self, connection: Any) -> bool: ...

    @abstractmethod
    def _told(self) -> AbstractContextManager[None]:
        """Turns what the driver raises into ``OnlookerError``."""


class Sqlite(Database):
    """A file with a write-ahead log and full synchronisation: what is acknowledged survives kill -9 and power loss."""

    dialect: Dialect = "sqlite"
    _snapshot = "BEGIN"

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)
            self._idle.append(self._connect())

    def _connect(self) -> sqlite3.Connection:
        made = sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
        # Of two processes that switch to the write-ahead log at once SQLite turns one away without waiting.
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                made.execute("PRAGMA journal_mode=WAL")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                    made.close()
                    raise
                time.sleep(0.02)
            except sqlite3.DatabaseError:
                made.close()
                raise
            else:
                break
        made.execute("PRAGMA synchronous=FULL")
        return made

    def _execute(self, connection: Any, statement: str, values: Sequence[object]) -> Any:
        return connection.execute(statement, values)

    def _begin(self, connection: Any) -> None:
        connection.execute("BEGIN IMMEDIATE")

    def _roll_back(self, connection: Any) -> None:
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def _is_lost(self, connection: Any) -> bool:  # noqa: ARG002 - a file does not go away
        return False

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise OnlookerError(
                f"the study's database cannot be used ({error}); what it holds is kept",
                where=str(self.path),
                remedy="make room or mend the permissions; a damaged file is restored from a copy",
            ) from error


class PostgreSql(Database):
    """A schema of its own in a PostgreSQL database, named after the study."""

    dialect: Dialect = "postgresql"
    _snapshot = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, address: str, study: str) -> None:
        super().__init__()
        try:
            import psycopg  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise MissingExtra("postgresql", "a study in PostgreSQL") from error
        self._psycopg = psycopg
        self._address = address
        self.schema = "onlooker_" + re.sub(r"[^a-z0-9]+", "_", study.lower()).strip("_")[:50]
        with self.transaction():
            self.run(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')

    def _connect(self) -> Any:
        return self._psycopg.connect(
            self._address,
            autocommit=True,
            connect_timeout=10,
            options=f"-c search_path={self.schema} -c synchronous_commit=on -c client_min_messages=warning",
        )

    def _execute(self, connection: Any, statement: str, values: Sequence[object]) -> Any:
        return connection.execute(statement.replace("%", "%%").replace("?", "%s"), values)

    def _begin(self, connection: Any) -> None:
        connection.execute("BEGIN")
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s), %s)", (self.schema, _LOCK))

    def _roll_back(self, connection: Any) -> None:
        # On a broken connection the server has rolled back already.
        with suppress(self._psycopg.Error):
            connection.execute("ROLLBACK")

    def _is_lost(self, connection: Any) -> bool:
        return bool(connection.closed)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except self._psycopg.Error as error:
            # The address holds a password: it is in no message.
            words = " ".join(str(error).split()).replace(self._address, "the database")
            raise OnlookerError(
                f"the study's database cannot be used ({words}); what it holds is kept",
                where="--database",
                remedy="see that the server runs and that the address, user and rights are right",
            ) from error


def open_database(address: str, study: str) -> Database:
    """The database at ``address``: a file's path, or ``postgresql://...``, where the study has a schema of its own.

    Raises ``InputError`` where it cannot be opened, ``MissingExtra`` without the driver of PostgreSQL.
    """
    if address.startswith(("postgresql://", "postgres://")):
        return PostgreSql(address, study)
    if "://" in address:
        raise InputError(
            "no database of this kind",
            where="--database",
            value=address.partition("://")[0],
            remedy="postgresql:// or a file",
        )
    return Sqlite(Path(address))


def migrate(database: Database, migrations: Migrations) -> None:
    """Bring the tables up to date. Raises ``InputError`` where a newer onlooker wrote them."""
    with database.transaction():
        database.run(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at DOUBLE PRECISION NOT NULL)"
        )
        done = {name for (name,) in database.rows("SELECT name FROM migrations")}
        if unknown := done - set(migrations):
            raise InputError(
                f"this study was written by a newer onlooker (it has {', '.join(sorted(unknown))})",
                remedy="update onlooker",
            )
        for name, statements in migrations.items():
            if name not in done:
                for statement in statements[database.dialect]:
                    database.run(statement)
                database.run("INSERT INTO migrations VALUES (?, ?)", (name, time.time()))
