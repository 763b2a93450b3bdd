"""Transcripts: what was said when, read from the usual subtitle files and from our own dump."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from onlooker.errors import InputError
from onlooker.media.digest import write_atomically
from onlooker.media.encodings import decode_text
from onlooker.media.subtitles import read_srt_or_vtt, read_ttml

Status = Literal["ok", "no_audio", "no_speech"]
_STATUSES: tuple[Status, ...] = ("ok", "no_audio", "no_speech")
_SUFFIXES = (".srt", ".vtt", ".ttml", ".json", ".txt")


@dataclass(frozen=True, slots=True)
class Segment:
    """Words said from ``start_s`` to ``end_s`` (seconds from the picture's first frame, 0 <= start
    <= end).

    Times are None for plain text without times. ``suspect``: why the words may be invented; such
    segments are not rendered.
    """

    start_s: float | None
    end_s: float | None
    text: str
    speaker: str | None = None
    suspect: str | None = None


@dataclass(frozen=True, slots=True)
class Transcript:
    """Segments in the order of time. ``status``: ``no_audio`` for a medium without sound,
    ``no_speech`` if nothing was said.

    ``made_by``: the file's name or the model with its settings.
    """

    segments: tuple[Segment, ...]
    language: str | None
    status: Status
    made_by: str


def find_transcript(video: Path) -> Path | None:
    """The subtitle file beside ``video``: same stem and .srt, .vtt, .ttml, .json or .txt, else with
    ``.en`` before it."""
    for middle in ("", ".en"):
        for suffix in _SUFFIXES:
            candidate = video.with_name(f"{video.stem}{middle}{suffix}")
            if candidate.is_file() and candidate != video:
                return candidate
    return None


def read_transcript(path: Path) -> Transcript:
    """Read SRT, WebVTT, TTML, JSON (our own dump, or Whisper's) or plain text, by the file's
    suffix.

    UTF-8 with or without a byte-order mark, UTF-16 with one, or what is plainly GB18030 (see ``encodings``); any line
    ends. Times below zero become zero, and a segment that ends there is ``suspect``. Raises ``InputError`` naming the
    file and the line or the segment where the encoding or the format cannot be read, where a time is no finite number,
    or a cue ends before it starts. How long the medium is, only ``clamp_transcript`` knows.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            "unknown kind of transcript",
            where=str(path),
            value=path.suffix,
            remedy=f"use one of {', '.join(_SUFFIXES)}",
        )
    text = _decode(path)
    if suffix == ".json":
        return _from_json(text, path)
    if suffix == ".txt":
        segments = tuple(Segment(None, None, s) for s in (p.strip() for p in text.split("\n")) if s)
    else:
        cues = read_ttml(text, path) if suffix == ".ttml" else read_srt_or_vtt(text, path)
        segments = tuple(Segment(c.start_s, c.end_s, c.text, c.speaker) for c in cues)
    return _whole(segments, None, path.name)


def slice_transcript(transcript: Transcript, window: tuple[float, float]) -> Transcript:
    """Segments that overlap ``window`` = (start_s, end_s); words are not cut, times are kept.

    Segments without times have no place in a window: asking for one of them raises ``InputError``.
    """
    start_s, end_s = window
    kept: list[Segment] = []
    for segment in transcript.segments:
        if segment.start_s is None or segment.end_s is None:
            raise InputError(
                "a transcript without times has no window",
                where=transcript.made_by,
                value=window,
                remedy="use a transcript with times (SRT, VTT, TTML, JSON)",
            )
        if segment.start_s < end_s and max(segment.end_s, segment.start_s + 1e-9) > start_s:
            kept.append(segment)
    status: Status = "no_speech" if transcript.status == "ok" and not kept else transcript.status
    return replace(transcript, segments=tuple(kept), status=status)


def shift_transcript(transcript: Transcript, by_s: float) -> Transcript:
    """The transcript with all its times ``by_s`` seconds later; segments without times stay as they are."""

    def later(time_s: float | None) -> float | None:
        return None if time_s is None else time_s + by_s

    segments = (replace(s, start_s=later(s.start_s), end_s=later(s.end_s)) for s in transcript.segments)
    return replace(transcript, segments=tuple(segments))


def render_transcript(transcript: Transcript) -> str:
    """Lines such as ``[0.0-2.4] ANNA: Hello.``; suspect segments are left out; empty where nothing
    is left."""
    lines = []
    for segment in transcript.segments:
        if segment.suspect is None:
            times = (
                ""
                if segment.start_s is None or segment.end_s is None
                else f"[{segment.start_s:.1f}-{segment.end_s:.1f}] "
            )
            speaker = f"{segment.speaker}: " if segment.speaker else ""
            lines.append(f"{times}{speaker}{segment.text}")
    return "\n".join(lines)


def write_transcript(transcript: Transcript, path: Path) -> None:
    """Write the JSON dump that ``read_transcript`` reads back to an equal value, atomically."""
    document = {"format": "onlooker-transcript", **asdict(transcript)}
    write_atomically(path, (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())


def clamp_segment(segment: Segment, end_s: float) -> Segment | None:
    """The segment cut to [0, ``end_s``]; None for one that ends before it starts or lies wholly
    outside."""
    if segment.start_s is None or segment.end_s is None:
        return segment
    if segment.end_s < segment.start_s or segment.start_s >= end_s or segment.end_s < 0:
        return None
    return replace(segment, start_s=max(segment.start_s, 0.0), end_s=min(segment.end_s, end_s))


def clamp_transcript(transcript: Transcript, duration_s: float) -> Transcript:
    """The transcript with its times cut to [0, ``duration_s``], the length of the medium in seconds.

    A segment that begins at or after the end is kept at the end and marked ``suspect``, so that ``render_transcript``
    leaves it out: its words cannot have been said in this medium. Segments without times stay as they are.
    """
    if not (math.isfinite(duration_s) and duration_s >= 0):
        raise InputError("a duration must be a finite number of seconds, at least 0", value=duration_s)
    return replace(transcript, segments=tuple(_clamped(s, duration_s) for s in transcript.segments))


def _clamped(segment: Segment, duration_s: float) -> Segment:
    if segment.start_s is None:
        return segment
    suspect = segment.suspect
    if segment.start_s >= duration_s:
        suspect = suspect or f"begins at {segment.start_s:.3f} s, the medium ends at {duration_s:.3f} s"
    start_s = min(max(segment.start_s, 0.0), duration_s)
    end_s = None if segment.end_s is None else min(max(segment.end_s, start_s), duration_s)
    return replace(segment, start_s=start_s, end_s=end_s, suspect=suspect)


def _decode(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    return decode_text(data, path)


def _whole(
    segments: tuple[Segment, ...], language: str | None, made_by: str, status: Status | None = None
) -> Transcript:
    ordered = tuple(sorted(segments, key=lambda s: (s.start_s or 0.0, s.end_s or 0.0)))
    return Transcript(ordered, language, status or ("ok" if ordered else "no_speech"), made_by)


def _from_json(text: str, path: Path) -> Transcript:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not valid JSON ({error})", where=str(path)) from error
    rows = document.get("segments") if isinstance(document, dict) else document
    if not isinstance(rows, list):
        raise InputError(
            "holds no list of segments",
            where=str(path),
            remedy='a list of {"start", "end", "text"}, alone or under "segments"',
        )
    segments = tuple(_json_segment(row, f"{path}, segment {i}") for i, row in enumerate(rows))
    if not isinstance(document, dict):
        return _whole(segments, None, path.name)
    language, status = document.get("language"), document.get("status")
    if status is not None and status not in _STATUSES:
        raise InputError("unknown status", where=str(path), value=status)
    made_by = document.get("made_by")
    return _whole(
        segments,
        language if isinstance(language, str) else None,
        made_by if isinstance(made_by, str) else path.name,
        status,
    )


def _json_segment(row: Any, where: str) -> Segment:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise InputError("a segment needs a text", where=where, value=row)
    start_s = _json_time(row.get("start_s", row.get("start")), row, where)
    end_s = _json_time(row.get("end_s", row.get("end")), row, where)
    if start_s is not None and end_s is not None and end_s < start_s:
        raise InputError("a segment ends before it starts", where=where, value=(start_s, end_s))
    before = "lies before the start of the medium" if end_s is not None and end_s < 0 else None
    speaker, suspect = row.get("speaker"), row.get("suspect")
    return Segment(
        start_s=None if start_s is None else max(start_s, 0.0),
        end_s=None if end_s is None else max(end_s, 0.0),
        text=row["text"].strip(),
        speaker=speaker if isinstance(speaker, str) and speaker else None,
        suspect=suspect if isinstance(suspect, str) and suspect else before,
    )


def _json_time(value: Any, row: Any, where: str) -> float | None:
    if value is None:
        return None
    try:
        time_s = math.nan if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
    except OverflowError:
        time_s = math.inf
    if not math.isfinite(time_s):
        raise InputError("a segment's time must be a finite number of seconds", where=where, value=row)
    return time_s
