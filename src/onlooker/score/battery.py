"""The shortcut battery: how much of a score needs the video, its order, its sound, the order of the options.

Every variation ``BASE+NAME`` of a model's answers, and the conditions without any medium, are compared with BASE on the
items that both answered. ``loss`` is BASE less the variation: near 0 means that the score does not need what was taken
away, whatever it is said to measure. ``changed`` is the share of items whose answer is another one: a model can keep
its score and still change every second answer. ``again_K`` tells how much of that is chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.protocol.scoring import Case, Family
from onlooker.protocol.variation import JOINT, parse_variation
from onlooker.records.bundle import Bundle
from onlooker.score.compare import (
    align,
    answered_items,
    difference_rows,
    episodes_of,
    paired_tests,
    side_metrics,
)
from onlooker.score.score import DRAWS, SEED, Graded, check_draws, describe_bundle, draws_notes, grade_files
from onlooker.stats.cluster import cluster_weights
from onlooker.stats.interval import LEVEL
from onlooker.stats.seeds import generator

# What each kind of variation takes away, in the order in which a report asks for it.
NEEDS = {
    "wrong_video": "this video",
    "frames_blank": "its pictures",
    "frames_shuffled": "their order",
    "frames_reversed": "their direction",
    "no_sound": "its sound and words",
    "options_rotated": "the order of the options",
    "options_reversed": "the order of the options",
    "options_shuffled": "the order of the options",
    "paraphrase": "the wording",
    "again": "nothing (asked once more)",
}
WITHOUT = "any medium at all"


@dataclass(frozen=True, slots=True)
class Battery:
    """``report`` is the content of ``battery.json``; ``notes`` say what was left out, and why."""

    report: dict[str, Any]
    notes: list[str]


def shortcut_battery(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    model: str,
    base: str,
    metric: str,
    *,
    without: Sequence[str] = (),
    judgement_files: Sequence[Path] = (),
    draws: int = DRAWS,
    seed: int = SEED,
    judge: str | None = None,
) -> Battery:
    """The battery of ``model`` on ``base``: {"base": ..., "variations": [{"condition", "takes_away", "value", "loss",
    "low", "high", "n", "changed", "compared", "mcnemar"}]}.

    ``without``: conditions that show nothing of the episode. ``metric`` must be one that both conditions have.
    Intervals resample episodes on the same draws. Raises ``InputError`` without answers under ``base`` or without a
    variation.
    """
    check_draws(draws)
    ground, _, graded = grade_files(bundle, family, prediction_files, judgement_files, judge)
    mine = {one.run.condition: one for one in graded if one.run.model == model}
    if base not in mine:
        raise InputError(
            "no answers of this model under the base condition",
            value=f"{model}:{base}",
            remedy=f"there is {', '.join(sorted(mine)) or 'nothing of this model'}",
        )
    varied = [name for name in mine if name.startswith(f"{base}{JOINT}")] + [name for name in without if name in mine]
    if not varied:
        raise InputError("no answers under a variation of the base condition", value=base, remedy="onlooker battery")
    rows: list[dict[str, Any]] = []
    notes = draws_notes(draws)
    for name in sorted(varied, key=_place):
        sides = mine[base], mine[name]
        cases, left_out = align([answered_items(side) for side in sides])
        notes += [f"{name}: {n} items left out: {why}" for why, n in left_out.items() if n]
        clusters = {episode: n for n, episode in enumerate(episodes_of(ground, cases[0]))}
        metrics = side_metrics(sides, cases, clusters, family, ground)
        weights = cluster_weights(len(clusters), draws, generator("score/episodes", seed))
        [found] = difference_rows([(metrics[0], metrics[1])], weights)
        if metric not in found:
            raise InputError("no such metric under this condition", where=name, value=metric, remedy=", ".join(found))
        one = found[metric]
        changed, compared = _changed(sides)
        rows.append(
            {
                "condition": name,
                "takes_away": _taken(name),
                "base_value": one["a"],
                "value": one["b"],
                "loss": one["difference"],
                "low": one["low"],
                "high": one["high"],
                "n": one["n"],
                "changed": changed / compared if compared else None,
                "compared": compared,
                "mcnemar": paired_tests(*cases)["mcnemar"],
            }
        )
    report = {
        "bundle": describe_bundle(bundle, ground),
        "settings": {"draws": draws, "seed": seed, "level": LEVEL},
        "model": model,
        "base": base,
        "metric": metric,
        "variations": rows,
    }
    return Battery(report, notes)


def _place(name: str) -> tuple[int, str]:
    if JOINT not in name:
        return -1, name
    return list(NEEDS).index(parse_variation(name.partition(JOINT)[2]).kind), name


def _taken(name: str) -> str:
    return NEEDS[parse_variation(name.partition(JOINT)[2]).kind] if JOINT in name else WITHOUT


def _changed(sides: Sequence[Graded]) -> tuple[int, int]:
    """Items with another answer under the second side, and items whose answer both sides tell; first seeds only."""
    first, second = ({case.item.id: case for case in _first(side)} for side in sides)
    both = [
        (a.reply.answer.value, b.reply.answer.value)
        for item, a in first.items()
        if (b := second.get(item)) is not None and a.reply.answer is not None and b.reply.answer is not None
    ]
    return sum(_told(a) != _told(b) for a, b in both), len(both)


def _first(side: Graded) -> Sequence[Case]:
    return next(iter(side.by_seed.values()), ())


def _told(value: Any) -> Any:
    return frozenset(value) if isinstance(value, tuple) else value
