"""Two groups of independent numbers: rank test, t test, effect sizes.

The rows of a group must be independent of each other: questions of one video are not. Average them by video first, or
resample videos (:mod:`onlooker.stats.contrast`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from onlooker.stats.arrays import Floats, Numbers, check_lengths, finite
from onlooker.stats.beta import student_p
from onlooker.stats.ranks import average_ranks
from onlooker.stats.results import Coefficient

_EXACT_UP_TO = 8
EMPTY_GROUP = "undefined (a group is empty)"
GROUP_OF_ONE = "undefined (a group has fewer than two values)"
NO_SPREAD = "undefined (no variation within the groups)"


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """``value`` is U of the first group: pairs in which its number is larger, a tie counting 1/2; 0..n_a n_b.

    superiority  U / (n_a n_b), the chance that a number of the first group is the larger one; 0..1
    p            two-sided
    exact        whether p is exact or from the normal approximation
    """

    value: float | None
    p: float | None
    superiority: float | None
    exact: bool
    n_a: int
    n_b: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TTest:
    """``value`` is t, ``df`` its degrees of freedom, ``difference`` mean(a) - mean(b), ``p`` two-sided."""

    value: float | None
    df: float | None
    p: float | None
    difference: float | None
    reason: str | None = None


def mann_whitney(a: Numbers, b: Numbers) -> MannWhitney:
    """Mann and Whitney's U, two-sided. Undefined where a group is empty.

    Exact without ties where a group has 8 values or fewer; else normal, variance n_a n_b / 12 ((n + 1) - sum(t^3 - t) /
    (n (n - 1))) over the sizes t of ties, with the correction of 1/2 for continuity (the rules of
    ``scipy.stats.mannwhitneyu``). p = 1 where all numbers are equal. Mann and Whitney (1947), Ann. Math. Stat. 18 (50).

    >>> mann_whitney([1, 2, 3], [4, 5, 6]).p
    0.1
    """
    x, y = finite("a", a), finite("b", b)
    n_a, n_b = x.size, y.size
    if not n_a or not n_b:
        return MannWhitney(None, None, None, exact=False, n_a=n_a, n_b=n_b, reason=EMPTY_GROUP)
    both = np.concatenate([x, y])
    ranks = average_ranks(both.tolist())
    u = math.fsum(ranks[:n_a]) - n_a * (n_a + 1) / 2
    smaller = min(u, n_a * n_b - u)
    ties = np.unique(both, return_counts=True)[1]
    exact = min(n_a, n_b) <= _EXACT_UP_TO and ties.max() == 1
    p = _exact_p(n_a, n_b, round(smaller)) if exact else _normal_p(n_a, n_b, smaller, ties.tolist())
    return MannWhitney(u, p, u / (n_a * n_b), exact=bool(exact), n_a=n_a, n_b=n_b)


def t_test(a: Numbers, b: Numbers, *, equal_variances: bool = False) -> TTest:
    """Student's t of two groups, two-sided: Welch's by default, with the pooled variance on request.

    Welch: t = (mean(a) - mean(b)) / sqrt(v_a + v_b), v = variance / n,
    df = (v_a + v_b)^2 / (v_a^2 / (n_a - 1) + v_b^2 / (n_b - 1)). Pooled: df = n_a + n_b - 2.
    Undefined where a group has fewer than two values, or neither varies. Student (1908), Biometrika 6 (1);
    Welch (1947), Biometrika 34 (28).

    >>> round(t_test([1, 2, 3], [3, 4, 5]).p, 4)
    0.0705
    """
    x, y = finite("a", a), finite("b", b)
    if x.size < 2 or y.size < 2:
        return TTest(None, None, None, None, GROUP_OF_ONE)
    difference = float(x.mean() - y.mean())
    if _constant(x) and _constant(y):
        return TTest(None, None, None, difference, NO_SPREAD)
    if equal_variances:
        df = float(x.size + y.size - 2)
        error = _pooled_sd(x, y) * math.sqrt(1 / x.size + 1 / y.size)
    else:
        v_a, v_b = float(x.var(ddof=1)) / x.size, float(y.var(ddof=1)) / y.size
        # Shares of the sum, since squares of very small variances would underflow to 0/0.
        share = v_a / (v_a + v_b)
        df = 1 / (share**2 / (x.size - 1) + (1 - share) ** 2 / (y.size - 1))
        error = math.sqrt(v_a + v_b)
    t = difference / error
    return TTest(t, df, student_p(t, df), difference)


def cohen_d(a: Numbers, b: Numbers) -> Coefficient:
    """Cohen's d: (mean(a) - mean(b)) / s, s^2 the variances pooled by their degrees of freedom; any number.

    Undefined where a group has fewer than two values, or neither varies. Cohen (1988), Statistical Power Analysis,
    section 2.2.

    >>> cohen_d([1, 2, 3], [3, 4, 5]).value
    -2.0
    """
    x, y = finite("a", a), finite("b", b)
    if x.size < 2 or y.size < 2:
        return Coefficient(None, GROUP_OF_ONE)
    if _constant(x) and _constant(y):
        return Coefficient(None, NO_SPREAD)
    return Coefficient(float(x.mean() - y.mean()) / _pooled_sd(x, y))


def paired_cohen_d(a: Numbers, b: Numbers) -> Coefficient:
    """Cohen's d_z of pairs: the mean of a - b over their standard deviation; any number.

    Undefined for fewer than two pairs, and where all differences are equal (to 12 decimals). Cohen (1988), section 2.3.

    >>> paired_cohen_d([3, 5, 7], [2, 3, 4]).value
    2.0
    """
    x, y = finite("a", a), finite("b", b)
    check_lengths(a=x.size, b=y.size)
    differences = np.round(x - y, 12)
    if differences.size < 2:
        return Coefficient(None, "undefined (fewer than two pairs)")
    if _constant(differences):
        return Coefficient(None, "undefined (the differences do not vary)")
    return Coefficient(float(differences.mean() / differences.std(ddof=1)))


def _constant(values: Floats) -> bool:
    # A variance of equal numbers may be a rounding error instead of 0; a comparison is exact.
    return bool(values.min() == values.max())


def _pooled_sd(x: Floats, y: Floats) -> float:
    squares = (x.size - 1) * x.var(ddof=1) + (y.size - 1) * y.var(ddof=1)
    return math.sqrt(float(squares) / (x.size + y.size - 2))


def _exact_p(n_a: int, n_b: int, smaller: int) -> float:
    # The Gaussian binomial prod (1 - q^(n + i)) / (1 - q^i) counts the arrangements by their U; whole numbers of any
    # size keep it exact.
    few, many = min(n_a, n_b), max(n_a, n_b)
    counts = [1] + [0] * smaller
    for i in range(1, few + 1):
        for u in range(smaller, many + i - 1, -1):
            counts[u] -= counts[u - many - i]
        for u in range(i, smaller + 1):
            counts[u] += counts[u - i]
    return min(1.0, 2 * sum(counts) / math.comb(n_a + n_b, n_a))


def _normal_p(n_a: int, n_b: int, smaller: float, ties: list[int]) -> float:
    n = n_a + n_b
    variance = n_a * n_b / 12 * ((n + 1) - sum(t**3 - t for t in ties) / (n * (n - 1)))
    above = n_a * n_b / 2 - smaller - 0.5
    if len(ties) == 1 or above <= 0:
        return 1.0
    return math.erfc(above / math.sqrt(2 * variance))
