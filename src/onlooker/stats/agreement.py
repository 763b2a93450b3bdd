"""How far raters agree: Krippendorff's alpha with its interval, Fleiss' kappa, unanimity, pairs.

Everything is computed from a table of counts (units x values), so that the cost grows linearly with
the units.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.stats.arrays import Floats, Ints, check_lengths
from onlooker.stats.cluster import FEW_CLUSTERS, Estimate
from onlooker.stats.interval import LEVEL, percentile_interval
from onlooker.stats.results import Coefficient

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
"""The levels every agreement file lists; the ratio level is for scales with a true zero, and computed where asked."""
_CELLS_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class RatingTable:
    """``counts[u, k]``: how many raters gave unit u the value ``values[k]``; values in ascending
    order, or in the order declared (``ordered``).
    """

    values: tuple[float | str, ...]
    counts: Floats
    ordered: bool = False

    @property
    def numeric(self) -> bool:
        """Whether every value is a number: only then are there levels beyond the nominal one."""
        return all(not isinstance(value, str) for value in self.values)

    @property
    def pairable(self) -> Floats:
        """The rows of units with two or more ratings."""
        return np.asarray(self.counts[self.counts.sum(axis=1) >= 2], dtype=np.float64)


def tabulate(units: Sequence[Sequence[float | str]], order: Sequence[float | str] | None = None) -> RatingTable:
    """The table of ratings given as one list a unit; empty units are left out.

    ``order``: the declared values in ascending order, which gives words an ordinal level; InputError for a rating
    outside it.
    """
    distinct: set[Any] = {value for unit in units for value in unit}
    values = sorted(distinct, key=lambda v: (isinstance(v, str), v)) if order is None else list(order)
    place = {value: k for k, value in enumerate(values)}
    if missing := distinct - place.keys():
        raise InputError("a rating outside the declared order", where="order", value=next(iter(missing)))
    rated = [unit for unit in units if unit]
    counts = np.zeros((len(rated), len(values)))
    for u, unit in enumerate(rated):
        for value in unit:
            counts[u, place[value]] += 1
    return RatingTable(tuple(values), counts, ordered=order is not None)


def krippendorff_alpha(table: RatingTable, level: Level) -> Coefficient:
    """Krippendorff's alpha, 1 - observed / expected disagreement; at most 1. Units with one rating do not count.

    The disagreement of values c and k is 1 (nominal), the squared sum of the ratings between them, their own counted
    half (ordinal), (c - k)^2 (interval) or ((c - k) / (c + k))^2 (ratio, for numbers of 0 and more). Undefined where no
    unit has two ratings, where all pairable ratings are equal (there was nothing to disagree on), and for a level that
    the values do not have. Krippendorff (2011), Computing Krippendorff's alpha-reliability.

    >>> round(krippendorff_alpha(tabulate([[1, 1], [2, 2], [1, 2], [3, 3]]), "ordinal").value, 3)
    0.79
    """
    reason = _no_alpha(table, level)
    if reason is not None:
        return Coefficient(None, reason)
    return Coefficient(float(_alphas(table, level, np.ones((1, table.counts.shape[0])))[0]))


def krippendorff_interval(
    table: RatingTable,
    level: Level,
    weights: NDArray[np.uint16],
    cluster: Ints | None = None,
    confidence: float = LEVEL,
) -> Estimate:
    """Krippendorff's alpha with its percentile interval by resampling units, or clusters of them.

    ``weights``: from :func:`onlooker.stats.cluster.cluster_weights`, shape (draws, units) or (draws, clusters);
    ``cluster`` (units,): the cluster of each row of the table, 0..clusters-1, say the video; without it each unit is
    one. Draws without variation or without a pair are left out and counted. Undefined as :func:`krippendorff_alpha`; no
    interval for fewer than two clusters with pairs. Cost: linear in draws, units and values.
    Zapf et al. (2016), BMC Med. Res. Methodol. 16 (93).

    >>> from onlooker.stats.cluster import cluster_weights
    >>> from onlooker.stats.seeds import generator
    >>> table = tabulate([[1, 1], [2, 2], [1, 2], [3, 3]] * 5)
    >>> found = krippendorff_interval(table, "ordinal", cluster_weights(20, 1000, generator("example", 1)))
    >>> found.low < found.value < found.high
    True
    """
    units = table.counts.shape[0]
    of_unit = np.arange(units) if cluster is None else np.asarray(cluster, dtype=np.int64)
    check_lengths(cluster=of_unit.size, units=units)
    if units and not 0 <= of_unit.min() <= of_unit.max() < weights.shape[1]:
        raise InputError("a cluster without a column of weights", where="weights", value=weights.shape)
    found = krippendorff_alpha(table, level)
    if found.value is None:
        return Estimate(None, reason=found.reason)
    if np.unique(of_unit[table.counts.sum(axis=1) >= 2]).size < 2:
        return Estimate(found.value, reason=FEW_CLUSTERS)
    step = max(1, _CELLS_AT_ONCE // units)
    blocks = range(0, weights.shape[0], step)
    draws = np.concatenate([_alphas(table, level, weights[b : b + step, of_unit].astype(np.float64)) for b in blocks])
    undefined = int(np.isnan(draws).sum())
    interval = percentile_interval(draws, confidence)
    if interval is None:
        return Estimate(found.value, undefined_draws=undefined, reason="undefined in every draw")
    return Estimate(found.value, *interval, undefined_draws=undefined)


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


def _no_alpha(table: RatingTable, level: Level) -> str | None:
    if level == "ordinal" and not (table.numeric or table.ordered):
        return "undefined (ordinal needs numbers or a declared order, these ratings are words)"
    if level in {"interval", "ratio"} and not table.numeric:
        return f"undefined ({level} needs numbers, these ratings are words)"
    if level == "ratio" and any(float(value) < 0 for value in table.values):
        return "undefined (ratio needs numbers of 0 and more)"
    counts = table.pairable
    if counts.shape[0] == 0:
        return "undefined (no unit has two ratings)"
    return "undefined (no variation)" if (counts.sum(axis=0) > 0).sum() < 2 else None


def _alphas(table: RatingTable, level: Level, weights: Floats) -> Floats:
    """Alpha for each row of ``weights`` (draws, units): how often each unit counts; NaN without variation."""
    paired = table.counts.sum(axis=1) >= 2
    counts, weights = table.counts[paired], weights[:, paired]
    ratings = counts.sum(axis=1)
    marginals = weights @ counts
    total = marginals.sum(axis=1)
    if level == "ordinal":
        # The ordinal distance of c and k is the sum of the marginals between them, their own counted half: the
        # difference of two positions, which depend on the draw.
        position = np.cumsum(marginals, axis=1) - marginals / 2 - total[:, None] / 2
        squares = (weights @ (counts * (ratings / (ratings - 1))[:, None])) * position**2
        products = weights * (position @ counts.T) ** 2 / (ratings - 1)
        observed = 2 * (squares.sum(axis=1) - products.sum(axis=1))
        spread = total * (marginals * position**2).sum(axis=1) - (marginals * position).sum(axis=1) ** 2
        expected = 2 * spread
    else:
        distance = _squared_distances(table.values, level)
        observed = weights @ (((counts @ distance) * counts).sum(axis=1) / (ratings - 1))
        expected = ((marginals @ distance) * marginals).sum(axis=1)
    varies = (marginals > 0).sum(axis=1) > 1
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(varies, 1 - (total - 1) * observed / expected, np.nan)


def _squared_distances(values: Sequence[float | str], level: Level) -> Floats:
    if level == "nominal":
        return np.asarray(1 - np.eye(len(values)), dtype=np.float64)
    number = np.array([float(value) for value in values])
    apart = number[:, None] - number[None, :]
    if level == "ratio":
        together = number[:, None] + number[None, :]
        apart = np.divide(apart, together, out=np.zeros_like(apart), where=together != 0)
    return np.asarray(apart**2, dtype=np.float64)
