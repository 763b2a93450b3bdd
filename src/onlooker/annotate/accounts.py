"""Who is who: invitations, sessions, return codes, withdrawal. Secrets are stored as digests; a person is a pseudonym.

An invitation link works once and for a stated time. Whoever takes it gets a pseudonym (``r-`` and six letters), a
session in a cookie, and a return code with which to come back from anywhere. The one table that knows a name is
``people``; it is filled only where the owner gave one, and emptied by a withdrawal.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from onlooker.annotate.assigning import order_for
from onlooker.annotate.cases import Cases
from onlooker.annotate.store import RaterRow, Store
from onlooker.annotate.study import Role, Study
from onlooker.errors import InputError, OnlookerError

# Without letters that look alike on paper.
_LETTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"
_HOUR_S: Final = 3600.0


class NotLetIn(OnlookerError):
    """Unknown, used or expired: the words are the same for all, so that nothing can be found out by trying."""


@dataclass(frozen=True, slots=True)
class Session:
    """An open session. ``token`` goes into the cookie, ``csrf`` into pages and back in a header of every write."""

    token: str
    csrf: str
    rater: RaterRow


@dataclass(frozen=True, slots=True)
class Joined:
    """What taking an invitation gives; ``return_code`` is shown this once."""

    session: Session
    return_code: str


def invite(store: Store, study: Study, role: Role, *, name: str = "", rater: str | None = None) -> str:
    """A new invitation's token. ``name``: for the owner's private list; ``rater``: lets that person in again, say on
    another device after losing the return code."""
    if rater is not None:
        known = store.rater(rater)
        if known is None or known.state != "active":
            raise InputError("no active rater of this pseudonym", where="--rater", value=rater)
        role = known.role  # type: ignore[assignment]
    token = secrets.token_urlsafe(24)
    expires_at = store.clock.wall() + study.invitation_days * 24 * _HOUR_S
    with store.database.transaction():
        store.database.run(
            "INSERT INTO invitations VALUES (?, ?, ?, ?, ?, NULL)", (_digest(token), role, rater, name, expires_at)
        )
    return token


def is_open(store: Store, token: str) -> bool:
    """Whether an invitation can still be taken. Looking does not take it: mail programs open links by themselves."""
    row = store.database.one("SELECT expires_at, used_at FROM invitations WHERE token_sha256 = ?", (_digest(token),))
    return row is not None and row[1] is None and store.clock.wall() < row[0]


def take_invitation(store: Store, study: Study, cases: Cases, token: str) -> Joined:
    """Take an invitation, once. Raises ``NotLetIn``."""
    with store.database.transaction():
        row = store.database.one(
            "SELECT role, rater, name, expires_at, used_at FROM invitations WHERE token_sha256 = ?", (_digest(token),)
        )
        now = store.clock.wall()
        if row is None or row[4] is not None or now >= row[3]:
            raise NotLetIn("this link was used, has expired or never was", remedy="ask whoever sent it for a new one")
        role, rater, name = row[:3]
        if rater is None:
            rater = _new_pseudonym(store)
            store.add_rater(rater, role, order_for(study, cases, rater))
            if name:
                store.database.run("INSERT INTO people VALUES (?, ?)", (rater, name))
        # The name goes from the invitation to the list of people: it stands in one place only.
        store.database.run(
            "UPDATE invitations SET used_at = ?, rater = ?, name = '' WHERE token_sha256 = ?",
            (now, rater, _digest(token)),
        )
        code = _new_code()
        store.database.run(
            "INSERT INTO return_codes VALUES (?, ?) "
            "ON CONFLICT (rater) DO UPDATE SET code_sha256 = excluded.code_sha256",
            (rater, _digest(code)),
        )
        return Joined(_open_session(store, study, rater), code)


def log_in(store: Store, study: Study, rater: str, code: str) -> Session:
    """A session by pseudonym and return code. Raises ``NotLetIn``."""
    with store.database.transaction():
        row = store.database.one("SELECT code_sha256 FROM return_codes WHERE rater = ?", (rater,))
        wanted = row[0] if row is not None else _digest("nobody")
        if not hmac.compare_digest(wanted, _digest(code.strip().lower())) or row is None:
            raise NotLetIn(
                "pseudonym and return code do not belong together", remedy="look again, or ask for a new link"
            )
        return _open_session(store, study, rater)


def _open_session(store: Store, study: Study, rater: str) -> Session:
    known = store.rater(rater)
    if known is None or known.state != "active":
        raise NotLetIn("this person has left the study")
    token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    now = store.clock.wall()
    store.database.run("DELETE FROM sessions WHERE expires_at < ?", (now,))
    store.database.run(
        "INSERT INTO sessions VALUES (?, ?, ?, ?)", (_digest(token), rater, csrf, now + study.session_hours * _HOUR_S)
    )
    store.append("logged_in", rater=rater)
    return Session(token, csrf, known)


def find_session(store: Store, token: str) -> Session | None:
    """The session of a cookie; None where it is unknown or has expired."""
    row = store.database.one("SELECT rater, csrf, expires_at FROM sessions WHERE token_sha256 = ?", (_digest(token),))
    if row is None or store.clock.wall() >= row[2]:
        return None
    known = store.rater(row[0])
    return Session(token, row[1], known) if known is not None and known.state == "active" else None


def log_out(store: Store, token: str) -> None:
    """End a session."""
    with store.database.transaction():
        store.database.run("DELETE FROM sessions WHERE token_sha256 = ?", (_digest(token),))


def withdraw(store: Store, rater: str, mode: Literal["detach", "delete"]) -> None:
    """Let a person leave, with a record that says when and how.

    ``detach``: answers stay under the pseudonym, and nothing says any more whose it was. ``delete``: their content is
    taken out of events and work too, and the cases go to others. In both, sessions, codes and the name are removed.
    """
    known = store.rater(rater)
    if known is None:
        raise InputError("no rater of this pseudonym", value=rater, remedy="onlooker annotate status lists them")
    with store.database.transaction():
        store.withdraw(rater, mode)
        for table in ("people", "sessions", "return_codes", "invitations"):
            store.database.run(f"DELETE FROM {table} WHERE rater = ?", (rater,))  # noqa: S608 - four constants


def overdue_names(store: Store, study: Study) -> list[str]:
    """Pseudonyms whose names are kept for longer than the study's ``retention.days``."""
    before = store.clock.wall() - study.retention.days * 24 * _HOUR_S
    rows = store.database.rows(
        "SELECT p.rater FROM people p JOIN events e ON e.rater = p.rater "
        "WHERE e.kind = 'joined' AND e.at < ? ORDER BY 1",
        (before,),
    )
    return [row[0] for row in rows]


def _new_pseudonym(store: Store) -> str:
    while True:
        made = "r-" + "".join(secrets.choice(_LETTERS) for _ in range(6))
        if store.rater(made) is None:
            return made


def _new_code() -> str:
    """Twenty letters in groups of five: 99 bits."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(20))
    return "-".join(letters[i : i + 5] for i in range(0, 20, 5))


def _digest(secret: str) -> str:
    # Secrets are random and long: a plain digest cannot be turned back, and needs no slow hash.
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(slots=True)
class Throttle:
    """At most ``most`` failed attempts a caller within ``within_s``. Held in memory: no address is ever stored."""

    most: int = 10
    within_s: float = 600.0
    monotonic: Callable[[], float] = time.monotonic
    _failed: dict[str, deque[float]] = field(default_factory=dict)

    def wait_s(self, caller: str) -> float:
        """How long the caller has to wait before the next attempt; 0: not at all."""
        times = self._failed.get(caller)
        now = self.monotonic()
        while times and now - times[0] >= self.within_s:
            times.popleft()
        return self.within_s - (now - times[0]) if times and len(times) >= self.most else 0.0

    def failed(self, caller: str) -> None:
        """Note a failed attempt."""
        if len(self._failed) > 10_000:
            self._failed = {one: times for one, times in self._failed.items() if self.wait_s(one) > 0}
        self._failed.setdefault(caller, deque()).append(self.monotonic())
