"""Scene cuts: pictures that differ from the one before far more than their neighbours do from theirs.

Frames are compared as 64 x 36 RGB pixels. A cut is where the mean absolute difference to the
frame before is at least ``LEAST_CHANGE`` of 255 levels and ``LEAST_RATIO`` times the median of the three differences
before and the three after (the adaptive rule of PySceneDetect, with a median so that a neighbouring cut does not hide
one). A flash or a single foreign frame, after which the old picture is back, is none. Dissolves and fades, which change
no frame by much, are not found.

Thresholds: 19 clips of 2 to 20 s (faces, cyclists, talks, sign language, animation; 8 codecs), every frame looked at.
Inside shots the change reached 14.4 levels, and where it was 10 or more it was at most 2.4 times the median around it;
at the cuts in these clips it was 51 or more and at least 9 times the median. Clips joined at random change by 28 and
more unless both show the same scene.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from onlooker.media.pictures import Advance, Pixels, open_footage, walk

LEAST_CHANGE = 10.0
LEAST_RATIO = 3.0
_SIZE_PX = (64, 36)
# A foreign picture of fewer frames is a flash, not a shot.
_FLASH_FRAMES = 4
_AROUND_FRAMES = 3
# A still picture would make any change infinitely large against its neighbours.
_LEAST_AROUND = 0.5


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut: time of the first frame of the new shot, change 0..255, and its ratio to the changes around it."""

    time_s: float
    change: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Cuts:
    """Cuts and the segments (start_s, end_s) between them, which tile [first frame looked at, end)."""

    cuts: tuple[Cut, ...]
    segments: tuple[tuple[float, float], ...]
    least_change: float = LEAST_CHANGE
    least_ratio: float = LEAST_RATIO


def find_cuts(path: Path, *, window: tuple[float, float] | None = None, advance: Advance | None = None) -> Cuts:
    """Cuts of the picture, exact to the frame, by the frames' own times; all frames are decoded once.

    ``window`` = (start_s, end_s). Segments have start < end, the last ends with the picture (or the window).
    ``advance`` counts seconds. Raises ``InputError`` for a bad window, ``NoStream``, ``UnreadableMedia``.
    """
    footage = open_footage(path)
    _, (start_s, end_s) = footage.checked(None, window)
    times: list[float] = []
    changes: list[float] = []
    returns: dict[int, list[float]] = {}
    watched: dict[int, Pixels] = {}
    before: Pixels | None = None
    for place, (time_s, frame) in enumerate(walk(footage, window)):
        pixels = footage.pixels(frame, _SIZE_PX)
        change = 0.0 if before is None else _change(pixels, before)
        watched = {first: old for first, old in watched.items() if place - first < _FLASH_FRAMES}
        for first, old in watched.items():
            returns[first].append(_change(pixels, old))
        if before is not None and change >= LEAST_CHANGE:
            watched[place], returns[place] = before, []
        times.append(time_s)
        changes.append(change)
        if advance is not None:
            advance(max(0, int(time_s - start_s)), math.ceil(end_s - start_s))
        before = pixels
    cuts = tuple(
        Cut(times[place], round(changes[place], 2), round(ratio, 2))
        for place, ratio in _places(changes, returns).items()
    )
    bounds = [start_s, *(c.time_s for c in cuts), end_s]
    return Cuts(cuts, tuple(pairwise(bounds)))


def _change(one: Pixels, other: Pixels) -> float:
    return float(np.abs(one.astype(np.int16) - other).mean())


def _places(changes: Sequence[float], returns: Mapping[int, Sequence[float]]) -> dict[int, float]:
    """Numbers of the frames that begin a shot, each with its ratio; ``returns``: for a frame that differs, how far the
    frames behind it are from the one before it."""
    found: dict[int, float] = {}
    ends_at = 0
    for place, behind in returns.items():
        if place < ends_at:
            continue
        around = [*changes[max(1, place - _AROUND_FRAMES) : place], *changes[place + 1 : place + 1 + _AROUND_FRAMES]]
        ratio = changes[place] / max(_LEAST_AROUND, median(around) if around else 0.0)
        if ratio < LEAST_RATIO:
            continue
        back = [after for after, change in enumerate(behind, 1) if change < changes[place] / 2]
        if back:
            ends_at = place + back[0] + 1
        else:
            ends_at = place + _FLASH_FRAMES
            found[place] = ratio
    return found
