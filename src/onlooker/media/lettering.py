"""Words as pictures: a font that is known to have the letters, lines that fit, white letters with a black rim."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, MissingExtra

_DEFAULT_FONT = Path("fonts", "ttf", "DejaVuSans.ttf")
# Scripts written from right to left or with letters that change their shape need a layout engine.
_RIGHT_TO_LEFT = frozenset(("R", "AL", "AN"))
_SHAPED = range(0x0900, 0x1100)
# Written without spaces: a line may end after any character but not begin with a closing mark.
_UNSPACED = (range(0x3040, 0x3100), range(0x3400, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x32000))
_NEVER_FIRST = frozenset("，。！？、；：”’）》〉」』】…ー々ぁぃぅぇぉっゃゅょ")
_RIM_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Lettering:
    """A font at one size in pixels."""

    font: Any
    size_px: int
    rim_px: int
    line_px: int

    def width_px(self, text: str) -> float:
        """How wide a line of ``text`` is, rim included."""
        return float(self.font.getlength(text)) + 2 * self.rim_px

    def wrap(self, text: str, width_px: float) -> list[str]:
        """Lines of ``text`` no wider than ``width_px``, full ones first; what is too long for one is cut anywhere."""
        lines: list[str] = []
        line = ""
        for piece in _pieces(text):
            if not line or self.width_px((line + piece).rstrip()) <= width_px:
                line += piece
            else:
                lines.append(line.strip())
                line = piece
            while self.width_px(line.rstrip()) > width_px and len(line.rstrip()) > 1:
                fit = max(1, sum(self.width_px(line[: n + 1]) <= width_px for n in range(len(line))))
                lines.append(line[:fit].strip())
                line = line[fit:]
        return [found for found in (*lines, line.strip()) if found]

    def picture(self, lines: Sequence[str]) -> NDArray[np.uint8]:
        """The lines, centred, one below the other: RGBA, uint8, height x width x 4."""
        from PIL import Image, ImageDraw  # noqa: PLC0415 - an extra

        width = round(max(self.width_px(line) for line in lines)) + 2
        image = Image.new("RGBA", (width, self.line_px * len(lines)), (0, 0, 0, 0))
        draw = ImageDraw.Draw(image)
        for number, line in enumerate(lines):
            draw.text(
                (width / 2, self.line_px * (number + 0.5)),
                line,
                font=self.font,
                anchor="mm",
                fill="white",
                stroke_width=self.rim_px,
                stroke_fill="black",
            )
        return np.asarray(image)


def load_lettering(size_px: int, texts: Sequence[str], font: Path | None = None) -> Lettering:
    """The font at ``size_px``, which is known to have every letter of ``texts``.

    ``font``: a TrueType or OpenType file; DejaVu Sans without one (Latin, Greek, Cyrillic, Arabic, Hebrew and more; no
    Chinese, Japanese or Korean). Raises ``InputError`` naming the letters that the font lacks, for a file that is no
    font, and for scripts that need a layout engine which Pillow has not here; ``MissingExtra``.
    """
    try:
        from PIL import ImageFont, features  # noqa: PLC0415 - an extra

        fonts = import_module("fontTools.ttLib")
        path = font or Path(import_module("matplotlib").get_data_path()) / _DEFAULT_FONT
    except ImportError as error:
        raise MissingExtra("report", "drawing words into pictures") from error
    letters = sorted({c for text in texts for c in text if unicodedata.category(c) not in {"Cc", "Cf", "Zs"}})
    try:
        with path.open("rb") as file:
            known = frozenset(fonts.TTFont(file, fontNumber=0, lazy=True).getBestCmap() or ())
        loaded = ImageFont.truetype(str(path), size_px)
    except (OSError, fonts.TTLibError) as error:
        raise InputError(f"is no font that can be read ({error})", where=str(path)) from error
    lacking = [c for c in letters if ord(c) not in known]
    if lacking:
        shown = ", ".join(f"{c} (U+{ord(c):04X})" for c in lacking[:8])
        raise InputError(
            f"the font lacks {len(lacking)} of the letters: {shown}",
            where=path.name,
            remedy="name a font file that has them, such as one of the Noto fonts",
        )
    if not features.check("raqm"):
        shaped = [c for c in letters if unicodedata.bidirectional(c) in _RIGHT_TO_LEFT or ord(c) in _SHAPED]
        if shaped:
            raise InputError(
                "this script needs a layout engine that Pillow has not here", value=shaped[0], remedy="install libraqm"
            )
    ascent, descent = loaded.getmetrics()
    rim_px = max(1, round(size_px * _RIM_SHARE))
    return Lettering(loaded, size_px, rim_px, ascent + descent + rim_px)


def _pieces(text: str) -> Iterator[str]:
    """What a line may be broken between: words with the space after them, characters of scripts without spaces."""
    piece = ""
    for place, c in enumerate(text):
        piece += c
        following = text[place + 1 : place + 2]
        between = c.isspace() or _is_unspaced(c) or (following and _is_unspaced(following))
        if between and not following.isspace() and following not in _NEVER_FIRST:
            yield piece
            piece = ""
    if piece:
        yield piece


def _is_unspaced(c: str) -> bool:
    return any(ord(c) in block for block in _UNSPACED)
