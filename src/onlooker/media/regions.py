"""The reactor and the stimulus of a reaction video: two rectangles of one picture, and when they stand there.

ReactionBench, appendix A.1: source recordings show the creator and the content watched in one picture, in layouts that
differ by creator and begin after an intro. A layout is found by the borders that stay while both sides move (see
``detectors.borders``); who is who follows from where a face stays in place. Where the evidence is weak, no rectangle is
named and the reason is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onlooker.media.detectors.borders import border_step, steps_of
from onlooker.media.detectors.faces import Face, FaceDetector
from onlooker.media.layout_search import (
    LEAST_BORDER,
    LEAST_MOTION,
    LEAST_SAMPLES,
    FoundLayout,
    Kind,
    Sample,
    least_shown,
    search_layouts,
)
from onlooker.media.pictures import Footage, Pixels, Rect, look_at, open_footage, walk

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

# Part of the samples in which a face stays in its place: at least this in the reactor, in the stimulus at most
# ``OTHER_FACE`` of the reactor's. On the compositions reactors had 0.6 to 1.0, stimuli with faces 0.1 to 0.4 and one
# dialogue 0.6.
STEADY_FACE = 0.6
OTHER_FACE = 0.5
LEAST_LAYOUT_S = 3.0
_MAX_SIDE_PX = 640
_SAMPLES = 48
_LEAST_STEP_S = 0.25
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
    samples: list[Sample] = []
    for seen in look_at(footage, times, lambda frame: _sample(footage, frame, size)):
        if seen is not None and (not samples or seen[0] > samples[-1].time_s):
            samples.append(Sample(seen[0], *seen[1]))
    reasons: list[str] = []
    # In long recordings 3 s are less than one sample.
    least = max(LEAST_SAMPLES, math.ceil(LEAST_LAYOUT_S / step_s - 0.5))
    found = search_layouts(samples, 0, len(samples), reasons, least)
    layouts: list[Layout] = []
    for one in found:
        layout = _layout(footage, samples, one, (start_s, end_s), size)
        # A picture in a picture without a face that stays is no reaction, if it is one picture in another at all.
        if max(layout.steady_faces) >= STEADY_FACE:
            layouts.append(layout)
        else:
            reasons.insert(0, f"a border lasts from {layout.start_s:.2f} s, but no face stays on either side of it")
    undefined = None if layouts else reasons[0] if reasons else "no lasting border divides the picture"
    if len(samples) < LEAST_SAMPLES:
        undefined = f"only {len(samples)} pictures to compare; {LEAST_SAMPLES} are needed"
    return Regions(tuple(layouts), undefined, step_s)


def _sample(
    footage: Footage, frame: VideoFrame, size: tuple[int, int]
) -> tuple[Pixels, NDArray[np.float16], NDArray[np.float16]]:
    gray = footage.pixels(frame, size, "gray")
    across, down = steps_of(gray)
    return gray, across.astype(np.float16), down.astype(np.float16)


def _layout(
    footage: Footage, samples: Sequence[Sample], found: FoundLayout, window: tuple[float, float], size: tuple[int, int]
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
    footage: Footage, samples: Sequence[Sample], found: FoundLayout, window: tuple[float, float], size: tuple[int, int]
) -> tuple[float, float]:
    """Start and end, sought frame by frame between the last sample without the border and the first with it."""
    rect = found.bordered.rect
    least = least_shown([border_step(s.across, s.down, rect) for s in samples[found.first : found.last]])

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
