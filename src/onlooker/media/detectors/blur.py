"""How blurred a picture is, without a sharp one to compare with.

Crete et al. 2007, "The blur effect: perception and estimation with a new no-reference perceptual blur metric", Proc.
SPIE 6492, section 3: a sharp picture loses much of the difference between neighbouring pixels when it is blurred once
more, a blurred one hardly any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onlooker.media.pictures import Pixels

_TAPS = 9
# With less difference between neighbours than this, in levels, there is nothing that could be sharp.
LEAST_TEXTURE = 0.25


def blur_of(gray: Pixels) -> float | None:
    """0 (sharp) to 1 (nothing left to lose), the worse of the two directions; None for a picture without texture or
    smaller than 16 pixels."""
    if min(gray.shape) < 16:
        return None
    levels = gray.astype(np.float32)
    both = [_blur_along(levels), _blur_along(levels.T)]
    known = [value for value in both if value is not None]
    return max(known) if len(known) == 2 else None


def _blur_along(levels: NDArray[np.float32]) -> float | None:
    sums = np.cumsum(np.pad(levels, ((0, 0), (_TAPS // 2 + 1, _TAPS // 2)), mode="edge"), axis=1, dtype=np.float64)
    again = (sums[:, _TAPS:] - sums[:, :-_TAPS]) / _TAPS
    differences = np.abs(np.diff(levels, axis=1))
    lost = np.maximum(0, differences - np.abs(np.diff(again, axis=1)))
    total = float(differences.sum())
    if total < LEAST_TEXTURE * differences.size:
        return None
    return round(1 - float(lost.sum()) / total, 4)
