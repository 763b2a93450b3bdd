"""Silence and clipping in sound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Codecs and resampling round off the flat tops of a signal that was cut off: most of a top stays above this.
TOP = 0.85
_FULL_SCALE = 32_768.0
# What stands for no sound at all: below the last bit of 16.
_LEAST_DBFS = -120.0


def level_of(samples: NDArray[np.int16]) -> float:
    """Root mean square in decibels below full scale; -120 for digital silence. ``samples`` must not be empty."""
    mean_square = float(np.square(samples.astype(np.float64) / _FULL_SCALE).mean())
    return round(max(_LEAST_DBFS, 10 * np.log10(mean_square)) if mean_square else _LEAST_DBFS, 2)


def clipped_of(samples: NDArray[np.int16]) -> float:
    """Share 0..1 of samples within 15 % of full scale, where a signal that was cut off stays for long and speech only
    passes."""
    return round(float((np.abs(samples.astype(np.int32)) >= TOP * _FULL_SCALE).mean()), 5)
