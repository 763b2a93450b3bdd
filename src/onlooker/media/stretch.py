"""Which frames a stretch of video shows and when, before anything is decoded; then those frames in order."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.errors import InputError, NoStream, UnreadableMedia
from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.decode import WantedFrames
from onlooker.media.grid import checked_window
from onlooker.media.index import PictureIndex, read_index

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

_MOST_ROUNDING_S = Fraction(1, 2000)
_MOST_FRAMES_A_SECOND = 1000


class FirstFrameLost(Exception):
    """The frame that should be shown first cannot be decoded; the first one that can has ticks ``pts``."""

    def __init__(self, pts: int) -> None:
        super().__init__(pts)
        self.pts = pts


class DamageFound(Exception):
    """Frames that were handed out turn out to be damaged: decode once more, see ``frames_in_order``."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A window of a medium. ``shown``: ticks of its frames, rising; ``zero_s`` and ``end_s``: its start and end on the
    file's own clock. The first frame is on screen at ``zero_s``, where it may have begun earlier.

    ``lost_s``: seconds of the window asked for in which no frame is known.
    """

    path: Path
    index: PictureIndex
    aspect: Fraction
    shown: tuple[int, ...]
    zero_s: Fraction
    end_s: Fraction
    lost_s: float

    @property
    def rounding_s(self) -> Fraction:
        """What is forgiven for the container's rounding of times."""
        return _rounding_s(self.index.time_base)

    @property
    def duration_s(self) -> Fraction:
        return self.end_s - self.zero_s

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in seconds from the medium's first frame."""
        first_s = self.index.start_pts * self.index.time_base
        return float(self.zero_s - first_s), float(self.end_s - first_s)

    def time_s(self, pts: int) -> Fraction:
        """When the frame with ticks ``pts`` comes on screen, from the start of the stretch; the first one at 0."""
        return max(Fraction(0), pts * self.index.time_base - self.zero_s)

    def beginning_at(self, pts: int) -> Stretch:
        """The stretch from the frame with ticks ``pts`` on; what lies before it is lost."""
        zero_s = pts * self.index.time_base
        return replace(
            self,
            shown=tuple(p for p in self.shown if p >= pts),
            zero_s=zero_s,
            lost_s=self.lost_s + float(zero_s - self.zero_s),
        )


def find_stretch(path: Path, window: tuple[float, float] | None = None, *, max_fps: float | None = None) -> Stretch:
    """The frames of a window (seconds from the first frame; the whole medium without one).

    With ``max_fps`` only the frames that are on screen at the grid k / ``max_fps`` from the window's start, each at its
    own time. Raises ``NoStream`` without a picture, ``InputError`` for a bad window or rate, ``UnreadableMedia`` where
    no frame is known in the window.
    """
    if max_fps is not None and not 0 < max_fps <= _MOST_FRAMES_A_SECOND:
        raise InputError(f"the most frames a second must be above 0 and at most {_MOST_FRAMES_A_SECOND}", value=max_fps)
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            raise NoStream("has no picture to cut", where=str(path), remedy="send its sound or its transcript instead")
        keep_only(container, stream)
        index = read_index(container, stream, path)
        aspect = stream.sample_aspect_ratio or Fraction(1)
    start_s, end_s = checked_window(window, index.duration_s)
    base = index.time_base
    first_s = index.start_pts * base
    rounding_s = _rounding_s(base)
    zero = first_s + Fraction(start_s)
    # The end of the medium as a float is not exactly where its last tick is.
    end = min(first_s + Fraction(end_s), index.end_pts * base)
    if abs(index.end_pts * base - end) <= rounding_s:
        end = index.end_pts * base
    asked_s = end - zero
    known_end = end if index.whole_until_pts is None else min(end, index.whole_until_pts * base)
    first = index.on_screen(start_s)
    if first is None:  # lost: begin with the next frame that is known
        later = bisect_right(index.shown_pts, int(zero / base))
        first = next((p for p in index.shown_pts[later:] if p * base < known_end), None)
        if first is None:
            raise UnreadableMedia("no frame is known in the window", where=str(path), value=(start_s, end_s))
        zero = first * base
    elif abs(first * base - zero) <= rounding_s:
        zero = first * base
    shown = [first, *(p for p in index.shown_pts if p > first and p * base < known_end - rounding_s)]
    boundary = bisect_right(index.shown_pts, shown[-1])
    if boundary < len(index.shown_pts) and abs(index.shown_pts[boundary] * base - known_end) <= rounding_s:
        known_end = index.shown_pts[boundary] * base
    if max_fps is not None:
        grid_s = (
            float(zero - first_s + k / Fraction(max_fps))
            for k in range(math.ceil((known_end - zero) * Fraction(max_fps)))
        )
        on_screen = {index.on_screen(t) for t in grid_s} & set(shown)
        shown = sorted(p for p in on_screen if p is not None)
    in_holes_s = sum(max(Fraction(0), min(known_end, b * base) - max(zero, a * base)) for a, b in index.holes)
    lost_s = float(asked_s - (known_end - zero) + in_holes_s)
    return Stretch(path, index, aspect, tuple(shown), zero, known_end, lost_s if lost_s > float(rounding_s) else 0.0)


def _rounding_s(time_base: Fraction) -> Fraction:
    return min(time_base / 2, _MOST_ROUNDING_S)


class OrderedFrames:
    """Iterates over (ticks, frame) of a stretch in the order of showing.

    Codecs report damage late. Where it is found after the first frame was handed out, ``DamageFound`` is raised; the
    caller starts again with ``is_damaged``, which decodes from the file's start and gives what a sequential decode
    gives. ``FirstFrameLost`` where the first frame cannot be decoded. ``missing`` and ``corrupt`` count afterwards.
    """

    def __init__(self, stretch: Stretch, *, is_damaged: bool = False) -> None:
        self.stretch = stretch
        self.is_damaged = is_damaged
        self.missing = 0
        self.corrupt = 0

    def __iter__(self) -> Iterator[tuple[int, VideoFrame]]:
        wanted = self.stretch.shown
        source = WantedFrames(self.stretch.path, self.stretch.index, frozenset(wanted), seek=not self.is_damaged)
        last: int | None = None
        given: list[int] = []
        is_final = not self.is_damaged or self.stretch.index.by_order
        for pts, frame in source:
            if frame is None:
                if not self.is_damaged:
                    raise DamageFound
                is_final = True  # what comes from here on is the picture that counts
            elif is_final and (last is None or pts > last):
                if last is None and pts != wanted[0]:
                    raise FirstFrameLost(pts)
                last = pts
                given.append(pts)
                yield pts, frame
        if not given:
            raise UnreadableMedia("not one frame of the window can be decoded", where=str(self.stretch.path))
        self.missing = len(wanted) - len(given)
        self.corrupt = sum(source.leans_on_damage(p) for p in given)
