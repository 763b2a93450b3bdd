"""The mean that people would have given, from a judge on many rows and people on some of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from onlooker.errors import InputError
from onlooker.stats.arrays import Floats, Ints, Labels, Numbers, check_lengths, finite, number_labels
from onlooker.stats.cluster import FEW_CLUSTERS
from onlooker.stats.interval import LEVEL


@dataclass(frozen=True, slots=True)
class Corrected:
    """``value`` is the corrected mean with its interval, in the units of the scores; not clipped to their range.

    tuning       the weight lambda of the judge, 1 for the plain estimate, 0..1
    judge_mean   of the judge over all rows, labelled or not
    human_mean   of the human labels alone
    bias         mean of judge less human over the labelled rows
    labelled, unlabelled   numbers of rows
    None where undefined; ``reason`` then says why.
    """

    value: float | None
    low: float | None
    high: float | None
    tuning: float | None
    judge_mean: float | None
    human_mean: float | None
    bias: float | None
    labelled: int
    unlabelled: int
    reason: str | None = None


def prediction_powered_mean(
    human: Numbers,
    judge_labelled: Numbers,
    judge_unlabelled: Numbers,
    cluster_labelled: Labels | None = None,
    cluster_unlabelled: Labels | None = None,
    *,
    tune: bool = False,
    level: float = LEVEL,
) -> Corrected:
    """Prediction-powered mean: L mean(judge, unlabelled) + mean(human - L judge, labelled), with L = 1 unless tuned.

    ``human`` and ``judge_labelled`` (n,): both scores of the rows that people labelled, a random subset;
    ``judge_unlabelled`` (N,): the judge's scores of the other rows. Interval: normal, with the variance
    L^2 s^2(judge, unlabelled) / N + s^2(human - L judge, labelled) / n. With clusters (a label a row, shared by both
    parts) it is the sum of the squares of the clusters' residuals, each part times C / (C - 1) of its own number of
    clusters, so that a cluster in both parts is one. ``tune``: the L in 0..1 that makes this variance smallest.
    Undefined without labelled or unlabelled rows; without an interval where a part has fewer than two clusters. Too
    hopeful below some 30 labelled clusters. Angelopoulos et al. (2023), Prediction-powered inference, Science 382
    (669), algorithm for the mean; tuned: Angelopoulos, Duchi and Zrnic (2023), PPI++, power tuning.

    >>> found = prediction_powered_mean([1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 0, 1])
    >>> found.value, found.bias
    (0.5, 0.25)
    """
    y, f, g = (
        finite("human", human),
        finite("judge_labelled", judge_labelled),
        finite("judge_unlabelled", judge_unlabelled),
    )
    n, more = y.size, g.size
    check_lengths(human=n, judge_labelled=f.size)
    both = np.concatenate([f, g])
    judge_mean = float(both.mean()) if both.size else None
    if not n:
        return Corrected(None, None, None, None, judge_mean, None, None, n, more, "undefined (no labelled row)")
    human_mean, bias = float(y.mean()), float((f - y).mean())
    if not more:
        reason = "undefined (no unlabelled row: the human mean says it all)"
        return Corrected(None, None, None, None, judge_mean, human_mean, bias, n, more, reason)
    labelled, unlabelled = _places(n, more, cluster_labelled, cluster_unlabelled)
    few = min(np.unique(labelled).size, np.unique(unlabelled).size) < 2
    if few:
        value = float(g.mean()) - bias
        return Corrected(value, None, None, 1.0, judge_mean, human_mean, bias, n, more, FEW_CLUSTERS)
    size = 1 + int(max(labelled.max(), unlabelled.max()))
    # The estimate's residual of each cluster is fixed + tuning * varying.
    fixed = _residuals(labelled, y, size)
    varying = _residuals(unlabelled, g, size) - _residuals(labelled, f, size)
    tuning = _smallest(fixed, varying) if tune else 1.0
    value = tuning * float(g.mean()) + float((y - tuning * f).mean())
    residuals = fixed + tuning * varying
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(float(residuals @ residuals))
    return Corrected(value, value - half, value + half, tuning, judge_mean, human_mean, bias, n, more)


def _places(n: int, more: int, labelled: Labels | None, unlabelled: Labels | None) -> tuple[Ints, Ints]:
    # Without clusters every row is one of its own.
    if labelled is None and unlabelled is None:
        return np.arange(n), np.arange(n, n + more)
    if labelled is None or unlabelled is None:
        raise InputError("expected the clusters of both parts or of none", where="cluster_labelled, cluster_unlabelled")
    check_lengths(human=n, cluster_labelled=len(labelled))
    check_lengths(judge_unlabelled=more, cluster_unlabelled=len(unlabelled))
    _, places = number_labels([*labelled, *unlabelled])
    return places[:n], places[n:]


def _residuals(cluster: Ints, values: Floats, size: int) -> Floats:
    sums = np.bincount(cluster, values - values.mean(), minlength=size)
    clusters = np.unique(cluster).size
    return np.asarray(math.sqrt(clusters / (clusters - 1)) / values.size * sums, dtype=np.float64)


def _smallest(fixed: Floats, varying: Floats) -> float:
    spread = float(varying @ varying)
    # A judge that gives one score throughout says nothing about the rows.
    return 0.0 if spread <= 1e-24 else min(1.0, max(0.0, -float(fixed @ varying) / spread))
