"""Cues of SubRip and WebVTT files. Text in, cues out, and back. TTML has a file of its own, ``ttml``."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from onlooker.errors import InputError
from onlooker.media.rolling import Block, carried_lines

# SubRip writes a comma, WebVTT a point and, below one hour, no hours; people leave out the fraction.
_CLOCK = r"(?:(\d{1,6}):)?(\d{1,2}):([0-5]?\d)(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?$")
_ARROW = re.compile(r"-->|^\s*\d{1,6}:\d{1,2}[\d:.,]*\s*[-–—=]*>+\s*\d{1,6}:\d{1,2}")
_COUNTER = re.compile(r"\s*\d+\s*")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
# Only tags that subtitles have: "x<y and y>z" is said. Times within a WebVTT cue; overrides that come from ASS.
_TAG = re.compile(
    r"</?(?:[biuscv]|a|font|lang|ruby|rt|em|strong|span|div|p|center|size|color)(?=[\s./=>])[^<>]*>|<\d[\d:.]*>|\{\\[^}]*\}",
    re.IGNORECASE,
)
_BREAK = re.compile(r"<br\s*/?>|\\[Nh]", re.IGNORECASE)
_SPACES = re.compile(r"\s+")
_LANGUAGE = re.compile(r"^Language:\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle: seconds from the medium's start, words without markup, the speaker where the
    file names one."""

    start_s: float
    end_s: float
    text: str
    speaker: str | None


def read_srt_or_vtt(text: str, path: Path) -> list[Cue]:
    """Cues of a SubRip or WebVTT text with ``\\n`` line ends; cues without words are left out, those that overlap stay.

    Both formats are blocks whose timing line is ``start --> end``. A WebVTT cue ends at an empty line (one of spaces is
    none); a SubRip cue at the next one's counter, so that an empty line between its words loses none. A WebVTT cue in
    which several voices (``<v Anna>``) speak gives one cue each. Captions that roll (see ``rolling``) give each line
    once, in the cue in which it comes. A name before a colon is not taken for a speaker. Raises ``InputError``
    naming ``path`` and the line where a timing line cannot be read or ends before it starts, where words stand before
    the first timing line of a SubRip text, or where a text that is not empty has none.
    """
    is_vtt = text.lstrip().startswith("WEBVTT")
    lines = text.split("\n")
    places = [
        (number, *_times(line, f"{path}, line {number + 1}")) for number, line in enumerate(lines) if _is_timing(line)
    ]
    if not places and text.strip() and not is_vtt:
        raise InputError("no subtitle cue found", where=str(path), value=text.strip()[:40])
    if places and not is_vtt:
        _refuse_stray_words(lines[: places[0][0]], path)
    ends = [*(number for number, _, _ in places), len(lines)][1:]
    bodies: list[list[str]] = []
    for (number, _, _), end in zip(places, ends, strict=True):
        body = lines[number + 1 : end]
        if is_vtt:
            body = body[: body.index("")] if "" in body else body
        elif end < len(lines) and body and _COUNTER.fullmatch(body[-1]):
            body.pop()
        bodies.append([line for line in body if _plain(line)])
    blocks = [
        Block(start_s, end_s, tuple(map(_plain, body)))
        for (_, start_s, end_s), body in zip(places, bodies, strict=True)
    ]
    cues: list[Cue] = []
    for (_, start_s, end_s), body, carried in zip(places, bodies, carried_lines(blocks), strict=True):
        cues += _cues(start_s, end_s, " ".join(body[carried:]))
    return cues


def vtt_language(text: str) -> str | None:
    """The language that the head of a WebVTT text names (``Language: en``), None where it names none."""
    if not text.lstrip().startswith("WEBVTT"):
        return None
    found = _LANGUAGE.search(text.lstrip().partition("\n\n")[0])
    return found[1] if found else None


def write_srt(cues: Iterable[Cue]) -> str:
    """A SubRip text. Words that the format would change are written with entities; it has no place for speakers.

    Times are cut, never rounded up, to milliseconds: frame times that were read from a frame-exact list still fall
    before the frame they named.
    """
    blocks = []
    for number, cue in enumerate(cues, 1):
        words = cue.text if _plain(cue.text) == cue.text and not _is_timing(cue.text) else _escaped(cue.text)
        times = f"{_clock(cue.start_s, ',')} --> {_clock(cue.end_s, ',')}"
        blocks.append(f"{number}\n{times}\n{words}\n")
    return "\n".join(blocks)


def write_vtt(cues: Iterable[Cue], language: str | None = None) -> str:
    """A WebVTT text, with speakers as voices. Times are cut to milliseconds as in ``write_srt``."""
    blocks = ["WEBVTT\n" + (f"Language: {language}\n" if language else "")]
    for cue in cues:
        voice = f"<v {_escaped(_SPACES.sub(' ', cue.speaker))}>" if cue.speaker else ""
        times = f"{_clock(cue.start_s, '.')} --> {_clock(cue.end_s, '.')}"
        blocks.append(f"{times}\n{voice}{_escaped(cue.text)}\n")
    return "\n".join(blocks)


def _is_timing(line: str) -> bool:
    """Whether the line is, or was meant to be, a timing line: ``->`` between two clock times is a slip, not words."""
    return _ARROW.search(line) is not None


def _times(line: str, where: str) -> tuple[float, float]:
    match = _TIMING.match(line)
    if match is None:
        raise InputError(
            "not a timing line", where=where, value=line.strip(), remedy="write it as 00:00:01,000 --> 00:00:02,500"
        )
    groups = match.groups()
    start_s, end_s = _clock_s(groups[:4]), _clock_s(groups[4:])
    if end_s < start_s:
        raise InputError("a cue ends before it starts", where=where, value=(start_s, end_s))
    return start_s, end_s


def _refuse_stray_words(head: list[str], path: Path) -> None:
    for number, line in enumerate(head, 1):
        if line.strip() and not _COUNTER.fullmatch(line):
            raise InputError(
                "words before the first timing line",
                where=f"{path}, line {number}",
                value=line.strip(),
                remedy="give them a timing line, or remove them",
            )


def _cues(start_s: float, end_s: float, marked_up: str) -> Iterator[Cue]:
    """One cue a voice; none without words."""
    first, *voiced = _VOICE.split(marked_up)
    for speaker, words in [(None, first), *zip(voiced[::2], voiced[1::2], strict=True)]:
        text = _plain(words)
        if text:
            yield Cue(start_s, end_s, text, html.unescape(speaker).strip() or None if speaker else None)


def _plain(marked_up: str) -> str:
    """The words without markup, entities and double spaces."""
    return _SPACES.sub(" ", html.unescape(_TAG.sub("", _BREAK.sub(" ", marked_up)))).strip()


def _escaped(text: str) -> str:
    return _SPACES.sub(" ", html.escape(text, quote=False).replace("\\", "&#92;"))


def _clock_s(groups: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = groups
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    # Divided once, so that equal times are equal numbers, however they were written.
    return (whole * 1000 + int((fraction or "0").ljust(3, "0"))) / 1000


def _clock(time_s: float, point: str) -> str:
    # What floating point leaves below a whole millisecond is not a reason to lose one.
    milliseconds = math.floor(time_s * 1000 + 1e-6)
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"
