"""How small a difference between two systems a set of items can show, and how many items a wanted one needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from onlooker.errors import InputError
from onlooker.stats.arrays import Labels, Numbers, check_lengths, finite, number_labels
from onlooker.stats.cluster import FEW_CLUSTERS

POWER = 0.8
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Detectable:
    """``value`` is the smallest true difference found with the wanted power, in the units of the differences.

    ``difference`` and ``standard_error`` are those observed, over ``items`` in ``clusters``.
    """

    value: float | None
    difference: float | None
    standard_error: float | None
    items: int
    clusters: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ItemsNeeded:
    """``value`` is the number of items, in ``clusters`` of the observed mean size."""

    value: int | None
    clusters: int | None
    reason: str | None = None


def detectable_difference(
    cluster: Labels, differences: Numbers, *, clusters: int | None = None, power: float = POWER, alpha: float = ALPHA
) -> Detectable:
    """The minimum detectable difference of two systems on the same items: (z_1-alpha/2 + z_power) SE.

    ``differences`` (rows,): a - b of each item; ``cluster`` (rows,): its video. SE^2 = C / (C - 1) sum_c (sum over the
    rows of c of difference - mean)^2 / rows^2, over C clusters; for ``clusters`` planned instead of the C observed, SE
    is multiplied by sqrt(C / clusters). Normal approximation, two-sided: too hopeful below some 30 clusters. Undefined
    for fewer than two clusters and where the differences do not vary. Miller (2024), Adding Error Bars to Evals,
    sections 2.2 and 5.

    >>> found = detectable_difference([0, 1, 2, 3], [1, 0, 0, -1])
    >>> round(found.standard_error, 4), round(found.value, 4)
    (0.4082, 1.1437)
    """
    if clusters is not None and clusters < 2:
        raise InputError("expected two clusters or more", where="clusters", value=clusters)
    z = _z(power, alpha)
    found = _observe(cluster, differences)
    if found.standard_error is None:
        return found
    planned = found.clusters if clusters is None else clusters
    value = z * found.standard_error * math.sqrt(found.clusters / planned)
    return Detectable(value, found.difference, found.standard_error, found.items, found.clusters)


def items_needed(
    cluster: Labels, differences: Numbers, wanted: float, *, power: float = POWER, alpha: float = ALPHA
) -> ItemsNeeded:
    """How many items a true difference of ``wanted`` > 0 needs: C (z SE / wanted)^2 clusters, rounded up, at least 2.

    The items are these clusters times the observed mean size. Everything else as in :func:`detectable_difference`, of
    which this is the inverse.

    >>> items_needed([0, 1, 2, 3], [1, 0, 0, -1], wanted=0.5).value
    21
    """
    if not wanted > 0:
        raise InputError("expected a difference above 0", where="wanted", value=wanted)
    z = _z(power, alpha)
    found = _observe(cluster, differences)
    if found.standard_error is None:
        return ItemsNeeded(None, None, found.reason)
    # A rounding error must not add a cluster to a whole number of them.
    clusters = max(2, math.ceil(found.clusters * (z * found.standard_error / wanted) ** 2 - 1e-9))
    return ItemsNeeded(math.ceil(clusters * found.items / found.clusters - 1e-9), clusters)


def _z(power: float, alpha: float) -> float:
    if not 0.5 <= power < 1:
        raise InputError("expected a power from 0.5 to below 1", where="power", value=power)
    if not 0 < alpha < 1:
        raise InputError("expected a level between 0 and 1", where="alpha", value=alpha)
    return NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)


def _observe(cluster: Labels, differences: Numbers) -> Detectable:
    values = finite("differences", differences)
    check_lengths(cluster=len(cluster), differences=values.size)
    names, place = number_labels(cluster)
    n, size = values.size, len(names)
    difference = float(values.mean()) if n else None
    if size < 2:
        return Detectable(None, difference, None, n, size, f"undefined ({FEW_CLUSTERS})")
    if np.ptp(values) <= 1e-12:
        return Detectable(None, difference, None, n, size, "undefined (the differences do not vary)")
    sums = np.bincount(place, values - values.mean())
    if np.abs(sums).max() <= 1e-12 * n:
        return Detectable(None, difference, None, n, size, "undefined (the clusters' differences do not vary)")
    error = math.sqrt(size / (size - 1) * float(sums @ sums)) / n
    return Detectable(None, difference, error, n, size)
