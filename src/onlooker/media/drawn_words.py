"""Subtitles drawn into the picture (the ``with_subtitles`` version of a video)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.media.encode import even_size
from onlooker.media.lettering import Lettering, load_lettering
from onlooker.media.pictures import Advance, Pixels, Rect, open_footage
from onlooker.media.repaint import repaint
from onlooker.media.transcript import Transcript, translate_transcript

MOST_LINES = 2
# Of the picture's height, and of its width, so that some twenty letters fit into a line of an upright picture.
_LETTER_SHARES = (0.055, 0.08)
_LEAST_LETTER_PX = 10
_WIDTH_SHARE = 0.9
_MARGIN_SHARE = 0.05
# Times of a file and of a frame that mean the same differ by rounding.
_SLACK_S = 1e-6


@dataclass(frozen=True, slots=True)
class Caption:
    """Lines on screen in the frames with ``start_s`` <= time < ``end_s``."""

    start_s: float
    end_s: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """``frames`` written, of which ``with_words`` show words; ``captions``: what was to be drawn; ``unshown``: those of
    them that no frame shows, since they are shorter than a frame or lie after the picture's end; ``left_out``: suspect
    segments, which are not drawn; ``missing``: frames that do not decode, the one before stays on screen."""

    path: Path
    frames: int
    with_words: int
    captions: tuple[Caption, ...]
    unshown: tuple[Caption, ...]
    left_out: int
    missing: int


def draw_subtitles(
    video: Path,
    transcript: Transcript,
    out: Path,
    *,
    font: Path | None = None,
    translate: Callable[[Sequence[str]], Sequence[str]] | None = None,
    language: str = "en",
    with_speakers: bool = False,
    advance: Advance | None = None,
) -> Drawn:
    """Write ``video`` to the mp4 file ``out`` with the words of ``transcript`` in its pictures.

    White letters with a black rim, a twentieth of the height tall, in the lower part, at most 2 lines of nine tenths of
    the width. A longer segment becomes several captions one after the other, each with a share of its time by its
    number of letters. Segments that overlap in time stand one above the other. A caption is on exactly the frames with
    start <= time < end. Frame times and sound stay as they are (see ``repaint``).

    ``translate`` gets the texts and gives as many in ``language``; ``with_speakers`` puts ``NAME: `` before words whose
    speaker is known; ``advance`` counts frames. Raises ``InputError`` for segments without times, words that do not
    fit, and letters that ``font`` lacks (see ``load_lettering``); what ``repaint`` raises.
    """
    left_out = sum(segment.suspect is not None for segment in transcript.segments)
    if translate is not None:
        transcript = translate_transcript(transcript, translate, language)
    footage = open_footage(video)
    width, height = even_size(footage.width_px, footage.height_px, None)
    size_px = max(_LEAST_LETTER_PX, round(min(_LETTER_SHARES[0] * height, _LETTER_SHARES[1] * width)))
    said = list(_said(transcript, with_speakers=with_speakers))
    lettering = load_lettering(size_px, [text for _, _, text in said], font)
    captions = [c for start, end, text in said for c in lay_out(start, end, text, lettering, width * _WIDTH_SHARE)]
    board = _Board(captions, lettering, (width, height))
    written = repaint(video, out, where=lambda at_s, _: board.rects(at_s), paint=board.paint, advance=advance)
    unshown = tuple(caption for caption in board.captions if caption not in board.shown)
    return Drawn(out, written.frames, written.painted, tuple(captions), unshown, left_out, written.missing)


def lay_out(start_s: float, end_s: float, text: str, lettering: Lettering, width_px: float) -> list[Caption]:
    """Captions of at most ``MOST_LINES`` lines that share the time from ``start_s`` to ``end_s`` by their letters."""
    lines = lettering.wrap(text, width_px)
    pages = [tuple(lines[i : i + MOST_LINES]) for i in range(0, len(lines), MOST_LINES)]
    pages = [_balanced(page, text, lettering, width_px) for page in pages]
    sizes = [sum(len(line) for line in page) for page in pages]
    bounds = [start_s + (end_s - start_s) * sum(sizes[:n]) / sum(sizes) for n in range(len(pages))] + [end_s]
    return [Caption(bounds[n], bounds[n + 1], page) for n, page in enumerate(pages)]


def _balanced(lines: tuple[str, ...], text: str, lettering: Lettering, width_px: float) -> tuple[str, ...]:
    """The words of ``lines`` in as many lines, of about the same width: no single word is left for the last one."""
    # Only the text knows whether there was a space where a line was broken.
    joint = next((j for j in (" ".join(lines), "".join(lines)) if j in text), None)
    for share in (0.55, 0.65, 0.75, 0.85):
        narrower = lettering.wrap(joint, width_px * share) if joint is not None else []
        if len(narrower) == len(lines) > 1:
            return tuple(narrower)
    return lines


def _said(transcript: Transcript, *, with_speakers: bool) -> Iterator[tuple[float, float, str]]:
    for segment in transcript.segments:
        if segment.suspect is not None or not segment.text.strip():
            continue
        if segment.start_s is None or segment.end_s is None:
            raise InputError("subtitles need times", where=transcript.made_by, value=segment.text)
        speaker = f"{segment.speaker}: " if with_speakers and segment.speaker else ""
        yield segment.start_s, segment.end_s, speaker + " ".join(segment.text.split())


class _Board:
    """Where which captions stand, and their pictures, each drawn once."""

    def __init__(self, captions: Sequence[Caption], lettering: Lettering, size: tuple[int, int]) -> None:
        self.captions = sorted(captions, key=lambda c: c.start_s)
        self.lettering = lettering
        self.size = size
        self.first = 0
        self.shown: set[Caption] = set()
        self.pictures: dict[tuple[str, ...], NDArray[np.uint8]] = {}

    def rects(self, time_s: float) -> list[Rect]:
        """The box of all words on screen at ``time_s``, empty where there are none."""
        lines = self._lines(time_s)
        return [self._place(self._picture(lines, time_s))] if lines else []

    def paint(self, picture: Pixels, time_s: float) -> None:
        """Lay the words over the picture."""
        words = self._picture(self._lines(time_s), time_s)
        box = self._place(words)
        part = picture[box.top_px : box.bottom_px, box.left_px : box.right_px]
        share = words[:, :, 3:].astype(np.float32) / 255
        part[:] = np.round(part * (1 - share) + words[:, :, :3] * share).astype(np.uint8)

    def _lines(self, time_s: float) -> tuple[str, ...]:
        at_s = time_s + _SLACK_S
        # Frames come in the order of time: captions that ended before the first one still open are done with.
        while self.first < len(self.captions) and self.captions[self.first].end_s <= at_s:
            self.first += 1
        lines: list[str] = []
        for caption in self.captions[self.first :]:
            if caption.start_s > at_s:
                break
            if at_s < caption.end_s:
                lines += caption.lines
                self.shown.add(caption)
        return tuple(lines)

    def _picture(self, lines: tuple[str, ...], time_s: float) -> NDArray[np.uint8]:
        if lines not in self.pictures:
            self.pictures.clear()  # the last one is wanted again and again, those before it hardly ever
            words = self.lettering.picture(lines)
            margin = 2 * round(self.size[1] * _MARGIN_SHARE)
            if words.shape[0] > self.size[1] - margin or words.shape[1] > self.size[0]:
                raise InputError(
                    f"the words do not fit into a picture of {self.size[0]} x {self.size[1]} pixels",
                    where=f"at {time_s:.3f} s",
                    value=" / ".join(lines),
                    remedy="shorten them, or let fewer segments overlap",
                )
            self.pictures[lines] = words
        return self.pictures[lines]

    def _place(self, words: NDArray[np.uint8]) -> Rect:
        width, height = self.size
        left = (width - words.shape[1]) // 2
        bottom = height - round(height * _MARGIN_SHARE)
        return Rect(left, bottom - words.shape[0], left + words.shape[1], bottom)
