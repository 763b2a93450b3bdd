"""The outer shape of Matroska files (RFC 9559): whether the end is there, where blocks cannot be read, and which
clusters differ from their check sum."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import BinaryIO

_EBML, _SEGMENT, _CLUSTER = b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67", b"\x1f\x43\xb6\x75"
# What may stand in a Segment or, one level down, in a Cluster; Clusters are walked as if they had no frame.
_KNOWN = {
    *(b"\x11\x4d\x9b\x74", b"\x15\x49\xa9\x66", b"\x16\x54\xae\x6b", b"\x10\x43\xa7\x70", _CLUSTER),
    *(b"\x1c\x53\xbb\x6b", b"\x19\x41\xa4\x69", b"\x12\x54\xc3\x67", b"\xec", b"\xbf"),
    *(b"\xe7", b"\xa3", b"\xa0", b"\xab", b"\xa7", b"\x58\x54", b"\xaf", _EBML, _SEGMENT),
}
_CHECK_SUM = b"\xbf"
_STEP_BYTES = 1 << 20


def matroska_is_cut(file: BinaryIO, total: int) -> bool:
    """Whether the Segment claims more bytes than the file of ``total`` bytes has."""
    place = 0
    for identifier in (_EBML, _SEGMENT):
        found, data, size = _element(file, place)
        if found != identifier:
            return False
        if identifier == _SEGMENT:
            return size is not None and data + size > total
        place = data + (size or 0)
    return False


def unreadable_places(path: Path) -> list[int]:
    """Where, in bytes from the start, something stands that is no element: what lies between there and the next
    Cluster is lost.

    Damage inside the content of a block is not seen here; the decoder sees it.
    """
    places: list[int] = []
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        place = 0
        while place < total:
            identifier, data, size = _element(file, place)
            if identifier not in _KNOWN:
                places.append(place)
                place = _next_cluster(file, place + 1, total)
            elif identifier in {_CLUSTER, _SEGMENT} or size is None:
                place = data
            else:
                place = data + size
    return places


def broken_clusters(path: Path) -> list[tuple[int, int]]:
    """Byte ranges, end excluded, of the Clusters that differ from their CRC-32 (RFC 8794, 11.3.1; FFmpeg writes it,
    WebM has none): a picture in there has changed, or the sound beside it, or a time."""
    found: list[tuple[int, int]] = []
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        place = 0
        while place < total:
            identifier, data, size = _element(file, place)
            if identifier not in _KNOWN:
                place = _next_cluster(file, place + 1, total)
            elif identifier == _SEGMENT or size is None:
                place = data
            elif identifier == _CLUSTER:
                end = data + size
                if end <= total and not _is_sound(file, data, end):
                    found.append((place, end))
                    end = _next_cluster(file, data, total)  # the size may be what is wrong
                place = end
            else:
                place = data + size
    return found


def _is_sound(file: BinaryIO, start: int, end: int) -> bool:
    """Whether the content of an element has its CRC-32, or states none."""
    identifier, data, size = _element(file, start)
    if identifier != _CHECK_SUM or size != 4:
        return True
    file.seek(data)
    stated = int.from_bytes(file.read(4), "little")
    found, left = 0, end - data - 4
    while left > 0:
        piece = file.read(min(_STEP_BYTES, left))
        if not piece:
            return False
        found, left = zlib.crc32(piece, found), left - len(piece)
    return found == stated


def _element(file: BinaryIO, place: int) -> tuple[bytes, int, int | None]:
    """Identifier, where its data begin, and how many bytes they have (None: not stated); no identifier where there is
    none."""
    file.seek(place)
    head = file.read(12)
    width = 9 - head[0].bit_length() if head else 9
    if width > 4 or len(head) < width + 1:
        return b"", place, None
    size_width = 9 - head[width].bit_length()
    raw = head[width : width + size_width]
    if size_width > 8 or len(raw) < size_width:
        return b"", place, None
    most = (1 << (7 * size_width)) - 1
    size = int.from_bytes(raw, "big") & most
    return head[:width], place + width + size_width, None if size == most else size


def _next_cluster(file: BinaryIO, place: int, total: int) -> int:
    while place < total:
        file.seek(place)
        at = file.read(_STEP_BYTES + len(_CLUSTER) - 1).find(_CLUSTER)
        if at >= 0:
            return place + at
        place += _STEP_BYTES
    return total
