"""One person's work on one case, as the events say: ``apply`` is the whole rule, pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from onlooker.annotate.events import Event

State: TypeAlias = Literal[
    "assigned", "answered", "opted_out", "cannot_play", "skipped", "released", "surplus", "withdrawn"
]
HELD: Final = frozenset[State](("assigned", "answered", "opted_out"))
"""States that count to the number of people a case needs."""
DONE: Final = frozenset[State](("answered", "opted_out"))
Stretches: TypeAlias = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Work:
    """``version``: the event of the answer that stands, 0 before the first. State ``surplus``: answered after the case
    had been taken back and given to others; kept, and not counted. ``seconds``: from opening to answering, on the
    study's clock. ``played``: {view: stretches in seconds}. ``says``: why it could not be played."""

    rater: str
    case: str
    state: State
    opened_s: float
    active_s: float
    version: int = 0
    answer: Mapping[str, Any] | None = None
    opt_out: str | None = None
    at: float | None = None
    seconds: float | None = None
    draft: Mapping[str, Any] | None = None
    played: Mapping[str, Stretches] = field(default_factory=dict)
    answers: int = 0
    says: str | None = None

    @property
    def is_held(self) -> bool:
        """Whether it counts to the number of people the case needs."""
        return self.state in HELD

    def body(self) -> str:
        """What is stored beside the columns."""
        names = ("answer", "opt_out", "at", "seconds", "draft", "played", "answers", "says")
        return json.dumps({name: getattr(self, name) for name in names})


def from_row(row: Sequence[Any]) -> Work:
    """The work in a row (rater, case_id, state, opened_s, active_s, version, body)."""
    return Work(*row[:6], **json.loads(row[6]))


def apply(work: Work | None, event: Event) -> Work | None:  # noqa: PLR0911 - one for each kind of event
    """The work after the event. None before anything was assigned, and for events that are of no case."""
    body = event.body or {}
    if event.kind == "assigned":
        assert event.rater is not None
        assert event.case is not None
        if work is None:
            return Work(event.rater, event.case, "assigned", event.clock_s, event.clock_s)
        return replace(work, state="assigned", opened_s=event.clock_s, active_s=event.clock_s)
    if work is None:
        return None
    seen = replace(work, active_s=event.clock_s)
    match event.kind:
        case "played":
            played = {**seen.played}
            for view, stretches in body.get("views", {}).items():
                played[view] = merge([*played.get(view, ()), *stretches])
            return replace(seen, played=played)
        case "drafted":
            return replace(seen, draft=body.get("draft"))
        case "answered" | "changed" | "opted_out":
            return _answered(seen, event, body)
        case "cannot_play" | "skipped":
            return replace(seen, state=event.kind, says=body.get("says"))
        case "released":
            return replace(work, state="released") if work.state == "assigned" else work
        case "withdrawn":
            return _withdrawn(work, body)
    return work


def _answered(work: Work, event: Event, body: Mapping[str, Any]) -> Work:
    opt_out = body.get("opt_out")
    state: State = "opted_out" if opt_out else "answered"
    return replace(
        work,
        state="surplus" if body.get("surplus") else state,
        version=event.seq,
        answer=body.get("answer"),
        opt_out=opt_out,
        at=event.at,
        seconds=work.seconds if event.kind == "changed" else body.get("seconds"),
        draft=None,
        answers=work.answers + 1,
        says=None,
    )


def _withdrawn(work: Work, body: Mapping[str, Any]) -> Work:
    if body.get("mode") == "delete":
        return Work(work.rater, work.case, "withdrawn", work.opened_s, work.active_s)
    return replace(work, state="released", draft=None) if work.state == "assigned" else replace(work, draft=None)


def merge(stretches: Stretches) -> list[list[float]]:
    """The stretches in order, those that touch (within a fifth of a second: players report four times a second) as
    one."""
    merged: list[list[float]] = []
    for start, end in sorted((float(a), float(b)) for a, b in stretches):
        if merged and start <= merged[-1][1] + TOUCH_S:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def covers(stretches: Stretches, start_s: float, end_s: float) -> bool:
    """Whether the window was played in full, to a third of a second at either end."""
    return any(a <= start_s + SLACK_S and b >= end_s - SLACK_S for a, b in merge(stretches))


TOUCH_S: Final = 0.2
SLACK_S: Final = 1 / 3
