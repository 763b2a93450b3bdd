"""What is wrong with a clip, or with a region of it, and when: picture, face and sound.

ReactionBench, appendix A.1: automated checks flag frozen or degraded stimulus regions, and missing or incomplete faces.
A finding is a measured value beyond a threshold for long enough; each kind is measured by a detector of its own.

Thresholds were set on 26 real clips (faces, talks, sign language, animation, slides; 8 codecs) and on the same clips
with planted faults:

* ``frozen``: the most changed 16 x 16 block differs by less than 1 level of 255 between looks. Living pictures had 1.3
  (a GIF of 12 pictures a second) and more, mostly above 10; a frozen one has 0 to 0.9, depending on the encoder.
* ``black``: 98 % of the pixels below 40 of 255 levels. The darkest living picture, a slide on black, had 84.
* ``blurred``: blur above 0.68 at 640 pixels. Clean clips had 0.14 to 0.66 (the most in an upscaled talk), after a
  Gaussian blur of sigma 4 pixels all have 0.78 and more, 0.70 once H.264 has added its artefacts; sigma 2 lies in
  between and is flagged in most.
* ``blocky``: steps at block borders above 2.5 times those inside. Clean clips had at most 1.9, mosaics of 8 pixels 5
  and more. Encoders with a deblocking filter blur instead.
* ``silence``: below -66 dBFS for a second. A quiet room on a laptop had -63; pauses in telephone speech are found, too.
* ``clipping``: more than 8 % of the samples of 0.1 s within 15 % of full scale. Loud theatre had 6 % at most, speech
  driven four times over full scale 14 %. A tone at full scale looks the same.
* faces: see ``FaceDetector`` for the score; 32 pixels is the least height whose expression can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal

import numpy as np

from onlooker.errors import NoStream
from onlooker.media.detectors.blocks import blockiness_of
from onlooker.media.detectors.blur import blur_of
from onlooker.media.detectors.faces import LEAST_SCORE, Face, FaceDetector
from onlooker.media.detectors.loudness import clipped_of, level_of
from onlooker.media.detectors.stillness import brightness_of, change_of
from onlooker.media.perception import LEAST_EXPRESSION_FACE_PX
from onlooker.media.pictures import Advance, Footage, Pixels, Rect, glance, open_footage, steps
from onlooker.media.sound import read_sound

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Kind = Literal[
    "frozen", "black", "blurred", "blocky", "face_missing", "face_cut_off", "face_tiny", "silence", "clipping"
]

MOST_STILL = 1.0
MOST_BLACK = 40.0
MOST_BLUR = 0.68
MOST_BLOCKS = 2.5
# Distance to the edge in parts of the face's height: boxes of faces that leave the picture end at its edge.
LEAST_MARGIN = 0.02
LEAST_FACE_PX = float(LEAST_EXPRESSION_FACE_PX)
MOST_SILENT_DBFS = -66.0
MOST_CLIPPED = 0.08

_SOUND_STEP_S = 0.1
_STILL_SIDE_PX = 256
_BLUR_SIDE_PX = 640
_FACE_SIDE_PX = 640
# Seconds a fault must last; a face may be missing on one look.
_LEAST_S: dict[Kind, float] = {"frozen": 1.0, "blurred": 0.5, "blocky": 0.5, "silence": 1.0}
_SLACK_S = 1e-6


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault from ``start_s`` to ``end_s``: the median measured ``value`` there, the ``threshold`` it lies beyond."""

    kind: Kind
    start_s: float
    end_s: float
    value: float
    threshold: float
    reason: str


@dataclass(frozen=True, slots=True)
class Quality:
    """Findings by start; ``unchecked``: what could not be checked, with the reason. Starts and ends are known to
    ``step_s``, those of faces to ``face_step_s``, those of sound to 0.1 s."""

    findings: tuple[Finding, ...]
    unchecked: tuple[tuple[str, str], ...]
    step_s: float
    face_step_s: float


# A look: when, for how long it stands, what was measured (None: nothing to measure there).
_Look = tuple[float, float, float | None]


def check_quality(
    path: Path,
    *,
    region: Rect | None = None,
    window: tuple[float, float] | None = None,
    expect_face: bool = False,
    step_s: float = 0.25,
    face_step_s: float = 1.0,
    advance: Advance | None = None,
) -> Quality:
    """Check the picture (in ``region``, pixels as displayed) every ``step_s`` seconds, and the sound.

    ``expect_face``: a face must be in the region, whole and at least 32 pixels high, on a look every ``face_step_s``
    seconds (35 to 130 ms each). All frames are decoded once (again for faces), none is kept. ``advance`` counts looks
    at the picture, then those for faces. Raises ``InputError`` (region, window, steps), ``NoStream`` without a picture,
    ``UnreadableMedia``; ``MissingExtra``, ``MissingAsset`` with ``expect_face``.
    """
    footage = open_footage(path)
    area, span = footage.checked(region, window)
    unchecked: list[tuple[str, str]] = []
    findings = [*_check_picture(footage, area, span, step_s, unchecked, advance)]
    if expect_face:
        findings += _check_faces(footage, area, span, face_step_s, advance)
    else:
        unchecked.append(("faces", "none is expected"))
    findings += _check_sound(path, span, unchecked)
    ordered = sorted(findings, key=lambda f: (f.start_s, f.kind))
    return Quality(tuple(ordered), tuple(unchecked), step_s, face_step_s)


def _check_picture(
    footage: Footage,
    area: Rect,
    span: tuple[float, float],
    step_s: float,
    unchecked: list[tuple[str, str]],
    advance: Advance | None,
) -> Iterator[Finding]:
    still: list[_Look] = []
    black: list[_Look] = []
    blurred: list[_Look] = []
    blocky: list[_Look] = []
    before: tuple[float, Pixels] | None = None
    count = len(steps(span, step_s))
    for time_s, frame in glance(footage, span, step_s):
        gray = _inside(footage.pixels(frame, (footage.width_px, footage.height_px), "gray"), area)
        small = _shrunk(gray, _STILL_SIDE_PX)
        brightness = brightness_of(small)
        is_black = brightness < MOST_BLACK
        black.append((time_s, step_s, brightness))
        # Of a black picture the other faults say nothing.
        blurred.append((time_s, step_s, None if is_black else blur_of(_shrunk(gray, _BLUR_SIDE_PX))))
        blocky.append((time_s, step_s, None if is_black else blockiness_of(gray)))
        if before is not None:
            change = None if is_black else change_of(before[1], small)
            still.append((before[0], time_s - before[0], change))
        before = (time_s, small)
        if advance is not None:
            advance(len(black), count)
    if not any(value is not None for _, _, value in blocky):
        unchecked.append(("blocky", "the region is smaller than 64 pixels or has no texture"))
    if not any(value is not None for _, _, value in blurred):
        unchecked.append(("blurred", "the region is smaller than 16 pixels or has no texture"))
    yield from _findings("frozen", still, MOST_STILL, lambda v: v < MOST_STILL, span, "the picture does not change")
    yield from _findings("black", black, MOST_BLACK, lambda v: v < MOST_BLACK, span, "the picture is black")
    yield from _findings("blurred", blurred, MOST_BLUR, lambda v: v > MOST_BLUR, span, "no sharp edges are left")
    yield from _findings("blocky", blocky, MOST_BLOCKS, lambda v: v > MOST_BLOCKS, span, "blocks of 8 pixels stand out")


def _check_faces(
    footage: Footage, area: Rect, span: tuple[float, float], step_s: float, advance: Advance | None
) -> Iterator[Finding]:
    """The largest face of every look is the one that is meant."""
    detector = FaceDetector()
    missing: list[_Look] = []
    margins: list[_Look] = []
    heights: list[_Look] = []
    count = len(steps(span, step_s))
    for time_s, frame in glance(footage, span, step_s):
        face, factor, shape = _largest_face(footage, frame, area, detector)
        missing.append((time_s, step_s, 0.0 if face is None else face.score))
        if advance is not None:
            advance(len(missing), count)
        if face is None:
            margins.append((time_s, step_s, None))
            heights.append((time_s, step_s, None))
            continue
        height = face.bottom_px - face.top_px
        edges = (face.left_px, face.top_px, shape[1] - face.right_px, shape[0] - face.bottom_px)
        margins.append((time_s, step_s, round(min(edges) / height, 3)))
        heights.append((time_s, step_s, round(height * factor, 1)))
    yield from _findings("face_missing", missing, LEAST_SCORE, lambda v: v < LEAST_SCORE, span, "no face is found")
    yield from _findings(
        "face_cut_off", margins, LEAST_MARGIN, lambda v: v < LEAST_MARGIN, span, "the face touches the edge"
    )
    yield from _findings(
        "face_tiny", heights, LEAST_FACE_PX, lambda v: v < LEAST_FACE_PX, span, "the face is too small to read"
    )


def _largest_face(
    footage: Footage, frame: VideoFrame, area: Rect, detector: FaceDetector
) -> tuple[Face | None, float, tuple[int, int]]:
    """The face, how much the picture it was found on was shrunk by, and the height and width of that picture."""
    picture = _inside(footage.pixels(frame, (footage.width_px, footage.height_px)), area)
    small = _shrunk(picture, _FACE_SIDE_PX)
    faces = detector.detect(small)
    largest = max(faces, key=lambda f: (f.right_px - f.left_px) * (f.bottom_px - f.top_px), default=None)
    return largest, picture.shape[1] / small.shape[1], (small.shape[0], small.shape[1])


def _check_sound(path: Path, span: tuple[float, float], unchecked: list[tuple[str, str]]) -> Iterator[Finding]:
    try:
        clip = read_sound(path, window=span)
    except NoStream:
        unchecked.append(("sound", "there is no sound track"))
        return
    size = round(_SOUND_STEP_S * clip.rate_hz)
    pieces = [clip.samples[begin : begin + size] for begin in range(0, len(clip.samples), size)]
    times = [clip.start_s + place * _SOUND_STEP_S for place in range(len(pieces))]
    levels = [(t, _SOUND_STEP_S, level_of(piece)) for t, piece in zip(times, pieces, strict=True)]
    tops = [(t, _SOUND_STEP_S, clipped_of(piece)) for t, piece in zip(times, pieces, strict=True)]
    yield from _findings("silence", levels, MOST_SILENT_DBFS, lambda v: v < MOST_SILENT_DBFS, span, "nothing is heard")
    yield from _findings("clipping", tops, MOST_CLIPPED, lambda v: v > MOST_CLIPPED, span, "the sound is cut off")


def _findings(
    kind: Kind,
    looks: Sequence[_Look],
    threshold: float,
    is_bad: Callable[[float], bool],
    span: tuple[float, float],
    reason: str,
) -> Iterator[Finding]:
    """Runs of neighbouring bad looks that last long enough."""
    runs: list[list[tuple[float, float, float]]] = []
    is_open = False
    for time_s, length_s, value in looks:
        if value is None or not is_bad(value):
            is_open = False
            continue
        if not is_open:
            runs.append([])
        runs[-1].append((time_s, length_s, value))
        is_open = True
    for run in runs:
        start_s, end_s = run[0][0], min(run[-1][0] + run[-1][1], span[1])
        if end_s - start_s >= min(_LEAST_S.get(kind, 0.0), span[1] - span[0]) - _SLACK_S:
            value = round(median(v for _, _, v in run), 4)
            yield Finding(kind, round(start_s, 4), round(end_s, 4), value, threshold, reason)


def _inside(picture: Pixels, area: Rect) -> Pixels:
    return picture[area.top_px : area.bottom_px, area.left_px : area.right_px]


def _shrunk(picture: Pixels, max_side_px: int) -> Pixels:
    from PIL import Image  # noqa: PLC0415 - an extra

    scale = min(1.0, max_side_px / max(picture.shape[:2]))
    if scale == 1.0:
        return np.ascontiguousarray(picture)
    size = max(1, round(picture.shape[1] * scale)), max(1, round(picture.shape[0] * scale))
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.BOX), np.uint8)
