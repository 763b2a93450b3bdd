"""Two models or conditions on the items that both answered: paired differences and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.protocol.scoring import Answer, Case, Family, Grade, Scope, choices_of
from onlooker.records.bundle import Bundle
from onlooker.score.cases import Ground
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
from onlooker.stats.cluster import Difference, Statistic, cluster_weights, estimate
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
    cases, left_out = pair_cases(*sides)
    clusters = {e: n for n, e in enumerate(_episodes(ground, cases[0]))}
    numbered = [[replace(c, cluster=clusters[c.episode.id]) for c in side] for side in cases]
    condition = family.common(sides[0].run.condition, sides[1].run.condition)
    scope = Scope(condition, tuple(ground.items.values()), all(s.scope.judged for s in sides))
    metrics = [family.metrics(side, scope) for side in numbered]
    report: dict[str, dict[str, Any]] = {}
    statistics: list[Statistic] = [
        statistic
        for x, y in zip(*metrics, strict=True)
        for statistic in (x.statistic, y.statistic, Difference(x.statistic, y.statistic))
    ]
    weights = cluster_weights(len(clusters), draws, generator("score/episodes", seed))
    found = iter(estimate(statistics, weights, LEVEL))
    for x, y in zip(*metrics, strict=True):
        one, other, difference = next(found), next(found), next(found)
        report[x.name] = {
            "a": one.value,
            "b": other.value,
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "n": len({*x.behind, *y.behind}),
        }
    result = {
        "bundle": describe_bundle(bundle, ground),
        "settings": {"draws": draws, "seed": seed, "level": LEVEL},
        "a": a,
        "b": b,
        "items": {"paired": len(cases[0]), "left_out": left_out},
        "metrics": report,
        "mcnemar": _mcnemar(*cases),
        "wilcoxon": _wilcoxon(*cases),
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


def pair_cases(a: Graded, b: Graded) -> tuple[tuple[list[Case], list[Case]], dict[str, int]]:
    """The items that both sides owe and answered, averaged over seeds, with only what both have; and what left."""
    sides = [_by_item(a), _by_item(b)]
    pairs: tuple[list[Case], list[Case]] = ([], [])
    left_out = {"owed by one side only": 0, "not answered by both": 0, "profile not parsed by both": 0}
    for item in dict.fromkeys([*sides[0], *sides[1]]):
        if not all(item in side for side in sides):
            left_out["owed by one side only"] += 1
            continue
        answered = [[case for case in side[item] if case.reply.outcome not in {"missing", "error"}] for side in sides]
        if not all(answered):
            left_out["not answered by both"] += 1
            continue
        if answered[0][0].item.task == "intensity":
            answered = [[case for case in cases if case.reply.answer is not None] for cases in answered]
            if not all(answered):
                left_out["profile not parsed by both"] += 1
                continue
        one, other = average_seeds(answered[0]), average_seeds(answered[1])
        pairs[0].append(replace(one, grade=_shared(one.grade, other.grade)))
        pairs[1].append(replace(other, grade=_shared(other.grade, one.grade)))
    return pairs, left_out


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


def _by_item(graded: Graded) -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = {}
    for cases in graded.by_seed.values():
        for case in cases:
            found.setdefault(case.item.id, []).append(case)
    return found


def _episodes(ground: Ground, cases: Sequence[Case]) -> list[str]:
    used = {case.episode.id for case in cases}
    return [episode for episode in ground.episodes if episode in used]


def _shared(grade: Grade, other: Grade) -> Grade:
    return replace(
        grade,
        credit=None if other.credit is None else grade.credit,
        verified=None if other.verified is None else grade.verified,
        points={name: value for name, value in grade.points.items() if name in other.points},
    )


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
