"""Cues of subtitle files: SubRip, WebVTT, and the plain part of TTML. Text in, cues out."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from onlooker.errors import InputError

_CLOCK = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"^\s*{_CLOCK}\s*-->\s*{_CLOCK}(?:\s.*)?$")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"</?[a-zA-Z0-9][^>]*>|\{\\[^}]*\}")
_SPACES = re.compile(r"\s+")
_TTML_CLOCK = re.compile(r"^(\d{1,6}):(\d\d):(\d\d(?:\.\d+)?)$")
_TTML_OFFSET = re.compile(r"^(\d{1,12}(?:\.\d+)?)(h|m|s|ms)$")
_UNIT_S = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


@dataclass(frozen=True, slots=True)
class Cue:
    """One subtitle: seconds from the medium's start, words without markup, the speaker where the
    file names one."""

    start_s: float
    end_s: float
    text: str
    speaker: str | None


def read_srt_or_vtt(text: str, path: Path) -> list[Cue]:
    """Cues of a SubRip or WebVTT text with ``\\n`` line ends; cues without words are left out.

    Both formats are blocks whose timing line is ``start --> end``. Raises ``InputError`` naming
    ``path`` and the line where a timing line cannot be read or ends before it starts, or where a text that is not
    empty has none.
    """
    lines = text.split("\n")
    places: list[tuple[int, float, float]] = []
    for number, line in enumerate(lines):
        if "-->" in line:
            match = _TIMING.match(line)
            if match is None:
                raise InputError("not a timing line", where=f"{path}, line {number + 1}", value=line.strip())
            groups = match.groups()
            start_s, end_s = _clock_s(groups[:4]), _clock_s(groups[4:])
            if end_s < start_s:
                raise InputError(
                    "a cue ends before it starts", where=f"{path}, line {number + 1}", value=(start_s, end_s)
                )
            places.append((number, start_s, end_s))
    if not places and text.strip() and not text.lstrip().startswith("WEBVTT"):
        raise InputError("no subtitle cue found", where=str(path), value=text.strip()[:40])
    cues: list[Cue] = []
    for number, start_s, end_s in places:
        body: list[str] = []
        for line in lines[number + 1 :]:
            if not line.strip() or "-->" in line:
                break
            body.append(line)
        cues += _cue(start_s, end_s, " ".join(body))
    return cues


def _cue(start_s: float, end_s: float, marked_up: str) -> list[Cue]:
    voice = _VOICE.search(marked_up)
    words = _SPACES.sub(" ", html.unescape(_TAG.sub("", marked_up))).strip()
    speaker = voice.group(1).strip() if voice else None
    return [Cue(start_s, end_s, words, speaker)] if words else []


def _clock_s(groups: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = groups
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole + int((fraction or "0").ljust(3, "0")) / 1000


def read_ttml(text: str, path: Path) -> list[Cue]:
    """Cues of a TTML text: ``p`` elements with ``begin`` and ``end`` (or ``dur``) as clock or
    offset times.

    Times in frames or ticks, and times inherited from ``div`` or ``body``, are an ``InputError`` naming the paragraph
    (counted from 1), as are an end before its start and anything that is not XML.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("TTML with a document type is not read", where=str(path))
    try:
        root = ET.fromstring(text.strip())  # noqa: S314 - entities, the danger of XML, are refused above
    except ET.ParseError as error:
        raise InputError(f"not valid XML ({error})", where=str(path)) from error
    cues: list[Cue] = []
    paragraphs = (e for e in root.iter() if e.tag.rsplit("}", 1)[-1] == "p")
    for number, element in enumerate(paragraphs, 1):
        where = f"{path}, paragraph {number}"
        start_s = _ttml_s(element.get("begin"), where)
        end_s = (
            _ttml_s(element.get("end"), where)
            if element.get("end") is not None
            else start_s + _ttml_s(element.get("dur"), where)
        )
        if end_s < start_s:
            raise InputError("a cue ends before it starts", where=where, value=(start_s, end_s))
        for child in element.iter():
            if child.tag.rsplit("}", 1)[-1] == "br":
                child.text = " "
        words = _SPACES.sub(" ", "".join(element.itertext())).strip()
        if words:
            cues.append(Cue(start_s, end_s, words, None))
    return cues


def _ttml_s(value: str | None, where: str) -> float:
    if value is not None and (clock := _TTML_CLOCK.match(value)):
        return int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])
    if value is not None and (offset := _TTML_OFFSET.match(value)):
        return float(offset[1]) * _UNIT_S[offset[2]]
    raise InputError(
        "a paragraph's time must be a clock time (00:00:01.5) or an offset (1.5s)",
        where=where,
        value=value,
    )
