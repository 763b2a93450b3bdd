"""The time stamps of a picture stream, read packet by packet without decoding.

Container headers are hints: counts, rates and durations in them are wrong in common files. What
counts here is what the packets say; the frame on screen at a time follows from the sorted time
stamps alone. Only a picture whose packets state no time of showing (AVI) is decoded for it, see ``ordered``.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.errors import UnreadableMedia
from onlooker.media.container import ASF, AVI, MATROSKA, MOV, demuxed
from onlooker.media.edits import edit_lists
from onlooker.media.ending import declared_end, edited_end, hold_ticks, is_torn, listed, loss_begins
from onlooker.media.loss import changed_packets, holes, marked_losses, uncounted_from
from onlooker.media.ordered import decode_in_order

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.packet import Packet
    from av.stream import Stream
    from av.video.stream import VideoStream

# Of these a cut tears the last packet, and the demuxer hands it out all the same.
_TEARS_THE_LAST = {"mpegts", "mpeg", "gif", ASF}
# What DivX and XviD write into a stream with two pictures in one packet. Such pictures have no times of their own.
_PACKED = re.compile(rb"DivX\d+(b|Build)\d+p")
# Containers round times to ticks, Matroska to milliseconds. A coarser tick (AVI: one frame) is exact.
_MOST_ROUNDING_S = Fraction(1, 2000)


@dataclass(frozen=True, slots=True)
class Entry:
    """One packet, times in ticks; ``shown`` if it gives a frame that a viewer sees.

    ``pts`` is None for one without a place in time, which is never shown. ``after_loss``: the demuxer says that it is
    damaged, or packets before it are lost.
    """

    pts: int | None
    dts: int | None
    duration: int
    key: bool
    shown: bool
    after_loss: bool = False


@dataclass(frozen=True, slots=True)
class PictureIndex:
    """The packets of a picture stream in decode order, and the clock that follows from them.

    ``shown_pts``: sorted distinct ticks of the frames a viewer sees. ``end_pts``: where the last
    one ends, by the header if the file is cut off. ``whole_until_pts``: from here on packets are
    lost (None: nothing is). ``frames_declared``: frames that the container lists, None where it
    lists none. ``by_order``: packets have no time of showing, see ``ordered``. ``seekable``: random access is
    exact. ``holes``: ranges of ticks, end excluded, whose frames are lost. ``frames_hidden``: frames of the track that
    its edit list leaves out. ``has_edits``: whether the container has an edit list for the track, None for containers
    that know none. ``unsure_from_pts``: from here on it is not sure which frame is shown when (None: it is everywhere).
    """

    entries: tuple[Entry, ...]
    shown_pts: tuple[int, ...]
    time_base: Fraction
    end_pts: int
    whole_until_pts: int | None
    frames_declared: int | None
    by_order: bool
    seekable: bool
    holes: tuple[tuple[int, int], ...]
    frames_hidden: int = 0
    has_edits: bool | None = None
    unsure_from_pts: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether no packet is known to be lost, torn or changed."""
        if self.unsure_from_pts is not None:
            return False
        return self.whole_until_pts is None and not self.holes and not any(e.after_loss for e in self.entries)

    @property
    def start_pts(self) -> int:
        """Time stamp of the first frame shown: the zero of all times of the medium."""
        return self.shown_pts[0]

    @property
    def duration_s(self) -> float:
        """From the first frame's time to the end of the last one."""
        return float((self.end_pts - self.start_pts) * self.time_base)

    @property
    def whole_frames(self) -> int:
        """How many of the frames shown lie before the end that is lost."""
        return (
            len(self.shown_pts) if self.whole_until_pts is None else bisect_left(self.shown_pts, self.whole_until_pts)
        )

    @property
    def is_vfr(self) -> bool:
        """Whether gaps between frames, where none is lost, differ by more than the rounding of each end to a tick."""
        until, ends = self.whole_until_pts, {end for _, end in self.holes}
        gaps = [b - a for a, b in pairwise(self.shown_pts) if b not in ends and (until is None or b < until)]
        return bool(gaps) and max(gaps) - min(gaps) > 1

    def seconds(self, pts: int) -> float:
        """Seconds from the first frame shown to ``pts``."""
        return float((pts - self.start_pts) * self.time_base)

    def on_screen(self, time_s: float) -> int | None:
        """Ticks of the frame on screen at ``time_s``: the last shown one with pts <= start + time.

        Half a tick, at most 0.5 ms, is forgiven for the container's rounding of times. None where
        that frame is cut off from the file or lost in a hole.
        """
        rounding_s = min(self.time_base / 2, _MOST_ROUNDING_S)
        ticks = self.start_pts + math.floor((Fraction(time_s) + rounding_s) / self.time_base)
        if self.whole_until_pts is not None and ticks >= self.whole_until_pts:
            return None
        if any(first <= ticks < end for first, end in self.holes):
            return None
        place = bisect_right(self.shown_pts, max(ticks, self.start_pts))
        return self.shown_pts[place - 1]


@dataclass(slots=True)
class _Reading:
    """What one pass over the packets gave: ``seen`` counts empty ones, too; ``gave_up``: it ended before its end;
    ``is_packed``: a packet may hold two pictures; ``discarded``: how many the demuxer marks as not to be shown."""

    entries: list[Entry]
    byte_places: list[int | None]
    seen: int = 0
    gave_up: bool = False
    is_packed: bool = False
    discarded: int = 0


def read_index(
    container: InputContainer,
    stream: VideoStream,
    path: Path,
    *,
    others: Sequence[Stream] = (),
    seen: Callable[[Packet[Any]], object] = lambda _packet: None,
) -> PictureIndex:
    """Demux the stream once, from its start.

    ``seen`` gets every packet of the stream and of the ``others``, in the order of the file, so that one pass serves
    whoever wants to know more. Raises ``UnreadableMedia`` where the packets do not tell when each picture is shown:
    they carry no times, or their clock starts again because recordings were joined.
    """
    name = container.format.name
    time_base = stream.time_base
    if time_base is None:
        raise UnreadableMedia("the picture has no time base", where=str(path))
    reading = _read_packets(container, stream, others, seen)
    if not reading.entries:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
    start = reading.entries[0].pts
    entries, by_order = _timed(reading, name, path)
    _refuse_second_clock(name, entries, time_base, path)
    brought_by: list[int] = []
    if by_order:
        first = start if start is not None else entries[0].pts or 0
        pictures = [
            (first + s.ticks, s.packet) for s in decode_in_order(path, [e.pts for e in entries if e.pts is not None])
        ]
        shown, brought_by = [pts for pts, _ in pictures], [packet for _, packet in pictures]
    else:
        shown = sorted({e.pts for e in entries if e.shown and e.pts is not None})
    if not shown:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(path))
    end = shown[-1] + hold_ticks([] if by_order else entries, shown, stream, time_base)
    edits = edit_lists(path).get(stream.id) if name == MOV else None
    if edits is not None and not by_order:  # pictures of packets that hold two lie elsewhere than the writer thought
        end = edited_end(end, shown, edits, time_base)
    declared, lost_from = listed(stream, reading.seen) if name == MOV else (None, None)
    if lost_from is None and (reading.gave_up or is_torn(path, name, stream, entries)):
        if by_order:
            lost_from = shown[-1] if entries[-1].after_loss else end
        else:
            lost_from = loss_begins(entries[-1], end - shown[-1], is_torn=name in _TEARS_THE_LAST)
    if lost_from is not None:
        declared = stream.frames or None if name == AVI else declared
        end = max(end, declared_end(container, stream, shown[0], path))
    lost_at: list[int] = []
    if not by_order and name != MOV:
        lost_at = marked_losses(path, name, reading.byte_places, [e.after_loss for e in entries])
        marked = set(lost_at)
        changed = changed_packets(path, name, reading.byte_places)
        entries = [
            # A key frame right behind a loss leans on nothing; one right before it may be torn.
            replace(e, after_loss=e.after_loss or i in changed or (i in marked and (not e.key or i + 1 in marked)))
            for i, e in enumerate(entries)
        ]
    return PictureIndex(
        entries=tuple(entries),
        shown_pts=tuple(shown),
        time_base=time_base,
        end_pts=end,
        whole_until_pts=lost_from,
        frames_declared=declared,
        by_order=by_order,
        seekable=name in {MOV, MATROSKA} and all(e.dts is not None for e in entries),
        holes=holes(shown, {e.pts: (i, e.duration) for i, e in enumerate(entries) if e.pts is not None}, lost_at),
        frames_hidden=max(reading.discarded, (stream.frames or 0) - (declared or 0)) if name == MOV else 0,
        has_edits=edits is not None if name == MOV else None,
        unsure_from_pts=_unsure_from(reading, path, name, shown, brought_by, is_torn=lost_from is not None),
    )


def _unsure_from(
    reading: _Reading, path: Path, name: str, shown: list[int], brought_by: list[int], *, is_torn: bool
) -> int | None:
    """From which ticks on pictures that are timed by order may have another's time; ``brought_by``: their packets."""
    packet = uncounted_from(path, name, reading.byte_places)
    if packet is None and is_torn:
        # What a torn file leaves in the decoder comes out without a packet to be timed by.
        packet = len(reading.entries)
    if packet is None:
        return None
    return next((pts for pts, at in zip(shown, brought_by, strict=False) if at >= packet), None)


def _read_packets(
    container: InputContainer, stream: VideoStream, others: Sequence[Stream], seen: Callable[[Packet[Any]], object]
) -> _Reading:
    """The packets up to the first torn one of an MP4, or to where the demuxer gives up."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    name = container.format.name
    reading = _Reading([], [])
    first_key_pts: int | None = None
    try:
        for packet in demuxed(container, [stream, *others]):
            seen(packet)
            if packet.stream_index != stream.index:
                continue
            if packet.pts is None and packet.size == 0:
                continue  # the end of the stream
            if name == MOV and packet.is_corrupt:
                reading.gave_up = True
                break  # cut in the middle: the listing beyond it counts as lost
            reading.seen += 1
            if packet.size == 0:
                continue
            if not reading.entries:
                reading.is_packed = is_packed(packet, stream)
            pts = packet.dts if name == AVI else packet.pts  # what AVI has for one is a guess
            if first_key_pts is None and packet.is_keyframe:
                first_key_pts = pts
            # Before the first key frame nothing can be decoded, nor can frames that lean on what
            # came before it.
            decodable = pts is not None and first_key_pts is not None and pts >= first_key_pts
            reading.discarded += packet.is_discard
            reading.byte_places.append(packet.pos)
            reading.entries.append(
                Entry(
                    pts=pts,
                    dts=packet.dts,
                    duration=packet.duration or 0,
                    key=packet.is_keyframe,
                    shown=decodable and not packet.is_discard and gives_picture(packet, stream),
                    after_loss=packet.is_corrupt,
                )
            )
    except FFmpegError:
        reading.gave_up = True
    return reading


def is_packed(first: Packet[Any], stream: VideoStream) -> bool:
    """Whether packets of the stream may hold two pictures; ``first``: its first one."""
    if stream.codec_context.name != "mpeg4":
        return False
    return _PACKED.search((stream.codec_context.extradata or b"") + bytes(first)) is not None


def gives_picture(packet: Packet[Any], stream: VideoStream) -> bool:
    """VP8 keeps hidden reference frames in packets of their own (RFC 6386, section 9.1: the
    show_frame bit)."""
    return stream.codec_context.name not in {"vp8", "libvpx"} or bool(bytes(packet)[0] & 0x10)


def _timed(reading: _Reading, name: str, path: Path) -> tuple[list[Entry], bool]:
    """The entries, and whether their ``pts`` are times of decoding, so that pictures have theirs by order."""
    entries = reading.entries
    by_order = name == AVI or reading.is_packed
    if reading.is_packed and name == MATROSKA:
        raise UnreadableMedia(
            "its packets hold two pictures each (packed B-frames) and Matroska states one time for both",
            where=str(path),
            remedy="re-encode it into mp4 or mkv",
        )
    if by_order:
        entries = [replace(e, pts=e.dts) for e in entries]
    # What Matroska cannot number lies before zero: leading pictures that a cut at a key frame left behind.
    if name == MATROSKA or all(e.pts is not None for e in entries):
        return entries, by_order
    return _evenly_timed(entries, path), True


def _evenly_timed(entries: list[Entry], path: Path) -> list[Entry]:
    """The entries at times of decoding that are filled in where all known ones lie on one even grid (H.264 in program
    streams, which state a time for some packets only); ``UnreadableMedia`` where they do not."""
    first, step = entries[0].dts, entries[0].duration
    if first is None or not step or any(e.dts not in {None, first + i * step} for i, e in enumerate(entries)):
        without = sum(e.pts is None for e in entries)
        raise UnreadableMedia(
            f"{without} of its {len(entries)} packets carry no time stamps: it is not known "
            "when their pictures are shown",
            where=str(path),
            remedy="re-encode it at its true frame rate into mp4 or mkv",
        )
    return [replace(e, pts=first + i * step, dts=first + i * step) for i, e in enumerate(entries)]


def _refuse_second_clock(name: str, entries: list[Entry], time_base: Fraction, path: Path) -> None:
    """Raise where times of decoding run backwards; MP4 and Matroska do not state them, and have one clock anyway."""
    if name in {MOV, MATROSKA}:
        return
    known = [e.dts for e in entries if e.dts is not None]
    for before, after in pairwise(known):
        if after < before:
            raise UnreadableMedia(
                f"its clock starts again after {float((before - known[0]) * time_base):.3f} s of picture: "
                "recordings were joined byte by byte, and a time names more than one frame",
                where=str(path),
                remedy="split it there, or re-encode it into mp4 or mkv",
            )
