"""The events of a study and what follows from them, in one database."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from onlooker.annotate.cases import Cases
from onlooker.annotate.database import Database, migrate
from onlooker.annotate.events import Event, Kind, StudyClock
from onlooker.annotate.migrations import MIGRATIONS
from onlooker.annotate.study import Study
from onlooker.annotate.work import State, Work, apply, from_row
from onlooker.errors import InputError
from onlooker.protocol.form import Form

_EVENT_COLUMNS: Final = "seq, at, clock_s, kind, rater, case_id, key, body"
_WORK_COLUMNS: Final = "rater, case_id, state, opened_s, active_s, version, body"
_WRITE_WORK: Final = (
    "INSERT INTO work (rater, case_id, state, opened_s, active_s, version, body) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (rater, case_id) DO UPDATE SET state = excluded.state, opened_s = excluded.opened_s, "
    "active_s = excluded.active_s, version = excluded.version, body = excluded.body"
)


@dataclass(frozen=True, slots=True)
class RaterRow:
    """A person as the study knows him: a pseudonym and a role. ``state``: active, withdrawn."""

    id: str
    role: str
    state: str


class Store:
    """Reads and appends. What decides what may happen is in ``assigning``, ``submitting`` and ``accounts``."""

    def __init__(self, database: Database, clock: StudyClock | None = None) -> None:
        self.database = database
        self.clock = clock or StudyClock()
        migrate(database, MIGRATIONS)
        last = database.one("SELECT MAX(clock_s) FROM events")
        self.clock.go_on_from(float(last[0]) if last and last[0] is not None else 0.0)

    # --- the study ------------------------------------------------------------------------------

    def freeze(self, study: Study, form: Form, cases: Cases) -> None:
        """Bind the database to the study: its form, seed, cases and their items can no longer change, since answers
        given would then be answers to something else. The rest (overlap, breaks, rights ...) may.

        Raises ``InputError`` where the database holds another study.
        """
        plain = list(cases.by_id.values())
        bound = {
            "study": study.name,
            "bundle": study.bundle,
            "form": form.name,
            "seed": str(study.seed),
            "fields": _digest([repr(field) for field in form.fields]),
            "cases": _digest([[c.id, c.kind] for c in plain]),
            "items": _digest([[c.item.to_json(), dict(c.shown)] for c in plain]),
        }
        with self.database.transaction():
            for name, value in bound.items():
                before = self.setting(name)
                if before is None:
                    self._set(name, value)
                elif before != value:
                    raise InputError(
                        f"the database holds answers to something else: the {name} differs",
                        where=f"study {study.name}",
                        value=value,
                        remedy=f"go back to {before}, or name another --database for the changed study",
                    )
            if self.setting("secret") is None:
                self._set("secret", secrets.token_hex(32))
            there = {row[0] for row in self.database.rows("SELECT id FROM cases")}
            for place, case in enumerate(plain):
                if case.id not in there:
                    self.database.run(
                        "INSERT INTO cases (id, place, item, kind, hidden) VALUES (?, ?, ?, ?, ?)",
                        (case.id, place, case.item.id, case.kind, json.dumps(case.hidden)),
                    )

    def setting(self, name: str) -> str | None:
        """A value that the database keeps; None where it has none."""
        row = self.database.one("SELECT value FROM settings WHERE name = ?", (name,))
        return None if row is None else str(row[0])

    def _set(self, name: str, value: str) -> None:
        self.database.run("INSERT INTO settings VALUES (?, ?)", (name, value))

    # --- events ---------------------------------------------------------------------------------

    def append(
        self,
        kind: Kind,
        *,
        rater: str | None = None,
        case: str | None = None,
        key: str | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[Event, Work | None]:
        """Append an event, bring work and counts up to date, and return both; on disk when the transaction ends."""
        with self.database.transaction():
            at, clock_s = self.clock.wall(), self.clock.now_s()
            row = self.database.one(
                "INSERT INTO events (at, clock_s, kind, rater, case_id, key, body) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING seq",
                (at, clock_s, kind, rater, case, key, json.dumps(body or {})),
            )
            assert row is not None
            event = Event(int(row[0]), at, clock_s, kind, rater, case, key, body or {})
            if rater is None or case is None:
                return event, None
            return event, self._follow(self.work(rater, case), event)

    def _follow(self, before: Work | None, event: Event) -> Work | None:
        after = apply(before, event)
        if after is None or after == before:
            return after
        self.database.run(_WRITE_WORK, _work_row(after))
        step = int(after.is_held) - int(before is not None and before.is_held)
        if step:
            self.database.run("UPDATE cases SET held = held + ? WHERE id = ?", (step, after.case))
        return after

    def withdraw(self, rater: str, mode: str) -> None:
        """Append ``withdrawn`` and let it take effect on everything of this person (see ``accounts.withdraw``)."""
        with self.database.transaction():
            event, _ = self.append("withdrawn", rater=rater, body={"mode": mode})
            for work in self.works(rater=rater):
                self._follow(work, event)
            self.database.run("UPDATE raters SET state = 'withdrawn' WHERE id = ?", (rater,))
            if mode == "delete":
                self.database.run("UPDATE events SET body = NULL WHERE rater = ? AND kind <> 'withdrawn'", (rater,))

    def events(self, *kinds: Kind, rater: str | None = None, case: str | None = None) -> list[Event]:
        """Events in their order, of the kinds, rater and case named."""
        conditions: list[str] = []
        values: list[object] = []
        if kinds:
            conditions.append(f"kind IN ({', '.join('?' * len(kinds))})")
            values += kinds
        for column, value in (("rater", rater), ("case_id", case)):
            if value is not None:
                conditions.append(f"{column} = ?")
                values.append(value)
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = self.database.rows(f"SELECT {_EVENT_COLUMNS} FROM events{where} ORDER BY seq", values)  # noqa: S608
        return [_event(row) for row in rows]

    def by_key(self, rater: str, key: str) -> Event | None:
        """The event that a page sent under this key."""
        row = self.database.one(
            f"SELECT {_EVENT_COLUMNS} FROM events WHERE rater = ? AND key = ?",  # noqa: S608 - a constant
            (rater, key),
        )
        return None if row is None else _event(row)

    # --- what follows from them -----------------------------------------------------------------

    def work(self, rater: str, case: str) -> Work | None:
        """One person's work on one case."""
        row = self.database.one(
            f"SELECT {_WORK_COLUMNS} FROM work WHERE rater = ? AND case_id = ?",  # noqa: S608 - a constant
            (rater, case),
        )
        return None if row is None else from_row(row)

    def works(self, *, rater: str | None = None) -> list[Work]:
        """All work, or one person's, by case and rater."""
        where, values = ("", ()) if rater is None else (" WHERE rater = ?", (rater,))
        rows = self.database.rows(f"SELECT {_WORK_COLUMNS} FROM work{where} ORDER BY case_id, rater", values)  # noqa: S608
        return [from_row(row) for row in rows]

    def states(self, rater: str) -> dict[str, State]:
        """{case: state} of one person's work."""
        return dict(self.database.rows("SELECT case_id, state FROM work WHERE rater = ?", (rater,)))

    def rater(self, rater: str) -> RaterRow | None:
        """The person behind a pseudonym, as the study knows him."""
        row = self.database.one("SELECT id, role, state FROM raters WHERE id = ?", (rater,))
        return None if row is None else RaterRow(*row)

    def raters(self) -> list[RaterRow]:
        """Everybody who joined, withdrawn or not."""
        return [RaterRow(*row) for row in self.database.rows("SELECT id, role, state FROM raters ORDER BY id")]

    def order(self, rater: str) -> tuple[str, ...]:
        """The order of a person's cases, fixed when he joined; empty for nobody."""
        row = self.database.one("SELECT case_order FROM raters WHERE id = ?", (rater,))
        return () if row is None else tuple(json.loads(row[0]))

    def add_rater(self, rater: str, role: str, order: Sequence[str]) -> None:
        """A person who joined, with the order in which his cases come."""
        with self.database.transaction():
            body = {"role": role, "order": list(order)}
            self.append("joined", rater=rater, body=body)
            self.database.run("INSERT INTO raters VALUES (?, ?, 'active', ?)", (rater, role, json.dumps(body["order"])))

    def held(self) -> dict[str, int]:
        """{case: how many people hold or have done it}."""
        return {row[0]: int(row[1]) for row in self.database.rows("SELECT id, held FROM cases ORDER BY place")}

    # --- the promise ----------------------------------------------------------------------------

    def replay(self) -> tuple[dict[tuple[str, str], Work], dict[str, int]]:
        """Work and counts made anew from the events alone: what the tables have to say."""
        works: dict[tuple[str, str], Work] = {}
        for event in self.events():
            if event.rater is None:
                continue
            places: Iterable[tuple[str, str]] = [(event.rater, event.case)] if event.case is not None else []
            if event.kind == "withdrawn":
                places = [place for place in works if place[0] == event.rater]
            for place in places:
                after = apply(works.get(place), event)
                if after is not None:
                    works[place] = after
        held = dict.fromkeys(self.held(), 0)
        for work in works.values():
            held[work.case] += work.is_held
        return works, held

    def rebuild(self) -> None:
        """Write work and counts anew from the events."""
        with self.database.transaction():
            works, held = self.replay()
            self.database.run("DELETE FROM work")
            for work in works.values():
                self.database.run(_WRITE_WORK, _work_row(work))
            for case, count in held.items():
                self.database.run("UPDATE cases SET held = ? WHERE id = ?", (count, case))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]


def _event(row: Sequence[Any]) -> Event:
    body = None if row[7] is None else json.loads(row[7])
    return Event(int(row[0]), row[1], row[2], cast(Kind, row[3]), row[4], row[5], row[6], body)


def _work_row(work: Work) -> tuple[object, ...]:
    return (work.rater, work.case, work.state, work.opened_s, work.active_s, work.version, work.body())
