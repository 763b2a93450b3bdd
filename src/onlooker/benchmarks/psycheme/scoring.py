"""PsycheMME: raw answer credit, and the credit that is left once the rationale is verified.

v = a c e l / 1.44 (paper, appendix D.5): answer credit a, informative rationale c, support from
cues e, logical integrity l. Stages a, ac, ac e/1.2, v; their losses and v add up to 1 for every
item.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from onlooker.benchmarks.psycheme.answers import parse
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES
from onlooker.errors import InputError
from onlooker.protocol.metric import Columns, Metric
from onlooker.protocol.scoring import (
    Case,
    Family,
    Grade,
    Number,
    Private,
    Reply,
    Rubric,
    Scope,
    Words,
    exact_credit,
)
from onlooker.records.public import Item, OpenItem
from onlooker.text.rationales import informative

LARGEST: Final = 1.2
EVIDENCE: Final = {"strong": 1.2, "normal": 1.0, "weak": 0.8, "contradicted": 0.5, "insufficient": 0.0}
LOGIC: Final = {
    "coherent": 1.2,
    "acceptable": 1.0,
    "weak": 0.8,
    "contradictory": 0.5,
    "unevaluable": 0.0,
}
OPEN_ANSWER: Final = Rubric("open_answer", {"credit": Number(0, 1, steps=(0, 0.5, 1))})
VERIFIED: Final = Rubric("verified", {"evidence": Words(tuple(EVIDENCE)), "logic": Words(tuple(LOGIC))})
STAGES: Final = ("answer", "coverage", "evidence", "logic")


def grade(item: Item, private: Private, reply: Reply) -> Grade:
    """Answer credit a, verified credit v and the stages between.

    A reply that was not understood earns 0 and stays in the denominator. An open answer that was
    understood, but has no valid ``open_answer`` judgement, is unjudged and has neither a nor v.
    Where a > 0 and the rationale is informative, v needs a valid ``verified`` judgement.
    """
    if reply.answer is None:
        return _graded(0.0, 0.0, 0.0, 0.0)
    if isinstance(item, OpenItem):
        judged = reply.labels.get(OPEN_ANSWER.name)
        if judged is None:
            return Grade(None, unjudged=True)
        a = float(judged["credit"])
    else:
        a = exact_credit(private, reply)
    if a == 0 or not any(map(informative, reply.answer.rationale.values())):
        return _graded(a, 0.0, 0.0, 0.0)
    labels = reply.labels.get(VERIFIED.name)
    if labels is None:
        return Grade(a, unjudged=True)
    e, logic = EVIDENCE[labels["evidence"]], LOGIC[labels["logic"]]
    return _graded(a, a, a * e / LARGEST, a * e * logic / LARGEST**2)


def _graded(answer: float, coverage: float, evidence: float, logic: float) -> Grade:
    stages = dict(zip(STAGES, (answer, coverage, evidence, logic), strict=True))
    return Grade(answer, logic, points=stages)


def answer_metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
    """Raw credit: macro, micro and by stratum."""
    return _strata("raw", cases, [case.grade.credit for case in cases], scope)


def metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
    """Raw, verified, retention, stages and losses."""
    columns = _columns(cases)
    a = [case.grade.credit for case in cases]
    v = [case.grade.verified for case in cases]
    found = answer_metrics(cases, scope) + _strata("verified", cases, v, scope)
    # a without v (unjudged) is in neither sum.
    found.append(columns.ratio("retention.pooled", v, a))
    groups = [capability_of(case.item) for case in cases]
    for one in sorted({group for group in (*groups, *_capabilities(scope)) if group is not None}):
        inside = [group == one for group in groups]
        found.append(columns.ratio(f"retention.capability.{one}", v, a, inside))
    there = _capabilities(scope)
    before: list[float | None] = [1.0] * len(cases)
    for stage in STAGES:
        left = [case.grade.points.get(stage) for case in cases]
        lost = [None if x is None or y is None else x - y for x, y in zip(before, left, strict=True)]
        found.append(columns.macro(f"stage.{stage}", left, groups, there))
        found.append(columns.macro(f"loss.{stage}", lost, groups, there))
        before = left
    return found


def notes(cases: Sequence[Case], _scope: Scope) -> list[str]:
    """Items without a judgement that their grade needs."""
    unjudged = Counter(case.grade.credit is None for case in cases if case.grade.unjudged)
    found = []
    if unjudged[True]:
        found.append(f"{unjudged[True]} unjudged open answers left out of Raw and Verified")
    if unjudged[False]:
        found.append(f"{unjudged[False]} unjudged left out of Verified")
    return found


def _strata(prefix: str, cases: Sequence[Case], values: Sequence[float | None], scope: Scope) -> list[Metric]:
    columns = _columns(cases)
    groups = [capability_of(case.item) for case in cases]
    found = [
        columns.macro(f"{prefix}.macro", values, groups, _capabilities(scope)),
        columns.mean(f"{prefix}.micro", values),
    ]
    strata: dict[str, list[tuple[str, ...]]] = {
        "capability": [() if group is None else (group,) for group in groups],
        "format": [("open",) if isinstance(case.item, OpenItem) else ("choice",) for case in cases],
        "source": [_source(case) for case in cases],
        "duration": [_duration(case) for case in cases],
    }
    for stratum, names in strata.items():
        known = _capabilities(scope) if stratum == "capability" else ()
        found += columns.means_by(f"{prefix}.{stratum}", values, names, known)
    return found


def _columns(cases: Sequence[Case]) -> Columns:
    return Columns([case.item.id for case in cases], [case.cluster for case in cases])


def capability_of(item: Item) -> str | None:
    """The item's capability; a list of one is that one. Raises ``InputError`` for several: the averages over
    capabilities count every item once."""
    value = item.labels.get("capability")
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, list):
        raise InputError(
            "an item of PsycheMME has one capability", where=f"item {item.id}", value=value, remedy="name one of them"
        )
    return None if value is None else str(value)


def _capabilities(scope: Scope) -> list[str]:
    """The capabilities that the bundle has, in the order of the paper."""
    there = {capability_of(item) for item in scope.items}
    return [one for one in CAPABILITIES if one in there]


def _source(case: Case) -> tuple[str, ...]:
    source = case.episode.lineage.source
    return () if source is None else (source,)


def _duration(case: Case) -> tuple[str, ...]:
    seconds = case.episode.duration_s
    if seconds is None:
        return ()
    return ("le30" if seconds <= 30 else "30to60" if seconds <= 60 else "gt60",)


FAMILY: Final = Family(
    name="psycheme",
    main_label="capability",
    rubrics=(OPEN_ANSWER, VERIFIED),
    parse=parse,
    grade=grade,
    metrics=metrics,
    answer_metrics=answer_metrics,
    notes=notes,
)
