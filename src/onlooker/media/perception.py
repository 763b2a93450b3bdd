"""What detectors see on frames, as timed words: the eyes of a model that cannot take pictures.

Every statement is a detector's report with its confidence; nothing is inferred from what was not found.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, MissingExtra
from onlooker.media.sameness import hardly_differs, shrunk
from onlooker.media.store import kept

if TYPE_CHECKING:
    from onlooker.media.detectors.expressions import ExpressionClassifier
    from onlooker.media.detectors.faces import FaceDetector
    from onlooker.media.detectors.ocr import TextReader

Kind = Literal["text", "face", "expression"]
_KINDS: dict[str, Kind] = {"text": "text", "face": "face", "expression": "expression"}

# Raised whenever the same picture would give other observations.
_REVISION = 1
# On smaller faces the classifier answers, but at random.
LEAST_EXPRESSION_FACE_PX = 32


@dataclass(frozen=True, slots=True)
class Observation:
    """One report of a detector on the frame at ``time_s``.

    ``kind`` text: ``text`` is a line on screen; face: where it is (left, centre, right); expression: its name.
    Faces of a frame stand from left to right, an expression right after its face. ``confidence`` 0..1 is the
    detector's. ``read_at_s``: text that was not read on this frame but on the one at that time, from which the
    picture hardly differs.
    """

    time_s: float
    kind: Kind
    text: str
    confidence: float
    read_at_s: float | None = None


class Perceiver:
    """Runs the detectors, each loaded when first needed; reports are kept in ``cache_dir`` by the picture's digest.

    ``kinds``: which detectors to ask. Not safe to call from several threads at once.
    """

    def __init__(self, cache_dir: Path | None = None, *, kinds: Sequence[str] = ("text", "face")) -> None:
        wrong = [kind for kind in kinds if kind not in {"text", "face"}]
        if wrong:
            raise InputError("unknown detector", value=wrong[0], remedy="use text, face or both")
        self._cache_dir = cache_dir
        self._kinds = tuple(kinds)
        self._reader: TextReader | None = None
        self._faces: FaceDetector | None = None
        self._expressions: ExpressionClassifier | None = None

    def observe(self, jpegs: Sequence[bytes], times_s: Sequence[float]) -> tuple[Observation, ...]:
        """Reports on the frames ``jpegs`` at ``times_s`` (same length, rising), frame by frame: text, then faces.

        What a frame gives does not depend on what is cached. Raises ``MissingExtra``, ``MissingAsset``;
        ``InputError`` for unequal lengths or a picture that is none.
        """
        if len(jpegs) != len(times_s):
            raise InputError("frames and times differ in number", value=(len(jpegs), len(times_s)))
        seen: list[Observation] = []
        anchor: NDArray[np.float32] | None = None
        anchor_s = 0.0
        anchor_text: list[Observation] = []
        for jpeg, time_s in zip(jpegs, times_s, strict=True):
            picture = _opened(jpeg, time_s)
            if "text" in self._kinds:
                small = shrunk(picture)
                if anchor is not None and hardly_differs(small, anchor):
                    seen += [replace(o, time_s=time_s, read_at_s=anchor_s) for o in anchor_text]
                else:
                    anchor, anchor_s = small, time_s
                    anchor_text = self._kept("text", jpeg, picture, time_s)
                    seen += anchor_text
            if "face" in self._kinds:
                seen += self._kept("face", jpeg, picture, time_s)
        return tuple(seen)

    def _kept(self, detector: str, jpeg: bytes, picture: NDArray[np.uint8], time_s: float) -> list[Observation]:
        """Reports of one detector, from the cache where they are there."""

        def look() -> bytes:
            rows = self._read(picture) if detector == "text" else self._look(picture)
            return json.dumps(rows, ensure_ascii=False).encode()

        request = [
            hashlib.sha256(jpeg).hexdigest(),
            detector,
            version("rapidocr" if detector == "text" else "onnxruntime"),
            _REVISION,
        ]
        found = look() if self._cache_dir is None else kept(self._cache_dir, "observations", request, look)
        return [Observation(time_s, _KINDS[kind], text, value) for kind, text, value in json.loads(found)]

    def _read(self, picture: NDArray[np.uint8]) -> list[tuple[Kind, str, float]]:
        if self._reader is None:
            from onlooker.media.detectors.ocr import TextReader  # noqa: PLC0415 - heavy

            self._reader = TextReader()
        return [("text", line.text, line.confidence) for line in self._reader.read(picture)]

    def _look(self, picture: NDArray[np.uint8]) -> list[tuple[Kind, str, float]]:
        if self._faces is None or self._expressions is None:
            from onlooker.media.detectors.expressions import (  # noqa: PLC0415 - heavy
                ExpressionClassifier,
            )
            from onlooker.media.detectors.faces import FaceDetector  # noqa: PLC0415 - heavy

            self._faces, self._expressions = FaceDetector(), ExpressionClassifier()
        rows: list[tuple[Kind, str, float]] = []
        for face in self._faces.detect(picture):
            third = (face.left_px + face.right_px) * 3 // (2 * picture.shape[1])
            rows.append(("face", ("left", "centre", "right")[min(third, 2)], face.score))
            if face.right_px - face.left_px >= LEAST_EXPRESSION_FACE_PX:
                expression = self._expressions.classify(picture, face)
                rows.append(("expression", expression.label, expression.probability))
        return rows


def describe(observations: Sequence[Observation], times_s: Sequence[float]) -> str:
    """Lines in plain words, such as ``[3.0-4.5 s] one face: happy (0.82)``, ``[5.0 s] two faces: left, right sad
    (0.70)`` and ``[5.0 s] text on screen: EXIT``.

    ``times_s`` are those of all frames looked at, in order. Faces are said once for neighbouring frames that show the
    same; the number after an expression is its mean probability there. Text is said when it differs from what was said
    last; a frame without reports gives no line and ends what was said of faces.
    """
    by_time = {time_s: list(group) for time_s, group in groupby(observations, key=lambda o: o.time_s)}
    lines: list[tuple[float, str]] = []
    said: str | None = None
    stretch: list[tuple[float, list[Observation]]] = []
    for time_s in times_s:
        reports = by_time.get(time_s, [])
        texts = [o for o in reports if o.kind == "text"]
        text = " / ".join(o.text for o in texts)
        if text and text != said:
            carried = "" if texts[0].read_at_s is None else f" (as at {texts[0].read_at_s:.1f} s)"
            lines.append((time_s, f"[{time_s:.1f} s] text on screen{carried}: {text}"))
        said = text
        faces = [o for o in reports if o.kind != "text"]
        if stretch and _alike(faces) != _alike(stretch[0][1]):
            lines.append((stretch[0][0], _faces_in_words(stretch)))
            stretch = []
        if faces:
            stretch.append((time_s, faces))
    if stretch:
        lines.append((stretch[0][0], _faces_in_words(stretch)))
    return "\n".join(line for _, line in sorted(lines, key=lambda timed: timed[0]))


def _alike(faces: Sequence[Observation]) -> list[tuple[str, str]]:
    return [(o.kind, o.text) for o in faces]


def _faces_in_words(stretch: Sequence[tuple[float, Sequence[Observation]]]) -> str:
    """One line for neighbouring frames whose faces are alike."""
    first, last = stretch[0][0], stretch[-1][0]
    times = f"{first:.1f} s" if first == last else f"{first:.1f}-{last:.1f} s"
    shown = stretch[0][1]
    several = sum(o.kind == "face" for o in shown) > 1
    parts: list[str] = []
    for place, report in enumerate(shown):
        if report.kind == "face":
            parts.append(report.text if several else "")
        else:
            mean = sum(faces[place].confidence for _, faces in stretch) / len(stretch)
            parts[-1] = f"{parts[-1]} {report.text} ({mean:.2f})".strip()
    words = ("one face", "two faces", "three faces", "four faces")
    number = words[len(parts) - 1] if len(parts) <= len(words) else f"{len(parts)} faces"
    return f"[{times}] {number}: {', '.join(parts)}" if any(parts) else f"[{times}] {number}"


def _opened(jpeg: bytes, time_s: float) -> NDArray[np.uint8]:
    try:
        from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("perception", "looking at frames") from error
    try:
        return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))
    except (UnidentifiedImageError, OSError) as error:
        raise InputError("not a picture", where=f"the frame at {time_s} s") from error
