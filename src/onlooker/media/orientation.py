"""How a player turns and mirrors a picture, by the display matrix (ISO/IEC 14496-12, 6.2.2)."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True, slots=True)
class Orientation:
    """First mirrored left to right where ``is_mirrored``, then turned counter-clockwise by ``turns`` quarters, 0 to 3.

    Other angles than quarters are taken to the nearest one, as players do.
    """

    turns: int = 0
    is_mirrored: bool = False

    @property
    def is_upright(self) -> bool:
        """Whether the picture is shown as it is stored."""
        return self == Orientation()

    @property
    def swaps_sides(self) -> bool:
        """Whether the picture is shown as wide as it is stored high."""
        return self.turns % 2 == 1

    def applied(self, pixels: NDArray[Scalar]) -> NDArray[Scalar]:
        """The array (rows x columns, and whatever follows) as displayed."""
        return np.rot90(pixels[:, ::-1] if self.is_mirrored else pixels, self.turns)


def orientation(frame: VideoFrame) -> Orientation:
    """That of a decoded frame; upright where the file states none, or a matrix that is no turn."""
    from av.sidedata.sidedata import SideDataContainer, Type  # noqa: PLC0415 - an extra

    # Not ``frame.side_data``: that one is kept in the frame it refers to, and a frame in a circle stays in memory until
    # the collector comes by, which does not see how large it is.
    container: Any = SideDataContainer  # the stubs know neither its argument nor all kinds
    sides = container(frame)
    if Type.DISPLAYMATRIX not in sides:
        return Orientation()
    # (x, y), downwards, is shown at (a x + c y, b x + d y).
    a, b, _, c, d = struct.unpack("=5i", bytes(sides[Type.DISPLAYMATRIX])[:20])
    area = a * d - b * c
    if area == 0:
        return Orientation()
    if area < 0:  # what is mirrored first has its x turned around
        a, b = -a, -b
    degrees = math.degrees(math.atan2(b / math.hypot(b, d), a / math.hypot(a, c)))
    return Orientation(round(-degrees / 90) % 4, area < 0)
