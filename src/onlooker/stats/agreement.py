"""How far raters agree: Krippendorff's alpha, Fleiss' kappa, unanimity, pairs.

Everything is computed from a table of counts (units x values), so that the cost grows linearly with
the units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Level = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement, or None with the reason."""

    value: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RatingTable:
    """``counts[u, k]``: how many raters gave unit u the value ``values[k]``; values in ascending
    order.
    """

    values: tuple[float | str, ...]
    counts: Floats

    @property
    def numeric(self) -> bool:
        """Whether every value is a number: only then are there levels beyond the nominal one."""
        return all(not isinstance(value, str) for value in self.values)

    @property
    def pairable(self) -> Floats:
        """The rows of units with two or more ratings."""
        return np.asarray(self.counts[self.counts.sum(axis=1) >= 2], dtype=np.float64)


def tabulate(units: Sequence[Sequence[float | str]]) -> RatingTable:
    """The table of ratings given as one list a unit; empty units are left out."""
    distinct: set[Any] = {value for unit in units for value in unit}
    values = sorted(distinct, key=lambda v: (isinstance(v, str), v))
    place = {value: k for k, value in enumerate(values)}
    rated = [unit for unit in units if unit]
    counts = np.zeros((len(rated), len(values)))
    for u, unit in enumerate(rated):
        for value in unit:
            counts[u, place[value]] += 1
    return RatingTable(tuple(values), counts)


def krippendorff_alpha(table: RatingTable, level: Level) -> Coefficient:
    """Krippendorff's alpha from the coincidence matrix; units with one rating do not count.

    Undefined where no unit has two ratings, and where all pairable ratings are equal: there was
    nothing to disagree on. Krippendorff (2011), Computing Krippendorff's alpha-reliability.
    """
    if level != "nominal" and not table.numeric:
        return Coefficient(None, f"undefined ({level} needs numbers, these ratings are words)")
    counts = table.pairable
    if counts.shape[0] == 0:
        return Coefficient(None, "undefined (no unit has two ratings)")
    ratings = counts.sum(axis=1)
    coincidences = (counts / (ratings - 1)[:, None]).T @ counts
    coincidences -= np.diag((counts / (ratings - 1)[:, None]).sum(axis=0))
    marginals = counts.sum(axis=0)
    distance = _squared_distances(table.values, marginals, level)
    expected = marginals @ distance @ marginals
    if expected == 0:
        return Coefficient(None, "undefined (no variation)")
    total = marginals.sum()
    return Coefficient(float(1 - (total - 1) * (coincidences * distance).sum() / expected))


def fleiss_kappa(table: RatingTable) -> Coefficient:
    """Fleiss' kappa; undefined where the number of ratings a unit differs or is below two. Fleiss
    (1971).
    """
    ratings = table.counts.sum(axis=1)
    if ratings.size == 0 or np.unique(ratings).size > 1:
        return Coefficient(None, "undefined (the number of ratings a unit differs)")
    n = ratings[0]
    if n < 2:
        return Coefficient(None, "undefined (no unit has two ratings)")
    observed = ((table.counts**2).sum(axis=1) - n).mean() / (n * (n - 1))
    shares = table.counts.sum(axis=0) / table.counts.sum()
    expected = float((shares**2).sum())
    if shares.max() == 1:
        return Coefficient(None, "undefined (no variation)")
    return Coefficient(float((observed - expected) / (1 - expected)))


def unanimity(table: RatingTable) -> float | None:
    """Share of the units with two or more ratings whose ratings are all equal."""
    counts = table.pairable
    return float((counts.max(axis=1) == counts.sum(axis=1)).mean()) if counts.size else None


def pair_agreement(table: RatingTable) -> float | None:
    """Share of equal ratings among all pairs of ratings within a unit, each pair weighing the
    same.
    """
    counts = table.pairable
    if counts.size == 0:
        return None
    ratings = counts.sum(axis=1)
    return float((counts * (counts - 1)).sum() / (ratings * (ratings - 1)).sum())


def two_draw_agreement(table: RatingTable) -> float | None:
    """Chance that two ratings drawn independently from all ratings are equal."""
    total = table.counts.sum()
    return float(((table.counts.sum(axis=0) / total) ** 2).sum()) if total else None


def step_shares(table: RatingTable) -> Mapping[str, float]:
    """How the pairs within units that differ by exactly one spread over the steps: {"0-1": share,
    ...}.

    For whole numbers; empty where the ratings are none, or where no pair differs by one.
    """
    if not table.numeric or any(value != int(value) for value in table.values):
        return {}
    counts = table.pairable
    place = {int(value): k for k, value in enumerate(table.values)}
    steps = dict.fromkeys(range(min(place, default=0), max(place, default=0)), 0.0)
    for low in steps:
        if low in place and low + 1 in place:
            steps[low] = float((counts[:, place[low]] * counts[:, place[low + 1]]).sum())
    total = sum(steps.values())
    return {f"{low}-{low + 1}": pairs / total for low, pairs in steps.items()} if total else {}


def _squared_distances(values: Sequence[float | str], marginals: Floats, level: Level) -> Floats:
    if level == "nominal":
        return np.asarray(1 - np.eye(len(values)), dtype=np.float64)
    if level == "interval":
        position = np.array([float(value) for value in values])
    else:
        # The ordinal distance of c and k is the sum of the marginals between them, their own
        # counted half.
        position = np.cumsum(marginals) - marginals / 2
    return np.asarray((position[:, None] - position[None, :]) ** 2, dtype=np.float64)
