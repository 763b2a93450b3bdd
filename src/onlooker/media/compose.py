"""Two videos in one picture, on one clock.

At every time of the output both show the frame that is on screen in them at that time. The output has a picture
wherever one of the two changes (the union of both frames' times), or at a fixed rate. Its clock is that of the first
video's stretch; the second one begins ``offset_s`` later. Outside its time a video is black, an inset is not there. The
output ends where the later one ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, NoStream
from onlooker.media.budget import MOST_SOUND_BPS, Rate
from onlooker.media.cache import decoder_version
from onlooker.media.clip import Clip, kept_clip, measured, replacing
from onlooker.media.cut import CLIP_REVISION, opened
from onlooker.media.digest import file_sha256
from onlooker.media.encode import (
    SOUND_BPS_A_CHANNEL,
    PictureEncoder,
    SoundEncoder,
    as_displayed,
    even_size,
    new_scaler,
    open_mp4,
    planes_of,
    stacked,
    ticks_per_second,
)
from onlooker.media.pictures import Advance, Rect
from onlooker.media.soundtrack import SoundPieces, sound_pieces
from onlooker.media.stretch import DamageFound, FirstFrameLost, OrderedFrames, Stretch, find_stretch

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Window = tuple[float, float]
Planes = list[NDArray[np.uint8]]
# Both are brought to one matrix; this one readers assume where they ignore what the file says.
_ITU601 = 5
_BLACK = (16, 128, 128)
_LEAST_RATE_HZ, _MOST_RATE_HZ = 0.001, 1000
# A day: beyond it a typing error would write a day of black.
_MOST_OFFSET_S = 86_400
_HEARD = {"left": 0, "right": 1, "none": None}


def compose_side_by_side(
    left: Path,
    right: Path,
    out: Path,
    *,
    left_window: Window | None = None,
    right_window: Window | None = None,
    offset_s: float = 0.0,
    height_px: int | None = None,
    sound: Literal["left", "right", "none"] = "left",
    fps: float | None = None,
    advance: Advance | None = None,
) -> Clip:
    """Write ``left`` and ``right`` side by side to ``out`` as mp4, both ``height_px`` high (even; without it as high as
    the lower one), each in its own aspect.

    Windows in seconds from each video's first frame; ``offset_s``: how much later than the left one the right one
    begins (below zero: its first seconds are not shown). ``fps``: a fixed rate instead of the union of both frames'
    times. ``advance``: called with pictures encoded and their number. The clip's ``start_s`` and ``end_s`` are those of
    the left window. Raises what ``cut_clip`` raises, and ``NoStream`` where the sound that was asked for is not there.
    """
    sides = [_side(left, left_window, Fraction(0)), _side(right, right_window, _exact(offset_s))]
    height = min(side.size[1] for side in sides) if height_px is None else height_px
    height -= height % 2 if height_px is None else 0
    if height < 2 or height % 2:
        raise InputError("height_px must be an even number, at least 2", value=height_px)
    widths = [even_size(max(2, round(side.size[0] * height / side.size[1])), height, None)[0] for side in sides]
    sides = [
        replace(sides[0], place=Rect(0, 0, widths[0], height)),
        replace(sides[1], place=Rect(widths[0], 0, sum(widths), height)),
    ]
    heard = _HEARD[sound]
    return _composed(sides, (sum(widths), height), out, heard, fps, advance)


def compose_inset(
    background: Path,
    inset: Path,
    out: Path,
    *,
    rectangle: Rect,
    background_window: Window | None = None,
    inset_window: Window | None = None,
    offset_s: float = 0.0,
    sound: Literal["left", "right", "none"] = "left",
    fps: float | None = None,
    advance: Advance | None = None,
) -> Clip:
    """Write ``background`` with ``inset`` scaled into ``rectangle`` of it to ``out`` as mp4.

    ``rectangle`` in pixels of the background as displayed (its size made even); its four numbers have to be even, as
    colour is stored for every other pixel. ``sound``: ``left`` is the background's, ``right`` the inset's. All else as
    in ``compose_side_by_side``.
    """
    sides = [_side(background, background_window, Fraction(0)), _side(inset, inset_window, _exact(offset_s))]
    width, height = even_size(*sides[0].size, None)
    edges = (rectangle.left_px, rectangle.top_px, rectangle.right_px, rectangle.bottom_px)
    if not (
        0 <= rectangle.left_px < rectangle.right_px <= width and 0 <= rectangle.top_px < rectangle.bottom_px <= height
    ) or any(edge % 2 for edge in edges):
        raise InputError(f"the rectangle must have even numbers and lie in {width} x {height} pixels", value=rectangle)
    sides = [replace(sides[0], place=Rect(0, 0, width, height)), replace(sides[1], place=rectangle)]
    heard = _HEARD[sound]
    return _composed(sides, (width, height), out, heard, fps, advance)


def cached_side_by_side(
    cache_dir: Path,
    left: Path,
    right: Path,
    *,
    left_window: Window | None = None,
    right_window: Window | None = None,
    offset_s: float = 0.0,
    height_px: int | None = None,
    sound: Literal["left", "right", "none"] = "left",
    fps: float | None = None,
) -> Clip:
    """``compose_side_by_side`` through the cache in ``cache_dir``. Raises what it raises."""
    digests = [file_sha256(path, cache_dir) for path in (left, right)]
    windows = [None if w is None else [float(t) for t in w] for w in (left_window, right_window)]
    return kept_clip(
        cache_dir,
        ["side by side", *digests, *windows, float(offset_s), height_px, sound, fps, decoder_version(), CLIP_REVISION],
        dict(zip((left, right), digests, strict=True)),
        lambda entry: compose_side_by_side(
            left,
            right,
            entry,
            left_window=left_window,
            right_window=right_window,
            offset_s=offset_s,
            height_px=height_px,
            sound=sound,
            fps=fps,
        ),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """A stretch that begins at ``begin_s`` of the output's clock, in the rectangle ``place`` of its picture."""

    stretch: Stretch
    size: tuple[int, int]
    is_damaged: bool
    begin_s: Fraction
    place: Rect

    @property
    def end_s(self) -> Fraction:
        return self.begin_s + self.stretch.duration_s

    def beginning_at(self, pts: int) -> _Side:
        later = self.stretch.beginning_at(pts)
        return replace(self, stretch=later, begin_s=self.begin_s + later.zero_s - self.stretch.zero_s)


def _exact(offset_s: float) -> Fraction:
    """The decimal number that was meant, so that what ends together does."""
    if not abs(offset_s) <= _MOST_OFFSET_S:
        raise InputError(
            f"the second video may begin at most {_MOST_OFFSET_S} s later or earlier than the first", value=offset_s
        )
    return Fraction(offset_s).limit_denominator(1_000_000)


class _BeginAgain(Exception):
    """Damage showed: compose once more, with this instead of the side number ``number``."""

    def __init__(self, number: int, side: _Side) -> None:
        super().__init__(number)
        self.number = number
        self.side = side


def _side(path: Path, window: Window | None, begin_s: Fraction) -> _Side:
    stretch = find_stretch(path, window)
    opening = opened(stretch)
    begin_s += opening.stretch.zero_s - stretch.zero_s
    return _Side(opening.stretch, opening.size, opening.is_damaged, begin_s, Rect(0, 0, *opening.size))


class _Screen:
    """What one side shows as time goes on."""

    def __init__(self, number: int, side: _Side) -> None:
        self.number = number
        self.side = side
        self.frames = OrderedFrames(side.stretch, is_damaged=side.is_damaged)
        self.source = iter(self.frames)
        self.rounding_s = side.stretch.rounding_s
        self.scaler = new_scaler()
        self.now: VideoFrame | None = None
        self.planes: Planes | None = None
        self.coming = self._next()

    def at(self, time_s: Fraction) -> Planes | None:
        """The picture on screen, None outside the side's time. Times have to rise."""
        while self.coming is not None and self.coming[0] <= time_s + self.rounding_s:
            self.now, self.planes = self.coming[1], None
            self.coming = self._next()
        if self.now is None or time_s >= self.side.end_s:
            return None
        if self.planes is None:
            size = (self.side.place.width_px, self.side.place.height_px)
            self.planes = planes_of(as_displayed(self.now, size, self.scaler, _ITU601))
        return self.planes

    def finish(self) -> None:
        """Take the frames that are left, so that missing and damaged ones are counted."""
        while self.coming is not None:
            self.coming = self._next()

    def _next(self) -> tuple[Fraction, VideoFrame] | None:
        try:
            found = next(self.source, None)
        except DamageFound:
            raise _BeginAgain(self.number, replace(self.side, is_damaged=True)) from None
        except FirstFrameLost as lost:
            raise _BeginAgain(self.number, self.side.beginning_at(lost.pts)) from None
        return None if found is None else (self.side.begin_s + self.side.stretch.time_s(found[0]), found[1])


def _composed(
    sides: list[_Side],
    size: tuple[int, int],
    out: Path,
    heard: int | None,
    fps: float | None,
    advance: Advance | None,
) -> Clip:
    paths = [side.stretch.path for side in sides]
    if fps is not None and not _LEAST_RATE_HZ <= fps <= _MOST_RATE_HZ:
        raise InputError(f"frames a second must be {_LEAST_RATE_HZ} to {_MOST_RATE_HZ}", value=fps)
    digests = tuple(file_sha256(path) for path in paths)
    with replacing(out, paths) as target:
        while True:
            try:
                return _written(sides, size, target, heard, fps, digests, advance).placed(out)
            except _BeginAgain as again:
                sides = [again.side if i == again.number else side for i, side in enumerate(sides)]


def _written(
    sides: Sequence[_Side],
    size: tuple[int, int],
    target: Path,
    heard: int | None,
    fps: float | None,
    digests: tuple[str, ...],
    advance: Advance | None,
) -> Clip:
    duration_s = max(side.end_s for side in sides)
    times = _union(sides, duration_s) if fps is None else _grid(Fraction(fps), duration_s)
    bases = [side.stretch.index.time_base for side in sides]
    scale = ticks_per_second(*bases, *([] if fps is None else [1 / Fraction(fps).limit_denominator(1001)]))
    end_tick = max(1, round(duration_s * scale))
    # Of changes that fall on one tick the last one shows them all.
    at_ticks = {round(time_s * scale): time_s for time_s in times if round(time_s * scale) < end_tick}
    rate = (len(at_ticks) / duration_s).limit_denominator(1001)
    pieces = None if heard is None else _sound(sides[heard], duration_s)
    screens = [_Screen(number, side) for number, side in enumerate(sides)]
    picture: PictureEncoder | None = None
    sound: SoundEncoder | None = None
    with open_mp4(target, scale) as out:
        for tick, time_s in at_ticks.items():
            frame = _painted(size, [(screen.side.place, screen.at(time_s)) for screen in screens])
            if picture is None:
                picture = PictureEncoder(out, size, scale, rate, Rate(None, MOST_SOUND_BPS), frame)
                if pieces is not None:
                    sound = SoundEncoder(out, pieces, SOUND_BPS_A_CHANNEL * pieces.channels)
            if sound is not None:
                sound.write_until(time_s)
            picture.add(frame, tick)
            if advance is not None:
                advance(picture.count, len(at_ticks))
        assert picture is not None, "there is a picture at 0"
        picture.finish(end_tick)
        if sound is not None:
            sound.write_until(None)
    for screen in screens:
        screen.finish()
    sha256, size_bytes, bit_rate = measured(target, float(duration_s))
    start_s, end_s = sides[0].stretch.window
    return Clip(
        path=target,
        sha256=sha256,
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        sources_sha256=digests,
        has_sound=pieces is not None,
        width_px=size[0],
        height_px=size[1],
        fps=picture.count / float(duration_s),
        frames=picture.count,
        last_pts_s=picture.last_tick / scale,
        duration_s=picture.end_tick / scale,
        bit_rate=bit_rate,
        picture="re-encoded",
        sound="none" if pieces is None else "re-encoded",
        why="two videos in one picture",
        missing=sum(screen.frames.missing for screen in screens),
        corrupt=sum(screen.frames.corrupt for screen in screens),
        lost_s=sum(side.stretch.lost_s for side in sides),
    )


def _union(sides: Sequence[_Side], duration_s: Fraction) -> list[Fraction]:
    """0 and every time at which a side changes: a frame comes on screen, or the side ends."""
    times = {Fraction(0)}
    for side in sides:
        times |= {side.begin_s + side.stretch.time_s(pts) for pts in side.stretch.shown} | {side.end_s}
    return sorted(t for t in times if 0 <= t < duration_s)


def _grid(fps: Fraction, duration_s: Fraction) -> list[Fraction]:
    step = 1 / fps.limit_denominator(1001)
    return [k * step for k in range(-int(-duration_s // step))]


def _painted(size: tuple[int, int], pictures: Sequence[tuple[Rect, Planes | None]]) -> VideoFrame:
    """A black picture with the given ones in their rectangles, the later ones on top."""
    from av import VideoFrame as Picture  # noqa: PLC0415 - an extra

    width, height = size
    shapes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
    canvas = [np.full(shape, level, np.uint8) for shape, level in zip(shapes, _BLACK, strict=True)]
    for place, planes in pictures:
        for whole, part, shrink in zip(canvas, planes or [], (1, 2, 2), strict=False):
            top, left = place.top_px // shrink, place.left_px // shrink
            whole[top : top + part.shape[0], left : left + part.shape[1]] = part
    frame = Picture.from_ndarray(stacked(canvas), format="yuv420p")
    frame.colorspace = _ITU601
    return frame


def _sound(side: _Side, duration_s: Fraction) -> SoundPieces:
    pieces = sound_pieces(side.stretch.path, side.stretch.zero_s - side.begin_s, duration_s)
    if pieces is None:
        raise NoStream("has no sound track", where=str(side.stretch.path), remedy="take the other one's, or none")
    return pieces
