"""ReactionBench: intensity profiles, stimulus-reaction matching, grounded rationales (paper,
section 3, appendix C.9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from onlooker.benchmarks.reactionbench.answers import parse
from onlooker.benchmarks.reactionbench.profile import (
    Profile,
    compare_profile,
    consensus_of,
    ratings_of,
)
from onlooker.benchmarks.reactionbench.taxonomy import ONE_BY_ONE, PROTOCOLS, TASK_OF_PREFIX
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
    exact_credit,
)
from onlooker.records.public import IntensityItem, Item, MatchingItem, RationaleItem
from onlooker.stats.cluster import Median, Proportion, Sums, Total, mean, pooled_pearson

RATIONALE: Final = Rubric(
    "grounded_rationale",
    {
        "cue": Number(0, 2, whole=True),
        "link": Number(0, 2, whole=True),
        "faithful": Number(0, 1, whole=True),
    },
)


def task_of(condition: str) -> str | None:
    """The task that a condition is for, None where it is for all."""
    return next((task for prefix, task in TASK_OF_PREFIX.items() if condition.startswith(prefix)), None)


def protocol_of(condition: str) -> str | None:
    """The protocol by which a condition asks for intensity, None where its name does not say."""
    return next((protocol for protocol in PROTOCOLS if condition.startswith(protocol)), None)


def owes(condition: str, item: Item) -> bool:
    """Whether the item is of the task that the condition is for."""
    return task_of(condition) in {None, item.task}


def parts(item: Item) -> tuple[str, ...]:
    """The moments of an intensity item, the candidates of a matching item: each may be a call of its own."""
    if isinstance(item, IntensityItem):
        return tuple(moment.id for moment in item.moments)
    return tuple(candidate.id for candidate in item.candidates) if isinstance(item, MatchingItem) else ()


def common(a: str, b: str) -> str:
    """A condition that names the metrics of both: without a protocol where theirs differ."""
    return a if protocol_of(a) == protocol_of(b) else ""


def grade(item: Item, private: Private, reply: Reply) -> Grade:
    """Matching: exact match. Intensity: how the profile compares. Rationale: the judge's points.

    Only matching has answer credit.
    """
    if isinstance(item, MatchingItem):
        return _grade_matching(item, private, reply)
    if reply.answer is None:
        return Grade(None)
    if isinstance(item, IntensityItem):
        return _grade_profile(compare_profile(item, private, _profile(reply)))
    labels = reply.labels.get(RATIONALE.name)
    if labels is None:
        return Grade(None, unjudged=True)
    points = {name: float(labels[name]) for name in RATIONALE.scales}
    return Grade(None, points={**points, "total": sum(points.values())})


def _grade_matching(item: MatchingItem, private: Private, reply: Reply) -> Grade:
    value = None if reply.answer is None else reply.answer.value
    distances = distances_s(item, private)
    if isinstance(value, Mapping):
        return _grade_likelihoods(value, private, distances)
    chosen = value[0] if isinstance(value, tuple) else ""
    off = {"distance_s": distances[chosen]} if chosen in distances else {}
    return Grade(exact_credit(private, reply), conditional=off)


def _grade_likelihoods(rated: Mapping[str, float], private: Private, distances: Mapping[str, float]) -> Grade:
    """Candidates rated one by one (paper, appendix D.12): credit for the right one alone at the top.

    ``random_tie``: the chance of the right one where a tie at the top is broken at random; ``tied``: 1 where there is a
    tie; ``decided``: the credit where there is none.
    """
    top = [candidate for candidate, number in rated.items() if number == max(rated.values())]
    answer = private.reference.answer if private.reference is not None else None
    share = sum(candidate in (answer or ()) for candidate in top) / len(top)
    credit = share if len(top) == 1 else 0.0
    points = {"tied": float(len(top) > 1), "random_tie": share}
    conditional = {"decided": credit} if len(top) == 1 else {}
    if len(top) == 1 and top[0] in distances:
        conditional["distance_s"] = distances[top[0]]
    return Grade(credit, points=points, conditional=conditional)


def _grade_profile(profile: Profile) -> Grade:
    numbers = {"rho0": profile.rho0, "model": profile.model, "human": profile.human}
    points = {name: number for name, number in numbers.items() if number is not None}
    varies = {} if profile.constant or profile.rho0 is None else {"varying": profile.rho0}
    return Grade(None, points={**points, "constant": float(profile.constant)}, conditional=varies)


def answer_metrics(cases: Sequence[Case], _scope: Scope) -> list[Metric]:
    """Accuracy of matching, with Wilson's interval over items."""
    matching = [case for case in cases if isinstance(case.item, MatchingItem)]
    if not matching:
        return []
    found = _columns(matching).mean("srm.accuracy", [case.grade.credit for case in matching])
    assert isinstance(found.statistic, Sums)
    return [Metric(found.name, found.behind, Proportion(found.statistic), found.unit)]


def metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
    """The metrics of every task that the cases hold."""
    found: list[Metric] = []
    intensity = [case for case in cases if isinstance(case.item, IntensityItem)]
    if intensity:
        protocol = protocol_of(scope.condition)
        prefix = "ip" if protocol is None else f"ip.{protocol}"
        found += _intensity_metrics(prefix, intensity)
    matching = [case for case in cases if isinstance(case.item, MatchingItem)]
    if matching:
        found += answer_metrics(cases, scope) + _distance_metrics(matching)
        if scope.condition.startswith(ONE_BY_ONE):
            columns = _columns(matching)
            found += [
                columns.mean("srm.tie_rate", [case.grade.points.get("tied") for case in matching]),
                columns.mean(
                    "srm.random_tie_accuracy", [case.grade.points.get("random_tie", 0.0) for case in matching]
                ),
                columns.mean("srm.decided_accuracy", [case.grade.conditional.get("decided") for case in matching]),
            ]
    rationale = [case for case in cases if isinstance(case.item, RationaleItem)]
    if rationale:
        columns = _columns(rationale)
        for name in (*RATIONALE.scales, "total"):
            points = [case.grade.points.get(name) for case in rationale]
            found.append(columns.mean(f"grg.{name}", points, "points"))
    return found


def notes(cases: Sequence[Case], _scope: Scope) -> list[str]:
    """Constant profiles, profiles without a human one, rationales without a judgement."""
    constant = sum(case.grade.points.get("constant") == 1 for case in cases)
    bare = sum("constant" in case.grade.points and "rho0" not in case.grade.points for case in cases)
    unjudged = sum(case.grade.unjudged for case in cases)
    found = []
    if constant:
        found.append(f"{constant} constant profiles scored 0")
    if bare:
        found.append(f"{bare} profiles without a consensus that varies left out of rho0")
    if unjudged:
        found.append(f"{unjudged} unjudged rationales left out")
    return found


def _intensity_metrics(prefix: str, cases: Sequence[Case]) -> list[Metric]:
    columns = _columns(cases)
    parsed = tuple(case.item.id for case in cases if "constant" in case.grade.points)
    rho0, model, human = ([case.grade.points.get(n) for case in cases] for n in ("rho0", "model", "human"))
    gap = [None if m is None or h is None else m - h for m, h in zip(model, human, strict=True)]
    varying = [case.grade.conditional.get("varying") for case in cases]
    constant = sum(case.grade.points.get("constant", 0.0) for case in cases)
    return [
        columns.mean(f"{prefix}.rho0", rho0, "correlation"),
        _pearson(f"{prefix}.pearson", cases),
        Metric(f"{prefix}.constant", parsed, Total(constant), "count"),
        columns.mean(f"{prefix}.spearman_nonconstant", varying, "correlation"),
        columns.mean(f"{prefix}.pairwise_accuracy", model),
        columns.mean(f"{prefix}.human_pairwise_accuracy", human),
        columns.mean(f"{prefix}.minus_human", gap),
    ]


def _pearson(name: str, cases: Sequence[Case]) -> Metric:
    """Pearson's r over the moments of all parsed profiles that have a consensus."""
    behind, cluster, x, y = [], [], [], []
    for case in cases:
        if not isinstance(case.item, IntensityItem) or "constant" not in case.grade.points:
            continue
        moments = parts(case.item)
        target = consensus_of(moments, case.private, ratings_of(case.private))
        profile = _profile(case.reply)
        for moment, rating in zip(moments, target or (), strict=target is not None):
            behind.append((case.item.id, moment))
            cluster.append(case.cluster)
            x.append(profile[moment])
            y.append(rating)
    statistic = pooled_pearson(np.array(cluster, dtype=np.int64), np.array(x), np.array(y))
    return Metric(name, tuple(behind), statistic, "correlation")


def _distance_metrics(cases: Sequence[Case]) -> list[Metric]:
    """Start-to-start distances of wrong choices, and of all distractors."""
    chosen, chance = [], []
    for case in cases:
        chance += [
            ((case.item.id, option), case.cluster, distance)
            for option, distance in distances_s(case.item, case.private).items()
        ]
        off = case.grade.conditional.get("distance_s")
        if off is not None:
            chosen.append((case.item.id, case.cluster, off))
    found = []
    for name, rows in (("error", chosen), ("chance_error", chance)):
        behind = tuple(unit for unit, _, _ in rows)
        cluster = np.array([c for _, c, _ in rows], dtype=np.int64)
        values = np.array([d for _, _, d in rows], dtype=np.float64)
        found.append(Metric(f"srm.{name}_mean_s", behind, mean(cluster, values), "seconds"))
        found.append(Metric(f"srm.{name}_median_s", behind, Median(cluster, values), "seconds"))
    return found


def distances_s(item: Item, private: Private) -> Mapping[str, float]:
    """{distractor: seconds between its start and that of the right candidate}.

    Clips of different episodes are on different clocks and have no distance.
    """
    reference = private.reference
    answer = None if reference is None else reference.answer
    if not isinstance(item, MatchingItem) or not isinstance(answer, tuple):
        return {}
    right = next((c for c in item.candidates if c.id in answer), None)
    if right is None:
        return {}
    return {
        c.id: abs(c.start_s - right.start_s) for c in item.candidates if c.id != right.id and c.episode == right.episode
    }


def _profile(reply: Reply) -> Mapping[str, float]:
    value = None if reply.answer is None else reply.answer.value
    assert isinstance(value, Mapping), "an intensity answer is {moment: number}"
    return value


def _columns(cases: Sequence[Case]) -> Columns:
    return Columns([case.item.id for case in cases], [case.cluster for case in cases])


FAMILY: Final = Family(
    name="reactionbench",
    main_label="category",
    rubrics=(RATIONALE,),
    parse=parse,
    grade=grade,
    metrics=metrics,
    answer_metrics=answer_metrics,
    parts=parts,
    owes=owes,
    common=common,
    notes=notes,
)
