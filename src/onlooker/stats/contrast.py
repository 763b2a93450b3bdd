"""Differences between systems on the same rows, with interval and p from one set of cluster draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.stats.arrays import Floats, Ints, Labels, Numbers, check_lengths, finite
from onlooker.stats.cluster import Difference, Statistic, conclude, draw, mean
from onlooker.stats.interval import LEVEL

_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Contrast:
    """A difference with its interval and its two-sided ``p``; None where undefined, ``reason`` then says why.

    ``undefined_draws`` counts the draws that were left out of interval and p.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    undefined_draws: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Pairs:
    """Numbers of two systems on the same rows: ``cluster``, ``a`` and ``b``, each of shape (rows,).

    ``cluster`` is the number of each row's cluster, 0..clusters-1.
    """

    cluster: Ints
    a: Floats
    b: Floats


@dataclass(frozen=True, slots=True)
class Matched:
    """The rows that two systems share: row ``a[i]`` of the first and row ``b[i]`` of the second have one id.

    ``only_a`` and ``only_b`` count the ids that the other system lacks; they are to be reported.
    """

    a: Ints
    b: Ints
    only_a: int
    only_b: int


def match_rows(ids_a: Labels, ids_b: Labels) -> Matched:
    """Which rows of two systems belong together, in the order of the first; InputError for an id given twice.

    >>> found = match_rows(["q1", "q2", "q3"], ["q3", "q1"])
    >>> found.a.tolist(), found.b.tolist(), found.only_a
    ([0, 2], [1, 0], 1)
    """
    for name, ids in (("ids_a", ids_a), ("ids_b", ids_b)):
        twice = [label for label, count in Counter(ids).items() if count > 1]
        if twice:
            raise InputError("an id stands twice", where=name, value=twice[0])
    place = {label: row for row, label in enumerate(ids_b)}
    rows = [(row, place[label]) for row, label in enumerate(ids_a) if label in place]
    a, b = np.array([x for x, _ in rows], dtype=np.int64), np.array([y for _, y in rows], dtype=np.int64)
    return Matched(a, b, len(ids_a) - len(rows), len(ids_b) - len(rows))


def paired_difference(pairs: Pairs, weights: NDArray[Any], level: float = LEVEL) -> Contrast:
    """mean(a) - mean(b) over the same rows, by resampling clusters; interval and p as in :func:`contrasts`.

    >>> from onlooker.stats.cluster import cluster_weights
    >>> from onlooker.stats.seeds import generator
    >>> pairs = Pairs(np.array([0, 0, 1, 2]), np.array([1.0, 1, 1, 0]), np.array([0.0, 1, 0, 0]))
    >>> paired_difference(pairs, cluster_weights(3, 1000, generator("example", 1))).value
    0.5
    """
    return contrasts([_difference(pairs)], weights, level)[0]


def difference_of_differences(first: Pairs, second: Pairs, weights: NDArray[Any], level: float = LEVEL) -> Contrast:
    """(mean(a) - mean(b)) of the first pairs less that of the second, both on the same draws of clusters.

    For whether, say, subtitles help one model more than another. Clusters of both are numbered alike: an episode that
    stands in both is drawn for both. Interval and p as in :func:`contrasts`.

    >>> from onlooker.stats.cluster import cluster_weights
    >>> from onlooker.stats.seeds import generator
    >>> one = Pairs(np.array([0, 1]), np.array([1.0, 1]), np.array([0.0, 1]))
    >>> two = Pairs(np.array([0, 1]), np.array([1.0, 0]), np.array([1.0, 0]))
    >>> difference_of_differences(one, two, cluster_weights(2, 1000, generator("example", 1))).value
    0.5
    """
    return contrasts([Difference(_difference(first), _difference(second))], weights, level)[0]


def contrasts(statistics: Sequence[Statistic], weights: NDArray[Any], level: float = LEVEL) -> list[Contrast]:
    """Value, percentile interval and p of statistics that are 0 where systems are equal, all on the same draws.

    ``weights``: from :func:`onlooker.stats.cluster.cluster_weights`, shape (draws, clusters). p inverts the interval:
    it is 1 less the widest level whose interval leaves out 0, that is min(1, 2 (1 + min(draws <= 0, draws >= 0)) /
    (1 + draws)); the added 1 keeps it above 0 and honest about the number of draws. Draws within 1e-12 of 0 count on
    both sides. Undefined where the interval is. Efron and Tibshirani (1993), An Introduction to the Bootstrap, sections
    13.3 and 15.4; Davison and Hinkley (1997), Bootstrap Methods and their Application, section 4.2.

    >>> from onlooker.stats.cluster import cluster_weights
    >>> from onlooker.stats.seeds import generator
    >>> gains = mean(np.array([0, 1, 2, 3]), np.array([1.0, 1, 1, 1]))
    >>> found = contrasts([gains], cluster_weights(4, 999, generator("example", 1)))[0]
    >>> found.low, found.high, found.p
    (1.0, 1.0, 0.002)
    """
    values, spread = draw(statistics, weights)
    found = []
    for statistic, value, row in zip(statistics, values, spread, strict=True):
        known = conclude(statistic, value, row, level)
        p = None if known.low is None else _inverted(row)
        found.append(Contrast(known.value, known.low, known.high, p, known.undefined_draws, known.reason))
    return found


def _difference(pairs: Pairs) -> Difference:
    a, b = finite("a", pairs.a), finite("b", pairs.b)
    check_lengths(cluster=len(pairs.cluster), a=a.size, b=b.size)
    return Difference(mean(pairs.cluster, a), mean(pairs.cluster, b))


def _inverted(draws: Numbers) -> float:
    values = np.asarray(draws, dtype=np.float64)
    defined = values[~np.isnan(values)]
    beyond = min(int((defined <= _SAME).sum()), int((defined >= -_SAME).sum()))
    return min(1.0, 2 * (1 + beyond) / (1 + defined.size))
