"""Lists of cuts that name the same frames again after a round trip.

Milliseconds are too coarse: a frame at 0.03336 s written as 0.033 is one frame early when it is read, and as 0.034 one
tick late. Times are therefore written with all digits that tell them apart, beside the numbers of the frames. A list of
others, in milliseconds, is read by snapping each time to a frame that begins within a millisecond.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

from onlooker.errors import InputError, NoStream
from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.digest import write_atomically
from onlooker.media.index import PictureIndex, read_index

COLUMNS = ("start_s", "end_s", "first_frame", "end_frame")
_SNAP_S = 0.001


def picture_clock(path: Path) -> PictureIndex:
    """The clock of the picture. Raises ``NoStream`` without one, ``UnreadableMedia`` as ``probe`` does."""
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            raise NoStream("has no picture", where=str(path))
        keep_only(container, stream)
        return read_index(container, stream, path)


def frame_window(clock: PictureIndex, first_frame: int, end_frame: int) -> tuple[float, float]:
    """The window, in seconds from the first frame, that shows frames ``first_frame`` up to but without ``end_frame``,
    counted from 0 in the order of showing. Raises ``InputError`` for frames that are not there."""
    number = len(clock.shown_pts)
    if not 0 <= first_frame < end_frame <= number:
        raise InputError(f"frames 0 <= first < end <= {number} are needed", value=(first_frame, end_frame))
    return _begin_s(clock, first_frame), _begin_s(clock, end_frame)


def window_frames(clock: PictureIndex, window: tuple[float, float]) -> tuple[int, int]:
    """First frame and end (excluded) of a window; each time is snapped to a frame that begins within a millisecond.

    Where none does, the start means the frame on screen, the end the next one that begins.
    """
    start_s, end_s = window
    near = _near(clock, start_s)
    first = _place(clock, start_s) - 1 if near is None else near
    end = _near(clock, end_s)
    return max(0, first), min(_place(clock, end_s), len(clock.shown_pts)) if end is None else end


def write_cuts(windows: Sequence[tuple[float, float]], clock: PictureIndex, out: Path) -> None:
    """Write windows as CSV: ``start_s``, ``end_s``, ``first_frame``, ``end_frame`` (excluded)."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for window in windows:
        writer.writerow([*(repr(float(t)) for t in window), *window_frames(clock, window)])
    write_atomically(out, text.getvalue().encode())


def read_cuts(path: Path, clock: PictureIndex) -> list[tuple[float, float]]:
    """Read windows from CSV with columns ``start_s`` and ``end_s``, snapped to frames of ``clock``.

    Raises ``InputError`` naming file and line for anything else.
    """
    windows: list[tuple[float, float]] = []
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", where=str(path)) from error
    for line, row in enumerate(csv.DictReader(text.splitlines()), 2):
        try:
            start_s, end_s = float(row["start_s"]), float(row["end_s"])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError("a cut needs numbers start_s and end_s", where=f"{path}:{line}", value=row) from error
        if not 0 <= start_s < end_s:
            raise InputError("a cut needs 0 <= start_s < end_s", where=f"{path}:{line}", value=(start_s, end_s))
        near = [_near(clock, t) for t in (start_s, end_s)]
        windows.append(
            (
                start_s if near[0] is None else _begin_s(clock, near[0]),
                end_s if near[1] is None else _begin_s(clock, near[1]),
            )
        )
    return windows


def _begin_s(clock: PictureIndex, frame: int) -> float:
    return clock.duration_s if frame == len(clock.shown_pts) else clock.seconds(clock.shown_pts[frame])


def _place(clock: PictureIndex, time_s: float) -> int:
    """The first frame that begins at or after ``time_s``; their number where only the end does, one more beyond it."""
    return bisect_left(range(len(clock.shown_pts) + 1), time_s, key=lambda frame: _begin_s(clock, frame))


def _near(clock: PictureIndex, time_s: float) -> int | None:
    """The frame that begins closest to ``time_s``, within a millisecond; the number of frames stands for the end."""
    place = min(_place(clock, time_s), len(clock.shown_pts))
    found = min({max(0, place - 1), place}, key=lambda frame: abs(_begin_s(clock, frame) - time_s))
    return found if abs(_begin_s(clock, found) - time_s) <= _SNAP_S else None
