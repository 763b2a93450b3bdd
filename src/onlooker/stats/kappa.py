"""Agreement of two raters beyond chance, with or without weights for the size of a disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from onlooker.errors import InputError
from onlooker.stats.arrays import Floats, check_lengths

Weighting = Literal["none", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Kappa:
    """``value`` is kappa, at most 1; 0 is what chance gives.

    observed  weighted agreement of the ``n`` units that both rated, 0..1; without weights the share of equal ratings
    expected  the same by chance, from the two raters' own frequencies
    """

    value: float | None
    observed: float | None
    expected: float | None
    n: int
    reason: str | None = None


def cohen_kappa(
    a: Sequence[float | str | None],
    b: Sequence[float | str | None],
    weights: Weighting = "none",
    order: Sequence[float | str] | None = None,
) -> Kappa:
    """Cohen's kappa, (observed - expected) / (1 - expected); units that lack a rating (None) do not count.

    A disagreement costs 1 ("none"), or its distance over the largest ("linear"), or the square of that ("quadratic").
    The distance is that of the places in ``order``, the declared values in ascending order; without it that of the
    numbers. Undefined without a unit rated by both, where both gave one and the same value throughout, and with weights
    for words without an order. InputError for a value outside ``order``. Cohen (1960), Educ. Psychol. Meas. 20 (37);
    Cohen (1968), Psychol. Bull. 70 (213).

    >>> round(cohen_kappa(["y", "y", "n", "n"], ["y", "n", "n", "n"]).value, 6)
    0.5
    """
    if weights not in get_args(Weighting):
        raise InputError(f"expected one of {get_args(Weighting)}", where="weights", value=weights)
    check_lengths(a=len(a), b=len(b))
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    n = len(both)
    if not n:
        return Kappa(None, None, None, 0, "undefined (no unit has both ratings)")
    given = dict.fromkeys(value for pair in both for value in pair)
    values: list[float | str] = list(given) if order is None else list(order)
    if missing := [value for value in given if value not in values]:
        raise InputError("a rating outside the declared order", where="order", value=missing[0])
    words = any(isinstance(value, str) for value in values)
    if weights != "none" and order is None and words:
        return Kappa(None, None, None, n, f"undefined ({weights} weights of words need a declared order)")
    positions = np.arange(len(values)) if order is not None or words else np.array(values, dtype=np.float64)
    cost = _costs(positions.astype(np.float64), weights)
    place = {value: k for k, value in enumerate(values)}
    x = np.bincount([place[first] for first, _ in both], minlength=len(values)) / n
    y = np.bincount([place[second] for _, second in both], minlength=len(values)) / n
    observed = 1 - sum(float(cost[place[first], place[second]]) for first, second in both) / n
    if len(given) == 1:
        return Kappa(None, 1.0, 1.0, n, "undefined (no variation)")
    by_chance = float(x @ cost @ y)
    return Kappa(1 - (1 - observed) / by_chance, observed, 1 - by_chance, n)


def _costs(positions: Floats, weights: Weighting) -> Floats:
    distance = np.abs(positions[:, None] - positions[None, :])
    if weights == "none":
        return np.asarray(distance > 0, dtype=np.float64)
    scaled = distance / max(float(distance.max()), np.finfo(np.float64).tiny)
    return np.asarray(scaled if weights == "linear" else scaled**2, dtype=np.float64)
