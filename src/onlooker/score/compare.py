"""Two models or conditions on the items that both answered: paired differences and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.protocol.ground import Ground
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Answer, Case, Family, Grade, Scope, choices_of
from onlooker.records.bundle import Bundle
from onlooker.score.score import (
    DRAWS,
    SEED,
    Graded,
    check_draws,
    describe_bundle,
    draws_notes,
    grade_files,
    judged_notes,
    rejected_notes,
)
from onlooker.score.unused import empty_files
from onlooker.stats.cluster import Difference, Statistic, cluster_weights, estimate, evaluate
from onlooker.stats.interval import LEVEL
from onlooker.stats.paired import mcnemar, wilcoxon_signed_rank
from onlooker.stats.seeds import generator


@dataclass(frozen=True, slots=True)
class Comparison:
    """``report`` is the content of ``compare.json``; ``notes`` say what was left out, and why."""

    report: dict[str, Any]
    notes: list[str]


def compare_runs(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    a: str,
    b: str,
    judgement_files: Sequence[Path] = (),
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    judge: str | None = None,
) -> Comparison:
    """``a`` less ``b``, each "MODEL:CONDITION", split at the last colon.

    Items count that both answered (neither missing nor error); an intensity profile must have parsed on both sides.
    Seeds are averaged item by item first. Intervals resample the episodes of those items, both sides on the same draws.
    McNemar's test is on full credit of choice and matching items; Wilcoxon's on the value of each item: rho0, else
    verified credit where both have it, else credit.
    """
    check_draws(draws)
    ground, judged, graded = grade_files(bundle, family, prediction_files, judgement_files, judge)
    sides = _find(graded, a, "--a"), _find(graded, b, "--b")
    cases, left_out = align([answered_items(side) for side in sides])
    clusters = {episode: n for n, episode in enumerate(episodes_of(ground, cases[0]))}
    metrics = side_metrics(sides, cases, clusters, family, ground)
    weights = cluster_weights(len(clusters), draws, generator("score/episodes", seed))
    [report] = difference_rows([(metrics[0], metrics[1])], weights)
    result = {
        "bundle": describe_bundle(bundle, ground),
        "settings": {"draws": draws, "seed": seed, "level": LEVEL},
        "a": a,
        "b": b,
        "items": {"paired": len(cases[0]), "left_out": left_out},
        "metrics": report,
        **paired_tests(*cases),
    }
    notes = [*draws_notes(draws), *empty_files(prediction_files, judgement_files)]
    notes += [f"{n} items left out: {why}" for why, n in left_out.items() if n]
    for name, side in {a: sides[0], b: sides[1]}.items():
        notes += [f"{name}: {line}" for line in rejected_notes(side)]
    return Comparison(result, notes + judged_notes(judged, graded))


def split_name(name: str, option: str) -> tuple[str, str]:
    """("MODEL", "CONDITION") of "MODEL:CONDITION", split at the last colon."""
    model, colon, condition = name.rpartition(":")
    if not colon or not model or not condition:
        remedy = "write the model's name, a colon, and the condition, as the predictions have them"
        raise InputError("expected MODEL:CONDITION", where=option, value=name, remedy=remedy)
    return model, condition


Answered = Mapping[str, Case | str]
"""{item id: the case that counts, averaged over seeds, or the word for why there is none}."""
_NOT_ANSWERED, _NO_PROFILE = "not answered", "profile not parsed"
# Stand beside the names of points, and can be none of them.
_CREDIT, _VERIFIED = object(), object()


def answered_items(graded: Graded) -> Answered:
    """What a run has to compare of every item that it owes: missing and error are no answer, and an intensity profile
    must have parsed.
    """
    by_item: dict[str, list[Case]] = {}
    for cases in graded.by_seed.values():
        for case in cases:
            by_item.setdefault(case.item.id, []).append(case)
    found: dict[str, Case | str] = {}
    for item, cases in by_item.items():
        answered = [case for case in cases if case.reply.outcome not in {"missing", "error"}]
        counted = answered
        if cases[0].item.task == "intensity":
            counted = [case for case in answered if case.reply.answer is not None]
        found[item] = average_seeds(counted) if counted else _NO_PROFILE if answered else _NOT_ANSWERED
    return found


def align(sides: Sequence[Answered]) -> tuple[list[list[Case]], dict[str, int]]:
    """The items that count on every one of two or more sides, in one order, each grade with only what all have there.

    Beside them how many items were left out, by reason. Two sides are a pair of ``compare``.
    """
    pair = len(sides) == 2
    who = "both" if pair else "all"
    not_owed = "owed by one side only" if pair else "not owed by all"
    left_out = {not_owed: 0, f"{_NOT_ANSWERED} by {who}": 0, f"{_NO_PROFILE} by {who}": 0}
    aligned: list[list[Case]] = [[] for _ in sides]
    for item in dict.fromkeys(item for side in sides for item in side):
        found = [side[item] for side in sides if item in side]
        cases = [one for one in found if not isinstance(one, str)]
        if len(found) < len(sides):
            left_out[not_owed] += 1
        elif len(cases) < len(sides):
            left_out[f"{_NOT_ANSWERED if _NOT_ANSWERED in found else _NO_PROFILE} by {who}"] += 1
        else:
            for column, case in zip(aligned, _shared(cases), strict=True):
                column.append(case)
    return aligned, left_out


def side_metrics(
    sides: Sequence[Graded],
    cases: Sequence[Sequence[Case]],
    clusters: Mapping[str, int],
    family: Family,
    ground: Ground,
) -> list[list[Metric]]:
    """The metrics of each side on its aligned ``cases``, named alike. ``clusters``: {episode id: number}."""
    condition = reduce(family.common, (side.run.condition for side in sides))
    scope = Scope(condition, tuple(ground.items.values()), all(side.scope.judged for side in sides))
    return [family.metrics([_numbered(case, clusters) for case in column], scope) for column in cases]


def difference_rows(
    pairs: Sequence[tuple[Sequence[Metric], Sequence[Metric]]], weights: NDArray[np.uint16]
) -> list[dict[str, dict[str, Any]]]:
    """{metric: its row in ``compare.json``} of each pair of sides, all on the same draws."""
    both = [(x, y) for pair in pairs for x, y in zip(*pair, strict=True)]
    sides: list[Statistic] = [metric.statistic for pair in both for metric in pair]
    values = [None if np.isnan(value) else float(value) for value in evaluate(sides, weights.shape[1])]
    found = estimate([Difference(x.statistic, y.statistic) for x, y in both], weights, LEVEL)
    rows = iter(
        {
            "a": a,
            "b": b,
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "n": len({*x.behind, *y.behind}),
        }
        for (x, y), a, b, difference in zip(both, values[::2], values[1::2], found, strict=True)
    )
    return [{metric.name: next(rows) for metric in one} for one, _ in pairs]


def paired_tests(a: Sequence[Case], b: Sequence[Case]) -> dict[str, dict[str, Any]]:
    """McNemar's and Wilcoxon's test of two aligned sides, as ``compare.json`` has them."""
    return {"mcnemar": _mcnemar(a, b), "wilcoxon": _wilcoxon(a, b)}


def average_seeds(cases: Sequence[Case]) -> Case:
    """One case from an item's cases of several seeds: every number of the grade is the mean of those there are."""
    first = cases[0]
    if len(cases) == 1:
        return first
    grades = [case.grade for case in cases]
    grade = Grade(
        _mean([grade.credit for grade in grades]),
        _mean([grade.verified for grade in grades]),
        unjudged=all(grade.unjudged for grade in grades),
        points=_means([grade.points for grade in grades]),
        conditional=_means([grade.conditional for grade in grades]),
    )
    profiles = [c.reply.answer.value for c in cases if c.reply.answer is not None]
    numbers = [profile for profile in profiles if isinstance(profile, Mapping)]
    answer = Answer(_means(numbers)) if numbers else first.reply.answer
    return replace(first, grade=grade, reply=replace(first.reply, answer=answer))


def _find(graded: Sequence[Graded], name: str, option: str) -> Graded:
    wanted = split_name(name, option)
    for one in graded:
        if (one.run.model, one.run.condition) == wanted:
            return one
    there = ", ".join(f"{one.run.model}:{one.run.condition}" for one in graded)
    remedy = f"one of {there}" if there else "pass files with predictions: those given have no row"
    raise InputError("no predictions of this model and condition", where=option, value=name, remedy=remedy)


def episodes_of(ground: Ground, cases: Sequence[Case]) -> list[str]:
    """The ids of the episodes that these cases belong to, in the order of the bundle."""
    used = {case.episode.id for case in cases}
    return [episode for episode in ground.episodes if episode in used]


def _shared(cases: Sequence[Case]) -> list[Case]:
    has = [_numbers_of(case.grade) for case in cases]
    if all(names == has[0] for names in has):
        return list(cases)
    names = set.intersection(*has)
    found = []
    for case in cases:
        kept = replace(
            case.grade,
            credit=case.grade.credit if _CREDIT in names else None,
            verified=case.grade.verified if _VERIFIED in names else None,
            points={name: value for name, value in case.grade.points.items() if name in names},
        )
        found.append(replace(case, grade=kept))
    return found


def _numbers_of(grade: Grade) -> set[str | object]:
    names: set[str | object] = set(grade.points)
    if grade.credit is not None:
        names.add(_CREDIT)
    if grade.verified is not None:
        names.add(_VERIFIED)
    return names


def _numbered(case: Case, clusters: Mapping[str, int]) -> Case:
    number = clusters[case.episode.id]
    return case if case.cluster == number else replace(case, cluster=number)


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _means(numbers: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in numbers for name in one)
    return {
        name: sum(one[name] for one in numbers if name in one) / sum(name in one for one in numbers) for name in names
    }


def _mcnemar(a: Sequence[Case], b: Sequence[Case]) -> dict[str, Any]:
    full = [
        (one.grade.credit == 1, other.grade.credit == 1)
        for one, other in zip(a, b, strict=True)
        if choices_of(one.item)
    ]
    test = mcnemar(sum(x and not y for x, y in full), sum(y and not x for x, y in full))
    return {"a_only": test.a_only, "b_only": test.b_only, "p": test.p}


def _wilcoxon(a: Sequence[Case], b: Sequence[Case]) -> dict[str, Any]:
    differences = []
    for one, other in zip(a, b, strict=True):
        x, y = _item_value(one.grade), _item_value(other.grade)
        if x is not None and y is not None:
            differences.append(x - y)
    test = wilcoxon_signed_rank(differences)
    return {"n": test.n, "p": test.p}


def _item_value(grade: Grade) -> float | None:
    if "rho0" in grade.points:
        return grade.points["rho0"]
    return grade.credit if grade.verified is None else grade.verified
