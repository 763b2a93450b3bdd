"""Tests of two systems on the same items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onlooker.stats.ranks import average_ranks

_EXACT_UP_TO = 50
_EXACT_WITH_TIES_UP_TO = 13


@dataclass(frozen=True, slots=True)
class McNemar:
    """Items that only ``a``, and only ``b``, got right; ``p`` is exact and two-sided."""

    a_only: int
    b_only: int
    p: float


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """``n`` differences other than zero; ``p`` two-sided, None where n = 0."""

    n: int
    p: float | None


def mcnemar(a_only: int, b_only: int) -> McNemar:
    """Exact two-sided test that both discordant counts come from a fair coin; p = 1 where they are
    equal.

    McNemar (1947), in its binomial form.
    """
    n = a_only + b_only
    tail = sum(math.comb(n, k) for k in range(min(a_only, b_only) + 1))
    # Integers of any size divide exactly enough; twice a tail that holds the middle would exceed 1.
    return McNemar(a_only, b_only, min(1.0, 2 * tail / 2**n))


def wilcoxon_signed_rank(differences: Sequence[float]) -> Wilcoxon:
    """Wilcoxon's signed-rank test, two-sided; zeros are dropped. Wilcoxon (1945).

    Exact up to 50 differences without ties and up to 13 with ties; else the normal approximation
    with the correction for ties and none for continuity (the rules of ``scipy.stats.wilcoxon``).
    Differences are compared to 12 decimals, so that 0.3 - 0.1 and 0.2 tie.
    """
    rounded = [round(d, 12) for d in differences]
    kept = [d for d in rounded if d != 0]
    n = len(kept)
    if n == 0:
        return Wilcoxon(0, None)
    ranks = average_ranks([abs(d) for d in kept])
    positive = sum(rank for rank, d in zip(ranks, kept, strict=True) if d > 0)
    ties = [ranks.count(rank) for rank in set(ranks)]
    tied = any(t > 1 for t in ties)
    if n <= (_EXACT_WITH_TIES_UP_TO if tied else _EXACT_UP_TO):
        return Wilcoxon(n, _exact_p(ranks, positive))
    middle = n * (n + 1) / 4
    variance = (n * (n + 1) * (2 * n + 1) - sum(t**3 - t for t in ties) / 2) / 24
    return Wilcoxon(n, math.erfc(abs(positive - middle) / math.sqrt(2 * variance)))


def _exact_p(ranks: Sequence[float], positive: float) -> float:
    # Average ranks are multiples of 1/2: doubled, the sums of all sign patterns can be counted in
    # an array.
    doubled = [round(2 * rank) for rank in ranks]
    counts = np.zeros(sum(doubled) + 1)
    counts[0] = 1
    for step in doubled:
        counts[step:] += counts[:-step].copy()
    at = round(2 * positive)
    total = counts.sum()
    return float(min(1.0, 2 * min(counts[: at + 1].sum(), counts[at:].sum()) / total))
