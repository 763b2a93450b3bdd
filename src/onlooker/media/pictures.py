"""The pictures of a video as arrays, as displayed: all of them in order, or those on screen at given times.

Detectors look at pictures with this; what is shown to a model or a person goes through ``frames``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, NoStream, UnreadableMedia
from onlooker.media.container import keep_only, open_media, packets_of, picture_stream, steady_picture
from onlooker.media.decode import WantedFrames
from onlooker.media.frames import display_size
from onlooker.media.index import PictureIndex, read_index
from onlooker.media.ordered import decode_in_order
from onlooker.media.orientation import Orientation, orientation

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Pixels = NDArray[np.uint8]
# Called with how many steps are done, and of how many, as long work goes on.
Advance = Callable[[int, int], None]
T = TypeVar("T")
# A step beyond the end by rounding is no further picture.
_SLACK_S = 1e-9


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle in pixels of the picture as displayed; right and bottom excluded."""

    left_px: int
    top_px: int
    right_px: int
    bottom_px: int

    @property
    def width_px(self) -> int:
        return self.right_px - self.left_px

    @property
    def height_px(self) -> int:
        return self.bottom_px - self.top_px

    @property
    def area_px(self) -> int:
        return self.width_px * self.height_px

    def shared_px(self, other: Rect) -> int:
        """Area that both cover, in square pixels."""
        width = min(self.right_px, other.right_px) - max(self.left_px, other.left_px)
        height = min(self.bottom_px, other.bottom_px) - max(self.top_px, other.top_px)
        return max(0, width) * max(0, height)

    def scaled(self, factor: float) -> Rect:
        """All four numbers times ``factor``, rounded."""
        return Rect(*(round(v * factor) for v in (self.left_px, self.top_px, self.right_px, self.bottom_px)))


@dataclass(frozen=True, slots=True)
class Footage:
    """A picture stream that can be looked at: size in pixels as displayed, its clock, length in seconds."""

    path: Path
    index: PictureIndex
    aspect: Fraction
    placed: Orientation
    width_px: int
    height_px: int
    _scaler: Any = field(repr=False, compare=False)

    @property
    def duration_s(self) -> float:
        return self.index.duration_s

    @property
    def whole(self) -> Rect:
        """The whole picture."""
        return Rect(0, 0, self.width_px, self.height_px)

    def fitted(self, max_side_px: int) -> tuple[int, int]:
        """Width and height, in pixels, with the longer side at most ``max_side_px``; never scaled up."""
        scale = min(1.0, max_side_px / max(self.width_px, self.height_px))
        return max(1, round(self.width_px * scale)), max(1, round(self.height_px * scale))

    def pixels(self, frame: VideoFrame, size_px: tuple[int, int], form: Literal["rgb24", "gray"] = "rgb24") -> Pixels:
        """The frame as displayed at ``size_px`` (width, height): uint8, height x width (x 3 for RGB)."""
        width, height = size_px[::-1] if self.placed.swaps_sides else size_px
        # Luma as full-range gray levels, whatever range the file has.
        levels = {"dst_color_range": "JPEG"} if form == "gray" else {}
        # One scaler for all frames: setting one up costs more than scaling a picture.
        scaled = self._scaler.reformat(frame, width=width, height=height, format=form, interpolation="AREA", **levels)
        array: NDArray[Any] = scaled.to_ndarray()
        return np.ascontiguousarray(self.placed.applied(array), np.uint8)

    def checked(self, region: Rect | None, window: tuple[float, float] | None) -> tuple[Rect, tuple[float, float]]:
        """Region and window that are meant; ``InputError`` where they do not lie in the picture and its time."""
        if region is not None and not (
            0 <= region.left_px < region.right_px <= self.width_px
            and 0 <= region.top_px < region.bottom_px <= self.height_px
        ):
            raise InputError(
                f"a region must lie in the picture of {self.width_px} x {self.height_px} pixels",
                where=str(self.path),
                value=region,
            )
        if window is not None and not (0 <= window[0] < window[1] and window[0] < self.duration_s):
            raise InputError(
                f"a window needs 0 <= start < end and must begin in the {self.duration_s:.3f} s of the picture",
                where=str(self.path),
                value=window,
            )
        end_s = self.duration_s if window is None else min(window[1], self.duration_s)
        return region or self.whole, (0.0 if window is None else window[0], end_s)


def open_footage(path: Path) -> Footage:
    """Read the clock and the size as displayed. Raises ``NoStream``, ``UnreadableMedia``."""
    with open_media(path) as container:
        from av.video.reformatter import VideoReformatter  # noqa: PLC0415 - an extra

        stream = picture_stream(container)
        if stream is None:
            raise NoStream("has no picture", where=str(path))
        keep_only(container, stream)
        index = read_index(container, stream, path)
        aspect = stream.sample_aspect_ratio or Fraction(1)
    # How it is turned is known from a decoded picture only.
    first = next(_walk(path, index, index.start_pts, index.end_pts), None)
    if first is None:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
    frame = first[1]
    placed = orientation(frame)
    width, height = display_size(frame.width, frame.height, aspect, placed)
    return Footage(path, index, aspect, placed, width, height, VideoReformatter())


def walk(footage: Footage, window: tuple[float, float] | None = None) -> Iterator[tuple[float, VideoFrame]]:
    """Every frame that decodes, in order, with its time in seconds from the first frame shown.

    With ``window`` = (start_s, end_s): from the frame on screen at its start to the last one that begins before its
    end. Nothing is kept: memory does not grow with the length.
    """
    index = footage.index
    first, end = index.start_pts, index.end_pts
    if window is not None:
        first = index.on_screen(window[0]) or math.floor(Fraction(window[0]) / index.time_base) + index.start_pts
        # Half a tick is forgiven, as ``on_screen`` does: 3.2 s is a hair above the tick at 3.2 s.
        if window[1] < index.duration_s:
            end = math.ceil(Fraction(window[1]) / index.time_base - Fraction(1, 2)) + index.start_pts
    for pts, frame in _walk(footage.path, index, first, end):
        yield index.seconds(pts), frame


def glance(footage: Footage, window: tuple[float, float], step_s: float) -> Iterator[tuple[float, VideoFrame]]:
    """The frame on screen every ``step_s`` seconds of ``window``, in order, with the grid time; lost ones are left
    out. All frames are decoded and none is kept."""
    times = steps(window, step_s)
    place = 0
    held: VideoFrame | None = None
    for pts_s, frame in walk(footage, window):
        while place < len(times) and times[place] < pts_s - _SLACK_S:
            if held is not None and footage.index.on_screen(times[place]) is not None:
                yield times[place], held
            place += 1
        held = frame
    for time_s in times[place:]:
        if held is not None and footage.index.on_screen(time_s) is not None:
            yield time_s, held


def look_at(
    footage: Footage, times_s: Sequence[float], look: Callable[[VideoFrame], T]
) -> list[tuple[float, T] | None]:
    """What ``look`` makes of the frame on screen at each of ``times_s``, with the frame's own time; None where that
    frame is lost. Frames in between are jumped over where the container allows it."""
    index = footage.index
    on_screen = [index.on_screen(t) for t in times_s]
    seen: dict[int, T] = {}
    for pts, frame in WantedFrames(footage.path, index, frozenset(p for p in on_screen if p is not None)):
        if frame is None:
            seen.pop(pts, None)
        else:
            seen[pts] = look(frame)
    return [None if p is None or p not in seen else (index.seconds(p), seen[p]) for p in on_screen]


def steps(window: tuple[float, float], step_s: float) -> list[float]:
    """Times from the start of ``window`` every ``step_s`` seconds, its end excluded. Raises ``InputError``."""
    if not step_s > 0:
        raise InputError("a step must be above 0 seconds", value=step_s)
    count = max(1, math.ceil((window[1] - window[0]) / step_s - _SLACK_S))
    return [window[0] + k * step_s for k in range(count)]


def _walk(path: Path, index: PictureIndex, first: int, end: int) -> Iterator[tuple[int, VideoFrame]]:
    """(ticks, frame) of the frames shown in [first, end), in order."""
    if index.by_order:
        for shown in decode_in_order(path, [e.pts for e in index.entries if e.pts is not None]):
            pts = index.start_pts + shown.ticks
            if pts >= end:
                return
            if pts >= first:
                yield pts, shown.frame
        return
    visible = frozenset(index.shown_pts)
    keys = [e for e in index.entries if e.key and e.pts is not None and e.pts <= first]
    last = first - 1
    started = False
    # A seek that leads too far shows in the first picture; then the stream is decoded from its start.
    for seek_to in ([keys[-1]] if index.seekable and len(keys) > 1 else []) + [None]:
        for pts, frame in _decoded(path, None if seek_to is None else (seek_to.pts, seek_to.dts)):
            if seek_to is not None and not started and pts > first:
                break
            started = True
            if pts >= end:
                return
            if pts > last and pts in visible:
                last = pts
                yield pts, frame
        if started:
            return


def _decoded(path: Path, key: tuple[int | None, int | None] | None) -> Iterator[tuple[int, VideoFrame]]:
    """Pictures as the decoder gives them, from the key packet with these (pts, dts), or from the start."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    with open_media(path) as container:
        stream = steady_picture(container)
        context = stream.codec_context
        if key is not None:
            target = key[0] if key[1] is None else key[1]
            assert target is not None, "only key packets with a time are sought"
            try:
                container.seek(target, stream=stream)
            except FFmpegError:
                return
        for packet in packets_of(container, stream):
            try:
                frames = context.decode(packet)
            except FFmpegError:
                continue
            yield from ((f.pts, f) for f in frames if f.pts is not None)
        try:
            frames = context.decode(None)
        except FFmpegError:
            return
        yield from ((f.pts, f) for f in frames if f.pts is not None)
