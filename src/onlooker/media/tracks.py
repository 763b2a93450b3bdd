"""Faces over time: the detections on sampled frames, linked to tracks, and the expression along a track."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.errors import InputError
from onlooker.media.detectors.expressions import Expression, ExpressionClassifier
from onlooker.media.detectors.faces import LEAST_SCORE, Face, FaceDetector
from onlooker.media.perception import LEAST_EXPRESSION_FACE_PX
from onlooker.media.pictures import Advance, Footage, Rect, look_at, open_footage, steps

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

# Two boxes of one face: they share this part of their union, or their centres lie nearer than half a side and their
# sides differ by less than a factor of 1.6. On the packaged clips at 2 samples a second one face's boxes share 0.45 and
# more except on fast turns of the head (0.2); boxes of two faces side by side share nothing.
LEAST_OVERLAP = 0.3
_NEAR_SIDES = 0.5
_MOST_GROWTH = 1.6
# A face that is away for longer (and for more than a step) is a new track.
MOST_GAP_S = 1.5
_SLACK_S = 1e-6


@dataclass(frozen=True, slots=True)
class Sighting:
    """A face on one sampled frame: grid time, the frame's own time, box in pixels as displayed, score 0..1."""

    time_s: float
    pts_s: float
    box: Rect
    score: float
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class FaceTrack:
    """One face from ``start_s`` to ``end_s`` (a step after its last sighting, or the end of the window).

    ``gaps``: stretches (start_s, end_s) inside in which it was not found. ``score``: the mean of its sightings.
    """

    start_s: float
    end_s: float
    sightings: tuple[Sighting, ...]
    gaps: tuple[tuple[float, float], ...]
    score: float


@dataclass(frozen=True, slots=True)
class FaceTracks:
    """Tracks by start, then from left to right. ``absent``: stretches in which no face at all was found; ``unseen_s``:
    grid times whose frame is lost. Times are known to ``step_s``."""

    tracks: tuple[FaceTrack, ...]
    absent: tuple[tuple[float, float], ...]
    unseen_s: tuple[float, ...]
    step_s: float
    least_score: float = LEAST_SCORE


@dataclass(frozen=True, slots=True)
class ExpressionStretch:
    """One expression over neighbouring sightings: the mean probability 0..1 of its label there."""

    start_s: float
    end_s: float
    label: str
    probability: float


def track_faces(
    path: Path,
    *,
    step_s: float = 0.5,
    window: tuple[float, float] | None = None,
    max_side_px: int = 640,
    cuts_s: Sequence[float] = (),
    with_expressions: bool = False,
    advance: Advance | None = None,
) -> FaceTracks:
    """Find faces every ``step_s`` seconds and link them.

    Pictures are looked at with the longer side at most ``max_side_px``, where a face must be 20 pixels wide to be
    found; a frame costs 35 to 130 ms. No link leads over one of ``cuts_s``. ``with_expressions`` classifies every face
    of at least 32 pixels (as displayed). ``advance`` counts looks. Raises ``InputError`` (step, window), ``NoStream``,
    ``UnreadableMedia``, ``MissingExtra``, ``MissingAsset``.
    """
    if max_side_px < 1:
        raise InputError("max_side_px must be at least 1", value=max_side_px)
    footage = open_footage(path)
    _, (start_s, end_s) = footage.checked(None, window)
    times = steps((start_s, end_s), step_s)
    seen = _sightings(footage, times, max_side_px, with_expressions, advance)
    unseen = tuple(t for t, found in zip(times, seen, strict=True) if found is None)
    tracks = [
        _closed(t, step_s, end_s) for t in _linked([found or [] for found in seen], cuts_s, max(MOST_GAP_S, step_s))
    ]
    empty = [t for t, found in zip(times, seen, strict=True) if found == []]
    return FaceTracks(
        tracks=tuple(sorted(tracks, key=lambda t: (t.start_s, t.sightings[0].box.left_px))),
        absent=tuple(_stretches(empty, step_s, end_s)),
        unseen_s=unseen,
        step_s=step_s,
    )


def expression_stretches(track: FaceTrack, step_s: float) -> tuple[ExpressionStretch, ...]:
    """Runs of one expression along a track that was made with ``with_expressions``; one without it ends a run."""
    found: list[ExpressionStretch] = []
    for label, group in groupby(track.sightings, key=lambda s: None if s.expression is None else s.expression.label):
        run = list(group)
        if label is not None:
            values = [s.expression.probability for s in run if s.expression is not None]
            end_s = min(run[-1].time_s + step_s, track.end_s)
            found.append(ExpressionStretch(run[0].time_s, end_s, label, round(sum(values) / len(values), 4)))
    return tuple(found)


def _sightings(
    footage: Footage, times: Sequence[float], max_side_px: int, with_expressions: bool, advance: Advance | None
) -> list[list[Sighting] | None]:
    detector = FaceDetector()
    classifier = ExpressionClassifier() if with_expressions else None
    size = footage.fitted(max_side_px)
    factor = footage.width_px / size[0]

    looked = 0

    def look(frame: VideoFrame) -> list[tuple[Face, Expression | None]]:
        nonlocal looked
        looked += 1
        if advance is not None:
            advance(looked, len(times))
        picture = footage.pixels(frame, size)
        return [
            (
                face,
                classifier.classify(picture, face)
                if classifier is not None and (face.right_px - face.left_px) * factor >= LEAST_EXPRESSION_FACE_PX
                else None,
            )
            for face in detector.detect(picture)
        ]

    found: list[list[Sighting] | None] = []
    for time_s, seen in zip(times, look_at(footage, times, look), strict=True):
        if seen is None:
            found.append(None)
            continue
        pts_s, faces = seen
        found.append(
            [
                Sighting(
                    time_s,
                    pts_s,
                    Rect(face.left_px, face.top_px, face.right_px, face.bottom_px).scaled(factor),
                    face.score,
                    expression,
                )
                for face, expression in faces
            ]
        )
    return found


def _linked(frames: Sequence[Sequence[Sighting]], cuts_s: Sequence[float], most_gap_s: float) -> list[list[Sighting]]:
    """Sightings of one face each: the likest pairs first, frame by frame."""
    tracks: list[list[Sighting]] = []
    for sightings in frames:
        pairs = sorted(
            (
                (-_likeness(track[-1].box, sighting.box), t, s)
                for t, track in enumerate(tracks)
                for s, sighting in enumerate(sightings)
                if _may_follow(track[-1], sighting, cuts_s, most_gap_s)
            ),
        )
        taken_tracks: set[int] = set()
        taken: set[int] = set()
        for _, t, s in pairs:
            if t not in taken_tracks and s not in taken:
                tracks[t].append(sightings[s])
                taken_tracks.add(t)
                taken.add(s)
        tracks += [[sighting] for s, sighting in enumerate(sightings) if s not in taken]
    return tracks


def _may_follow(before: Sighting, after: Sighting, cuts_s: Sequence[float], most_gap_s: float) -> bool:
    if after.time_s - before.time_s > most_gap_s + _SLACK_S or any(before.pts_s < cut <= after.pts_s for cut in cuts_s):
        return False
    one, other = before.box, after.box
    if _likeness(one, other) >= LEAST_OVERLAP:
        return True
    sides = [max(one.width_px, one.height_px), max(other.width_px, other.height_px)]
    apart = max(
        abs(one.left_px + one.right_px - other.left_px - other.right_px),
        abs(one.top_px + one.bottom_px - other.top_px - other.bottom_px),
    )
    return apart / 2 < _NEAR_SIDES * min(sides) and max(sides) < _MOST_GROWTH * min(sides)


def _likeness(one: Rect, other: Rect) -> float:
    """Shared part of the union, 0..1."""
    shared = one.shared_px(other)
    return shared / (one.area_px + other.area_px - shared)


def _closed(sightings: Sequence[Sighting], step_s: float, end_s: float) -> FaceTrack:
    gaps = tuple(
        (before.time_s + step_s, after.time_s)
        for before, after in pairwise(sightings)
        if after.time_s - before.time_s > step_s * 1.5
    )
    return FaceTrack(
        start_s=sightings[0].time_s,
        end_s=min(sightings[-1].time_s + step_s, end_s),
        sightings=tuple(sightings),
        gaps=gaps,
        score=round(sum(s.score for s in sightings) / len(sightings), 4),
    )


def _stretches(times: Sequence[float], step_s: float, end_s: float) -> list[tuple[float, float]]:
    """(start_s, end_s) of runs of neighbouring grid times."""
    runs: list[list[float]] = []
    for time_s in times:
        if runs and time_s - runs[-1][-1] <= step_s * 1.5:
            runs[-1].append(time_s)
        else:
            runs.append([time_s])
    return [(run[0], min(run[-1] + step_s, end_s)) for run in runs]
