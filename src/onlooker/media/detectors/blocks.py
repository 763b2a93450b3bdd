"""How blocky a picture is: steps at the borders of 8 x 8 blocks against those inside blocks.

Wang, Sheikh and Bovik 2002, "No-reference perceptual quality assessment of JPEG compressed images", ICIP, section 2,
compare differences across block borders with all differences. Here the grid may begin anywhere, since a region of a
composed picture does, and both directions must show it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from onlooker.media.pictures import Pixels

_BLOCK_PX = 8
# With less difference between neighbours than this, in levels, blocks are the picture's own content or its noise.
LEAST_TEXTURE = 0.3


def blockiness_of(gray: Pixels) -> float | None:
    """Mean step at the strongest of the eight possible grids over the mean at the others, the lesser of the two
    directions: 1 without blocks. The picture must be at the size it was coded at. None without texture or with fewer
    than 8 blocks a side."""
    if min(gray.shape) < 8 * _BLOCK_PX:
        return None
    along = [_along(gray), _along(gray.T)]
    known = [value for value in along if value is not None]
    return round(min(known), 4) if len(known) == 2 else None


def _along(gray: NDArray[np.uint8]) -> float | None:
    steps = np.abs(np.diff(gray.astype(np.int16), axis=1)).mean(axis=0)
    whole = steps[: len(steps) // _BLOCK_PX * _BLOCK_PX].reshape(-1, _BLOCK_PX)
    # The median over the grid's lines: one strong edge of the content is no grid.
    by_phase = np.median(whole, axis=0)
    if float(whole.mean()) < LEAST_TEXTURE:
        return None
    best = int(np.argmax(by_phase))
    others = float(np.delete(by_phase, best).mean())
    return float(by_phase[best]) / max(others, LEAST_TEXTURE / 2)
