"""Who gets which case: each exactly as many people as it needs, and nobody the same twice.

Every decision is one transaction alone among the writers, so that two people who ask at once see each other's case.
"""

from __future__ import annotations

from collections.abc import Sequence

from onlooker.annotate.cases import Cases, rank
from onlooker.annotate.store import Store
from onlooker.annotate.study import Study
from onlooker.annotate.work import DONE, Work
from onlooker.errors import InputError

_AT_ONCE = 100


def order_for(study: Study, cases: Cases, rater: str) -> tuple[str, ...]:
    """The order of all cases for one person: warm-up first as listed, the ordinary ones shuffled from the seed and the
    pseudonym, a gold case after every ``gold.every`` of them, those shuffled too."""

    def shuffled(kind: str) -> list[str]:
        ids = [case.id for case in cases.by_id.values() if case.kind == kind]
        return sorted(ids, key=lambda one: rank(f"order/{kind}/{rater}", study.seed, one))

    gold = shuffled("gold")
    every = study.gold.every if study.gold else 0
    order = list(study.warm_up)
    for place, one in enumerate(shuffled("plain"), start=1):
        order.append(one)
        if gold and place % every == 0:
            order.append(gold.pop())
    return (*order, *gold)


def next_case(store: Store, study: Study, cases: Cases, rater: str) -> Work | None:
    """The case that the person is at, or a new one; None where nothing is left for him.

    Asking twice gives the same case. First come the cases never offered, in the person's order; then those he skipped
    or lost. Cases opened by others and left without any activity are taken back first.
    """
    with store.database.transaction():
        who = store.rater(rater)
        if who is None or who.state != "active":
            raise InputError("no active rater of this pseudonym", value=rater)
        mine = store.states(rater)
        # What he has open stays his for as long as nobody took it back: his asking is activity.
        at_hand = next((case for case, state in mine.items() if state == "assigned"), None)
        if at_hand is not None:
            return store.work(rater, at_hand)
        take_back_abandoned(store, study)
        done = sum(state in DONE and cases.by_id[case].kind == "plain" for case, state in mine.items())
        is_full = study.per_rater is not None and done >= study.per_rater
        order = store.order(rater)
        fresh = [case for case in order if case not in mine]
        again = [case for case in order if mine.get(case) in {"skipped", "released"}]
        found = _first_open(store, study, cases, fresh, is_full) or _first_open(store, study, cases, again, is_full)
        if found is None:
            return None
        _, work = store.append("assigned", rater=rater, case=found)
        return work


def _first_open(store: Store, study: Study, cases: Cases, wanted: Sequence[str], is_full: bool) -> str | None:
    """The first case that still needs somebody. Warm-up and gold are for everybody; an ordinary one of a person who
    has done enough is passed over."""
    for begin in range(0, len(wanted), _AT_ONCE):
        some = wanted[begin : begin + _AT_ONCE]
        plain = [case for case in some if cases.by_id[case].kind == "plain"]
        marks = ", ".join("?" * len(plain))
        rows = (
            store.database.rows(f"SELECT id FROM cases WHERE held < ? AND id IN ({marks})", (study.overlap, *plain))  # noqa: S608
            if plain and not is_full
            else []
        )
        open_cases = {row[0] for row in rows}
        for case in some:
            if case in open_cases or cases.by_id[case].kind != "plain":
                return case
    return None


def take_back_abandoned(store: Store, study: Study) -> int:
    """Release what was opened and left for longer than the study's patience; return how many."""
    before_s = store.clock.now_s() - study.patience_min * 60
    with store.database.transaction():
        left = store.database.rows(
            "SELECT rater, case_id FROM work WHERE state = 'assigned' AND active_s < ?", (before_s,)
        )
        for rater, case in left:
            store.append("released", rater=rater, case=case, body={"why": "no activity"})
        return len(left)


def is_needed(store: Store, study: Study, cases: Cases, case: str) -> bool:
    """Whether one more person is wanted for the case."""
    row = store.database.one("SELECT held FROM cases WHERE id = ?", (case,))
    return row is not None and (cases.by_id[case].kind != "plain" or int(row[0]) < study.overlap)
