"""Rectangles set into a picture, by their borders: straight, sharp steps of brightness that stay where they are.

What moves across a border leaves no lasting edge; the seam between two videos does. For every pixel of a picture at
most 640 wide the step to its left (and upwards) is measured over three pixels, less the slope of its surroundings, and
called full from ``FULL_STEP`` levels on. The mean over time tells a seam (near 1) from moving contents (below 0.2). A
rectangle is scored by its weakest side; sides that lie on the picture's own edge count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.media.pictures import Pixels, Rect

Floats = NDArray[np.float32]
Steps = NDArray[np.floating[Any]]

FULL_STEP = 12.0
# What a side gathers above this counts for a rectangle, what it lacks counts against it.
_EVEN_STEP = 0.35
_LINES = 12
_APART_PX = 4
_CORNER_PX = 12
_SAME = 0.8
LEAST_SIDE = 0.12


@dataclass(frozen=True, slots=True)
class Bordered:
    """A rectangle in pixels of the compared picture; ``weakest``: mean step 0..1 along its weakest inner side;
    ``sides``: how many sides lie inside the picture; ``rank``: orders rectangles, see ``find_rectangles``."""

    rect: Rect
    weakest: float
    sides: int
    rank: float


def steps_of(gray: Pixels) -> tuple[Floats, Floats]:
    """(height x width) steps 0..1: element [y, x] of the first is the step between x - 1 and x, of the second that
    between y - 1 and y."""
    across = _steps_across(gray)
    return across, _steps_across(gray.T).T


def _steps_across(gray: NDArray[np.uint8]) -> Floats:
    levels = gray.astype(np.float32)
    steps = np.zeros_like(levels)
    if levels.shape[1] < 8:
        return steps
    width = levels.shape[1]
    # Over three pixels, since a border may lie within one of the scaled picture.
    step = np.abs(levels[:, 4 : width - 3] - levels[:, 2 : width - 5])
    step = np.maximum(step, np.abs(levels[:, 4 : width - 3] - levels[:, 3 : width - 4]))
    before = np.abs(levels[:, 1 : width - 6] - levels[:, : width - 7])
    before = np.maximum(before, np.abs(levels[:, 2 : width - 5] - levels[:, 1 : width - 6]))
    after = np.abs(levels[:, 6 : width - 1] - levels[:, 5 : width - 2])
    after = np.maximum(after, np.abs(levels[:, 7:] - levels[:, 6 : width - 1]))
    steps[:, 4 : width - 3] = np.clip((step - np.maximum(before, after)) / FULL_STEP, 0, 1)
    return steps


def find_rectangles(across: Floats, down: Floats, least: float) -> list[Bordered]:
    """Rectangles whose weakest inner side reaches ``least`` in the mean steps, the best first; those that are nearly a
    better one are left out.

    The rank is the length of the inner sides times what they exceed an even step by, times the square of the weakest
    side, times how well the sides end at the corners: the mean step inside the last 12 pixels less that of the 12
    beyond. A line that runs on belongs to something larger.
    """
    height, width = across.shape
    columns, rows = [0, *_lines(across), width], [0, *_lines(down.T), height]
    along_columns = np.concatenate([np.zeros((1, width), np.float32), across.cumsum(axis=0)])
    along_rows = np.concatenate([np.zeros((1, height), np.float32), down.T.cumsum(axis=0)])
    found: list[Bordered] = []
    for left, right in _pairs(columns, LEAST_SIDE * width):
        for top, bottom in _pairs(rows, LEAST_SIDE * height):
            sides = [(along_columns[:, x], top, bottom) for x in (left, right) if 0 < x < width]
            sides += [(along_rows[:, y], left, right) for y in (top, bottom) if 0 < y < height]
            weakest = min((_mean(*side) for side in sides), default=0.0)
            if weakest < least:
                continue
            evidence = sum((_mean(*side) - _EVEN_STEP) * (side[2] - side[1]) for side in sides)
            ends = [_end(line, first, last) for line, first, last in sides]
            ends += [_end(line[::-1], len(line) - 1 - last, len(line) - 1 - first) for line, first, last in sides]
            rank = evidence * weakest**2 * max(0.0, sum(ends) / len(ends))
            found.append(Bordered(Rect(left, top, right, bottom), weakest, len(sides), rank))
    kept: list[Bordered] = []
    for one in sorted(found, key=lambda b: -b.rank):
        if all(likeness(one.rect, other.rect) < _SAME for other in kept):
            kept.append(one)
    return kept


def _pairs(lines: Sequence[int], least_px: float) -> list[tuple[int, int]]:
    return [(one, other) for one in lines for other in lines if other - one >= least_px]


def _mean(along: Floats, first: int, last: int) -> float:
    """The mean step along a line from ``first`` to ``last``."""
    return float(along[last] - along[first]) / (last - first)


def _end(along: Floats, first: int, last: int) -> float:
    """How clearly a line begins at ``first``: 1 where all of it lies behind, 0 where it comes from before."""
    inside = abs(_mean(along, first, min(first + _CORNER_PX, last)))
    return inside - abs(_mean(along, max(0, first - _CORNER_PX), first)) if first > 0 else inside


def border_step(across: Steps, down: Steps, rect: Rect) -> float:
    """Mean step 0..1 along the inner sides of ``rect``; 0 where it has none."""
    height, width = across.shape
    parts = [across[rect.top_px : rect.bottom_px, x] for x in (rect.left_px, rect.right_px) if 0 < x < width]
    parts += [down[y, rect.left_px : rect.right_px] for y in (rect.top_px, rect.bottom_px) if 0 < y < height]
    return float(np.concatenate(parts).mean(dtype=np.float64)) if parts else 0.0


def _lines(steps: Floats) -> list[int]:
    """Columns that hold the best stretches of lasting steps, at most ``_LINES``."""
    gathered = np.zeros(steps.shape[1], np.float32)
    best = np.zeros_like(gathered)
    for row in steps:
        gathered = np.maximum(gathered + row - _EVEN_STEP, 0)
        best = np.maximum(best, gathered)
    chosen: list[int] = []
    for column in np.argsort(-best, kind="stable"):
        if best[column] < LEAST_SIDE * steps.shape[0] * (1 - _EVEN_STEP) / 2 or len(chosen) == _LINES:
            break
        if all(abs(int(column) - other) >= _APART_PX for other in chosen):
            chosen.append(int(column))
    return sorted(chosen)


def likeness(one: Rect, other: Rect) -> float:
    """Shared part of the union, 0..1."""
    shared = one.shared_px(other)
    return shared / (one.area_px + other.area_px - shared)


def mean_steps(pictures: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The mean over time of what ``steps_of`` gave."""
    return (
        np.mean([across for across, _ in pictures], axis=0, dtype=np.float32),
        np.mean([down for _, down in pictures], axis=0, dtype=np.float32),
    )
