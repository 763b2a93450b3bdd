"""Edit lists of MP4 and MOV files (ISO/IEC 14496-12, 8.6.6): which part of a track is presented, and when it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

_HEADERS_OF_FULL_BOX = 4  # version and flags
# A list of edits that fills more is no list of edits.
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class EditList:
    """The edit list of a track. ``ends_s``: where its presentation ends on the movie's clock, None where the list
    does not say (fragmented files); ``tick_s``: the unit it is rounded to."""

    ends_s: Fraction | None
    tick_s: Fraction


def edit_lists(path: Path) -> dict[int, EditList]:
    """{track id: its edit list} of an MP4 or MOV; tracks without one are left out, as is what cannot be parsed."""
    with path.open("rb") as file:
        end = os.fstat(file.fileno()).st_size
        moov = _find(file, 0, end, b"moov")
        if moov is None:
            return {}
        header = _find(file, *moov, b"mvhd")
        tick_s = None if header is None else _movie_tick_s(file, *header)
        if tick_s is None:
            return {}
        found: dict[int, EditList] = {}
        for kind, first, last in _boxes(file, *moov):
            if kind != b"trak":
                continue
            identity, edits = _find(file, first, last, b"tkhd"), _find(file, first, last, b"edts")
            entries = None if edits is None else _find(file, *edits, b"elst")
            if identity is not None and entries is not None:
                found[_track_id(file, *identity)] = EditList(_presented_s(file, *entries, tick_s), tick_s)
        return found


def _boxes(file: BinaryIO, first: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """(kind, where the content begins, where it ends) of the boxes between two places."""
    while first + 8 <= end:
        file.seek(first)
        head = file.read(16)
        size, start = int.from_bytes(head[:4], "big"), 8
        if size == 1:
            size, start = int.from_bytes(head[8:16], "big"), 16
        elif size == 0:  # up to the end
            size = end - first
        if size < start:
            return
        yield head[4:8], first + start, min(first + size, end)
        first += size


def _find(file: BinaryIO, first: int, end: int, kind: bytes) -> tuple[int, int] | None:
    return next(((start, last) for found, start, last in _boxes(file, first, end) if found == kind), None)


def _content(file: BinaryIO, first: int, end: int) -> tuple[int, bytes]:
    """Version and what follows the flags of a full box."""
    file.seek(first)
    data = file.read(min(end - first, _MOST_BYTES))
    return (data[0] if data else 0), data[_HEADERS_OF_FULL_BOX:]


def _movie_tick_s(file: BinaryIO, first: int, end: int) -> Fraction | None:
    version, data = _content(file, first, end)
    at = 16 if version == 1 else 8
    scale = int.from_bytes(data[at : at + 4], "big")
    return Fraction(1, scale) if scale else None


def _track_id(file: BinaryIO, first: int, end: int) -> int:
    version, data = _content(file, first, end)
    at = 16 if version == 1 else 8
    return int.from_bytes(data[at : at + 4], "big")


def _presented_s(file: BinaryIO, first: int, end: int, tick_s: Fraction) -> Fraction | None:
    version, data = _content(file, first, end)
    width = 8 if version == 1 else 4
    step = 2 * width + 4
    count = int.from_bytes(data[:4], "big")
    entries = [data[at : at + step] for at in range(4, len(data) - step + 1, step)][:count]
    lengths = [int.from_bytes(entry[:width], "big") for entry in entries]
    return None if not lengths or not lengths[-1] else sum(lengths) * tick_s
