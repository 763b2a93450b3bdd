"""Text on screen over time: what can be read, where, from which frame to which.

Reading takes a tenth of a second to a second a picture, so a picture is read only where it can hold something new: at
a sampling step, and there only if it differs visibly from the one that was read last (``sameness``; about a
millisecond). Readings of neighbouring samples are joined to one text by place and likeness. In which frame between two
samples a text comes or goes is then found by halving, reading its own box only. Where one text comes or goes others
often do, so the pictures on both sides of every such change are read as well.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.detectors.ocr import LEAST_CONFIDENCE, TextLine, TextReader
from onlooker.media.pictures import Advance, Footage, Pixels, Rect, open_footage, walk
from onlooker.media.sameness import hardly_differs, shrunk

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

# Large enough to find subtitles of full HD.
DETECTION_SIDE_PX = 960
# Of the picture's height: lower lines are small print, such as a channel's address or a clock.
SMALL_SHARE = 1 / 30
# A text is taken up where the reader is sure (``LEAST_CONFIDENCE``), and followed down to this: text that fades in or
# out is read with less and less confidence.
_LEAST_CONFIDENCE = 0.5
# Readings are of one text where the boxes share this part of the smaller one and this part of the letters agree.
_LEAST_SHARED = 0.4
_LEAST_LIKENESS = 0.6
# Of a box's height, around it, when it is read alone: the reader finds nothing in a picture without a margin.
_MARGIN_SHARE = 0.6
# Text moves where all its places together are this many times as large as the largest of them; readings of still text
# differ by a few pixels.
_MOST_STILL = 1.5
_LEAST_LETTERS = 2
_GREATEST_HEIGHT_SHARE = 0.25
_SLACK_S = 1e-6


class Reads(Protocol):
    """What reads the lines of a picture, such as ``TextReader``."""

    def read(self, picture: Pixels) -> list[TextLine]: ...


@dataclass(frozen=True, slots=True)
class ScreenText:
    """A line of text that stands in the frames with ``start_s`` <= time < ``end_s`` (seconds from the first frame).

    ``box``: pixels as displayed, around every place it was read at. ``text``: its surest reading; ``confidence``: the
    mean of the reader's, 0..1. ``read``: on how many samples; ``places``: the box on each, with its time, in order.
    """

    text: str
    box: Rect
    start_s: float
    end_s: float
    confidence: float
    read: int
    places: tuple[tuple[float, Rect], ...] = ()

    def box_at(self, time_s: float) -> Rect:
        """What covers the text at ``time_s``: all its places if it stands still; if it moves those before and after,
        and outside its samples the nearest one, carried on as it moved there by a step."""
        boxes = [box for _, box in self.places]
        if len(boxes) < 2 or self.box.area_px <= _MOST_STILL * max(box.area_px for box in boxes):
            return self.box
        place = bisect_right([at_s for at_s, _ in self.places], time_s)
        if 0 < place < len(boxes):
            return _around(boxes[place - 1], boxes[place])
        nearest, inner = (boxes[0], boxes[1]) if place == 0 else (boxes[-1], boxes[-2])
        across = nearest.left_px - inner.left_px, nearest.right_px - inner.right_px
        down = nearest.top_px - inner.top_px, nearest.bottom_px - inner.bottom_px
        beyond = Rect(
            nearest.left_px + min(across),
            nearest.top_px + min(down),
            nearest.right_px + max(across),
            nearest.bottom_px + max(down),
        )
        return _around(nearest, beyond)


@dataclass(slots=True)
class _Track:
    """A text while it is followed through the samples: where and when it was first and last read, and the nearest
    samples before and after on which it was not (None at the start and at the end)."""

    text: str
    best: float
    box: Rect
    first_box: Rect
    last_box: Rect
    before_s: float | None
    first_s: float
    last_s: float
    scores: list[float]
    places: list[tuple[float, Rect]]
    after_s: float | None = None


def find_screen_text(
    video: Path,
    *,
    samples_per_s: float = 2.0,
    least_height_share: float = 0.0,
    reader: Reads | None = None,
    advance: Advance | None = None,
) -> tuple[ScreenText, ...]:
    """Every line of text that stands long enough to be met by a sample, in the order of time and place.

    The frame on screen every 1 / ``samples_per_s`` seconds, the last frame, and those on both sides of a change that
    was found are looked at. What stands for less than the step may be missed; one that goes and comes back between two
    samples is taken to have stayed; text that moves on by more than half its width a step gives a text a place. The
    step in which a text comes or goes counts to it as a whole where its box alone cannot be read. Lines lower than
    ``least_height_share`` of the picture's height are left out, as are readings of a single letter or digit, or higher
    than a quarter: most of those are no text. ``reader``: another one than ``TextReader``; ``advance`` counts
    hundredths of the video that were read. Raises ``InputError`` for a step that is none, ``NoStream``,
    ``UnreadableMedia``, ``MissingExtra``.
    """
    if not 0 < samples_per_s < float("inf"):
        raise InputError("samples_per_s must be above 0", value=samples_per_s)
    if reader is None:
        reader = TextReader(DETECTION_SIDE_PX, _LEAST_CONFIDENCE)
    footage = open_footage(video)
    known: dict[float, list[TextLine]] = {}
    tracks = _tracked(footage, reader, samples_per_s, least_height_share, known, frozenset(), advance)
    changes = _edges(footage, reader, tracks)
    if changes:
        tracks = _tracked(footage, reader, samples_per_s, least_height_share, known, frozenset(changes.values()))
        changes = _edges(footage, reader, tracks)
    found = [
        ScreenText(
            track.text,
            track.box,
            changes.get((n, True), track.first_s),
            footage.duration_s if track.after_s is None else changes.get((n, False), track.after_s),
            round(sum(track.scores) / len(track.scores), 4),
            len(track.scores),
            tuple(track.places),
        )
        for n, track in enumerate(tracks)
    ]
    return tuple(sorted(found, key=lambda t: (t.start_s, t.box.top_px, t.box.left_px)))


def is_same_text(one: str, other: str) -> bool:
    """Whether two readings agree in most of their letters; spaces and capitals do not count."""
    a, b = ("".join(text.casefold().split()) for text in (one, other))
    return SequenceMatcher(None, a, b, autojunk=False).ratio() >= _LEAST_LIKENESS


def box_of(line: TextLine) -> Rect:
    """The box of a line."""
    return Rect(line.left_px, line.top_px, line.right_px, line.bottom_px)


def overlaps(one: Rect, other: Rect) -> bool:
    """Whether two boxes share enough of the smaller one to be of one text."""
    return one.shared_px(other) >= _LEAST_SHARED * max(1, min(one.area_px, other.area_px))


def _tracked(
    footage: Footage,
    reader: Reads,
    samples_per_s: float,
    least_height_share: float,
    known: dict[float, list[TextLine]],
    changes: frozenset[float],
    advance: Advance | None = None,
) -> list[_Track]:
    """Texts with the samples they were first and last read on, and those before and after.

    ``known`` keeps what was read, by time; at ``changes``, and on the frame before each, is looked, too.
    """
    done: list[_Track] = []
    running: list[_Track] = []
    anchor = None
    lines: list[TextLine] = []
    before_s: float | None = None
    for time_s, picture in _samples(footage, 1 / samples_per_s, changes):
        small = shrunk(picture)
        if anchor is None or not hardly_differs(small, anchor):
            if time_s not in known:
                known[time_s] = [line for line in reader.read(picture) if is_text(line, footage, least_height_share)]
            anchor, lines = small, known[time_s]
        running = _continued(running, lines, time_s, before_s)
        for track in [t for t in running if t.last_s < time_s]:
            # Readers miss a line of a whole picture now and then: its box alone decides.
            if _is_read(reader, track.text, _cut(picture, track.last_box)):
                track.last_s = time_s
            else:
                track.after_s = time_s
                running.remove(track)
                done.append(track)
        before_s = time_s
        if advance is not None:
            advance(min(100, round(100 * time_s / footage.duration_s)), 100)
    if before_s is None:
        raise UnreadableMedia("no frame of the picture can be decoded", where=str(footage.path))
    return done + running


def is_text(line: TextLine, footage: Footage, least_height_share: float = 0.0) -> bool:
    """Whether a reading is taken for text: faces, stars and folds are read as one letter, often a large one."""
    height_px = line.bottom_px - line.top_px
    letters = sum(c.isalnum() for c in line.text)
    return letters >= _LEAST_LETTERS and least_height_share <= height_px / footage.height_px <= _GREATEST_HEIGHT_SHARE


def _samples(footage: Footage, step_s: float, changes: frozenset[float]) -> Iterator[tuple[float, Pixels]]:
    """The frames on screen at every multiple of ``step_s``, those at ``changes`` and before them, and the last frame,
    each once."""
    size = (footage.width_px, footage.height_px)
    held: tuple[float, VideoFrame] | None = None
    due_s = 0.0
    for time_s, frame in walk(footage):
        if held is not None:
            is_due = time_s > due_s + _SLACK_S
            if is_due or time_s in changes or held[0] in changes:
                yield held[0], footage.pixels(held[1], size)
            if is_due:
                due_s = math.ceil((time_s - _SLACK_S) / step_s) * step_s
        held = (time_s, frame)
    if held is not None:
        yield held[0], footage.pixels(held[1], size)


def _continued(running: list[_Track], lines: Sequence[TextLine], time_s: float, before_s: float | None) -> list[_Track]:
    """The texts that ran before the sample at ``time_s``, those found in ``lines`` as far as there, and new ones."""
    pairs = [
        (SequenceMatcher(None, track.text, line.text, autojunk=False).ratio(), t, n)
        for t, track in enumerate(running)
        for n, line in enumerate(lines)
        if overlaps(track.last_box, box_of(line)) and is_same_text(track.text, line.text)
    ]
    track_of: dict[int, int] = {}
    for _, t, n in sorted(pairs, reverse=True):
        if n not in track_of and t not in track_of.values():
            track_of[n] = t
    going = list(running)
    for n, line in enumerate(lines):
        box = box_of(line)
        if n in track_of:
            track = running[track_of[n]]
            if line.confidence > track.best:
                track.text, track.best = line.text, line.confidence
            track.box, track.last_box, track.last_s = _around(track.box, box), box, time_s
            track.scores.append(line.confidence)
            track.places.append((time_s, box))
        elif line.confidence >= LEAST_CONFIDENCE:
            scores, places = [line.confidence], [(time_s, box)]
            going.append(_Track(line.text, line.confidence, box, box, box, before_s, time_s, time_s, scores, places))
    return going


def _edges(footage: Footage, reader: Reads, tracks: Sequence[_Track]) -> dict[tuple[int, bool], float]:
    """For (number of the track, whether it comes): the time of the first frame with it, or of the first without it."""
    steps: dict[tuple[float, float], list[tuple[int, bool]]] = {}
    for n, track in enumerate(tracks):
        if track.before_s is not None:
            steps.setdefault((track.before_s, track.first_s), []).append((n, True))
        if track.after_s is not None:
            steps.setdefault((track.last_s, track.after_s), []).append((n, False))
    found: dict[tuple[int, bool], float] = {}
    size = (footage.width_px, footage.height_px)
    for (start_s, end_s), changes in steps.items():
        boxes = [tracks[n].first_box if comes else tracks[n].last_box for n, comes in changes]
        times_s: list[float] = []
        crops: list[list[Pixels]] = [[] for _ in changes]
        for time_s, frame in walk(footage, (start_s, end_s + float(footage.index.time_base))):
            picture = footage.pixels(frame, size)
            times_s.append(time_s)
            for crop, box in zip(crops, boxes, strict=True):
                crop.append(_cut(picture, box))
        for (n, comes), crop in zip(changes, crops, strict=True):
            found[n, comes] = _edge(reader, tracks[n].text, times_s, crop, comes=comes)
    return found


def _edge(reader: Reads, text: str, times_s: Sequence[float], crops: Sequence[Pixels], *, comes: bool) -> float:
    """Time of the first frame after ``times_s[0]`` on which the text has come (or gone), found by halving.

    The text is there at the last time and not at the first (or the other way round)."""
    last = len(crops) - 1
    if last == 1:
        return times_s[1]
    if not _is_read(reader, text, crops[last if comes else 0]):
        return times_s[1] if comes else times_s[last]
    before, after = 0, last
    while after - before > 1:
        middle = (before + after) // 2
        if _is_read(reader, text, crops[middle]) == comes:
            after = middle
        else:
            before = middle
    return times_s[after]


def _is_read(reader: Reads, text: str, crop: Pixels) -> bool:
    lines = reader.read(crop)
    together = "".join(line.text for line in sorted(lines, key=lambda line: line.left_px))
    return any(is_same_text(text, words) for words in (together, *(line.text for line in lines)))


def _cut(picture: Pixels, box: Rect) -> Pixels:
    """A copy of the box with a margin."""
    margin = round(box.height_px * _MARGIN_SHARE) + 1
    rows = slice(max(0, box.top_px - margin), box.bottom_px + margin)
    return picture[rows, max(0, box.left_px - margin) : box.right_px + margin].copy()


def _around(one: Rect, other: Rect) -> Rect:
    return Rect(
        min(one.left_px, other.left_px),
        min(one.top_px, other.top_px),
        max(one.right_px, other.right_px),
        max(one.bottom_px, other.bottom_px),
    )
