"""Writing H.264 and AAC into mp4: the same input gives the same bytes, and times are kept exactly.

No B-frames: packets then stand in the order of showing, no edit list is needed for the picture, and every reader, also
one that counts frames or ignores edit lists, agrees on the times. It costs about a tenth in size. A fixed number of
threads: x264's output depends on it, not on the machine. No time of creation, no version of the writer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, MissingExtra
from onlooker.media.budget import LOWEST_QP, Rate
from onlooker.media.frames import display_size
from onlooker.media.orientation import orientation
from onlooker.media.soundtrack import SoundPieces

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter
    from av.video.stream import VideoStream

CRF = 20
PRESET = "veryfast"
THREADS = 4
SOUND_BPS_A_CHANNEL = 64_000
# That of Matroska. A finer one would make frames late that readers forgive at the source's own ticks.
_LEAST_TICKS_PER_S = 1000
_MOST_TICKS_PER_S = 1_000_000
_USUAL_TICKS_PER_S = 90_000
_LIMITED_RANGE = 1
_SMPTE170M = 6


@contextmanager
def open_mp4(path: Path, ticks_per_s: int) -> Iterator[OutputContainer]:
    """An mp4 to write, its index in front, without anything that differs from run to run."""
    try:
        import av  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "writing video files") from error
    options = {"movflags": "+faststart", "fflags": "+bitexact", "video_track_timescale": str(ticks_per_s)}
    with av.open(f"file:{path}", "w", format="mp4", options=options) as out:
        yield out


def ticks_per_second(*time_bases: Fraction) -> int:
    """A time scale in which all ticks of the given time bases are whole numbers, where one of sane size exists."""
    scale = int(np.lcm.reduce([base.denominator for base in time_bases]))
    if not 0 < scale <= _MOST_TICKS_PER_S:
        return _USUAL_TICKS_PER_S
    return scale * -(-_LEAST_TICKS_PER_S // scale)


def even_size(width: int, height: int, max_side_px: int | None) -> tuple[int, int]:
    """The size in pixels that a picture of ``width`` x ``height`` gets: the longer side at most ``max_side_px``, never
    larger, both even as yuv420p needs it. An odd side is scaled to one pixel less."""
    if max_side_px is not None and max_side_px < 2:
        raise InputError("max_side_px must be at least 2", value=max_side_px)
    scale = 1.0 if max_side_px is None else min(1.0, max_side_px / max(width, height))
    sides = (max(2, round(side * scale)) for side in (width, height))
    wide, high = (side - side % 2 for side in sides)
    return wide, high


def shown_size(frame: VideoFrame, aspect: Fraction) -> tuple[int, int]:
    """Width and height in pixels of the frame as a player shows it."""
    return display_size(frame.width, frame.height, aspect, orientation(frame))


def new_scaler() -> VideoReformatter:
    """A scaler for all frames of a video: setting one up costs more than scaling a picture."""
    from av.video.reformatter import VideoReformatter as Scaler  # noqa: PLC0415 - an extra

    return Scaler()


def as_displayed(
    frame: VideoFrame, size: tuple[int, int], scaler: VideoReformatter, colorspace: int | None = None
) -> VideoFrame:
    """The frame turned as displayed and scaled to ``size`` (even width and height, as displayed), 8 bit yuv420p of
    limited range. ``colorspace``: convert to this matrix (swscale's number); the frame's own is kept without one."""
    from av import VideoFrame as Picture  # noqa: PLC0415 - an extra

    placed = orientation(frame)
    width, height = (size[1], size[0]) if placed.swaps_sides else size
    fits = (frame.width, frame.height, frame.format.name) == (width, height, "yuv420p")
    if not fits or colorspace is not None or frame.color_range > _LIMITED_RANGE:
        frame = scaler.reformat(
            frame,
            width=width,
            height=height,
            format="yuv420p",
            interpolation="AREA",
            dst_colorspace=colorspace,
            dst_color_range=_LIMITED_RANGE,
        )
    if not placed.is_upright:
        planes = [placed.applied(plane) for plane in planes_of(frame)]
        frame = Picture.from_ndarray(stacked(planes), format="yuv420p")
    return frame


def planes_of(frame: VideoFrame) -> list[NDArray[np.uint8]]:
    """Y (height x width), U and V (half of both) of a yuv420p frame of even size."""
    whole = np.asarray(frame.to_ndarray(), np.uint8)
    width, height = frame.width, frame.height
    quarter = height // 4 * width + (height % 4) // 2 * (width // 2)
    flat = whole.reshape(-1)
    luma = width * height
    half = (height // 2, width // 2)
    return [
        flat[:luma].reshape(height, width),
        flat[luma : luma + quarter].reshape(half),
        flat[luma + quarter : luma + 2 * quarter].reshape(half),
    ]


def stacked(planes: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    """The planes as the array that a yuv420p frame is made from: height * 3 / 2 rows."""
    return np.concatenate([plane.reshape(-1) for plane in planes]).reshape(-1, planes[0].shape[1])


class PictureEncoder:
    """Encodes pictures at given ticks. ``count``, ``last_tick``, ``end_tick``: of what it was given so far."""

    def __init__(
        self, out: OutputContainer, size: tuple[int, int], ticks_per_s: int, fps: Fraction, rate: Rate, like: VideoFrame
    ) -> None:
        options = {"preset": PRESET, "crf": str(CRF), "x264-params": f"bframes=0:threads={THREADS}"}
        if rate.picture_bps is not None:
            options["qmax"] = str(LOWEST_QP)
            options["maxrate"] = str(rate.picture_bps)
            options["bufsize"] = str(max(1000, round(rate.picture_bps * rate.buffer_s)))
        self.out = out
        self.ticks_per_s = ticks_per_s
        self.stream: VideoStream = out.add_stream("libx264", rate=fps, options=options)
        self.stream.width, self.stream.height = size
        self.stream.pix_fmt = "yuv420p"
        context = self.stream.codec_context
        context.time_base = Fraction(1, ticks_per_s)
        is_rgb = like.format.is_rgb
        context.color_range = _LIMITED_RANGE
        context.colorspace = _SMPTE170M if is_rgb else like.colorspace
        context.color_primaries = like.color_primaries
        context.color_trc = like.color_trc
        self.count = 0
        self.last_tick = -1
        self.end_tick = 0
        self._held: Packet[VideoStream] | None = None

    def add(self, frame: VideoFrame, tick: int) -> None:
        """Encode ``frame`` (as displayed, yuv420p) to be shown at ``tick``, later than the one before."""
        frame.pts = tick
        frame.time_base = Fraction(1, self.ticks_per_s)
        frame.pict_type = 0  # x264 would otherwise repeat the source's choice of key frames
        self.count += 1
        self.last_tick = tick
        self._mux(self.stream.encode(frame))

    def finish(self, end_tick: int) -> None:
        """Write what is left; the last picture stays on screen until ``end_tick``."""
        self.end_tick = max(end_tick, self.last_tick + 1)
        self._mux(self.stream.encode(None))
        if self._held is not None:
            self._write(self._held, self.end_tick)

    def _mux(self, packets: list[Packet[VideoStream]]) -> None:
        # A packet waits for the next one: the writer would otherwise guess its duration from the mean rate.
        for packet in packets:
            if self._held is not None:
                self._write(self._held, packet.pts or 0)
            self._held = packet

    def _write(self, packet: Packet[VideoStream], until_tick: int) -> None:
        packet.duration = until_tick - (packet.pts or 0)
        self.out.mux(packet)


class SoundEncoder:
    """Encodes the pieces of a sound track as AAC, in step with the picture."""

    def __init__(self, out: OutputContainer, pieces: SoundPieces, bps: int) -> None:
        self.out = out
        self.pieces = iter(pieces)
        self.rate_hz = pieces.rate_hz
        self.layout = pieces.layout
        self.place = 0
        self.stream: AudioStream = out.add_stream("aac", rate=pieces.rate_hz, layout=pieces.layout)
        self.stream.bit_rate = bps

    def write_until(self, time_s: Fraction | None) -> None:
        """Encode what is heard before ``time_s``; everything that is left without one."""
        from av import AudioFrame  # noqa: PLC0415 - an extra

        while time_s is None or self.place < time_s * self.rate_hz:
            piece = next(self.pieces, None)
            if piece is None:
                break
            frame = AudioFrame.from_ndarray(np.ascontiguousarray(piece), format="fltp", layout=self.layout)
            frame.sample_rate = self.rate_hz
            frame.pts = self.place
            frame.time_base = Fraction(1, self.rate_hz)
            self.place += piece.shape[1]
            self.out.mux(self.stream.encode(frame))
        if time_s is None:
            self.out.mux(self.stream.encode(None))
