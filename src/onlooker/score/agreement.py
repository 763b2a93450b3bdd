"""Agreement of the raters in a ratings file, under one rubric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, shown
from onlooker.records.jsonl import read_rows
from onlooker.records.private import Rating
from onlooker.stats.agreement import (
    LEVELS,
    Level,
    fleiss_kappa,
    krippendorff_alpha,
    pair_agreement,
    step_shares,
    tabulate,
    two_draw_agreement,
    unanimity,
)


@dataclass(frozen=True, slots=True)
class AgreementResult:
    """``report`` is the content of ``agreement.json``; ``notes`` give the reasons of what is undefined."""

    report: dict[str, Any]
    notes: list[str]


def rater_agreement(ratings: Path, rubric: str) -> AgreementResult:
    """Alpha, kappa, unanimity and pairs over the units (item, unit) of a ratings file.

    Opt-outs and ratings without a value do not count. A word among numbers leaves the nominal level only; a note names
    the first. InputError where a rater rated a unit twice, and where nobody rated under the rubric.
    """
    units: dict[tuple[str, str], dict[str, float | str]] = {}
    first: dict[tuple[str, str, str], str] = {}
    rubrics: set[str] = set()
    everyone: set[str] = set()
    words: list[str] = []
    opted_out = 0
    for row in read_rows(ratings, Rating):
        rating, where = row.record, f"{row.file}, line {row.line}"
        rubrics.add(rating.rubric)
        if rating.rubric != rubric:
            continue
        key = (rating.item, rating.unit, rating.rater)
        if key in first:
            raise InputError(
                f"the same rater twice on item {rating.item}, unit {rating.unit}; the first is {first[key]}",
                where=where,
                value=rating.rater,
                remedy="keep one of the two rows",
            )
        first[key] = where
        everyone.add(rating.rater)
        if rating.opt_out is not None or rating.value is None:
            opted_out += 1
        else:
            units.setdefault(key[:2], {})[rating.rater] = rating.value
            if isinstance(rating.value, str):
                words.append(f"{where}, found {shown(rating.value)}")
    if rubric not in rubrics:
        raise InputError(
            "no ratings under this rubric",
            where=str(ratings),
            value=rubric,
            remedy=f"one of {sorted(rubrics)}" if rubrics else "the file has no ratings",
        )
    counted = sum(len(unit) for unit in units.values())
    raters = {rater for unit in units.values() for rater in unit}
    table = tabulate([list(unit.values()) for unit in units.values()])
    alphas = {f"alpha.{level}": krippendorff_alpha(table, level) for level in LEVELS}
    coefficients = {**alphas, "fleiss_kappa": fleiss_kappa(table)}
    report = {
        **{name: found.value for name, found in coefficients.items()},
        "unanimity": unanimity(table),
        "pair_agreement": pair_agreement(table),
        "two_draw_agreement": two_draw_agreement(table),
        "units": len(units),
        "raters": len(raters),
        "ratings": counted,
        "step_share": dict(step_shares(table)),
    }
    notes = [f"{name}: {found.reason}" for name, found in coefficients.items() if found.reason]
    notes += [f"rater without a rating that counts: {rater}" for rater in sorted(everyone - raters)]
    if 0 < len(words) < counted:
        notes.append(f"{len(words)} of {counted} ratings are words, the others numbers; the first is {words[0]}")
    if opted_out:
        notes.append(f"{opted_out} opt-outs and empty ratings left out")
    return AgreementResult(report, notes)


def agreement_rows(result: AgreementResult, level: Level) -> Iterator[tuple[str, str]]:
    """(name, value) as text, the alpha of ``level`` first; a dash where undefined."""
    report = result.report
    lead = f"alpha.{level}"
    for name in [lead, *(name for name in report if name != lead)]:
        value = report[name]
        if name == "step_share":
            yield name, ", ".join(f"{step} {100 * share:.1f} %" for step, share in value.items()) or "-"
        elif value is None:
            yield name, "-"
        else:
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)
