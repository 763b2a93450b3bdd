"""Frozen and black pictures."""

from __future__ import annotations

import numpy as np

from onlooker.media.pictures import Pixels

_BLOCK_PX = 16
_BRIGHT = 0.98


def change_of(one: Pixels, other: Pixels) -> float:
    """Mean absolute difference, in gray levels, in the 16 x 16 block that changed most. Both pictures gray, alike in
    size."""
    differences = np.abs(one.astype(np.int16) - other)
    height, width = differences.shape
    rows, columns = max(1, height // _BLOCK_PX), max(1, width // _BLOCK_PX)
    return round(
        max(
            float(block.mean())
            for band in np.array_split(differences, rows, axis=0)
            for block in np.array_split(band, columns, axis=1)
        ),
        3,
    )


def brightness_of(gray: Pixels) -> float:
    """Gray level that all but the brightest 2 % of the pixels stay below, 0..255."""
    return round(float(np.quantile(gray, _BRIGHT)), 2)
