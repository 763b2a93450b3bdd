"""Transcripts: what was said when, read from the usual subtitle files and from our own dump."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from onlooker.errors import InputError
from onlooker.media.digest import write_atomically
from onlooker.media.encodings import decode_text
from onlooker.media.subtitles import Cue, read_srt_or_vtt, vtt_language, write_srt, write_vtt
from onlooker.media.transcript_json import Status, read_json
from onlooker.media.ttml import read_ttml

_SUFFIXES = (".srt", ".vtt", ".ttml", ".dfxp", ".json", ".txt")
_WRITTEN_SUFFIXES = (".json", ".srt", ".vtt")


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

    ``made_by``: the file's name or the model with its settings. ``notices``: what was changed or rejected on the way,
    such as an end beyond the sound, a line each.
    """

    segments: tuple[Segment, ...]
    language: str | None
    status: Status
    made_by: str
    notices: tuple[str, ...] = ()


def find_transcript(video: Path) -> Path | None:
    """The subtitle file beside ``video``: same stem and .srt, .vtt, .ttml, .dfxp, .json or .txt, else
    with ``.en`` before it."""
    for middle in ("", ".en"):
        for suffix in _SUFFIXES:
            candidate = video.with_name(f"{video.stem}{middle}{suffix}")
            if candidate.is_file() and candidate != video:
                return candidate
    return None


def read_transcript(path: Path, *, encoding: str | None = None) -> Transcript:
    """Read SRT, WebVTT, TTML (DFXP), JSON (our own dump or those of Whisper and its kin, see ``transcript_json``) or
    plain text, by the file's suffix.

    UTF-8 with or without a byte-order mark, UTF-16 with one, what is plainly GB18030, or ``encoding`` (see
    ``encodings``); any line ends. Times below zero become zero, and a segment that ends there is ``suspect``. Raises
    ``InputError`` naming the file and the line or the segment where the encoding or the format cannot be read, where a
    time is no finite number, or a cue ends before it starts. How long the medium is, only ``clamp_transcript`` knows.
    """
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            "unknown kind of transcript",
            where=str(path),
            value=path.suffix,
            remedy=f"use one of {', '.join(_SUFFIXES)}",
        )
    text = _decode(path, encoding)
    language: str | None = None
    if suffix == ".json":
        return _from_json(text, path)
    if suffix == ".txt":
        segments = tuple(Segment(None, None, s) for s in (p.strip() for p in text.split("\n")) if s)
    else:
        if suffix in {".ttml", ".dfxp"}:
            cues, language = read_ttml(text, path)
        else:
            cues, language = read_srt_or_vtt(text, path), vtt_language(text)
        segments = tuple(Segment(c.start_s, c.end_s, c.text, c.speaker) for c in cues)
    return _whole(segments, language, path.name)


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


def written_suffix(path: Path) -> str:
    """The suffix, in lower case, of a transcript that can be written. Raises ``InputError`` for another one."""
    suffix = path.suffix.lower()
    if suffix not in _WRITTEN_SUFFIXES:
        kinds = ", ".join(_WRITTEN_SUFFIXES)
        raise InputError("a transcript is not written as this", where=str(path), remedy=f"use one of {kinds}")
    return suffix


def write_transcript(transcript: Transcript, path: Path) -> None:
    """Write .json (the dump that ``read_transcript`` reads back to an equal value), .srt or .vtt, atomically.

    Subtitles leave out suspect segments, as ``render_transcript`` does, and cut times to milliseconds; SRT has no
    speakers. Raises ``InputError`` for another suffix, and for segments without times in a subtitle file.
    """
    suffix = written_suffix(path)
    if suffix == ".json":
        document = {"format": "onlooker-transcript", **asdict(transcript)}
        text = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
    else:
        cues = [
            Cue(*_times(s, transcript.made_by), s.text, s.speaker) for s in transcript.segments if s.suspect is None
        ]
        text = write_srt(cues) if suffix == ".srt" else write_vtt(cues, transcript.language)
    write_atomically(path, text.encode())


def translate_transcript(
    transcript: Transcript, translate: Callable[[Sequence[str]], Sequence[str]], language: str
) -> Transcript:
    """The transcript with its words replaced by what ``translate`` gives for them, one text a segment in their order.

    Raises ``InputError`` where the number of texts is another one, or one is empty. Suspect segments are not asked for
    and left out.
    """
    kept = [segment for segment in transcript.segments if segment.suspect is None]
    texts = list(translate([segment.text for segment in kept])) if kept else []
    if len(texts) != len(kept):
        raise InputError(
            "the translation has another number of texts than it was given",
            value=len(texts),
            remedy=f"give {len(kept)}",
        )
    for text, segment in zip(texts, kept, strict=True):
        if not text.strip():
            raise InputError("the translation of a segment is empty", value=segment.text)
    segments = tuple(replace(s, text=text.strip()) for s, text in zip(kept, texts, strict=True))
    made_by = f"{transcript.made_by}, translated"
    return replace(transcript, segments=segments, language=language, made_by=made_by)


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
    leaves it out: its words cannot have been said in this medium. Segments without times stay as they are. What was
    changed stands in ``notices``.
    """
    if not (math.isfinite(duration_s) and duration_s >= 0):
        raise InputError("a duration must be a finite number of seconds, at least 0", value=duration_s)
    notices = [
        f"segment {i} ends at {s.end_s:.3f} s, the medium at {duration_s:.3f} s"
        for i, s in enumerate(transcript.segments)
        if s.end_s is not None and s.end_s > duration_s
    ]
    segments = tuple(_clamped(s, duration_s) for s in transcript.segments)
    return replace(transcript, segments=segments, notices=(*transcript.notices, *notices))


def _clamped(segment: Segment, duration_s: float) -> Segment:
    if segment.start_s is None:
        return segment
    suspect = segment.suspect
    if segment.start_s >= duration_s:
        suspect = suspect or f"begins at {segment.start_s:.3f} s, the medium ends at {duration_s:.3f} s"
    start_s = min(max(segment.start_s, 0.0), duration_s)
    end_s = None if segment.end_s is None else min(max(segment.end_s, start_s), duration_s)
    return replace(segment, start_s=start_s, end_s=end_s, suspect=suspect)


def _times(segment: Segment, where: str) -> tuple[float, float]:
    if segment.start_s is None or segment.end_s is None:
        raise InputError("subtitles need times", where=where, value=segment.text, remedy="write .json, or add times")
    return segment.start_s, segment.end_s


def _decode(path: Path, encoding: str | None) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    return decode_text(data, path, encoding)


def _whole(
    segments: tuple[Segment, ...], language: str | None, made_by: str, status: Status | None = None
) -> Transcript:
    ordered = tuple(sorted(segments, key=lambda s: (s.start_s or 0.0, s.end_s or 0.0)))
    return Transcript(ordered, language, status or ("ok" if ordered else "no_speech"), made_by)


def _from_json(text: str, path: Path) -> Transcript:
    found = read_json(text, path)
    segments = tuple(
        Segment(
            start_s=None if row.start_s is None else max(row.start_s, 0.0),
            end_s=None if row.end_s is None else max(row.end_s, 0.0),
            text=row.text,
            speaker=row.speaker,
            suspect=row.suspect
            or ("lies before the start of the medium" if row.end_s is not None and row.end_s < 0 else None),
        )
        for row in found.rows
    )
    whole = _whole(segments, found.language, found.made_by or path.name, found.status)
    return replace(whole, notices=found.notices)
