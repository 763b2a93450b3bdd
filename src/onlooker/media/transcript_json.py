"""JSON transcripts of the usual tools, as plain rows.

* our own dump and Whisper's: ``segments`` of ``start``, ``end`` (or ``start_s``, ``end_s``), ``text``; or a bare list;
* whisperx and faster-whisper: the same with ``speaker``, and ``words`` of ``word``, ``start``, ``end``, ``speaker``;
* youtube-transcript-api: a bare list with ``duration`` in place of ``end``;
* whisper.cpp: ``transcription`` of ``offsets`` in milliseconds and ``text``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Literal

from onlooker.errors import InputError

Status = Literal["ok", "no_audio", "no_speech"]
_STATUSES: tuple[Status, ...] = ("ok", "no_audio", "no_speech")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One segment as the file states it: times in seconds, None where it states none."""

    start_s: float | None
    end_s: float | None
    text: str
    speaker: str | None
    suspect: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """What a JSON transcript holds; None where it does not say."""

    rows: tuple[Row, ...]
    language: str | None
    status: Status | None
    made_by: str | None
    notices: tuple[str, ...]


def read_json(text: str, path: Path) -> Document:
    """Rows with words of a JSON transcript. A segment whose words are of several speakers gives one row each.

    Raises ``InputError`` naming the file and the segment (counted from 0).
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON ({error})", where=str(path)) from error
    half = _HALF_CHARACTER.search(json.dumps(document, ensure_ascii=False))
    if half:
        raise InputError(
            "holds half a character (a lone surrogate)",
            where=str(path),
            value=f"\\u{ord(half[0]):04x}",
            remedy="write the words as UTF-8",
        )
    head = document if isinstance(document, dict) else {}
    found = head.get("segments", head.get("transcription")) if head else document
    if not isinstance(found, list):
        raise InputError(
            "holds no list of segments",
            where=str(path),
            remedy='a list of {"start", "end", "text"}, alone or under "segments"',
        )
    rows = tuple(row for i, segment in enumerate(found) for row in _rows(segment, f"{path}, segment {i}"))
    status = head.get("status")
    if status is not None and status not in _STATUSES:
        raise InputError("unknown status", where=str(path), value=status)
    notices = head.get("notices")
    return Document(
        rows,
        _words(head.get("language")) or _words(_part(head, "result").get("language")),
        status,
        _words(head.get("made_by")),
        tuple(n for n in notices if isinstance(n, str)) if isinstance(notices, list) else (),
    )


def _rows(segment: Any, where: str) -> Iterator[Row]:
    if not isinstance(segment, dict) or not isinstance(segment.get("text"), str):
        raise InputError("a segment needs a text", where=where, value=segment)
    speaker, suspect = _words(segment.get("speaker")), _words(segment.get("suspect"))
    start_s, end_s = _times(segment, where)
    spoken = _spoken(segment, where)
    if len({who for who, *_ in spoken}) > 1:
        for who, first_s, last_s, words in spoken:
            yield Row(first_s, last_s, words, who, suspect)
    elif segment["text"].strip():
        if start_s is None and spoken:
            start_s, end_s = spoken[0][1], spoken[-1][2]
        own = speaker or (spoken[0][0] if spoken else None)
        yield Row(start_s, end_s, segment["text"].strip(), own, suspect)


def _spoken(segment: dict[str, Any], where: str) -> list[tuple[str | None, float | None, float | None, str]]:
    """The words of a segment by who says them in turn: speaker, first and last time, words.

    A word without a speaker (whisperx leaves numbers so) is of the one before it, or of the segment's."""
    found = segment.get("words")
    if not isinstance(found, list):
        return []
    words: list[tuple[str | None, float | None, float | None, str]] = []
    who = _words(segment.get("speaker"))
    for number, word in enumerate(found):
        spelt = word.get("word", word.get("text")) if isinstance(word, dict) else None
        if not isinstance(spelt, str):
            raise InputError("a word needs its letters", where=f"{where}, word {number}", value=word)
        who = _words(word.get("speaker")) or who
        words.append((who, *_times(word, f"{where}, word {number}"), spelt))
    # Whisper's own words carry the space before them, whisperx's do not.
    glue = "" if any(spelt[:1].isspace() for *_, spelt in words) else " "
    runs: list[tuple[str | None, float | None, float | None, str]] = []
    for speaker, group in groupby(words, key=lambda word: word[0]):
        run = list(group)
        starts = [start for _, start, _, _ in run if start is not None]
        ends = [end for _, _, end, _ in run if end is not None]
        text = glue.join(spelt for *_, spelt in run).strip()
        if text:
            runs.append((speaker, min(starts, default=None), max(ends, default=None), text))
    return runs


def _times(row: dict[str, Any], where: str) -> tuple[float | None, float | None]:
    offsets = _part(row, "offsets")
    if offsets:
        start, end = _time(offsets.get("from"), row, where), _time(offsets.get("to"), row, where)
        start_s, end_s = (None if t is None else t / 1000 for t in (start, end))
    else:
        start_s = _time(row.get("start_s", row.get("start")), row, where)
        end_s = _time(row.get("end_s", row.get("end")), row, where)
        length_s = _time(row.get("duration"), row, where)
        if end_s is None and start_s is not None and length_s is not None:
            end_s = start_s + length_s
    if start_s is not None and end_s is not None and end_s < start_s:
        raise InputError("a segment ends before it starts", where=where, value=(start_s, end_s))
    return start_s, end_s


def _time(value: Any, row: Any, where: str) -> float | None:
    if value is None:
        return None
    try:
        time = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        time = math.inf
    if not math.isfinite(time):
        raise InputError("a segment's time must be a finite number of seconds", where=where, value=row)
    return time


def _part(row: dict[str, Any], name: str) -> dict[str, Any]:
    part = row.get(name)
    return part if isinstance(part, dict) else {}


def _words(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
