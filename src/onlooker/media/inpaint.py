"""On-screen text painted out (the ``without_text`` version of a video), and the proof: read again, side by side."""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, MissingExtra
from onlooker.media.detectors.ocr import TextReader
from onlooker.media.digest import write_atomically
from onlooker.media.pictures import Advance, Footage, Pixels, Rect, look_at, open_footage
from onlooker.media.repaint import repaint
from onlooker.media.screen_text import DETECTION_SIDE_PX, Reads, ScreenText, box_of, is_same_text, is_text, overlaps

# Of a box's height, painted around it: rims and shadows reach beyond what the reader calls the text.
_RIM_SHARE = 0.25
_LEAST_RIM_PX = 2
# Telea, "An Image Inpainting Technique Based on the Fast Marching Method", Journal of Graphics Tools 9(1), 2004: pixels
# are filled from the border inwards by what lies within this radius. Wide boxes are filled at this height, since the
# filling is smooth anyway, and enlarged: as good to look at, and a tenth of the time.
_RADIUS_PX = 4
_FILLED_HEIGHT_PX = 40
# Of the picture around a box that the filling is taken from, in pixels of the smaller size.
_SURROUND_PX = 8
_SHEET_WIDTH_PX = 480
_SHEET_GAP_PX = 6
_MOST_ROWS = 12
_SHEET_SUFFIXES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
_SLACK_S = 1e-6


@dataclass(frozen=True, slots=True)
class PaintedOut:
    """``frames`` written, of which ``painted`` were painted over; ``missing``: frames that do not decode.

    ``gone`` and ``left``: texts that can no longer, and that can still be read on the result, on the first, the middle
    or the last of their frames. ``share_gone``: ``gone`` among all of them; None where no text was given. ``unseen``:
    other lines that can be read there, by the time they were met at: text that was not found before.
    """

    path: Path
    frames: int
    painted: int
    missing: int
    gone: tuple[ScreenText, ...]
    left: tuple[ScreenText, ...]
    unseen: tuple[tuple[float, str], ...]

    @property
    def share_gone(self) -> float | None:
        texts = len(self.gone) + len(self.left)
        return len(self.gone) / texts if texts else None


def paint_out_text(
    video: Path,
    out: Path,
    texts: Sequence[ScreenText],
    *,
    reader: Reads | None = None,
    advance: Advance | None = None,
) -> PaintedOut:
    """Write ``video`` to the mp4 file ``out`` with the boxes of ``texts`` filled from what surrounds them.

    A box, a quarter of its height larger on all sides, is filled (Telea 2004) on exactly the frames with start <= time
    < end; of text that moves, where it stands on the samples around the frame (see ``ScreenText.box_at``). Frame times
    and sound stay as they are (see ``repaint``). Then the result is read again: what was painted over is reported gone
    only where the reader no longer finds it. ``reader``: another one than ``TextReader``; ``advance`` counts frames.
    Raises what ``repaint`` raises; ``MissingExtra``.
    """
    try:
        import cv2  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("perception", "painting text out") from error

    def boxes(time_s: float, size: tuple[int, int]) -> list[Rect]:
        at_s = time_s + _SLACK_S
        return [_grown(text.box_at(time_s), size) for text in texts if text.start_s <= at_s < text.end_s]

    def paint(picture: Pixels, time_s: float) -> None:
        _fill(picture, boxes(time_s, (picture.shape[1], picture.shape[0])))

    written = repaint(video, out, where=boxes, paint=paint, advance=advance)
    gone, left, unseen = _read_again(out, texts, reader or TextReader(DETECTION_SIDE_PX))
    return PaintedOut(out, written.frames, written.painted, written.missing, gone, left, unseen)


def write_sheet(before: Path, after: Path, texts: Sequence[ScreenText], out: Path) -> int:
    """Write a picture for a person to look at (.png or .jpg): a row a text, before (box outlined) and after, on the
    frame in the middle of its time; at most 12 rows, spread evenly over the texts. Returns the number of rows.

    Without any text the row is the middle of the video. Raises ``InputError`` for another suffix.
    """
    try:
        from PIL import Image, ImageDraw  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "writing pictures") from error
    form = sheet_form(out)
    old, new = open_footage(before), open_footage(after)
    shown = [texts[i * len(texts) // _MOST_ROWS] for i in range(_MOST_ROWS)] if len(texts) > _MOST_ROWS else texts
    times_s = [(t.start_s + t.end_s) / 2 for t in shown] or [old.duration_s / 2]
    rows: list[NDArray[np.uint8]] = []
    pairs = zip(_pictures(old, times_s), _pictures(new, times_s), strict=True)
    for n, (left, right) in enumerate(pairs):
        image = Image.fromarray(left)
        if shown:
            box = shown[n].box_at(times_s[n]).scaled(_SHEET_WIDTH_PX / old.width_px)
            outline = (box.left_px - 2, box.top_px - 2, box.right_px + 1, box.bottom_px + 1)
            ImageDraw.Draw(image).rectangle(outline, outline=(255, 0, 0), width=2)
        gap = np.full((left.shape[0], _SHEET_GAP_PX, 3), 255, np.uint8)
        rows += [np.concatenate([np.asarray(image), gap, right], axis=1)]
        rows += [np.full((_SHEET_GAP_PX, rows[0].shape[1], 3), 255, np.uint8)]
    buffer = io.BytesIO()
    Image.fromarray(np.concatenate(rows[:-1])).save(buffer, form)
    write_atomically(out, buffer.getvalue())
    return len(times_s)


def sheet_form(out: Path) -> str:
    """The kind of picture that a sheet's name asks for. Raises ``InputError`` for another suffix."""
    form = _SHEET_SUFFIXES.get(out.suffix.lower())
    if form is None:
        raise InputError("a sheet is a picture", where=str(out), remedy=f"use one of {', '.join(_SHEET_SUFFIXES)}")
    return form


def _pictures(footage: Footage, times_s: Sequence[float]) -> Iterator[Pixels]:
    """The frames on screen at the times, at the width of the sheet; gray where a frame is lost."""
    size = (_SHEET_WIDTH_PX, max(1, round(footage.height_px * _SHEET_WIDTH_PX / footage.width_px)))
    for found in look_at(footage, times_s, lambda frame: footage.pixels(frame, size)):
        yield np.full((size[1], size[0], 3), 128, np.uint8) if found is None else found[1]


def _fill(picture: Pixels, boxes: Sequence[Rect]) -> None:
    """Fill the boxes of the RGB picture in place. Boxes that touch each other are filled together."""
    import cv2  # noqa: PLC0415 - an extra

    height, width = picture.shape[:2]
    mask = np.zeros((height, width), np.uint8)
    for box in boxes:
        mask[box.top_px : box.bottom_px, box.left_px : box.right_px] = 255
    count, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    for left, top, wide, high, _ in stats[1:count]:
        scale = min(1.0, _FILLED_HEIGHT_PX / high)
        margin = round(_SURROUND_PX / scale)
        rows = slice(max(0, top - margin), min(height, top + high + margin))
        columns = slice(max(0, left - margin), min(width, left + wide + margin))
        part, hole = picture[rows, columns], mask[rows, columns]
        small_size = (max(1, round(part.shape[1] * scale)), max(1, round(part.shape[0] * scale)))
        small = cv2.resize(np.ascontiguousarray(part), small_size, interpolation=cv2.INTER_AREA)
        # Any pixel of the smaller picture that the hole touches is to be filled.
        small_hole = (cv2.resize(hole, small_size, interpolation=cv2.INTER_AREA) > 0).astype(np.uint8)
        filled = cv2.inpaint(small, small_hole, _RADIUS_PX, cv2.INPAINT_TELEA)
        large = cv2.resize(filled, (part.shape[1], part.shape[0]), interpolation=cv2.INTER_LINEAR)
        part[hole > 0] = large[hole > 0]


def _grown(box: Rect, size: tuple[int, int]) -> Rect:
    rim = max(_LEAST_RIM_PX, round(box.height_px * _RIM_SHARE))
    return Rect(
        max(0, box.left_px - rim),
        max(0, box.top_px - rim),
        min(size[0], box.right_px + rim),
        min(size[1], box.bottom_px + rim),
    )


def _read_again(
    out: Path, texts: Sequence[ScreenText], reader: Reads
) -> tuple[tuple[ScreenText, ...], tuple[ScreenText, ...], tuple[tuple[float, str], ...]]:
    """The texts that are gone from the video, those that can still be read, and what else can."""
    footage = open_footage(out)
    size = (footage.width_px, footage.height_px)
    times_of_frames = [footage.index.seconds(pts) for pts in footage.index.shown_pts]
    looks = [(n, t) for n, text in enumerate(texts) for t in _looks_s(times_of_frames, text)]
    times_s = sorted({t for _, t in looks})
    read = look_at(footage, times_s, lambda frame: reader.read(footage.pixels(frame, size)))
    legible: set[int] = set()
    unseen: dict[str, float] = {}
    for time_s, found in zip(times_s, read, strict=True):
        there = [n for n, t in looks if t == time_s]
        for line in [] if found is None else found[1]:
            known = [
                n for n in there if overlaps(texts[n].box, box_of(line)) and is_same_text(texts[n].text, line.text)
            ]
            legible.update(known)
            if not known and is_text(line, footage):
                unseen.setdefault(line.text, time_s)
    gone = tuple(text for n, text in enumerate(texts) if n not in legible)
    left = tuple(text for n, text in enumerate(texts) if n in legible)
    return gone, left, tuple((time_s, text) for text, time_s in unseen.items())


def _looks_s(times_s: Sequence[float], text: ScreenText) -> set[float]:
    """Of the frames' times in order: those of the first, the middle and the last frame of the text."""
    first, end = (bisect_left(times_s, t - _SLACK_S) for t in (text.start_s, text.end_s))
    return {times_s[first], times_s[(first + end) // 2], times_s[end - 1]} if end > first else set()
