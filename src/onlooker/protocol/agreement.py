"""Agreement of raters under one rubric: the one computation behind ``onlooker agreement`` and every dashboard."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from onlooker.errors import InputError, shown
from onlooker.stats.agreement import (
    LEVELS,
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


class Rated(Protocol):
    """A rating as this module reads it: a row of ``ratings.jsonl``."""

    @property
    def item(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def rater(self) -> str: ...
    @property
    def rubric(self) -> str: ...
    @property
    def value(self) -> float | str | None: ...
    @property
    def opt_out(self) -> str | None: ...


def agreement(ratings: Iterable[tuple[str, Rated]], rubric: str, source: str) -> AgreementResult:
    """Alpha, kappa, unanimity and pairs over the units (item, unit) of ratings given with where they stand.

    Opt-outs and ratings without a value do not count. A word among numbers leaves the nominal level only; a note names
    the first. InputError where a rater rated a unit twice, and where nobody rated under the rubric; it calls the
    ratings ``source``.
    """
    units: dict[tuple[str, str], dict[str, float | str]] = {}
    first: dict[tuple[str, str, str], str] = {}
    rubrics: set[str] = set()
    everyone: set[str] = set()
    words: list[str] = []
    opted_out = 0
    for where, rating in ratings:
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
            where=source,
            value=rubric,
            remedy=f"one of {sorted(rubrics)}" if rubrics else "there are no ratings at all",
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
