"""Pictures whose packets state no time of showing: the time of a picture is that of the packet which makes the
decoder hand it out.

AVI numbers its packets in the order of decoding and says nothing of showing; a packet may hold two pictures (packed
B-frames of XviD and DivX, also when copied into MP4) or stand for none (a frame that is not coded).
Counting packets or pictures is therefore wrong; what the decoder gives for which packet is not. An encoder that holds
pictures back writes the k-th picture's time on packet k + d, where d is what the decoder holds back, so the rule is
exact for it, too. The last d pictures come out without a packet and follow at the distance of the last two packets.
The whole stream is decoded for it, once for the times and once for the pictures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.media.container import open_media, packets_of, steady_picture

if TYPE_CHECKING:
    from av.video.frame import VideoFrame


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture, its time in ticks from the first one, the number of the packet that brought it out (counting on after
    the last), whether it may show damage."""

    ticks: int
    packet: int
    frame: VideoFrame
    is_damaged: bool


def decode_in_order(path: Path, times: Sequence[int]) -> Iterator[Shown]:
    """Decode the whole stream; ``times``: ticks of its packets, in the order of decoding, rising."""
    first: int | None = None
    last = -1
    for place, frame, is_damaged in _outcome(path):
        if place < len(times):
            ticks = times[place]
        else:
            step = times[-1] - times[-2] if len(times) > 1 else 1
            ticks = times[-1] + (place - len(times) + 1) * step
        first = ticks if first is None else first
        last = max(ticks - first, last + 1)  # two pictures for one packet: the second follows a tick later
        yield Shown(last, place, frame, is_damaged)


def _outcome(path: Path) -> Iterator[tuple[int, VideoFrame, bool]]:
    """For every picture: the number of the packet that brought it out (counting on after the last), the picture, and
    whether it may show damage: from an error on, up to a key frame that was decoded after it."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    held: int | None = None
    error_at: int | None = None
    place = -1
    with open_media(path) as container:
        stream = steady_picture(container)
        context = stream.codec_context
        for place, packet in enumerate(packets_of(container, stream)):
            try:
                frames = context.decode(packet)
            except FFmpegError:
                frames = []
                error_at = place
            if packet.is_corrupt:
                error_at = place
            for frame in frames:
                held = place if held is None else held
                if frame.is_corrupt:
                    error_at = place
                elif error_at is not None and frame.key_frame and place - held > error_at:
                    error_at = None
                yield place, frame, error_at is not None
        try:
            frames = context.decode(None)
        except FFmpegError:
            frames = []
        for after, frame in enumerate(frames, place + 1):
            yield after, frame, error_at is not None or frame.is_corrupt
