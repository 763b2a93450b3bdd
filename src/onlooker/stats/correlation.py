"""Pearson's r of independent pairs with its interval and test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from onlooker.stats.arrays import Numbers, check_lengths, finite
from onlooker.stats.beta import student_p
from onlooker.stats.interval import LEVEL
from onlooker.stats.ranks import pearson


@dataclass(frozen=True, slots=True)
class Correlation:
    """``value`` is r, -1..1; ``low`` and ``high`` its interval; ``p`` two-sided against r = 0; ``n`` pairs.

    Where only the interval is undefined, ``reason`` says why and the value stands.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    n: int
    reason: str | None = None


def pearson_interval(x: Numbers, y: Numbers, level: float = LEVEL) -> Correlation:
    """Pearson's r of independent pairs, its interval by Fisher's z and its p by Student's t.

    tanh(atanh(r) +- z / sqrt(n - 3)); t = r sqrt((n - 2) / (1 - r^2)). r is undefined for fewer than two pairs and
    where one list does not vary, the interval for fewer than four pairs and where all points lie on a line, p for fewer
    than three. For pairs in clusters use :func:`onlooker.stats.cluster.pooled_pearson`. Fisher (1921), Metron 1 (3).

    >>> found = pearson_interval([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    >>> round(found.value, 6), round(found.low, 3), round(found.high, 3)
    (0.8, -0.28, 0.986)
    """
    a, b = finite("x", x), finite("y", y)
    n = a.size
    check_lengths(x=n, y=b.size)
    r = pearson(a.tolist(), b.tolist())
    if r is None:
        reason = "undefined (fewer than two pairs)" if n < 2 else "undefined (one list does not vary)"
        return Correlation(None, None, None, None, n, reason)
    r = max(-1.0, min(1.0, r))
    on_a_line = 1 - abs(r) < 1e-14
    if n < 3:
        return Correlation(r, None, None, None, n, "no interval (fewer than four pairs)")
    p = 0.0 if on_a_line else student_p(r * math.sqrt((n - 2) / (1 - r * r)), n - 2)
    if n < 4:
        return Correlation(r, None, None, p, n, "no interval (fewer than four pairs)")
    if on_a_line:
        return Correlation(r, None, None, p, n, "no interval (all points lie on a line)")
    half = NormalDist().inv_cdf((1 + level) / 2) / math.sqrt(n - 3)
    return Correlation(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half), p, n)
