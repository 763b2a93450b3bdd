"""Pictures with what was found drawn into them, to be looked at."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from onlooker.errors import InputError, MissingExtra
from onlooker.media.digest import write_atomically
from onlooker.media.pictures import Footage, Pixels, Rect, look_at, open_footage

_COLOURS = ("#ff3030", "#30d0ff", "#ffd030", "#60ff60", "#ff60ff", "#ffffff")
_MAX_SIDE_PX = 960


def draw_boxes(
    path: Path, drawings: Sequence[tuple[float, Sequence[tuple[str, Rect]]]], out_dir: Path, *, jpeg_quality: int = 85
) -> int:
    """Write one JPEG (longer side at most 960 pixels) for each (time_s, labelled boxes in pixels as displayed); return
    how many were written. Frames that are lost are left out.

    Raises ``InputError`` where ``out_dir`` cannot be written, ``NoStream``, ``UnreadableMedia``, ``MissingExtra``.
    """
    footage = open_footage(path)
    size = footage.fitted(_MAX_SIDE_PX)
    written = 0
    for time_s, boxes in drawings:
        (seen,) = look_at(footage, [time_s], lambda frame: footage.pixels(frame, size))
        if seen is None:
            continue
        try:
            write_atomically(out_dir / f"{time_s:09.3f}.jpg", _drawn(footage, seen[1], boxes, jpeg_quality))
        except OSError as error:
            raise InputError(
                f"pictures cannot be written here ({error.strerror or error})",
                where=str(out_dir),
                remedy="name a folder that can be written",
            ) from error
        written += 1
    return written


def _drawn(footage: Footage, pixels: Pixels, boxes: Sequence[tuple[str, Rect]], jpeg_quality: int) -> bytes:
    try:
        from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "drawing pictures") from error
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=16)
    scale = picture.width / footage.width_px
    for number, (label, rect) in enumerate(boxes):
        box = rect.scaled(scale)
        colour = _COLOURS[number % len(_COLOURS)]
        corners = (box.left_px, box.top_px, box.right_px - 1, box.bottom_px - 1)
        draw.rectangle(corners, outline=colour, width=3)
        # Above the box where there is room, so that a small face is not covered.
        at = (box.left_px + 5, box.top_px - 20 if box.top_px >= 20 else box.top_px + 4)
        draw.rectangle(draw.textbbox(at, label, font=font), fill="black")
        draw.text(at, label, colour, font=font)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=jpeg_quality)
    return buffer.getvalue()
