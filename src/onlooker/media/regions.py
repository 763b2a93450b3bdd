"""The reactor and the stimulus of a reaction video: two rectangles of one picture, and when they stand there.

ReactionBench, appendix A.1: source recordings show the creator and the content watched in one picture, in layouts that
differ by creator and begin after an intro. A layout is found by the borders that stay while both sides move (see
``detectors.borders``); who is who follows from where a face stays in place. Where the evidence is weak, no rectangle is
named and the reason is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.media.detectors.borders import (
    Bordered,
    border_step,
    find_rectangles,
    likeness,
    mean_steps,
    steps_of,
)
from onlooker.media.detectors.faces import Face, FaceDetector
from onlooker.media.pictures import Footage, Pixels, Rect, look_at, open_footage, walk

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Kind = Literal["inset", "side_by_side", "separate"]

# Mean step of the weakest side. On 40 compositions of real clips true borders had 0.6 to 1.0; in 24 plain clips what
# looked like a border, had the shape of a picture and a steady face on one side had up to 0.54.
LEAST_BORDER = 0.55
# Mean difference between samples, of 255 levels, below which an area stands still: a still background after H.264 has
# up to 0.3, a person before a still wall 1 and more.
LEAST_MOTION = 0.7
# Part of the samples in which a face stays in its place: at least this in the reactor, in the stimulus at most
# ``OTHER_FACE`` of the reactor's. On the compositions reactors had 0.6 to 1.0, stimuli with faces 0.1 to 0.4 and one
# dialogue 0.6.
STEADY_FACE = 0.6
OTHER_FACE = 0.5
# What is flatter or steeper is no picture set into another one.
_ASPECTS = (0.4, 2.6)
LEAST_LAYOUT_S = 3.0
_MAX_SIDE_PX = 640
_SAMPLES = 48
_LEAST_STEP_S = 0.25
_LEAST_SAMPLES = 4
_LEAST_PART = 0.15
_LEAST_WIDTH = 0.14
_MOST_WIDTH = 0.9
_MOST_INSET_WIDTH = 0.6
_EDGE = 0.06
_FLAT_LEVELS = 1.5
_MOST_SHARED = 0.05
_SAME = 0.8
# A sample shows the border where it shows this much of what the clearest fifth shows.
_SHOWN = 0.4
_TRIED = 6
_FACE_SAMPLES = 8
_FACE_SIDE_PX = 400


@dataclass(frozen=True, slots=True)
class Layout:
    """Two regions, in pixels as displayed, from ``start_s`` to ``end_s`` (excluded; exact to the frame).

    ``parts``: the two; of an inset first the inset, then the whole picture behind it. ``reactor`` and ``stimulus`` are
    both None where the roles are not clear, for the ``reason`` given. ``border`` 0..1 is the mean step along the
    weakest side, ``motion`` that of each part, ``steady_faces`` the part of samples with a face that stays in place.
    """

    start_s: float
    end_s: float
    kind: Kind
    parts: tuple[Rect, Rect]
    reactor: Rect | None
    stimulus: Rect | None
    border: float
    motion: tuple[float, float]
    steady_faces: tuple[float, float]
    reason: str | None


@dataclass(frozen=True, slots=True)
class Regions:
    """Layouts by time; ``undefined``: why there is none. ``step_s``: how densely pictures were compared."""

    layouts: tuple[Layout, ...]
    undefined: str | None
    step_s: float
    least_border: float = LEAST_BORDER
    least_motion: float = LEAST_MOTION


@dataclass(frozen=True, slots=True)
class _Sample:
    time_s: float
    gray: Pixels
    across: NDArray[np.float16]
    down: NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class _Found:
    """Samples [first, last) with a layout: kind, parts, their motion, and the rectangle whose border was found."""

    first: int
    last: int
    kind: Kind
    parts: tuple[Rect, Rect]
    motion: tuple[float, float]
    bordered: Bordered


def find_regions(path: Path, *, window: tuple[float, float] | None = None) -> Regions:
    """Find the layouts of ``path``, in ``window`` = (start_s, end_s) if given.

    48 pictures are compared (one every 0.25 s in clips under 12 s), at most 640 pixels wide: borders come out within 4
    pixels of a 1280-pixel picture where they are sharp and straight. An inset needs 14 % of the width and 12 % of the
    height. Round or soft-edged insets, and layouts shorter than 3 s (or 4 samples), are not found. Raises
    ``InputError`` for a bad window, ``NoStream``, ``UnreadableMedia``; ``MissingExtra`` and ``MissingAsset`` where
    faces must be sought.
    """
    footage = open_footage(path)
    _, (start_s, end_s) = footage.checked(None, window)
    step_s = max(_LEAST_STEP_S, (end_s - start_s) / _SAMPLES)
    size = footage.fitted(_MAX_SIDE_PX)
    times = [t for k in range(_SAMPLES) if (t := start_s + (k + 0.5) * step_s) < end_s]
    samples: list[_Sample] = []
    for seen in look_at(footage, times, lambda frame: _sample(footage, frame, size)):
        if seen is not None and (not samples or seen[0] > samples[-1].time_s):
            samples.append(_Sample(seen[0], *seen[1]))
    reasons: list[str] = []
    found = _search(samples, 0, len(samples), reasons, math.ceil(LEAST_LAYOUT_S / step_s - 0.5))
    layouts: list[Layout] = []
    for one in found:
        layout = _layout(footage, samples, one, (start_s, end_s), size)
        # A picture in a picture without a face that stays is no reaction, if it is one picture in another at all.
        if max(layout.steady_faces) >= STEADY_FACE:
            layouts.append(layout)
        else:
            reasons.insert(0, f"a border lasts from {layout.start_s:.2f} s, but no face stays on either side of it")
    undefined = None if layouts else reasons[0] if reasons else "no lasting border divides the picture"
    if len(samples) < _LEAST_SAMPLES:
        undefined = f"only {len(samples)} pictures to compare; {_LEAST_SAMPLES} are needed"
    return Regions(tuple(layouts), undefined, step_s)


def _sample(
    footage: Footage, frame: VideoFrame, size: tuple[int, int]
) -> tuple[Pixels, NDArray[np.float16], NDArray[np.float16]]:
    gray = footage.pixels(frame, size, "gray")
    across, down = steps_of(gray)
    return gray, across.astype(np.float16), down.astype(np.float16)


def _search(samples: Sequence[_Sample], first: int, last: int, reasons: list[str], least: int) -> list[_Found]:
    """Layouts in samples [first, last): the best one, then what there is before and after it; halves where the whole
    shows none."""
    if last - first < least:
        return []
    one = _best(samples, first, last, reasons, least)
    if one is not None:
        return [
            *_search(samples, first, one.first, reasons, least),
            one,
            *_search(samples, one.last, last, reasons, least),
        ]
    if last - first < 2 * least:
        return []
    middle = (first + last) // 2
    before = _search(samples, first, middle, reasons, least)
    if before:
        before[-1] = _extended(samples, before[-1], first, last)
    after = _search(samples, max(middle, before[-1].last) if before else middle, last, reasons, least)
    if after:
        after[0] = _extended(samples, after[0], before[-1].last if before else first, last)
    return before + after


def _extended(samples: Sequence[_Sample], found: _Found, first: int, last: int) -> _Found:
    """With the neighbouring samples in [first, last) that show the border, too."""
    border = [border_step(s.across, s.down, found.bordered.rect) for s in samples]
    least = _threshold(border[found.first : found.last])
    begin, end = found.first, found.last
    while begin > first and border[begin - 1] >= least:
        begin -= 1
    while end < last and border[end] >= least:
        end += 1
    return replace(found, first=begin, last=end)


def _best(
    samples: Sequence[_Sample], first: int, last: int, reasons: list[str], least: int, within: Rect | None = None
) -> _Found | None:
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
            return _Found(begin, end, kind, (rect, partner), motion, replace(best, rect=rect))
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


def _rectangles(samples: Sequence[_Sample], area: Rect, least: float) -> list[Bordered]:
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


def _border_steps(samples: Sequence[_Sample], area: Rect, rect: Rect) -> list[float]:
    return [border_step(_cut(s.across, area), _cut(s.down, area), rect) for s in samples]


def _run(border: Sequence[float]) -> tuple[int, int] | None:
    """The longest run [first, last) of samples that show the border. One weak sample does not end it."""
    least = _threshold(border)
    runs: list[list[int]] = []
    for place, value in enumerate(border):
        if value >= least:
            if runs and place - runs[-1][1] <= 1:
                runs[-1][1] = place + 1
            else:
                runs.append([place, place + 1])
    best = max(runs, key=lambda run: run[1] - run[0], default=[0, 0])
    return (best[0], best[1]) if best[1] - best[0] >= _LEAST_SAMPLES else None


def _threshold(border: Sequence[float]) -> float:
    return float(np.quantile(border, 0.8)) * _SHOWN


def _partner(samples: Sequence[_Sample], rectangles: Sequence[Bordered], area: Rect) -> tuple[Rect, Kind]:
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


def _has_flat_edge(samples: Sequence[_Sample], rect: Rect) -> bool:
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


def _motion(samples: Sequence[_Sample], rect: Rect, *without: Rect | None) -> float:
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


def _layout(
    footage: Footage, samples: Sequence[_Sample], found: _Found, window: tuple[float, float], size: tuple[int, int]
) -> Layout:
    start_s, end_s = _interval(footage, samples, found, window, size)
    parts = (_displayed(found.parts[0], footage, size), _displayed(found.parts[1], footage, size))
    steady = _steady_faces(footage, parts, (start_s, end_s), is_inset=found.kind == "inset")
    reactor: Rect | None = None
    stimulus: Rect | None = None
    reason: str | None = None
    if steady[0] >= STEADY_FACE and steady[1] <= OTHER_FACE * steady[0]:
        reactor, stimulus = parts
    elif steady[1] >= STEADY_FACE and steady[0] <= OTHER_FACE * steady[1]:
        stimulus, reactor = parts
    else:
        reason = "faces stay in their places in both parts: who is the reactor is not clear"
    return Layout(
        start_s=start_s,
        end_s=end_s,
        kind=found.kind,
        parts=parts,
        reactor=reactor,
        stimulus=stimulus,
        border=round(found.bordered.weakest, 3),
        motion=found.motion,
        steady_faces=steady,
        reason=reason,
    )


def _displayed(rect: Rect, footage: Footage, size: tuple[int, int]) -> Rect:
    across, down = footage.width_px / size[0], footage.height_px / size[1]
    return Rect(
        round(rect.left_px * across),
        round(rect.top_px * down),
        round(rect.right_px * across),
        round(rect.bottom_px * down),
    )


def _interval(
    footage: Footage, samples: Sequence[_Sample], found: _Found, window: tuple[float, float], size: tuple[int, int]
) -> tuple[float, float]:
    """Start and end, sought frame by frame between the last sample without the border and the first with it."""
    rect = found.bordered.rect
    least = _threshold([border_step(s.across, s.down, rect) for s in samples[found.first : found.last]])

    def changes(begin_s: float, end_s: float, *, to: bool) -> float:
        for time_s, frame in walk(footage, (begin_s, end_s)):
            across, down = steps_of(footage.pixels(frame, size, "gray"))
            if time_s > begin_s and (border_step(across, down, rect) >= least) is to:
                return time_s
        return end_s

    start_s, end_s = window
    if found.first > 0:
        start_s = changes(samples[found.first - 1].time_s, samples[found.first].time_s, to=True)
    if found.last < len(samples):
        end_s = changes(samples[found.last - 1].time_s, samples[found.last].time_s, to=False)
    return start_s, end_s


def _steady_faces(
    footage: Footage, parts: tuple[Rect, Rect], interval: tuple[float, float], *, is_inset: bool
) -> tuple[float, float]:
    """For each part: in which share of 8 pictures a face stands where its faces usually do."""
    detector = FaceDetector()
    times = [interval[0] + (k + 0.5) * (interval[1] - interval[0]) / _FACE_SAMPLES for k in range(_FACE_SAMPLES)]

    def look(frame: VideoFrame) -> list[list[Face]]:
        picture = footage.pixels(frame, (footage.width_px, footage.height_px))
        behind, hole = picture.copy(), parts[0]
        if is_inset:
            behind[hole.top_px : hole.bottom_px, hole.left_px : hole.right_px] = 0
        return [
            detector.detect(_shrunk(_inside(source, part)))
            for source, part in zip((picture, behind), parts, strict=True)
        ]

    looked = [seen[1] for seen in look_at(footage, times, look) if seen is not None]
    return _steadiness([faces[0] for faces in looked]), _steadiness([faces[1] for faces in looked])


def _inside(picture: Pixels, part: Rect) -> Pixels:
    return picture[part.top_px : part.bottom_px, part.left_px : part.right_px]


def _shrunk(picture: Pixels) -> Pixels:
    import cv2  # noqa: PLC0415 - an extra, which the face detector has asked for

    scale = min(1.0, _FACE_SIDE_PX / max(picture.shape[:2]))
    size = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    shrunk: Pixels = cv2.resize(np.ascontiguousarray(picture), size, interpolation=cv2.INTER_AREA)
    return shrunk


def _steadiness(frames: Sequence[Sequence[Face]]) -> float:
    """Share of the frames with a face whose centre lies within one face's side of that of the best-placed face."""
    faces = [face for frame in frames for face in frame]
    return max(
        (sum(any(_near(face, other) for other in frame) for frame in frames) / len(frames) for face in faces),
        default=0.0,
    )


def _near(one: Face, other: Face) -> bool:
    sides = [max(f.right_px - f.left_px, f.bottom_px - f.top_px) for f in (one, other)]
    apart = max(
        abs(one.left_px + one.right_px - other.left_px - other.right_px),
        abs(one.top_px + one.bottom_px - other.top_px - other.bottom_px),
    )
    return apart / 2 < min(sides) and max(sides) < 1.6 * min(sides)
