"""An expert's word on a case whose raters disagree: kept beside theirs, never over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onlooker.annotate.answers import check_answer
from onlooker.annotate.events import Event
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work
from onlooker.errors import InputError


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A case with two or more answers that differ. ``works`` by pseudonym; ``ruling``: the last adjudication."""

    case: str
    works: Sequence[Work]
    ruling: Event | None


def disagreements(desk: Desk) -> list[Disagreement]:
    """Cases whose finished answers are not all equal, those without a ruling first, each in the order of the study."""
    by_case: dict[str, list[Work]] = {}
    for work in desk.store.works():
        if work.state in DONE:
            by_case.setdefault(work.case, []).append(work)
    rulings = last_rulings(desk)
    found = [
        Disagreement(case, by_case[case], rulings.get(case))
        for case in desk.cases.ordinary
        if len(by_case.get(case, ())) > 1 and any(_word(w) != _word(by_case[case][0]) for w in by_case[case])
    ]
    return sorted(found, key=lambda one: one.ruling is not None)


def last_rulings(desk: Desk) -> dict[str, Event]:
    """{case: its last adjudication that still holds content}."""
    return {event.case: event for event in desk.store.events("adjudicated") if event.case is not None and event.body}


def adjudicate(desk: Desk, expert: str, case_id: str, answer: Any, says: str | None, key: str) -> Event:
    """Store a ruling. One who rated the case does not rule on it. Raises ``AnswerRefused``, ``InputError``."""
    store = desk.store
    with store.database.transaction():
        case = desk.cases.by_id.get(case_id)
        if case is None:
            raise InputError("the study has no such case", value=case_id)
        before = store.by_key(expert, key)
        if before is not None:
            return before
        own = store.work(expert, case_id)
        if own is not None and own.state in DONE:
            raise InputError("you rated this case yourself", value=case_id, remedy="leave it to another expert")
        blank = Work(expert, case_id, "assigned", 0.0, 0.0)
        checked = check_answer(desk.form, case, answer, blank, {})
        body: Mapping[str, Any] = {"answer": checked, "says": says}
        event, _ = store.append("adjudicated", rater=expert, case=case_id, key=key, body=body)
        return event


def _word(work: Work) -> tuple[Any, Any]:
    return work.opt_out, work.answer
