"""A video written anew with some of its pictures painted over: every frame at its old time, the sound copied."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.budget import Rate
from onlooker.media.container import demuxed, open_media, sound_streams
from onlooker.media.encode import (
    PictureEncoder,
    as_displayed,
    even_size,
    new_scaler,
    open_mp4,
    planes_of,
    stacked,
    ticks_per_second,
)
from onlooker.media.pictures import Advance, Footage, Pixels, Rect, open_footage, walk

if TYPE_CHECKING:
    from av.audio.stream import AudioStream
    from av.container import InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame

_USUAL_FPS = Fraction(30)
_LIMITED_RANGE = 1
# Matrix numbers that say "not stated"; decoders and players then take BT.601, as swscale does.
_UNSTATED_MATRICES = frozenset((0, 2))


@dataclass(frozen=True, slots=True)
class Repainted:
    """``frames`` written, of which ``painted`` were painted over; ``missing``: frames of the source that do not
    decode, in whose place the one before stays on screen. ``width_px`` x ``height_px``: both even."""

    path: Path
    frames: int
    painted: int
    missing: int
    width_px: int
    height_px: int


def repaint(
    video: Path,
    out: Path,
    *,
    where: Callable[[float, tuple[int, int]], Sequence[Rect]],
    paint: Callable[[Pixels, float], None],
    advance: Advance | None = None,
) -> Repainted:
    """Write ``video`` to the mp4 file ``out`` with parts of its pictures painted over.

    ``where`` tells for a frame's time (seconds from the first frame) and the picture's size (width, height) which
    rectangles change; empty leaves the frame alone. ``paint`` then gets the picture (RGB, uint8, height x width x 3,
    as displayed) and changes it in place; only the rectangles, grown to even edges, are taken over. The rest of the
    picture goes to the encoder as it was decoded. ``advance`` counts frames.

    Pictures are turned as displayed, 8 bit, H.264 (see ``encode``); an odd side becomes one pixel shorter. All sound
    tracks are copied packet by packet, later or earlier by as much as the picture; a player starts at the first picture
    and leaves out what sounds before it, such as the priming of a codec. Raises ``InputError`` where ``out``
    is the video itself, is no .mp4 or cannot be written, or where mp4 cannot hold the sound; ``NoStream``,
    ``UnreadableMedia``, ``MissingExtra``.
    """
    footage = open_footage(video)
    index = footage.index
    ticks_per_s = ticks_per_second(index.time_base)
    size = even_size(footage.width_px, footage.height_px, None)
    span_s = index.seconds(index.shown_pts[-1])
    fps = Fraction((len(index.shown_pts) - 1) / span_s).limit_denominator(1001) if span_s else _USUAL_FPS
    painted = 0
    scaler = new_scaler()
    brush = _Brush(paint)
    with _replaced(video, out) as temporary, open_mp4(temporary, ticks_per_s) as target, open_media(video) as heard:
        encoder: PictureEncoder | None = None
        sound: _SoundCopy | None = None
        for time_s, decoded in walk(footage):
            frame = as_displayed(decoded, size, scaler)
            if encoder is None or sound is None:
                encoder = PictureEncoder(target, size, ticks_per_s, fps or _USUAL_FPS, Rate(None, 0), decoded)
                sound = _SoundCopy(target, heard, footage)
            rects = [_even(rect, size) for rect in where(time_s, size)]
            if rects:
                frame = brush.painted(frame, rects, time_s)
                painted += 1
            sound.write_until(Fraction(time_s))
            # Ticks of which too many go into a second for mp4 may fall together.
            encoder.add(frame, max(round(time_s * ticks_per_s), encoder.last_tick + 1))
            if advance is not None:
                advance(encoder.count, len(index.shown_pts))
        if encoder is None or sound is None:
            raise UnreadableMedia("no frame of the picture can be decoded", where=str(video))
        encoder.finish(round(index.duration_s * ticks_per_s))
        sound.write_until(None)
    return Repainted(out, encoder.count, painted, len(index.shown_pts) - encoder.count, *size)


class _SoundCopy:
    """Copies the packets of all sound tracks, with the first picture's time as zero."""

    def __init__(self, out: OutputContainer, source: InputContainer, footage: Footage) -> None:
        streams = sound_streams(source)
        self.out = out
        self.zero_s = footage.index.start_pts * footage.index.time_base
        try:
            self.targets: dict[int, AudioStream] = {s.index: out.add_stream_from_template(s) for s in streams}
        except ValueError as error:
            codecs = sorted({str(s.codec.canonical_name) for s in streams})
            raise InputError(
                "mp4 cannot hold this sound",
                where=str(footage.path),
                value=codecs,
                remedy="convert the sound to AAC first",
            ) from error
        for stream in streams:
            self.targets[stream.index].disposition = stream.disposition
            if stream.language:
                self.targets[stream.index].metadata["language"] = stream.language
        self.packets = self._packets(source, streams)
        self.waiting = next(self.packets, None)

    def write_until(self, time_s: Fraction | None) -> None:
        """Copy what is heard before ``time_s``; everything that is left without one."""
        while self.waiting is not None:
            at_s, packet = self.waiting
            if time_s is not None and at_s >= time_s:
                return
            self.out.mux(packet)
            self.waiting = next(self.packets, None)

    def _packets(self, source: InputContainer, streams: list[AudioStream]) -> Iterator[tuple[Fraction, Packet[Any]]]:
        from av.error import FFmpegError  # noqa: PLC0415 - an extra

        if not streams:
            return
        try:
            for packet in demuxed(source, streams):
                if not packet.size or packet.pts is None or packet.time_base is None:
                    continue
                shift = round(self.zero_s / packet.time_base)
                packet.pts -= shift
                packet.dts = packet.pts if packet.dts is None else packet.dts - shift
                at_s = packet.pts * packet.time_base
                packet.stream = self.targets[packet.stream_index]
                yield at_s, packet
        except FFmpegError:
            return  # what was read until here is what can be decoded


class _Brush:
    """Lets ``paint`` work on a yuv420p frame, and takes over only what was to be painted."""

    def __init__(self, paint: Callable[[Pixels, float], None]) -> None:
        self.paint = paint
        self.to_rgb, self.from_rgb = new_scaler(), new_scaler()

    def painted(self, frame: VideoFrame, rects: Sequence[Rect], time_s: float) -> VideoFrame:
        """The frame with ``rects`` (even edges) taken from its painted picture."""
        from av import VideoFrame as Picture  # noqa: PLC0415 - an extra

        picture: Pixels = np.ascontiguousarray(self.to_rgb.reformat(frame, format="rgb24").to_ndarray(), np.uint8)
        self.paint(picture, time_s)
        matrix = frame.colorspace if frame.colorspace not in _UNSTATED_MATRICES else None
        back = self.from_rgb.reformat(
            Picture.from_ndarray(picture, format="rgb24"),
            format="yuv420p",
            interpolation="AREA",
            dst_colorspace=matrix,
            dst_color_range=_LIMITED_RANGE,
        )
        planes, painted = [plane.copy() for plane in planes_of(frame)], planes_of(back)
        for rect in rects:
            for plane, new, part in zip(planes, painted, (1, 2, 2), strict=True):
                rows = slice(rect.top_px // part, rect.bottom_px // part)
                columns = slice(rect.left_px // part, rect.right_px // part)
                plane[rows, columns] = new[rows, columns]
        return Picture.from_ndarray(stacked(planes), format="yuv420p")


def _even(rect: Rect, size: tuple[int, int]) -> Rect:
    """The rectangle grown to even edges, inside the picture."""
    return Rect(
        max(0, rect.left_px - rect.left_px % 2),
        max(0, rect.top_px - rect.top_px % 2),
        min(size[0], rect.right_px + rect.right_px % 2),
        min(size[1], rect.bottom_px + rect.bottom_px % 2),
    )


def check_target(video: Path, out: Path) -> None:
    """Raise ``InputError`` where ``out`` is no .mp4 or the video itself."""
    if out.suffix.lower() != ".mp4":
        raise InputError("videos are written as mp4", where=str(out), remedy="name a file that ends in .mp4")
    if out.exists() and video.exists() and out.samefile(video):
        raise InputError("a video is not written over itself", where=str(out), remedy="name another file")


@contextmanager
def _replaced(video: Path, out: Path) -> Iterator[Path]:
    """A name beside ``out`` to write to; it takes its place if the block ends well."""
    check_target(video, out)
    temporary = out.with_name(f".{out.name}.{secrets.token_hex(6)}.tmp")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(out)
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror or error})", where=str(out)) from error
    finally:
        temporary.unlink(missing_ok=True)
