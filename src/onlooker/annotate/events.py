"""What happened in a study, event by event in the order of their commits; and the clock that times them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "opened",  # the study was served: its effective settings
    "joined",  # a person took an invitation: role and order of cases
    "logged_in",
    "assigned",
    "played",  # {view: stretches in seconds}
    "drafted",
    "answered",
    "changed",
    "opted_out",
    "cannot_play",
    "skipped",
    "released",  # taken back, since nothing happened for too long or the person left
    "paused",
    "adjudicated",  # an expert's word on a case, beside those of the raters
    "withdrawn",  # a person left: detach or delete
    "exported",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Event:
    """``seq`` orders events; ``at`` is the wall clock (seconds since 1970), only ever shown; ``clock_s`` the study's
    own clock. ``key``: made by the page, so that what is sent twice is stored once. ``body``: None where a withdrawal
    took the content out."""

    seq: int
    at: float
    clock_s: float
    kind: Kind
    rater: str | None = None
    case: str | None = None
    key: str | None = None
    body: Mapping[str, Any] | None = None


class StudyClock:
    """Seconds in which the study was served, over all its sessions.

    It neither jumps with the wall clock nor runs while the server is down, so that nobody's case is taken back for
    either. ``base_s``: where the last session ended.
    """

    def __init__(
        self,
        base_s: float = 0.0,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._monotonic = monotonic
        self._start = monotonic() - base_s
        self.wall = wall

    def now_s(self) -> float:
        """Seconds served until now."""
        return self._monotonic() - self._start

    def go_on_from(self, base_s: float) -> None:
        """Let the clock stand at ``base_s`` now, unless it is later already."""
        self._start = min(self._start, self._monotonic() - base_s)
