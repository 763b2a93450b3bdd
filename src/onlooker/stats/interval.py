"""Intervals of one number: percentiles of draws, and Wilson's for a proportion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Z_95 = 1.959963984540054
LEVEL = 0.95


def percentile_interval(draws: NDArray[Any], level: float = LEVEL) -> tuple[float, float] | None:
    """The central ``level`` of the defined draws, by linear interpolation; None where no draw is
    defined.

    ``draws``: shape (draws,), NaN where the statistic is undefined. Those are left out.
    """
    defined = draws[~np.isnan(draws)]
    if defined.size == 0:
        return None
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def wilson(successes: float, n: int, z: float = Z_95) -> tuple[float, float] | None:
    """Wilson's score interval of ``successes`` out of ``n``; None for n = 0.

    ``successes`` may be fractional (a mean over seeds). The bounds lie in 0..1 and are exactly 0 or
    1 where no or every trial succeeded. Wilson (1927), JASA 22 (158).
    """
    if n == 0:
        return None
    share = successes / n
    middle = share + z * z / (2 * n)
    spread = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (middle - spread) / scale
    high = 1.0 if successes == n else (middle + spread) / scale
    return low, high
