"""The tables of a study, as named steps that are only ever added to.

``events`` is the truth and only grows; the database itself refuses to change or remove a row, but for the one thing a
withdrawal may do: take the content out (``body`` NULL). ``work``, ``cases`` (``held``) and ``raters`` repeat what the
events say, written in the same transaction, and can be made anew from them (``Store.rebuild``). ``people`` alone knows
who a pseudonym is; nothing that exports or logs reads it.
"""

from __future__ import annotations

from typing import Final

from onlooker.annotate.database import Migrations

_TABLES: Final = (
    "CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    """CREATE TABLE cases (
        id TEXT PRIMARY KEY,
        place INTEGER NOT NULL,
        item TEXT NOT NULL,
        kind TEXT NOT NULL,
        hidden TEXT NOT NULL,
        held INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE raters (
        id TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        state TEXT NOT NULL,
        case_order TEXT NOT NULL
    )""",
    """CREATE TABLE work (
        rater TEXT NOT NULL,
        case_id TEXT NOT NULL,
        state TEXT NOT NULL,
        opened_s DOUBLE PRECISION NOT NULL,
        active_s DOUBLE PRECISION NOT NULL,
        version BIGINT NOT NULL,
        body TEXT NOT NULL,
        PRIMARY KEY (rater, case_id)
    )""",
    "CREATE INDEX work_by_state ON work (state, active_s)",
    "CREATE INDEX work_by_case ON work (case_id)",
    "CREATE TABLE people (rater TEXT PRIMARY KEY, name TEXT NOT NULL)",
    """CREATE TABLE invitations (
        token_sha256 TEXT PRIMARY KEY,
        role TEXT NOT NULL,
        rater TEXT,
        name TEXT NOT NULL,
        expires_at DOUBLE PRECISION NOT NULL,
        used_at DOUBLE PRECISION
    )""",
    """CREATE TABLE sessions (
        token_sha256 TEXT PRIMARY KEY,
        rater TEXT NOT NULL,
        csrf TEXT NOT NULL,
        expires_at DOUBLE PRECISION NOT NULL
    )""",
    "CREATE TABLE return_codes (rater TEXT PRIMARY KEY, code_sha256 TEXT NOT NULL)",
)

_EVENTS: Final = """CREATE TABLE events (
        seq {key},
        at DOUBLE PRECISION NOT NULL,
        clock_s DOUBLE PRECISION NOT NULL,
        kind TEXT NOT NULL,
        rater TEXT,
        case_id TEXT,
        key TEXT,
        body TEXT
    )"""
_EVENT_INDEXES: Final = (
    "CREATE UNIQUE INDEX events_by_key ON events (rater, key)",
    "CREATE INDEX events_by_kind ON events (kind, seq)",
    "CREATE INDEX events_by_work ON events (rater, case_id)",
)
_KEPT: Final = "NEW.{0} IS NOT DISTINCT FROM OLD.{0}"
_COLUMNS: Final = ("seq", "at", "clock_s", "kind", "rater", "case_id", "key")

MIGRATIONS: Final[Migrations] = {
    "m001_initial": {
        "sqlite": (
            *_TABLES,
            _EVENTS.format(key="INTEGER PRIMARY KEY AUTOINCREMENT"),
            *_EVENT_INDEXES,
            """CREATE TRIGGER events_only_grow BEFORE DELETE ON events BEGIN
                SELECT RAISE(ABORT, 'events only grow'); END""",
            f"""CREATE TRIGGER events_never_change BEFORE UPDATE ON events
                WHEN NEW.body IS NOT NULL OR NOT ({" AND ".join(f"NEW.{c} IS OLD.{c}" for c in _COLUMNS)}) BEGIN
                SELECT RAISE(ABORT, 'events never change'); END""",
        ),
        "postgresql": (
            *_TABLES,
            _EVENTS.format(key="BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
            *_EVENT_INDEXES,
            f"""CREATE FUNCTION keep_events() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF TG_OP = 'DELETE' THEN RAISE EXCEPTION 'events only grow'; END IF;
                    IF NEW.body IS NOT NULL OR NOT ({" AND ".join(_KEPT.format(c) for c in _COLUMNS)}) THEN
                        RAISE EXCEPTION 'events never change';
                    END IF;
                    RETURN NEW;
                END $$""",
            "CREATE TRIGGER events_kept BEFORE UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_events()",
        ),
    },
}
