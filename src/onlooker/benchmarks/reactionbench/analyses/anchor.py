"""Whether a judge grades rationales as people do.

People's grades are judgements under the same rubric whose judge begins with ``human``, one name a person (ratings
cannot serve: a rating does not say whose reply it is about). On the replies that a judge and at least one person
graded: Spearman's rho of the judge and the people's mean, with an interval; of the judge and each person, and of every
two people, as mean and range; per dimension and in total; and the mean difference of totals. Paper: section 4.1,
appendix B.7 and D.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from onlooker.benchmarks.reactionbench.analyses.grades import DIMENSIONS, Points, Reply, grades_of, people_and_judges
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet
from onlooker.stats.cluster import FEW_CLUSTERS
from onlooker.stats.interval import percentile_interval
from onlooker.stats.ranks import spearman
from onlooker.stats.weighted_ranks import spearman_draws

Given = Mapping[Reply, Points]


def judge_anchor(material: Material) -> Findings:
    """Every judge against the people's mean, each person, and the people among one another."""
    grades, invalid = grades_of(material)
    people, judges = people_and_judges(grades)
    if not people or not judges:
        raise InputError(
            "an anchor study needs a judge and people",
            value=sorted(grades),
            remedy="judgements by human:NAME and by a judge",
        )
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    notes = [f"{invalid} judgements without valid labels left out"] if invalid else []
    for judge in judges:
        replies = [r for r in grades[judge] if any(r in grades[person] for person in people)]
        data[judge] = {"replies": len(replies), "dimensions": {}}
        sheet = Sheet(material, {reply[0] for reply in replies})
        gap = [
            grades[judge][r]["total"] - _mean([grades[p][r]["total"] for p in people if r in grades[p]])
            for r in replies
        ]
        sheet.add("judge minus people", sheet.columns([r[0] for r in replies]).mean("", gap))
        found = sheet.solve()
        data[judge]["total_minus_people"] = found["judge minus people"].spell()
        notes += [f"{judge}: {note}" for note in sheet.notes(found)]
        for dimension in DIMENSIONS:
            one, reason = _dimension(sheet, dimension, replies, grades[judge], [grades[p] for p in people])
            data[judge]["dimensions"][dimension] = one
            if reason:
                notes.append(f"{judge}, {dimension}: {reason}")
            mean, single, between = one["people_mean"], one["individual"], one["inter_rater"]
            rows.append(
                (
                    judge,
                    dimension,
                    mean["n"],
                    mean["value"],
                    mean["low"],
                    mean["high"],
                    single["mean"],
                    single["low"],
                    single["high"],
                    between["mean"],
                    between["low"],
                    between["high"],
                )
            )
    heads = (
        "judge",
        "dimension",
        "n",
        "people's mean",
        "low",
        "high",
        "person",
        "least",
        "most",
        "people",
        "least",
        "most",
    )
    return Findings(data, (Table("Spearman's rho of judge and people", heads, tuple(rows)),), (), tuple(notes))


def _dimension(
    sheet: Sheet, dimension: str, replies: Sequence[Reply], judge: Given, people: Sequence[Given]
) -> tuple[dict[str, Any], str | None]:
    x = [judge[reply][dimension] for reply in replies]
    y = [_mean([own[reply][dimension] for own in people if reply in own]) for reply in replies]
    value = spearman(x, y)
    low, high, reason = _interval(sheet, replies, x, y)
    single = [_shared(judge, own, dimension, replies) for own in people]
    between = [_shared(one, other, dimension, replies) for one, other in combinations(people, 2)]
    found = {
        "people_mean": {"value": value, "low": low, "high": high, "n": len(replies)},
        "individual": _range(single),
        "inter_rater": _range(between),
    }
    return found, "undefined (one side does not vary)" if value is None else reason


def _interval(
    sheet: Sheet, replies: Sequence[Reply], x: Sequence[float], y: Sequence[float]
) -> tuple[float | None, float | None, str | None]:
    if sheet.clusters < 2:
        return None, None, FEW_CLUSTERS
    cluster = sheet.columns([reply[0] for reply in replies]).clusters
    ends = percentile_interval(spearman_draws(x, y, cluster, sheet.weights()))
    return (None, None, "undefined in every draw") if ends is None else (*ends, None)


def _shared(one: Given, other: Given, dimension: str, replies: Sequence[Reply]) -> float | None:
    both = [reply for reply in replies if reply in one and reply in other]
    return spearman([one[reply][dimension] for reply in both], [other[reply][dimension] for reply in both])


def _range(values: Sequence[float | None]) -> dict[str, Any]:
    """Mean and range of the correlations that are defined; ``n`` is how many."""
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "low": None, "high": None, "n": 0}
    return {"mean": _mean(known), "low": min(known), "high": max(known), "n": len(known)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


ANALYSIS = Analysis(
    name="anchor",
    says="a judge of rationales against people: their mean, each of them, and people among one another",
    source="section 4.1, appendices B.7 and D.15",
    run=judge_anchor,
    options=RUN_OPTIONS,
)
