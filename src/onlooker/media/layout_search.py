"""Where two moving pictures stand in one: the search for lasting borders, over time and in the picture.

Pictures are compared at most some hundred pixels wide (see ``regions``, which says what the parts are and when they
stand there). A layout is a rectangle whose borders stay while both sides of them move (see ``detectors.borders``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.media.detectors.borders import Bordered, border_step, find_rectangles, likeness, mean_steps
from onlooker.media.pictures import Pixels, Rect

Kind = Literal["inset", "side_by_side", "separate"]

# Mean step of the weakest side. On 40 compositions of real clips true borders had 0.6 to 1.0; in 24 plain clips what
# looked like a border, had the shape of a picture and a steady face on one side had up to 0.54.
LEAST_BORDER = 0.55
# Mean difference between samples, of 255 levels, below which an area stands still: a still background after H.264 has
# up to 0.3, a person before a still wall 1 and more.
LEAST_MOTION = 0.7
# What is flatter or steeper is no picture set into another one.
_ASPECTS = (0.4, 2.6)
LEAST_SAMPLES = 4
_LEAST_PART = 0.15
_LEAST_WIDTH = 0.14
_MOST_INSET_WIDTH = 0.6
_EDGE = 0.06
_FLAT_LEVELS = 1.5
_MOST_SHARED = 0.05
_SAME = 0.8
# A sample shows the border where it shows this much of what the clearest fifth shows.
_SHOWN = 0.4
_TRIED = 6


@dataclass(frozen=True, slots=True)
class Sample:
    """A picture that is compared: its time, gray levels, and the steps of brightness in it (see ``steps_of``)."""

    time_s: float
    gray: Pixels
    across: NDArray[np.float16]
    down: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class FoundLayout:
    """Samples [first, last) with a layout: kind, parts, their motion, and the rectangle whose border was found."""

    first: int
    last: int
    kind: Kind
    parts: tuple[Rect, Rect]
    motion: tuple[float, float]
    bordered: Bordered


def search_layouts(
    samples: Sequence[Sample], first: int, last: int, reasons: list[str], least: int
) -> list[FoundLayout]:
    """Layouts in samples [first, last), in order: the best one, then what there is before and after it; halves where
    the whole shows none. ``least``: samples a layout must last for; ``reasons`` gets why what looked like one is none.
    """
    if last - first < least:
        return []
    one = _best(samples, first, last, reasons, least)
    if one is not None:
        return [
            *search_layouts(samples, first, one.first, reasons, least),
            one,
            *search_layouts(samples, one.last, last, reasons, least),
        ]
    if last - first < 2 * least:
        return []
    middle = (first + last) // 2
    before = search_layouts(samples, first, middle, reasons, least)
    if before:
        before[-1] = _extended(samples, before[-1], first, last)
    after = search_layouts(samples, max(middle, before[-1].last) if before else middle, last, reasons, least)
    if after:
        after[0] = _extended(samples, after[0], before[-1].last if before else first, last)
    return before + after


def _extended(samples: Sequence[Sample], found: FoundLayout, first: int, last: int) -> FoundLayout:
    """With the neighbouring samples in [first, last) that show the border, too."""
    border = [border_step(s.across, s.down, found.bordered.rect) for s in samples]
    least = least_shown(border[found.first : found.last])
    begin, end = found.first, found.last
    while begin > first and border[begin - 1] >= least:
        begin -= 1
    while end < last and border[end] >= least:
        end += 1
    return replace(found, first=begin, last=end)


def _best(
    samples: Sequence[Sample], first: int, last: int, reasons: list[str], least: int, within: Rect | None = None
) -> FoundLayout | None:
    """The best layout inside ``within`` that lasts for ``least`` samples, None where there is none."""
    height, width = samples[0].gray.shape
    area = within or Rect(0, 0, width, height)
    # A first look with half the demand: the layout may hold for a part of the time only.
    for one in _rectangles(samples[first:last], area, LEAST_BORDER / 2)[:_TRIED]:
        run = _run(_border_steps(samples[first:last], area, one.rect))
        if run is None:
            continue
        begin, end = first + run[0], first + run[1]
        chosen = _among(_rectangles(samples[begin:end], area, LEAST_BORDER), one.rect, area)
        if not chosen or end - begin < least:
            continue
        best = chosen[0]
        rect = _moved(best.rect, area)
        partner, kind = _partner(samples[begin:end], chosen, area)
        motion = (_motion(samples[begin:end], rect, None), _motion(samples[begin:end], partner, rect))
        if kind == "inset" and rect.width_px > _MOST_INSET_WIDTH * area.width_px:
            motion = (motion[0], 0.0)  # what fills the picture stands between bars, or over a band of text
        if min(motion) >= LEAST_MOTION:
            if kind == "separate" and any(_has_flat_edge(samples[begin:end], part) for part in (rect, partner)):
                reasons.append("two parts were found, but a side of one lies in the still ground")
                return None
            return FoundLayout(begin, end, kind, (rect, partner), motion, replace(best, rect=rect))
        if motion[0] >= LEAST_MOTION and within is None and 2 * rect.area_px > area.area_px:
            inner = _best(samples, begin, end, reasons, least, rect)  # what moves inside still bars
            if inner is not None:
                return inner
        reasons.append("a lasting border was found, but one side of it stands still")
    return None


def _among(rectangles: Sequence[Bordered], rect: Rect, area: Rect) -> list[Bordered]:
    """What ``rect`` has become with the samples that show it, then the rectangles beside it; empty where it is no fit
    region."""
    same = max(rectangles, key=lambda b: likeness(b.rect, rect), default=None)
    if same is None or likeness(same.rect, rect) < _SAME or not _is_fit(same, area):
        return []
    beside = [b for b in rectangles if b.sides > 1 and _is_fit(b, area)]
    return [same, *(b for b in beside if b.rect.shared_px(same.rect) <= _MOST_SHARED * b.rect.area_px)]


def _is_fit(one: Bordered, area: Rect) -> bool:
    """Whether it leaves enough of the picture, and has the shape of a picture unless it divides it."""
    if one.sides == 1:
        share = one.rect.area_px / area.area_px
        return _LEAST_PART <= share <= 1 - _LEAST_PART
    return (
        one.rect.width_px >= _LEAST_WIDTH * area.width_px
        and _ASPECTS[0] <= one.rect.width_px / one.rect.height_px <= _ASPECTS[1]
    )


def _rectangles(samples: Sequence[Sample], area: Rect, least: float) -> list[Bordered]:
    across, down = mean_steps(
        [(_cut(s.across, area).astype(np.float32), _cut(s.down, area).astype(np.float32)) for s in samples]
    )
    return find_rectangles(across, down, least)


def _cut(picture: NDArray[np.float16], area: Rect) -> NDArray[np.float16]:
    return picture[area.top_px : area.bottom_px, area.left_px : area.right_px]


def _moved(rect: Rect, area: Rect) -> Rect:
    """A rectangle that was found inside ``area``, in pixels of the picture."""
    return Rect(
        rect.left_px + area.left_px,
        rect.top_px + area.top_px,
        rect.right_px + area.left_px,
        rect.bottom_px + area.top_px,
    )


def _border_steps(samples: Sequence[Sample], area: Rect, rect: Rect) -> list[float]:
    return [border_step(_cut(s.across, area), _cut(s.down, area), rect) for s in samples]


def _run(border: Sequence[float]) -> tuple[int, int] | None:
    """The longest run [first, last) of samples that show the border. One weak sample does not end it."""
    least = least_shown(border)
    runs: list[list[int]] = []
    for place, value in enumerate(border):
        if value >= least:
            if runs and place - runs[-1][1] <= 1:
                runs[-1][1] = place + 1
            else:
                runs.append([place, place + 1])
    best = max(runs, key=lambda run: run[1] - run[0], default=[0, 0])
    return (best[0], best[1]) if best[1] - best[0] >= LEAST_SAMPLES else None


def least_shown(border: Sequence[float]) -> float:
    """The border step from which on a sample shows the border, given those of samples that mostly do."""
    return float(np.quantile(border, 0.8)) * _SHOWN


def _partner(samples: Sequence[Sample], rectangles: Sequence[Bordered], area: Rect) -> tuple[Rect, Kind]:
    """What the best rectangle stands beside: the rest of a divided picture, another rectangle on a still ground, or
    the picture behind it."""
    rect = rectangles[0].rect
    if rectangles[0].sides == 1:
        if rect.height_px == area.height_px:
            is_left = rect.left_px == 0
            rest = Rect(rect.right_px if is_left else 0, 0, area.width_px if is_left else rect.left_px, area.height_px)
        else:
            is_top = rect.top_px == 0
            rest = Rect(0, rect.bottom_px if is_top else 0, area.width_px, area.height_px if is_top else rect.top_px)
        return _moved(rest, area), "side_by_side"
    for other in rectangles[1:]:
        both = (_moved(rect, area), _moved(other.rect, area))
        if _motion(samples, area, *both) < LEAST_MOTION <= _motion(samples, both[1]):
            return both[1], "separate"
    return area, "inset"


def _has_flat_edge(samples: Sequence[Sample], rect: Rect) -> bool:
    """Whether a strip along a side has one colour all the time, as the ground has and no camera's picture."""
    across, down = max(8, round(_EDGE * rect.width_px)), max(8, round(_EDGE * rect.height_px))
    strips = (
        Rect(rect.left_px, rect.top_px, rect.left_px + across, rect.bottom_px),
        Rect(rect.right_px - across, rect.top_px, rect.right_px, rect.bottom_px),
        Rect(rect.left_px, rect.top_px, rect.right_px, rect.top_px + down),
        Rect(rect.left_px, rect.bottom_px - down, rect.right_px, rect.bottom_px),
    )
    return any(
        all(
            float(s.gray[strip.top_px + 3 : strip.bottom_px - 3, strip.left_px + 3 : strip.right_px - 3].std())
            < _FLAT_LEVELS
            for s in samples
        )
        for strip in strips
    )


def _motion(samples: Sequence[Sample], rect: Rect, *without: Rect | None) -> float:
    """Mean absolute difference, in levels, between one sample and the next in ``rect`` without the others."""
    shape = samples[0].gray.shape
    counted = np.zeros(shape, bool)
    counted[rect.top_px : rect.bottom_px, rect.left_px : rect.right_px] = True
    for hole in without:
        if hole is not None:
            counted[hole.top_px : hole.bottom_px, hole.left_px : hole.right_px] = False
    if not counted.any() or len(samples) < 2:
        return 0.0
    # Steps between samples may lie at a cut; half of them is what an area does most of the time.
    return round(
        median(
            float(np.abs(one.gray.astype(np.int16) - other.gray)[counted].mean()) for one, other in pairwise(samples)
        ),
        3,
    )
