"""Statistics of clustered rows, and their percentile intervals by resampling clusters.

Rows of one cluster (the questions of an episode) are drawn together. A draw is a count per cluster,
so that every statistic made of sums over rows is a function of one matrix product: counts (draws x
clusters) times column sums (clusters x columns). Efron (1979); the unit of resampling is the
cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.stats.interval import percentile_interval, wilson

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Combine = Callable[[Floats], Floats]
_DRAWN_AT_ONCE = 1000
_DRAWS_AT_ONCE = 2500
_CELLS_AT_ONCE = 4_000_000
FEW_CLUSTERS = "fewer than two clusters"
NO_UNITS = "nothing to average over"


@dataclass(frozen=True, slots=True)
class Sums:
    """A statistic of sums over rows.

    cluster  (rows,) the cluster each row belongs to, 0..clusters-1
    columns  (rows, k) what is summed
    combine  sums (draws, k) -> the statistic (draws,), NaN where it is undefined
    """

    cluster: Ints
    columns: Floats
    combine: Combine


@dataclass(frozen=True, slots=True)
class Median:
    """The median of ``values`` (rows,); of an even number, the mean of the middle two."""

    cluster: Ints
    values: Floats


@dataclass(frozen=True, slots=True)
class Proportion:
    """A mean of 0..1 whose interval is Wilson's over rows instead of a resampling of clusters."""

    sums: Sums


@dataclass(frozen=True, slots=True)
class Total:
    """A plain count, without an interval."""

    value: float


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of statistics evaluated on the same draws, such as one for each seed; undefined
    where one of them is.
    """

    parts: tuple[Statistic, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """``a - b`` on the same draws."""

    a: Statistic
    b: Statistic


Statistic = Sums | Median | Proportion | Total | Mean | Difference


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; None where undefined, ``reason`` then says why.

    ``undefined_draws`` counts the draws that were left out of the interval.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined_draws: int = 0
    reason: str | None = None


def ratio(sums: Floats) -> Floats:
    """Column 0 over column 1."""
    return _over(sums[:, 0], sums[:, 1])


def mean_of_ratios(sums: Floats) -> Floats:
    """The mean of k ratios: columns 0..k-1 over columns k..2k-1. Undefined where one of them is."""
    half = sums.shape[1] // 2
    return np.asarray(_over(sums[:, :half], sums[:, half:]).mean(axis=1), dtype=np.float64)


def correlation(sums: Floats) -> Floats:
    """Pearson's r from the sums of 1, x, y, xx, yy, xy; undefined where x or y does not vary."""
    n, x, y, xx, yy, xy = sums.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread_x = xx - x * x / n
        spread_y = yy - y * y / n
        together = xy - x * y / n
        # Sums of equal numbers leave rounding errors of this size.
        flat = (spread_x <= 1e-12 * xx) | (spread_y <= 1e-12 * yy) | (n < 2)
        return np.where(flat, np.nan, together / np.sqrt(spread_x * spread_y))


def mean(cluster: Ints, values: Floats) -> Sums:
    """The mean of ``values`` (rows,)."""
    return Sums(cluster, np.column_stack([values, np.ones_like(values)]), ratio)


def pooled_pearson(cluster: Ints, x: Floats, y: Floats) -> Sums:
    """Pearson's r over all rows. The columns are centred, which keeps the sums exact enough to see
    a constant.
    """
    if x.size:
        x, y = x - x.mean(), y - y.mean()
    columns = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    return Sums(cluster, columns, correlation)


def mean_over_seeds(parts: Sequence[Statistic]) -> Statistic:
    """The statistic whose value is the mean of ``parts`` (one a seed), its interval that of the
    mean.
    """
    return parts[0] if len(parts) == 1 else Mean(tuple(parts))


def cluster_weights(n_clusters: int, draws: int, rng: np.random.Generator) -> NDArray[np.uint16]:
    """How often each cluster is drawn: shape (draws, n_clusters), each row adds up to
    ``n_clusters``.
    """
    weights = np.zeros((draws, n_clusters), dtype=np.uint16)
    if n_clusters == 0:
        return weights
    for start in range(0, draws, _DRAWN_AT_ONCE):
        block = weights[start : start + _DRAWN_AT_ONCE]
        size = block.shape[0]
        drawn = rng.integers(0, n_clusters, size=(size, n_clusters))
        drawn += np.arange(size)[:, None] * n_clusters
        counts = np.bincount(drawn.ravel(), minlength=size * n_clusters)
        block[:] = counts.reshape(size, n_clusters)
    return weights


def estimate(statistics: Sequence[Statistic], weights: NDArray[np.uint16], level: float = 0.95) -> list[Estimate]:
    """Value and percentile interval of every statistic on the same draws.

    ``weights``: from :func:`cluster_weights`, shape (draws, clusters). Cost: one matrix product
    over the distinct columns, and one partial sort of its draws for each statistic. Memory beside the weights, however
    many statistics and draws: a few blocks of 4 million numbers.
    """
    found: list[Estimate] = []
    step = max(1, _CELLS_AT_ONCE // max(1, weights.shape[0]))
    for start in range(0, len(statistics), step):
        found += _conclude_all(statistics[start : start + step], weights, level)
    return found


def evaluate(statistics: Sequence[Statistic], n_clusters: int) -> Floats:
    """Every statistic on all rows, shape (statistics,); NaN where undefined. Its cluster numbers are below
    ``n_clusters``.
    """
    return _on_all_rows(statistics, _tabulate(statistics, (n_clusters,)))


def draw(statistics: Sequence[Statistic], weights: NDArray[np.uint16]) -> tuple[Floats, Floats]:
    """Every statistic on all rows, shape (statistics,), and on each draw, shape (statistics, draws); NaN where
    undefined.
    """
    table = _tabulate(statistics, weights.shape)
    spread = np.empty((len(statistics), weights.shape[0]))
    step = min(_DRAWS_AT_ONCE, max(1, _CELLS_AT_ONCE // table.width))
    for start in range(0, weights.shape[0], step):
        block = weights[start : start + step].astype(np.float64)
        sums = table.sums(block)
        for row, statistic in zip(spread, statistics, strict=True):
            row[start : start + step] = _evaluate(statistic, table, sums, block)
    return _on_all_rows(statistics, table), spread


def conclude(statistic: Statistic, value: float, draws: Floats, level: float) -> Estimate:
    """The estimate of a statistic from its value and its draws (of :func:`draw`), or why it has none."""
    leaves = list(_leaves(statistic))
    if np.isnan(value):
        empty = all(not isinstance(leaf, Total) and leaf.cluster.size == 0 for leaf in leaves)
        return Estimate(None, reason=NO_UNITS if empty else "undefined on these rows")
    if all(isinstance(leaf, Total) for leaf in leaves):
        return Estimate(float(value), reason="a count has no interval")
    whole = _wilson_of(statistic, float(value))
    if whole is not None:
        return Estimate(float(value), *whole)
    filled = [leaf.cluster for leaf in leaves if not isinstance(leaf, Total) and leaf.cluster.size]
    if not filled or min(c.min() for c in filled) == max(c.max() for c in filled):
        return Estimate(float(value), reason=FEW_CLUSTERS)
    undefined = int(np.isnan(draws).sum())
    interval = percentile_interval(draws, level)
    if interval is None:
        return Estimate(float(value), undefined_draws=undefined, reason="undefined in every draw")
    return Estimate(float(value), *interval, undefined_draws=undefined)


def _conclude_all(statistics: Sequence[Statistic], weights: NDArray[np.uint16], level: float) -> list[Estimate]:
    values, spread = draw(statistics, weights)
    return [conclude(one, value, row, level) for one, value, row in zip(statistics, values, spread, strict=True)]


def _tabulate(statistics: Sequence[Statistic], shape: tuple[int, ...]) -> _Columns:
    table = _Columns(shape[-1])
    for statistic in statistics:
        for leaf in _leaves(statistic):
            if not isinstance(leaf, Total) and not _known(leaf.cluster, shape[-1]):
                raise InputError("a cluster without a column of weights", where="weights", value=shape)
            if isinstance(leaf, Sums):
                table.add(leaf)
            elif isinstance(leaf, Median):
                table.longest = max(table.longest, leaf.values.size)
    return table


def _on_all_rows(statistics: Sequence[Statistic], table: _Columns) -> Floats:
    once = np.ones((1, table.n_clusters))
    sums = table.sums(once)
    return np.array([_evaluate(statistic, table, sums, once)[0] for statistic in statistics], dtype=np.float64)


def _known(cluster: Ints, n_clusters: int) -> bool:
    return cluster.size == 0 or bool(0 <= cluster.min() <= cluster.max() < n_clusters)


def _over(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below == 0, np.nan, above / below)


class _Columns:
    """The distinct columns of all statistics, summed by cluster."""

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self.columns: list[Floats] = []
        self.places: dict[bytes, int] = {}
        self.of_leaf: dict[int, Ints] = {}
        self.longest = 0
        self._stacked: Floats | None = None

    @property
    def width(self) -> int:
        """The most numbers that one draw holds at a time: clusters, columns, or the rows of a median."""
        return max(1, self.n_clusters, len(self.columns), self.longest)

    def add(self, leaf: Sums) -> None:
        if id(leaf) in self.of_leaf:
            return
        places = []
        for summand in leaf.columns.T:
            found = np.bincount(leaf.cluster, weights=summand, minlength=self.n_clusters)
            column = np.asarray(found, dtype=np.float64)
            places.append(self.places.setdefault(column.tobytes(), len(self.columns)))
            if places[-1] == len(self.columns):
                self.columns.append(column)
        self.of_leaf[id(leaf)] = np.array(places, dtype=np.int64)

    def sums(self, weights: Floats) -> Floats:
        """One row a column, so that a statistic reads its draws as one piece of memory: shape (columns, draws)."""
        if self._stacked is None:
            self._stacked = np.array(self.columns).reshape(len(self.columns), self.n_clusters)
        return np.asarray(self._stacked @ weights.T, dtype=np.float64)


def _evaluate(statistic: Statistic, table: _Columns, sums: Floats, weights: Floats) -> Floats:
    match statistic:
        case Sums():
            return statistic.combine(sums[table.of_leaf[id(statistic)]].T)
        case Median():
            return _medians(statistic, weights)
        case Proportion():
            return _evaluate(statistic.sums, table, sums, weights)
        case Total():
            return np.full(weights.shape[0], statistic.value)
        case Mean():
            parts = [_evaluate(part, table, sums, weights) for part in statistic.parts]
            return np.asarray(np.mean(parts, axis=0), dtype=np.float64)
        case Difference():
            return _evaluate(statistic.a, table, sums, weights) - _evaluate(statistic.b, table, sums, weights)


def _medians(statistic: Median, weights: Floats) -> Floats:
    if statistic.values.size == 0:
        return np.full(weights.shape[0], np.nan)
    order = np.argsort(statistic.values, kind="stable")
    values = statistic.values[order]
    reached = np.cumsum(weights[:, statistic.cluster[order]], axis=1)
    total = reached[:, -1:]
    last = values.size - 1
    lower = np.minimum((reached < np.floor((total + 1) / 2)).sum(axis=1), last)
    upper = np.minimum((reached < np.floor((total + 2) / 2)).sum(axis=1), last)
    return np.where(total[:, 0] == 0, np.nan, (values[lower] + values[upper]) / 2)


def _leaves(statistic: Statistic) -> Iterator[Sums | Median | Total]:
    match statistic:
        case Proportion():
            yield statistic.sums
        case Mean():
            for part in statistic.parts:
                yield from _leaves(part)
        case Difference():
            yield from _leaves(statistic.a)
            yield from _leaves(statistic.b)
        case _:
            yield statistic


def _wilson_of(statistic: Statistic, value: float) -> tuple[float, float] | None:
    parts = statistic.parts if isinstance(statistic, Mean) else (statistic,)
    if not all(isinstance(part, Proportion) for part in parts):
        return None
    first = parts[0]
    assert isinstance(first, Proportion)
    n = first.sums.cluster.size
    return wilson(value * n, n)
