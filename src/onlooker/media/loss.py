"""What is lost from a media file, as far as its container tells: the end that is not there, the holes in between.

The end. Known: MP4 family (a box longer than the file), Matroska (the Segment's size), AVI (the RIFF size), ASF (the
file size in its header), FLV (``filesize`` in its metadata), MPEG-TS (no whole number of packets), MPEG-PS (a packet
longer than the file), GIF (blocks up to the trailer), APNG (``IEND``), Ogg (a last page that ends the stream), and
wherever the demuxer flags a torn last packet. Not known: a file cut between two packets of TS or PS, and streams that
state no size. Those look like shorter, whole files.

Holes. A gap between two frames is a frame held for long, unless packets are known to be lost there: the demuxer flags
a packet (MPEG-TS: its continuity counter jumps), or bytes that are no Matroska element lie in between. Not known:
packets lost from an FLV, ASF or Ogg file, and TS packets lost in multiples of 16. Packets of an MP4 are all
listed, so a lost one is a frame that cannot be decoded. AVI counts its packets, so behind bytes that are no chunk no
time is sure.

Changed bytes. Known where something checks them: Matroska's clusters as FFmpeg writes them (CRC-32), and where the
decoder meets what cannot be. Otherwise not known; ``tests/media/test_damage.py`` measures how often.
"""

from __future__ import annotations

import os
import re
import struct
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from onlooker.media.matroska import broken_clusters, matroska_is_cut, unreadable_places

_ASF_FILE_PROPERTIES = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_TAIL_BYTES = 1 << 16
_TS_SYNC = 0x47
_OGG_LAST_PAGE = 4
_TICKS_S = 10_000_000  # ASF counts in 100 ns
_AVI_CHUNK = re.compile(rb"LIST|JUNK|idx1|ix\d\d|_PMX|ISFT|vprp|\d\d(dc|db|wb|pc|tx|sb|iv|ix)")
# A flag stands at the packet before, at or after the loss, and pictures change order by a few packets.
_NEAR_PACKETS = 2


def is_cut(path: Path, container: str) -> bool:
    """Whether the file is known to lack its end. ``container``: libav's name of the format."""
    check = _CHECKS.get(container)
    if check is None:
        return False
    with path.open("rb") as file:
        return check(file, os.fstat(file.fileno()).st_size)


def asf_duration_s(path: Path) -> float | None:
    """The play duration that the header of an ASF file states (ASF specification, section 3.2), None without one."""
    with path.open("rb") as file:
        head = file.read(_TAIL_BYTES)
    at = head.find(_ASF_FILE_PROPERTIES)
    if at < 0 or len(head) < at + 88:
        return None
    play = int.from_bytes(head[at + 64 : at + 72], "little") / _TICKS_S
    preroll = int.from_bytes(head[at + 80 : at + 88], "little") / 1000
    return max(0.0, play - preroll)


def marked_losses(path: Path, container: str, byte_places: Sequence[int | None], flagged: Sequence[bool]) -> list[int]:
    """Numbers of the packets at or right before which something is lost, rising.

    ``byte_places``: where each packet stands in the file; ``flagged``: what the demuxer says of it.
    """
    marks = {i for i, is_flagged in enumerate(flagged) if is_flagged}
    if container == "matroska,webm":
        for byte in unreadable_places(path):
            after = next((i for i, place in enumerate(byte_places) if place is not None and place > byte), None)
            if after is not None:
                marks |= {max(after - 1, 0), after}  # the block that ended there may have run into the next one
    return sorted(marks)


def changed_packets(path: Path, container: str, byte_places: Sequence[int | None]) -> set[int]:
    """Numbers of the packets that lie in a stretch of the file which differs from its check sum."""
    if container != "matroska,webm":
        return set()
    ranges = broken_clusters(path)
    return {
        number
        for number, place in enumerate(byte_places)
        if place is not None and any(first <= place < end for first, end in ranges)
    }


def uncounted_from(path: Path, container: str, byte_places: Sequence[int | None]) -> int | None:
    """Number of the first packet of an AVI whose place in time is not sure, because something before it is no chunk;
    None where all are sure. The packet that runs into it counts, too."""
    broken_at = _avi_break(path) if container == "avi" else None
    if broken_at is None:
        return None
    before = [number for number, place in enumerate(byte_places) if place is not None and place < broken_at]
    return before[-1] if before else 0


def holes(
    shown: Sequence[int], packets: Mapping[int, tuple[int, int]], lost_at: Sequence[int]
) -> tuple[tuple[int, int], ...]:
    """Ranges of ticks, end excluded, in which no frame is known: gaps longer than a frame and a half beside a loss.

    ``shown``: ticks of the frames, rising; ``packets``: their number in the order of decoding and their duration;
    ``lost_at``: see ``marked_losses``.
    """
    if not lost_at or len(shown) < 3:
        return ()
    gaps = sorted(b - a for a, b in pairwise(shown))
    usual = gaps[len(gaps) // 2]
    found: list[tuple[int, int]] = []
    for a, b in pairwise(shown):
        step = packets[a][1] or usual
        if 2 * (b - a) > 3 * step:
            low, high = sorted((packets[a][0], packets[b][0]))
            at = bisect_left(lost_at, low - _NEAR_PACKETS)
            if at < len(lost_at) and lost_at[at] <= high + _NEAR_PACKETS:
                found.append((a + step, b))
    return tuple(found)


def _mov(file: BinaryIO, total: int) -> bool:
    place = 0
    while place + 8 <= total:
        file.seek(place)
        head = file.read(16)
        size = int.from_bytes(head[:4], "big")
        if size == 1 and len(head) == 16:
            size = int.from_bytes(head[8:], "big")
        if size == 0:  # up to the end of the file
            return False
        if size < 8 or not head[4:8].isalnum():
            return False  # bytes behind the last box: no statement
        place += size
    return place > total


def _matroska(file: BinaryIO, total: int) -> bool:
    return matroska_is_cut(file, total)


def _avi(file: BinaryIO, total: int) -> bool:
    head = file.read(8)
    size = int.from_bytes(head[4:8], "little")
    # Writers that never came back to fill in the size leave 0 or all ones.
    return head[:4] == b"RIFF" and size not in {0, 0xFFFFFFFF} and size + 8 > total


def _avi_break(path: Path) -> int | None:
    """Where, in bytes from the start, something stands that is no chunk (AVI RIFF File Reference, OpenDML 1.02)."""
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        place = 0
        while place + 8 <= total:
            file.seek(place)
            head = file.read(12)
            size = int.from_bytes(head[4:8], "little")
            if head[:4] == b"RIFF" or (head[:4] == b"LIST" and head[8:] in {b"movi", b"rec "}):
                place += 12
            elif _AVI_CHUNK.fullmatch(head[:4]):
                place += 8 + size + size % 2
            else:
                return place
    return None


def _asf(file: BinaryIO, total: int) -> bool:
    head = file.read(_TAIL_BYTES)
    at = head.find(_ASF_FILE_PROPERTIES)
    if at < 0 or len(head) < at + 48:
        return False
    return int.from_bytes(head[at + 40 : at + 48], "little") > total


def _flv(file: BinaryIO, total: int) -> bool:
    head = file.read(_TAIL_BYTES)
    at = head.find(b"\x00\x08filesize\x00")
    if at < 0 or len(head) < at + 19:
        return False
    (size,) = struct.unpack(">d", head[at + 11 : at + 19])
    return bool(size > total)


def _mpegts(file: BinaryIO, total: int) -> bool:
    head = file.read(5 * 204)
    for size, first in ((188, 0), (192, 4), (204, 0)):
        marks = head[first::size][:4]
        if len(marks) > 1 and set(marks) == {_TS_SYNC}:
            return total % size != 0
    return False


def _mpeg(file: BinaryIO, total: int) -> bool:
    place = 0
    while place + 6 <= total:
        file.seek(place)
        head = file.read(14)
        if head[:3] != b"\0\0\1":
            return False  # the walk lost its way: no statement
        if head[3] == 0xB9:
            place += 4
        elif head[3] == 0xBA:
            is_mpeg2 = len(head) == 14 and head[4] >> 6 == 1
            place += 14 + (head[13] & 7) if is_mpeg2 else 12
        else:
            place += 6 + int.from_bytes(head[4:6], "big")
    return place > total


def _gif(file: BinaryIO, total: int) -> bool:
    data = file.read()
    place = 13 + _colours(data, 10)
    while place < total:
        kind = data[place]
        if kind == 0x3B:
            return False
        if kind == 0x21:
            place += 2
        elif kind == 0x2C:
            place += 10 + _colours(data, place + 9) + 1
        else:
            return True
        while place < total and data[place]:
            place += data[place] + 1
        place += 1
    return True


def _colours(data: bytes, place: int) -> int:
    """Bytes of the colour table that the flags at ``place`` speak of."""
    flags = data[place] if place < len(data) else 0
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _apng(file: BinaryIO, total: int) -> bool:
    file.seek(max(0, total - _TAIL_BYTES))
    return b"IEND\xaeB`\x82" not in file.read()


def _ogg(file: BinaryIO, total: int) -> bool:
    file.seek(max(0, total - 2 * _TAIL_BYTES))
    tail = file.read()
    at = tail.rfind(b"OggS")
    if at < 0 or len(tail) < at + 27:
        return True
    lacing = tail[at + 27 : at + 27 + tail[at + 26]]
    is_torn = len(lacing) < tail[at + 26] or len(tail) < at + 27 + len(lacing) + sum(lacing)
    return is_torn or not tail[at + 5] & _OGG_LAST_PAGE


_CHECKS: dict[str, Callable[[BinaryIO, int], bool]] = {
    "mov,mp4,m4a,3gp,3g2,mj2": _mov,
    "matroska,webm": _matroska,
    "avi": _avi,
    "asf": _asf,
    "flv": _flv,
    "mpegts": _mpegts,
    "mpeg": _mpeg,
    "gif": _gif,
    "apng": _apng,
    "ogg": _ogg,
}
