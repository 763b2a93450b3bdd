"""Spearman's rho of resampled rows, for many draws at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.stats.cluster import Floats, Ints

# Draws at a time: memory grows with the rows times these, not with all draws.
_DRAWS_AT_ONCE = 1000


def spearman_draws(x: Sequence[float], y: Sequence[float], cluster: Ints, weights: NDArray[Any]) -> Floats:
    """Spearman's rho in every draw of clusters: ``weights`` (draws, clusters) from ``cluster_weights``, ``cluster``
    (rows,) the cluster of each row. Shape (draws,); NaN where one list does not vary."""
    blocks = range(0, len(weights), _DRAWS_AT_ONCE)
    drawn = [weighted_spearman(x, y, weights[start : start + _DRAWS_AT_ONCE][:, cluster]) for start in blocks]
    return np.concatenate(drawn) if drawn else np.zeros(0)


def weighted_spearman(x: Sequence[float], y: Sequence[float], weights: NDArray[Any]) -> Floats:
    """Spearman's rho of rows drawn ``weights`` times, (draws, rows) -> (draws,); NaN where one list does not vary.

    A row drawn twice is two tied rows: ranks are those of the drawn sample, ties sharing the mean of their places.
    """
    w = weights.astype(np.float64)
    n = w.sum(axis=1, keepdims=True)
    ranks = [_weighted_ranks(np.asarray(values, dtype=np.float64), w) for values in (x, y)]
    centred = [rank - (w * rank).sum(axis=1, keepdims=True) / n for rank in ranks]
    together = (w * centred[0] * centred[1]).sum(axis=1)
    spread = [(w * one**2).sum(axis=1) for one in centred]
    with np.errstate(divide="ignore", invalid="ignore"):
        flat = (spread[0] <= 1e-9) | (spread[1] <= 1e-9)
        return np.where(flat, np.nan, together / np.sqrt(spread[0] * spread[1]))


def _weighted_ranks(values: Floats, weights: Floats) -> Floats:
    distinct, place = np.unique(values, return_inverse=True)
    counts = np.column_stack([weights[:, place == k].sum(axis=1) for k in range(distinct.size)])
    ranks = np.cumsum(counts, axis=1) - counts + (counts + 1) / 2
    return np.asarray(ranks[:, place], dtype=np.float64)
