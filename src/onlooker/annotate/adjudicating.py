"""An expert's word on a case whose raters disagree: kept beside theirs, never over them.

A case is open to adjudication once all the people it needs have answered, so that no expert who looks at it can be
given it to rate, and only to experts who did not rate it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onlooker.annotate.answers import check_answer
from onlooker.annotate.cases import Case, rank
from onlooker.annotate.events import Event
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work
from onlooker.errors import InputError
from onlooker.protocol.form import Field, ItemAnswer, Scale, Words
from onlooker.records.public import ChoiceItem

RULE: Final = (
    "A case is listed once everybody it needs has answered, where their answers differ in a field that is measured and "
    "is not free words, or where somebody declined while others answered or a decision is due. First come those "
    "without a ruling, the widest apart on a scale before others. A case that you rated yourself is left to others."
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """``works``: the finished answers, in an order that says nothing about who gave which. ``fields``: names of those
    that differ, ``opt_out`` where some declined; ``steps``: the widest distance on a scale; ``ruling``: the last."""

    case: str
    works: Sequence[Work]
    fields: Sequence[str]
    steps: float
    ruling: Event | None


def disagreements(desk: Desk, expert: str | None = None) -> list[Disagreement]:
    """The cases that ``RULE`` lists, for ``expert`` without those that he rated himself."""
    rulings = last_rulings(desk)
    finished = _finished(desk)
    own = set() if expert is None else {work.case for work in desk.store.works(rater=expert) if work.version}
    found = []
    for case in desk.cases.ordinary:
        works = finished.get(case, [])
        if len(works) < desk.study.overlap or case in own:
            continue
        fields, steps = _differing(desk, desk.cases.by_id[case], works)
        if fields:
            found.append(Disagreement(case, works, fields, steps, rulings.get(case)))
    return sorted(found, key=lambda one: (one.ruling is not None, -one.steps))


def last_rulings(desk: Desk) -> dict[str, Event]:
    """{case: its last adjudication that still holds content}."""
    return {event.case: event for event in desk.store.events("adjudicated") if event.case is not None and event.body}


def adjudicate(
    desk: Desk, expert: str, case_id: str, answer: Any, says: str | None, key: str, base: int | None = None
) -> Event:
    """Store a ruling, once for all its sendings. ``base``: the version of the ruling that the page was showing, 0 for
    none; None does not ask. Raises ``AnswerRefused``; ``InputError`` for a case that is not ordinary, has not been
    answered by all it needs, or was rated by the expert, and where another ruling came in between."""
    store = desk.store
    with store.database.transaction():
        case = desk.cases.by_id.get(case_id)
        if case is None or case.kind != "plain":
            raise InputError("the study has no such case", value=case_id)
        before = store.by_key(expert, key)
        if before is not None:
            if before.case != case_id:
                raise InputError("this key was used for another case", value=key)
            return before
        own = store.work(expert, case_id)
        if own is not None and own.version:
            raise InputError("you rated this case yourself", value=case_id, remedy="leave it to another expert")
        if _count_finished(desk, case_id) < desk.study.overlap:
            raise InputError("not everybody has answered this case yet", value=case_id, remedy="wait for the others")
        standing = last_rulings(desk).get(case_id)
        if base is not None and base != (0 if standing is None else standing.seq):
            raise InputError("another ruling came in the meantime", remedy="load the page again and look at it")
        blank = Work(expert, case_id, "assigned", 0.0, 0.0)
        checked = check_answer(desk.form, case, answer, blank, {})
        body: Mapping[str, Any] = {"answer": checked, "says": says}
        event, _ = store.append("adjudicated", rater=expert, case=case_id, key=key, body=body)
        return event


def _count_finished(desk: Desk, case: str) -> int:
    row = desk.store.database.one(
        "SELECT COUNT(*) FROM work WHERE case_id = ? AND state IN (?, ?)", (case, *sorted(DONE))
    )
    return 0 if row is None else int(row[0])


def _finished(desk: Desk) -> dict[str, list[Work]]:
    """{case: its finished answers}, each case's in an order of its own."""
    found: dict[str, list[Work]] = defaultdict(list)
    for work in desk.store.works():
        if work.state in DONE:
            found[work.case].append(work)
    for case, works in found.items():
        works.sort(key=lambda work: rank(f"adjudication/{case}", desk.study.seed, work.rater))
    return found


def _differing(desk: Desk, case: Case, works: Sequence[Work]) -> tuple[list[str], float]:
    """Names of the fields that differ, and the widest distance on a scale."""
    answered = [work for work in works if work.answer is not None]
    declined = len(works) - len(answered)
    found = ["opt_out"] if (answered and declined) or (declined and desk.form.decision is not None) else []
    widest = 0.0
    for field in desk.form.fields:
        if not _is_compared(field, case):
            continue
        given = [(work.answer or {}).get(field.name) for work in answered]
        if all(one == given[0] for one in given):
            continue
        found.append(field.name)
        if isinstance(field, Scale):
            by_unit = [one if isinstance(one, dict) else {"": one} for one in given]
            for unit in {unit for one in by_unit for unit in one}:
                numbers = [n for one in by_unit if isinstance(n := one.get(unit), int | float)]
                widest = max(widest, max(numbers) - min(numbers)) if numbers else widest
    return found, widest


def _is_compared(field: Field, case: Case) -> bool:
    """Whether two answers to the field can be told to differ: words never say the same."""
    if isinstance(field, ItemAnswer):
        return isinstance(case.item, ChoiceItem)
    return field.rubric is not None and not isinstance(field, Words)
