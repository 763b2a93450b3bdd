"""Every model against every other, or every condition of a model: paired comparisons whose p-values are adjusted
together, and a leaderboard.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.protocol.ground import Ground
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case, Family, choices_of
from onlooker.records.bundle import Bundle
from onlooker.score.compare import Answered, align, answered_items, difference_rows, paired_tests, side_metrics
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
from onlooker.stats.cluster import cluster_weights
from onlooker.stats.interval import LEVEL
from onlooker.stats.leaderboard import leaderboard
from onlooker.stats.multiplicity import benjamini_hochberg, holm
from onlooker.stats.seeds import generator

_PAIRS_AT_ONCE = 16
_TESTS = ("mcnemar", "wilcoxon")
_STANDING = ("value", "low", "high", "rank", "rank_low", "rank_high", "best")


@dataclass(frozen=True, slots=True)
class Matrix:
    """``report`` is the content of ``matrix.json``; ``notes`` say what was left out, and why."""

    report: dict[str, Any]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class _Shared:
    """What all comparisons share: the draws, and what each run has to compare, by (model, condition)."""

    family: Family
    ground: Ground
    clusters: Mapping[str, int]
    weights: NDArray[np.uint16]
    answered: Mapping[tuple[str, str], Answered]

    def metrics(self, sides: Sequence[Graded]) -> tuple[list[list[Case]], dict[str, int], list[list[Metric]]]:
        cases, left_out = align([self.answered[_key(side)] for side in sides])
        return cases, left_out, side_metrics(sides, cases, self.clusters, self.family, self.ground)


def compare_all(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    metric: str,
    judgement_files: Sequence[Path] = (),
    *,
    condition: str | None = None,
    across_conditions: bool = False,
    draws: int = DRAWS,
    seed: int = SEED,
    judge: str | None = None,
) -> Matrix:
    """Every pair of models under ``condition`` (needed where there are several), or with ``across_conditions`` every
    pair of conditions of each model. Pairs, differences and tests are those of ``compare_runs``.

    All intervals and ranks are on one set of draws of the episodes that the runs owe. Of the metrics a pair has the
    main ones (:func:`is_main`). Holm's and Benjamini and Hochberg's adjustments take all comparisons of the file as one
    family, each test for itself. The leaderboard ranks by ``metric`` over the items that all of its runs answered: more
    is better, seconds excepted. InputError where there is nothing to compare, and where no leaderboard has ``metric``.
    Cost: linear in pairs; memory: the metrics of 16 pairs at a time.
    """
    check_draws(draws)
    ground, judged, graded = grade_files(bundle, family, prediction_files, judgement_files, judge)
    groups = _by_model(graded) if across_conditions else _under_condition(graded, condition)
    runs = [run for group in groups.values() for run in group]
    owed = {item for run in runs for item in run.run.owed}
    clusters = ground.clusters(tuple(owed))
    weights = cluster_weights(len(clusters), draws, generator("score/episodes", seed))
    shared = _Shared(family, ground, clusters, weights, {_key(run): answered_items(run) for run in runs})
    boards = _leaderboards(shared, groups, metric, across_conditions)
    comparisons: list[dict[str, Any]] = []
    pairs = [pair for group in groups.values() for pair in combinations(group, 2)]
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        comparisons += _compare(shared, pairs[start : start + _PAIRS_AT_ONCE])
    report = {
        "bundle": describe_bundle(bundle, ground),
        "settings": {"draws": draws, "seed": seed, "level": LEVEL},
        "over": "conditions" if across_conditions else "models",
        "comparisons": comparisons,
        "adjusted_together": _adjust(comparisons),
        "leaderboards": [board for board in boards if board["standings"]],
    }
    notes = [*draws_notes(draws), *empty_files(prediction_files, judgement_files)]
    short = sum(any(one["items"]["left_out"].values()) for one in comparisons)
    if short:
        notes.append(f"{short} of {len(comparisons)} comparisons leave items out: see items in the file")
    for board in boards:
        if not board["standings"]:
            notes.append(f"no leaderboard within {board['within']}: {metric} is not among the metrics of its runs")
        elif any(board["items"]["left_out"].values()):
            notes.append(f"the leaderboard within {board['within']} has the {board['items']['paired']} items of all")
    for run in runs:
        notes += [f"{_name(run)}: {line}" for line in rejected_notes(run)]
    return Matrix(report, notes + judged_notes(judged, graded))


def is_main(metric: str, condition: str) -> bool:
    """Whether a metric stands for all items, and not for those of a label: ``KIND.NAME`` and not ``KIND.LABEL.VALUE``.

    The protocol that a condition begins with may stand between (``ip.joint.rho0``).
    """
    parts = metric.split(".")
    protocol = len(parts) > 2 and parts[1] == condition.split("_", maxsplit=1)[0]
    return len(parts) - protocol <= 2


def _key(run: Graded) -> tuple[str, str]:
    return run.run.model, run.run.condition


def _name(run: Graded) -> str:
    return f"{run.run.model}:{run.run.condition}"


def _under_condition(graded: Sequence[Graded], condition: str | None) -> dict[str, list[Graded]]:
    there = sorted({one.run.condition for one in graded})
    if condition is None and len(there) > 1:
        remedy = f"name one of {', '.join(there)} with --condition, or compare them with --conditions"
        raise InputError("predictions under several conditions", where="--predictions", value=there, remedy=remedy)
    if condition is not None and condition not in there:
        remedy = f"one of {', '.join(there)}" if there else "pass files with predictions: those given have no row"
        raise InputError("no predictions under this condition", where="--condition", value=condition, remedy=remedy)
    group = [one for one in graded if condition in {None, one.run.condition}]
    if len(group) < 2:
        models = [one.run.model for one in group]
        remedy = "pass the predictions of two models or more"
        raise InputError("nothing to compare with each other", where="--all", value=models, remedy=remedy)
    return {group[0].run.condition: group}


def _by_model(graded: Sequence[Graded]) -> dict[str, list[Graded]]:
    groups: dict[str, list[Graded]] = {}
    for one in graded:
        groups.setdefault(one.run.model, []).append(one)
    several = {model: group for model, group in groups.items() if len(group) > 1}
    if not several:
        remedy = "pass the predictions of one model under two conditions or more"
        raise InputError("no model has two conditions", where="--conditions", value=sorted(groups), remedy=remedy)
    return several


def _compare(shared: _Shared, pairs: Sequence[tuple[Graded, Graded]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    metrics: list[tuple[list[Metric], list[Metric]]] = []
    for pair in pairs:
        cases, left_out, (one, other) = shared.metrics(pair)
        condition = pair[0].run.condition
        metrics.append(
            ([m for m in one if is_main(m.name, condition)], [m for m in other if is_main(m.name, condition)])
        )
        tests = paired_tests(*cases)
        if not any(choices_of(case.item) for case in cases[0]):
            # Without a pair to test there is no p-value that could make the others stricter.
            tests["mcnemar"]["p"] = None
        a, b = map(_name, pair)
        found.append({"a": a, "b": b, "items": {"paired": len(cases[0]), "left_out": left_out}, **tests})
    for one_pair, rows in zip(found, difference_rows(metrics, shared.weights), strict=True):
        one_pair["metrics"] = rows
    return found


def _adjust(comparisons: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Add ``p_holm`` and ``p_bh`` to every test. Returns {test: p-values adjusted together}."""
    counted = {}
    for test in _TESTS:
        p_values = [one[test]["p"] for one in comparisons]
        strict, false_share = holm(p_values), benjamini_hochberg(p_values)
        for one, p_holm, p_bh in zip(comparisons, strict.values, false_share.values, strict=True):
            one[test] |= {"p_holm": p_holm, "p_bh": p_bh}
        family: Mapping[Hashable, int] = strict.counted
        counted[test] = sum(family.values())
    return counted


def _leaderboards(
    shared: _Shared, groups: Mapping[str, Sequence[Graded]], metric: str, across_conditions: bool
) -> list[dict[str, Any]]:
    """One board a group; without standings where its runs do not have the metric."""
    boards = []
    there: dict[str, None] = {}
    for name, group in groups.items():
        cases, left_out, metrics = shared.metrics(group)
        there |= dict.fromkeys(one.name for one in metrics[0])
        board = {"within": name, "metric": metric, "items": {"paired": len(cases[0]), "left_out": left_out}}
        ranked = {
            run.run.condition if across_conditions else run.run.model: one
            for run, side in zip(group, metrics, strict=True)
            for one in side
            if one.name == metric
        }
        boards.append(board | {"standings": _standings(ranked, shared.weights)})
    if not any(board["standings"] for board in boards):
        remedy = f"--metric with one of {', '.join(there)}" if there else "compare runs that owe the same items"
        raise InputError(
            "no leaderboard: the runs do not have this metric", where="--metric", value=metric, remedy=remedy
        )
    return boards


def _standings(ranked: Mapping[str, Metric], weights: NDArray[np.uint16]) -> dict[str, dict[str, Any]]:
    """{run: its standing}, the best first, those without a value last."""
    if not ranked:
        return {}
    more_is_better = all(metric.unit != "seconds" for metric in ranked.values())
    systems = {name: metric.statistic for name, metric in ranked.items()}
    found = leaderboard(systems, weights, LEVEL, higher_is_better=more_is_better)
    order = sorted(found, key=lambda name: (found[name].rank is None, found[name].rank or 0))
    return {name: {field: getattr(found[name], field) for field in _STANDING} for name in order}
