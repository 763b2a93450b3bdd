"""Whether strict and mild raters move the intensity consensus.

Raw consensus is the mean of a moment's ratings; the debiased one is its effect in an additive model of rater and
moment, fitted by least squares to all intensity ratings of the bundle (rater effects add up to 0). An order changes
where two moments of a video stand otherwise to one another, ties included. Scores of runs are compared under both.
Paper: section 3.2, appendix B.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import profile_of
from onlooker.benchmarks.reactionbench.profile import ratings_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, by_item, chosen_runs, run_name
from onlooker.records.public import IntensityItem
from onlooker.stats.additive import additive_model
from onlooker.stats.ranks import extended_spearman

DECIMALS: Final = 9
"""Consensus values that agree to so many decimals are equal: the model is solved in floating point."""


def rater_debiasing(material: Material) -> Findings:
    """Rater effects, changes of the consensus, videos whose order changes, and rho0 of runs under both."""
    units = [
        (rater, (item, moment), rating)
        for item, private in material.private.items()
        for rater, own in ratings_of(private).items()
        for moment, rating in own.items()
    ]
    if not units:
        raise InputError("the bundle has no intensity ratings", remedy="ratings.jsonl with the rubric intensity")
    found = additive_model(*(list(column) for column in zip(*units, strict=True)))
    if found.value is None:
        return Findings({"reason": found.reason}, (), (), (f"no debiased consensus: {found.reason}",))
    raw: Mapping[Any, float] = found.raw_means
    debiased: Mapping[Any, float] = found.debiased_means
    videos = [
        item
        for item in material.items.values()
        if isinstance(item, IntensityItem) and all((item.id, moment.id) in raw for moment in item.moments)
    ]
    pairs = {v.id: (_consensus(raw, v), _consensus(debiased, v)) for v in videos}
    changed = [video for video, (before, after) in pairs.items() if _order(before) != _order(after)]
    reversed_in = [video for video, (before, after) in pairs.items() if _reversed(before, after)]
    moves = [abs(debiased[unit] - raw[unit]) for unit in raw]
    effects = {str(rater): effect for rater, effect in found.rater_effects.items()}
    runs = {run_name(run): _scores(run, pairs) for run in (chosen_runs(material) if material.runs else [])}
    data: dict[str, Any] = {
        "ratings": len(units),
        "moments": len(raw),
        "rater_effects": effects,
        "mean_change": sum(moves) / len(moves),
        "largest_change": found.largest_change,
        "videos": len(videos),
        "order_changes": len(changed),
        "order_reversals": len(reversed_in),
        "changed_videos": changed,
        "runs": {name: one for name, one in runs.items() if one["n"]},
    }
    shown: list[tuple[Cell, ...]] = [(name, data[name]) for name in ("ratings", "moments", "videos")]
    shown += [
        ("smallest rater effect", min(effects.values())),
        ("largest rater effect", max(effects.values())),
        ("mean |change| of consensus", data["mean_change"]),
        ("largest |change| of consensus", found.largest_change),
        ("videos whose order changes", len(changed)),
        ("of these with a pair reversed", len(reversed_in)),
    ]
    tables = (
        Table("Raw and debiased consensus", ("quantity", "value"), tuple(shown)),
        Table("Rater effects", ("rater", "effect"), tuple(effects.items())),
        Table(
            "rho0 under both",
            ("run", "n", "raw", "debiased", "difference"),
            tuple((name, *one.values()) for name, one in data["runs"].items()),
        ),
    )
    return Findings(data, tables)


def _consensus(values: Mapping[Any, float], video: IntensityItem) -> tuple[float, ...]:
    return tuple(round(values[video.id, moment.id], DECIMALS) for moment in video.moments)


def _order(values: Sequence[float]) -> list[int]:
    """For every pair of moments: -1, 0 or 1."""
    return [(x > y) - (x < y) for x, y in combinations(values, 2)]


def _reversed(before: Sequence[float], after: Sequence[float]) -> bool:
    return any(x * y < 0 for x, y in zip(_order(before), _order(after), strict=True))


def _scores(run: GradedRun, pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> dict[str, Any]:
    """Mean rho0 on the parsed videos whose raw and debiased consensus both vary."""
    of = [by_item(run, lambda case, side=side: _rho0(case, pairs, side)) for side in (0, 1)]  # type: ignore[misc]
    both = [(of[0].get(item), of[1].get(item)) for item in pairs]
    means = [(x, y) for x, y in both if x is not None and y is not None]
    n = len(means)
    raw, debiased = (sum(column) / n for column in zip(*means, strict=True)) if n else (None, None)
    gap = None if raw is None or debiased is None else debiased - raw
    return {"n": n, "raw": raw, "debiased": debiased, "difference": gap}


def _rho0(case: Case, pairs: Mapping[str, tuple[Sequence[float], Sequence[float]]], side: int) -> float | None:
    profile = profile_of(case)
    if profile is None or case.item.id not in pairs:
        return None
    target = pairs[case.item.id][side]
    return extended_spearman(profile, target) if len(set(target)) > 1 else None


ANALYSIS = Analysis(
    name="debiasing",
    says="raw consensus against one without strict and mild raters: changes, orders, scores",
    source="section 3.2, appendix B.2",
    run=rater_debiasing,
    options={name: RUN_OPTIONS[name] for name in ("models", "conditions")},
)
