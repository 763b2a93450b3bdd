"""Where a picture ends: how long its last frame is held, and what of it is cut off. Times in ticks of its stream."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.media.container import ASF, AVI, MATROSKA, MOV
from onlooker.media.edits import EditList
from onlooker.media.loss import asf_duration_s, is_cut

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream

    from onlooker.media.index import Entry

# Where no size is stated, a torn packet among the last ones tells of a cut.
_LAST_PACKETS = 4
# Writers round the ends of an edit list to milliseconds and worse; what differs by less is the same end.
_ROUNDED_END_S = Fraction(3, 2000)
# Nothing shows a thousand frames a second.
_SHORTEST_S = Fraction(1, 1000)


def hold_ticks(entries: list[Entry], shown: list[int], stream: VideoStream, time_base: Fraction) -> int:
    """How long the last frame stays: its packet's duration, else the mean gap where gaps differ by rounding only, else
    the gap before it, else the stream's rate. A duration below a millisecond is one that the writer never set."""
    stated = max((e.duration for e in entries if e.shown and e.pts == shown[-1]), default=0)
    gaps = [b - a for a, b in pairwise(shown)]
    if stated * time_base >= _SHORTEST_S:
        return stated
    if gaps:
        return round(Fraction(sum(gaps), len(gaps))) if max(gaps) - min(gaps) <= 1 else gaps[-1]
    return round(1 / (stream.guessed_rate * time_base)) if stream.guessed_rate else 1


def edited_end(end: int, shown: list[int], edits: EditList, time_base: Fraction) -> int:
    """Where an edit list ends the picture, which tells how long the last frame is held; ``end`` without one. The
    duration of a packet is the distance to the next one in the order of decoding, which is something else where
    B-frames meet a variable rate. For the shortest end that is believed see ``hold_ticks``."""
    if edits.ends_s is None:
        return end
    edited = round(edits.ends_s / time_base)
    is_same = abs(edited - end) * time_base <= max(edits.tick_s, _ROUNDED_END_S)
    return end if is_same or (edited - shown[-1]) * time_base < _SHORTEST_S else edited


def listed(stream: VideoStream, seen: int) -> tuple[int, int | None]:
    """How many frames an MP4 lists, and the first ticks of those whose packets are not there."""
    listed = stream.index_entries
    missing = [listed[i].timestamp for i in range(seen, len(listed))]
    return sum(not listed[i].is_discard for i in range(len(listed))), min(missing, default=None)


def is_torn(path: Path, name: str, stream: VideoStream, entries: list[Entry]) -> bool:
    if name == MOV:  # all packets that the listing names are there; only fragments can be missing
        return not stream.frames and is_cut(path, name)
    return is_cut(path, name) or any(e.after_loss for e in entries[-_LAST_PACKETS:])


def loss_begins(last: Entry, hold: int, *, is_torn: bool) -> int:
    """First ticks that are lost: packets are in the order of decoding, so none behind the last is shown before it is
    decoded."""
    known = [t for t in (last.dts, last.pts) if t is not None]
    after = known[0] + max(last.duration, hold)
    return min(known[-1], after) if is_torn or last.after_loss else after


def declared_end(container: InputContainer, stream: VideoStream, start: int, path: Path) -> int:
    """Where the header of a cut file says that the picture ends, in ticks; 0 where it says nothing."""
    name, time_base = container.format.name, stream.time_base
    assert time_base is not None, "read_index has seen to it"
    if name == MOV:
        return start + (stream.duration or 0)
    if name == AVI:
        return start + (stream.frames or 0)
    if name == ASF:
        return start + int(Fraction(asf_duration_s(path) or 0) / time_base)
    if name in {MATROSKA, "flv"} and container.duration:
        return int(Fraction(container.duration, 1_000_000) / time_base)
    return 0
