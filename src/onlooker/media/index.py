"""The time stamps of a picture stream, read packet by packet without decoding.

Container headers are hints: counts, rates and durations in them are wrong in common files. What
counts here is what the packets say; the frame on screen at a time follows from the sorted time
stamps alone.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.errors import UnreadableMedia

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.video.stream import VideoStream

_MOV = "mov,mp4,m4a,3gp,3g2,mj2"
_MATROSKA = "matroska,webm"
_AVI = "avi"
# Containers round times to ticks, Matroska to milliseconds. A coarser tick (AVI: one frame) is exact.
_MOST_ROUNDING_S = Fraction(1, 2000)


@dataclass(frozen=True, slots=True)
class Entry:
    """One packet, times in ticks; ``shown`` if it gives a frame that a viewer sees."""

    pts: int
    dts: int | None
    duration: int
    key: bool
    shown: bool


@dataclass(frozen=True, slots=True)
class PictureIndex:
    """The packets of a picture stream in decode order, and the clock that follows from them.

    ``shown_pts``: sorted distinct ticks of the frames a viewer sees. ``end_pts``: where the last
    one ends, by the header if the file is cut off. ``whole_until_pts``: from here on packets are
    lost (None: nothing is). ``frames_declared``: frames that the container lists, None where it
    lists none. ``by_order``: the container has no presentation times, so the k-th frame that the
    decoder gives has the k-th time. ``seekable``: random access is exact.
    """

    entries: tuple[Entry, ...]
    shown_pts: tuple[int, ...]
    time_base: Fraction
    end_pts: int
    whole_until_pts: int | None
    frames_declared: int | None
    by_order: bool
    seekable: bool

    @property
    def start_pts(self) -> int:
        """Time stamp of the first frame shown: the zero of all times of the medium."""
        return self.shown_pts[0]

    @property
    def duration_s(self) -> float:
        """From the first frame's time to the end of the last one."""
        return float((self.end_pts - self.start_pts) * self.time_base)

    @property
    def is_vfr(self) -> bool:
        """Whether gaps between frames differ by more than the rounding of each end to a tick."""
        gaps = [b - a for a, b in zip(self.shown_pts, self.shown_pts[1:], strict=False)]
        return bool(gaps) and max(gaps) - min(gaps) > 1

    def seconds(self, pts: int) -> float:
        """Seconds from the first frame shown to ``pts``."""
        return float((pts - self.start_pts) * self.time_base)

    def on_screen(self, time_s: float) -> int | None:
        """Ticks of the frame on screen at ``time_s``: the last shown one with pts <= start + time.

        Half a tick, at most 0.5 ms, is forgiven for the container's rounding of times. None where
        that frame is cut off from the file.
        """
        rounding_s = min(self.time_base / 2, _MOST_ROUNDING_S)
        ticks = self.start_pts + math.floor((Fraction(time_s) + rounding_s) / self.time_base)
        if self.whole_until_pts is not None and ticks >= self.whole_until_pts:
            return None
        place = bisect_right(self.shown_pts, max(ticks, self.start_pts))
        return self.shown_pts[place - 1]


def read_index(container: InputContainer, stream: VideoStream, path: Path) -> PictureIndex:
    """Demux the stream once, from its start. Raises ``UnreadableMedia`` where no packet has a
    time."""
    name = container.format.name
    time_base = stream.time_base
    if time_base is None:
        raise UnreadableMedia("the picture has no time base", where=str(path))
    entries, seen, torn = _read_entries(container, stream, path)
    shown = sorted({e.pts for e in entries if e.shown})
    if not shown:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
    end = shown[-1] + _hold_ticks(entries, shown, stream, time_base)
    declared: int | None = None
    lost_from: int | None = None
    if name == _MOV:
        listed = stream.index_entries
        declared = sum(not listed[i].is_discard for i in range(len(listed)))
        if len(listed) > seen:
            lost_from = min(listed[i].timestamp for i in range(seen, len(listed)))
            end = max(end, shown[0] + (stream.duration or 0))
    elif torn or (name == _MATROSKA and _matroska_is_cut(path)):
        last = entries[-1]
        lost_from = (last.pts if last.dts is None else last.dts) + max(last.duration, 1)
        if name == _MATROSKA and container.duration:
            end = max(end, int(Fraction(container.duration, 1_000_000) / time_base))
    return PictureIndex(
        entries=tuple(entries),
        shown_pts=tuple(shown),
        time_base=time_base,
        end_pts=end,
        whole_until_pts=lost_from,
        frames_declared=declared,
        by_order=name == _AVI,
        seekable=name in {_MOV, _MATROSKA} and all(e.dts is not None for e in entries),
    )


def _read_entries(container: InputContainer, stream: VideoStream, path: Path) -> tuple[list[Entry], int, bool]:
    """The packets up to the first torn one, how many there were with empty ones, whether the demuxer gave up."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    name = container.format.name
    entries: list[Entry] = []
    seen = 0
    first_key_pts: int | None = None
    try:
        for packet in container.demux(stream):
            if packet.pts is None and packet.size == 0:
                continue  # the end of the stream
            if name == _MOV and packet.is_corrupt:
                break  # cut in the middle: the listing beyond it counts as lost
            seen += 1
            if packet.size == 0:
                continue
            pts = packet.dts if name == _AVI else packet.pts
            if pts is None:
                raise UnreadableMedia(
                    "its packets carry no time stamps",
                    where=str(path),
                    remedy="put the stream into a container with times, such as mkv",
                )
            if first_key_pts is None and packet.is_keyframe:
                first_key_pts = pts
            # Before the first key frame nothing can be decoded, nor can frames that lean on what
            # came before it.
            decodable = first_key_pts is not None and (name == _AVI or pts >= first_key_pts)
            entries.append(
                Entry(
                    pts=pts,
                    dts=packet.dts,
                    duration=packet.duration or 0,
                    key=packet.is_keyframe,
                    shown=decodable and not packet.is_discard and _gives_picture(packet, stream),
                )
            )
    except FFmpegError:
        return entries, seen, True
    return entries, seen, False


def _gives_picture(packet: Packet[VideoStream], stream: VideoStream) -> bool:
    """VP8 keeps hidden reference frames in packets of their own (RFC 6386, section 9.1: the
    show_frame bit)."""
    return stream.codec_context.name not in {"vp8", "libvpx"} or bool(bytes(packet)[0] & 0x10)


def _hold_ticks(entries: list[Entry], shown: list[int], stream: VideoStream, time_base: Fraction) -> int:
    """How long the last frame stays: its packet's duration, else the gap before it, else the
    stream's rate."""
    stated = max((e.duration for e in entries if e.shown and e.pts == shown[-1]), default=0)
    if stated:
        return stated
    if len(shown) > 1:
        return shown[-1] - shown[-2]
    return round(1 / (stream.guessed_rate * time_base)) if stream.guessed_rate else 1


def _matroska_is_cut(path: Path) -> bool:
    """Whether the Segment element (RFC 9559) claims more bytes than the file has."""
    total = path.stat().st_size
    with path.open("rb") as stream:
        head = stream.read(4096)
    place = 0
    for identifier in (b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"):
        if head[place : place + 4] != identifier:
            return False
        place += 4
        width = 9 - head[place].bit_length()
        size = int.from_bytes(head[place : place + width], "big") & ((1 << (7 * width)) - 1)
        is_unknown = size == (1 << (7 * width)) - 1
        place += width
        if identifier == b"\x18\x53\x80\x67":
            return not is_unknown and place + size > total
        place += size
    return False
