"""The end of a file that only grows: what a kill left behind the last newline, and how it is mended."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from onlooker.records.atomic import sync_folder


@dataclass(frozen=True, slots=True)
class TornTail:
    """What ``AppendFile`` found behind the last newline on opening.

    ``completed``: a whole row that lacked its newline, which was added. ``set_aside``: ``size``
    bytes of a row that a kill had cut, now in ``saved_to``; whoever wrote that row has to write it
    anew.
    """

    what: Literal["completed", "set_aside"]
    size: int
    saved_to: Path | None


def mend_tail(path: Path) -> TornTail | None:
    """Make ``path`` end at a newline: complete a whole last row, set a fragment aside as
    ``<name>.torn-<n>``.
    """
    if not path.exists():
        return None
    with path.open("rb+") as file:
        start = _start_of_tail(file)
        file.seek(start)
        tail = file.read()
        if not tail:
            return None
        if _is_whole_row(tail):
            file.write(b"\n")
            os.fsync(file.fileno())
            return TornTail("completed", len(tail), None)
        saved_to = _save_fragment(path, tail)
        # Only once the fragment is safe elsewhere may it go from here.
        file.truncate(start)
        os.fsync(file.fileno())
        return TornTail("set_aside", len(tail), saved_to)


def _start_of_tail(file: IO[bytes], block: int = 1 << 16) -> int:
    """The offset behind the last newline, 0 if there is none, read backwards in blocks."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        begin = max(0, end - block)
        file.seek(begin)
        at = file.read(end - begin).rfind(b"\n")
        if at >= 0:
            return begin + at + 1
        end = begin
    return 0


def _is_whole_row(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail.decode("utf-8-sig")), dict)
    except (ValueError, RecursionError):
        return False


def _save_fragment(path: Path, fragment: bytes) -> Path:
    number = 1
    while True:
        saved_to = path.with_name(f"{path.name}.torn-{number}")
        try:
            with saved_to.open("xb") as file:
                file.write(fragment)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            number += 1
        else:
            sync_folder(path.parent)
            return saved_to
