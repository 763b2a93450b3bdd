"""Ranks of several systems and how firm they are, from one set of cluster draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.stats.arrays import Floats
from onlooker.stats.cluster import Statistic, conclude, draw
from onlooker.stats.interval import LEVEL


@dataclass(frozen=True, slots=True)
class Standing:
    """A system on the leaderboard.

    value, low, high      its statistic with the percentile interval
    rank                  1 + the systems that are better; 1..systems with a value
    rank_low, rank_high   the interval of the rank over the draws, whole numbers; a tie counts as the best of its places
                          below and as the worst of them above
    best                  share of the draws in which it is the best, k equal ones sharing a draw by 1/k
    undefined_draws       draws left out of the ranks, because a ranked system was undefined in them
    None where undefined; ``reason`` then says why.
    """

    value: float | None
    low: float | None
    high: float | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    best: float | None
    undefined_draws: int = 0
    reason: str | None = None


def leaderboard(
    systems: Mapping[str, Statistic], weights: NDArray[Any], level: float = LEVEL, *, higher_is_better: bool = True
) -> dict[str, Standing]:
    """The standing of each of ``systems``, {name: statistic}, all evaluated on the same draws of clusters.

    ``weights``: from :func:`onlooker.stats.cluster.cluster_weights`. The statistics must be over the same items, else
    ranks compare items instead of systems. Values are compared to 12 decimals. A system without a value has no rank and
    takes none. Goldstein and Spiegelhalter (1996), J. R. Statist. Soc. A 159 (385), here with
    bootstrap draws.

    >>> from onlooker.stats.cluster import cluster_weights, mean
    >>> from onlooker.stats.seeds import generator
    >>> cluster = np.array([0, 1, 2])
    >>> systems = {"x": mean(cluster, np.array([1.0, 1, 0])), "y": mean(cluster, np.array([0.0, 0, 0]))}
    >>> found = leaderboard(systems, cluster_weights(3, 1000, generator("example", 1)))
    >>> found["x"].rank, found["y"].rank, found["y"].rank_low, found["y"].rank_high
    (1, 2, 1, 2)
    """
    values, spread = draw(list(systems.values()), weights)
    ranked = ~np.isnan(values)
    sign = -1 if higher_is_better else 1
    point = np.round(sign * values, 12)
    draws = np.round(sign * spread[ranked], 12)
    usable = ~np.isnan(draws).any(axis=0)
    draws = draws[:, usable]
    undefined = int((~usable).sum())
    first = draws == draws.min(axis=0) if draws.size else np.zeros_like(draws, dtype=bool)
    shared = first / np.maximum(first.sum(axis=0), 1)
    rows = dict(zip(np.flatnonzero(ranked).tolist(), range(int(ranked.sum())), strict=True))
    found: dict[str, Standing] = {}
    for place, (name, statistic) in enumerate(systems.items()):
        known = conclude(statistic, values[place], spread[place], level)
        if known.value is None:
            found[name] = Standing(None, None, None, None, None, None, None, undefined, known.reason)
            continue
        rank = 1 + int((point[ranked] < point[place]).sum())
        if known.low is None or not usable.any():
            reason = known.reason or "no draw in which every ranked system is defined"
            found[name] = Standing(known.value, known.low, known.high, rank, None, None, None, undefined, reason)
            continue
        low, high = _rank_interval(draws, rows[place], level)
        best = float(shared[rows[place]].mean())
        found[name] = Standing(known.value, known.low, known.high, rank, low, high, best, undefined)
    return found


def _rank_interval(draws: Floats, row: int, level: float) -> tuple[int, int]:
    own = draws[row]
    tail = (1 - level) / 2
    # Whole ranks that were reached: no interpolation, outwards on both sides.
    low = np.quantile(1 + (draws < own).sum(axis=0), tail, method="lower")
    high = np.quantile((draws <= own).sum(axis=0), 1 - tail, method="higher")
    return int(low), int(high)
