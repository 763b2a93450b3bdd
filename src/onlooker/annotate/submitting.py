"""What a person does with a case: plays, drafts, answers, changes, declines. Each is one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onlooker.annotate.answers import check_answer
from onlooker.annotate.assigning import is_needed
from onlooker.annotate.cases import Case, Cases
from onlooker.annotate.events import Kind
from onlooker.annotate.store import Store
from onlooker.annotate.study import Study
from onlooker.annotate.work import DONE, Work
from onlooker.errors import InputError, OnlookerError
from onlooker.protocol.form import Form


@dataclass(frozen=True, slots=True)
class Submission:
    """What a page sends. ``key``: made by the page when it was shown, the same for every attempt to send this;
    ``base``: the version of the answer that the page was showing, 0 for none. ``answer`` or ``opt_out``."""

    key: str
    base: int
    answer: Any = None
    opt_out: str | None = None


class Conflict(OnlookerError):
    """Another page of the same person answered in between. ``work``: what stands."""

    def __init__(self, work: Work) -> None:
        self.work = work
        super().__init__("this was answered in another tab in the meantime", remedy="look at both, then submit again")


class NotYours(OnlookerError):
    """The case was never opened by this person."""


@dataclass(frozen=True, slots=True)
class Desk:
    """The study as one serves it: its parts together."""

    store: Store
    study: Study
    form: Form
    cases: Cases

    def own(self, rater: str, case: str) -> tuple[Case, Work]:
        """The person's own work. Raises ``NotYours`` in the same words for a case of others and one that is not."""
        work = self.store.work(rater, case)
        if work is None or case not in self.cases.by_id:
            raise NotYours("you have no such case")
        return self.cases.by_id[case], work


def submit(desk: Desk, rater: str, case_id: str, sent: Submission, views: Mapping[str, float | None]) -> Work:
    """Store an answer, a changed answer or an opt-out, once for all its sendings, and return what stands.

    A case that was taken back and still needs somebody counts again; one that others have filled in the meantime
    becomes ``surplus``. Raises ``AnswerRefused``, ``Conflict``, ``NotYours``.
    """
    store = desk.store
    with store.database.transaction():
        case, work = desk.own(rater, case_id)
        before = store.by_key(rater, sent.key)
        if before is not None:
            if before.case != case_id:
                raise InputError("this key was used for another case", value=sent.key)
            return work
        answer = None
        if sent.opt_out is None:
            answer = check_answer(desk.form, case, sent.answer, work, views)
        elif sent.opt_out not in offered_opt_outs(desk):
            raise InputError("the study offers no such answer", value=sent.opt_out)
        if work.version != sent.base:
            if work.answer == answer and work.opt_out == sent.opt_out:
                return work
            raise Conflict(work)
        is_change = work.version > 0
        if is_change and not desk.study.changes:
            raise InputError("answers of this study are final")
        body: dict[str, Any] = {"answer": answer, "opt_out": sent.opt_out, "base": sent.base}
        if not work.is_held and not is_needed(store, desk.study, desk.cases, case_id):
            body["surplus"] = True
        if not is_change:
            body["seconds"] = round(store.clock.now_s() - work.opened_s, 3)
        kind: Kind = "changed" if is_change else "opted_out" if sent.opt_out else "answered"
        _, after = store.append(kind, rater=rater, case=case_id, key=sent.key, body=body)
        assert after is not None
        return after


def offered_opt_outs(desk: Desk) -> list[str]:
    """The ways to decline that this study offers."""
    wanted = desk.study.opt_outs
    return [one.value for one in desk.form.opt_outs if wanted is None or one.value in wanted]


def draft(desk: Desk, rater: str, case_id: str, words: Mapping[str, Any]) -> None:
    """Keep what is being typed. The last draft is shown when the page opens again."""
    with desk.store.database.transaction():
        _, work = desk.own(rater, case_id)
        if work.draft != words:
            desk.store.append("drafted", rater=rater, case=case_id, body={"draft": dict(words)})


def played(desk: Desk, rater: str, case_id: str, views: Mapping[str, list[list[float]]]) -> Work:
    """Note which stretches (seconds) of which view were played."""
    for view, stretches in views.items():
        if view not in {one.medium for one in desk.form.layout.views}:
            raise InputError("the form shows no such view", value=view)
        for one in stretches:
            if len(one) != 2 or not 0 <= one[0] <= one[1] < 1e6:
                raise InputError("expected [start, end] in seconds", value=one)
    with desk.store.database.transaction():
        desk.own(rater, case_id)
        _, after = desk.store.append("played", rater=rater, case=case_id, body={"views": dict(views)})
        assert after is not None
        return after


def put_aside(desk: Desk, rater: str, case_id: str, kind: Kind, key: str, says: str | None = None) -> None:
    """``skipped`` (it comes again at the end) or ``cannot_play`` (a report on the medium, not a rating): the case goes
    to others. Nothing happens to a case that the person has answered."""
    assert kind in {"skipped", "cannot_play"}
    with desk.store.database.transaction():
        _, work = desk.own(rater, case_id)
        if work.state not in DONE and desk.store.by_key(rater, key) is None:
            desk.store.append(kind, rater=rater, case=case_id, key=key, body={"says": says})
