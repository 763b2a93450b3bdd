"""Whether two pictures can show different text, told in a millisecond, before anything is read in a second."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Text is the same while no 16 x 16 block of the picture, at 256 gray pixels width, differs by more than this many of
# 255 gray levels on average from the picture it was last read on. On 512-pixel frames noise of 6 levels gives 1.1, one
# changed letter of 14-pixel type 2.4, a changed caption of 10-pixel type 5 and more.
SAME_TEXT_LEVELS = 2.0
_COMPARED_WIDTH_PX = 256
_BLOCK_PX = 16


def shrunk(picture: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Gray levels of an RGB picture (uint8, height x width x 3) at 256 pixels width, cut to whole blocks."""
    from PIL import Image  # noqa: PLC0415 - an extra

    height, width = picture.shape[:2]
    rows = max(_BLOCK_PX, round(height * _COMPARED_WIDTH_PX / width) // _BLOCK_PX * _BLOCK_PX)
    gray = Image.fromarray(picture).convert("L").resize((_COMPARED_WIDTH_PX, rows))
    return np.asarray(gray, np.float32)


def hardly_differs(one: NDArray[np.float32], other: NDArray[np.float32]) -> bool:
    """Whether two ``shrunk`` pictures show the same text, as far as their gray levels tell."""
    if one.shape != other.shape:
        return False
    rows, columns = one.shape
    blocks = np.abs(one - other).reshape(rows // _BLOCK_PX, _BLOCK_PX, columns // _BLOCK_PX, -1)
    return bool(blocks.mean(axis=(1, 3)).max() <= SAME_TEXT_LEVELS)
