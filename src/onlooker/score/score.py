"""Scores of every model and condition in a set of predictions, with their intervals and
coverage.
"""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.protocol.answered import Judged, Run, Seed, read_judged, read_runs, refuse_other_questions
from onlooker.protocol.ground import Ground, load_ground
from onlooker.protocol.metric import Metric, Unit
from onlooker.protocol.scoring import Case, Family, Scope
from onlooker.records.bundle import Bundle
from onlooker.records.digest import bundle_sha256
from onlooker.records.results import OUTCOMES
from onlooker.score.cases import grade_run, read_replies
from onlooker.score.unused import empty_files, rejected_judgements
from onlooker.stats.cluster import (
    Estimate,
    Statistic,
    Total,
    cluster_weights,
    estimate,
    mean_over_seeds,
)
from onlooker.stats.interval import LEVEL
from onlooker.stats.seeds import generator

DRAWS = 10_000
SEED = 42
_FEW_DRAWS = 100


@dataclass(frozen=True, slots=True)
class ScoreResult:
    """What scoring found.

    scores  the content of ``scores.json``
    items   the rows of ``--items-out``: one an item, model, condition and seed
    units   {metric: how a table prints it}
    notes   what concerns all models: rows that were left out, and why
    """

    scores: dict[str, Any]
    items: list[dict[str, Any]]
    units: dict[str, Unit]
    notes: list[str]


@dataclass(frozen=True, slots=True)
class Graded:
    """A run with its cases, one list a seed, and {reason: judgements about it that do not count}."""

    run: Run
    by_seed: dict[Seed, list[Case]]
    scope: Scope
    rejected: Mapping[str, int] = field(default_factory=dict)


def score_bundle(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    judgement_files: Sequence[Path] = (),
    *,
    draws: int = DRAWS,
    seed: int = SEED,
    judge: str | None = None,
) -> ScoreResult:
    """Scores predictions against a bundle.

    Intervals are 95 % percentile intervals over ``draws`` resamplings of the episodes that a
    condition owes; models and conditions that owe the same episodes share their draws. Raises
    InputError for anything wrong in the files.
    """
    check_draws(draws)
    ground, judged, graded = grade_files(bundle, family, prediction_files, judgement_files, judge)
    estimates = estimate_all([(g, seed_metrics(g, family)) for g in graded], ground, draws=draws, seed=seed)
    models: dict[str, dict[str, Any]] = {}
    for g, (metrics, found) in zip(graded, estimates, strict=True):
        models.setdefault(g.run.model, {})[g.run.condition] = {
            "coverage": coverage(g),
            "metrics": {m.name: spell(m, e) for m, e in zip(metrics, found, strict=True)},
            "notes": [*run_notes(g, family), *interval_notes(metrics, found, draws)],
        }
    scores = {
        "bundle": describe_bundle(bundle, ground),
        "settings": {"draws": draws, "seed": seed, "level": LEVEL, **parser_setting(family)},
        "models": models,
    }
    units = {metric.name: metric.unit for metrics, _ in estimates for metric in metrics}
    notes = [*draws_notes(draws), *empty_files(prediction_files, judgement_files), *judged_notes(judged, graded)]
    return ScoreResult(scores, list(item_rows(graded)), units, notes)


def parser_setting(family: Family) -> dict[str, str]:
    """What ``settings`` say of the parser: its name where it is not the family's own."""
    return {} if family.parser is None else {"parser": family.parser}


def check_draws(draws: int) -> None:
    """InputError unless there is at least one draw."""
    if draws < 1:
        remedy = f"leave --draws out for {DRAWS}, or name {_FEW_DRAWS} or more"
        raise InputError("an interval needs at least one draw", where="--draws", value=draws, remedy=remedy)


def draws_notes(draws: int) -> list[str]:
    """A warning where the draws are too few for the ends of an interval."""
    if draws >= _FEW_DRAWS:
        return []
    return [f"the ends of the intervals are rough with so few draws: --draws {draws}, {DRAWS} is the default"]


def grade_files(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    judgement_files: Sequence[Path],
    judge: str | None,
) -> tuple[Ground, Judged, list[Graded]]:
    """Everything in the files, graded: one entry a model and condition, sorted by name."""
    with _without_collection():
        if bundle.card.family != family.name:
            raise InputError(
                "a bundle of another family", where=str(bundle.path), value=bundle.card.family, remedy=family.name
            )
        refuse_other_questions(bundle.path, prediction_files)
        ground = load_ground(bundle)
        runs = read_runs(prediction_files, family, ground.items)
        judged = read_judged(judgement_files, family, ground.items, judge)
        rejected = rejected_judgements(judgement_files, family, ground.items, runs, judge)
        graded = []
        for run, replies in zip(runs, read_replies(runs, family, ground), strict=True):
            by_seed: dict[Seed, list[Case]] = {}
            for one in run.seeds:
                by_seed[one], scope = grade_run(run, one, replies, family, ground, judged)
            graded.append(Graded(run, by_seed, scope, rejected.get((run.model, run.condition), {})))
    return ground, judged, graded


@contextmanager
def _without_collection() -> Iterator[None]:
    """Pause the collector of cycles: grading makes many small objects and no cycle, and it would look at all of them
    again and again, for a quarter of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def describe_bundle(bundle: Bundle, ground: Ground) -> dict[str, Any]:
    """The bundle as ``scores.json`` names it."""
    return {
        "name": bundle.card.name,
        "family": bundle.card.family,
        "version": bundle.card.version,
        "items": len(ground.items),
        "sha256": bundle_sha256(bundle.path),
    }


def seed_metrics(graded: Graded, family: Family) -> list[Metric]:
    """The metrics of a run: each the mean over its seeds, behind it every unit that counts in one
    of them.
    """
    return merge_seeds([family.metrics(cases, graded.scope) for cases in graded.by_seed.values()])


def merge_seeds(by_seed: Sequence[Sequence[Metric]]) -> list[Metric]:
    """One metric a name from the metrics of each seed, which have the same names in the same
    order.
    """
    if len(by_seed) == 1:
        return list(by_seed[0])
    merged = []
    for parts in zip(*by_seed, strict=True):
        behind = tuple(dict.fromkeys(unit for part in parts for unit in part.behind))
        statistic = mean_over_seeds([part.statistic for part in parts])
        merged.append(Metric(parts[0].name, behind, statistic, parts[0].unit))
    return merged


def estimate_all(
    runs: Sequence[tuple[Graded, list[Metric]]], ground: Ground, *, draws: int, seed: int
) -> list[tuple[list[Metric], list[Estimate]]]:
    """The estimates of each run's metrics. Runs that owe the same episodes share one set of
    draws.
    """
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i, (graded, _) in enumerate(runs):
        groups[tuple(ground.clusters(graded.run.owed))].append(i)
    found: dict[int, list[Estimate]] = {}
    for episodes, members in groups.items():
        weights = cluster_weights(len(episodes), draws, generator("score/episodes", seed))
        statistics: list[Statistic] = [m.statistic for i in members for m in runs[i][1]]
        estimates = iter(estimate(statistics, weights, LEVEL))
        for i in members:
            found[i] = [next(estimates) for _ in runs[i][1]]
    return [(metrics, found[i]) for i, (_, metrics) in enumerate(runs)]


def spell(metric: Metric, found: Estimate) -> dict[str, Any]:
    """A metric as ``scores.json`` writes it."""
    return {"value": found.value, "low": found.low, "high": found.high, "n": len(metric.behind)}


def coverage(graded: Graded) -> dict[str, int]:
    """Items, seeds and outcomes; the outcomes add up to items x seeds."""
    counts = Counter(case.outcome for cases in graded.by_seed.values() for case in cases)
    return {
        "items": len(graded.run.owed),
        "seeds": len(graded.run.seeds),
        **{outcome: counts[outcome] for outcome in OUTCOMES},
    }


def item_rows(graded: Sequence[Graded]) -> Iterator[dict[str, Any]]:
    """One row an item, model, condition and seed, as ``--items-out`` writes it."""
    for g in graded:
        for seed, cases in g.by_seed.items():
            for case in cases:
                answer = case.reply.answer
                value = None if answer is None else answer.value
                yield {
                    "item": case.item.id,
                    "part": None,
                    "model": g.run.model,
                    "condition": g.run.condition,
                    "seed": seed,
                    "outcome": case.outcome,
                    "parsed": list(value) if isinstance(value, tuple) else value,
                    "credit": case.grade.credit,
                    "verified": case.grade.verified,
                }


def run_notes(graded: Graded, family: Family) -> list[str]:
    """The rules that moved a number of this run, in words."""
    wrong: Counter[str] = Counter()
    out: Counter[str] = Counter()
    repaired = 0
    for cases in graded.by_seed.values():
        for case in cases:
            answer = case.reply.answer
            repaired += answer is not None and answer.repaired
            if case.reply.outcome != "scored":
                (out if case.grade.credit is None else wrong)[case.reply.outcome] += 1
    notes = [] if family.parser_note is None else [family.parser_note]
    notes += [f"{wrong[o]} {o} counted as wrong" for o in OUTCOMES if wrong[o]]
    notes += [f"{out[o]} {o} left out" for o in OUTCOMES if out[o]]
    if repaired:
        notes.append(f"{repaired} replies read from fenced, embedded or slightly broken JSON")
    if graded.run.not_owed:
        notes.append(f"{graded.run.not_owed} rows of items that this condition does not owe left out")
    notes += rejected_notes(graded)
    pooled = [case for cases in graded.by_seed.values() for case in cases]
    return notes + family.notes(pooled, graded.scope)


def rejected_notes(graded: Graded) -> list[str]:
    """How many judgements about this run do not count, by reason."""
    return [f"{n} judgements do not count: {reason}" for reason, n in graded.rejected.items()]


def interval_notes(metrics: Sequence[Metric], found: Sequence[Estimate], draws: int) -> list[str]:
    """Which values or intervals are undefined and why, and which intervals leave draws out."""
    reasons: dict[str, list[str]] = defaultdict(list)
    partly = []
    for metric, one in zip(metrics, found, strict=True):
        if one.reason is not None and not isinstance(metric.statistic, Total):
            reasons[one.reason].append(metric.name)
        if one.low is not None and one.undefined_draws:
            partly.append(f"{metric.name} {one.undefined_draws}")
    notes = [f"undefined ({reason}): {', '.join(names)}" for reason, names in reasons.items()]
    if partly:
        notes.append(f"draws of {draws} left out because undefined there: {', '.join(partly)}")
    return notes


def judged_notes(judged: Judged, graded: Sequence[Graded]) -> list[str]:
    """What of the judgements was not used."""
    notes = [f"{n} judgements under the rubric {r}, which this family does not have" for r, n in judged.unused.items()]
    scored = {(g.run.model, g.run.condition) for g in graded}
    others = sorted(judged.about - scored)
    if others:
        names = ", ".join(f"{model} {condition}" for model, condition in others)
        notes.append(f"judgements of models and conditions without predictions: {names}")
    return notes
