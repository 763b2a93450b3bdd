"""Faces, found by MTCNN: three small networks, each of which sifts the boxes of the one before it.

Zhang et al. 2016, "Joint Face Detection and Alignment Using Multitask Cascaded Convolutional Networks", IEEE
Signal Processing Letters 23(10), section II. The networks were trained on pictures with x before y, and count
pixels from 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from onlooker.assets import locate
from onlooker.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Sequence

    Floats = NDArray[np.float32]

# Below this score most boxes hold no face.
LEAST_SCORE = 0.9
_LEAST_FACE_PX = 20
_NETWORK_PX = 12
_STRIDE_PX = 2
_PYRAMID_STEP = 0.709
_PASS = (0.6, 0.7, 0.7)


@dataclass(frozen=True, slots=True)
class Face:
    """A face: box in pixels of the picture (right and bottom excluded) and score 0..1."""

    left_px: int
    top_px: int
    right_px: int
    bottom_px: int
    score: float


class FaceDetector:
    """Loads the weights of the asset ``mtcnn`` once. Raises ``MissingExtra``, ``MissingAsset``."""

    def __init__(self) -> None:
        try:
            import cv2  # noqa: F401, PLC0415 - an extra
            from onnxruntime import InferenceSession, SessionOptions  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra("perception", "finding faces") from error
        folder: Path = locate("mtcnn")
        options = SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self._networks = [
            InferenceSession(str(folder / f"{name}net.onnx"), options, providers=["CPUExecutionProvider"])
            for name in ("p", "r", "o")
        ]

    def detect(self, picture: NDArray[np.uint8]) -> list[Face]:
        """Faces of at least 20 pixels and score 0.9, from left to right."""
        boxes = self._proposals(picture)
        for stage, side_px in ((1, 24), (2, 48)):
            if not len(boxes):
                return []
            boxes = self._sifted(picture, boxes, stage, side_px)
        height, width = picture.shape[:2]
        faces = [
            Face(
                left_px=max(0, int(x1)),
                top_px=max(0, int(y1)),
                right_px=min(width, int(x2)),
                bottom_px=min(height, int(y2)),
                score=round(float(score), 4),
            )
            for x1, y1, x2, y2, score in boxes
            if score >= LEAST_SCORE
        ]
        whole = [f for f in faces if f.right_px > f.left_px and f.bottom_px > f.top_px]
        return sorted(whole, key=lambda f: (f.left_px, f.top_px))

    def _run(self, stage: int, batch: Floats) -> Sequence[Any]:
        network = self._networks[stage]
        answer: Sequence[Any] = network.run(None, {network.get_inputs()[0].name: batch})
        return answer

    def _proposals(self, picture: NDArray[np.uint8]) -> Floats:
        """Square boxes (x1, y1, x2, y2, score) from the first network at every size of the pyramid."""
        import cv2  # noqa: PLC0415 - an extra

        height, width = picture.shape[:2]
        scale = _NETWORK_PX / _LEAST_FACE_PX
        found: list[Floats] = []
        while min(height, width) * scale >= _NETWORK_PX:
            small = cv2.resize(
                picture,
                (math.ceil(width * scale), math.ceil(height * scale)),
                interpolation=cv2.INTER_AREA,
            )
            shifts, scores = self._run(0, _normalised(small).transpose(1, 0, 2)[None])
            columns, rows = np.nonzero(scores[0, :, :, 1] >= _PASS[0])
            corners = np.stack([columns, rows], axis=1) * _STRIDE_PX
            boxes = np.concatenate(
                [
                    np.fix((corners + 1) / scale),
                    np.fix((corners + _NETWORK_PX) / scale),
                    scores[0, columns, rows, 1][:, None],
                    shifts[0, columns, rows],
                ],
                axis=1,
            ).astype(np.float32)
            found.append(boxes[_apart(boxes, 0.5)])
            scale *= _PYRAMID_STEP
        boxes = np.concatenate(found) if found else np.empty((0, 9), np.float32)
        boxes = boxes[_apart(boxes, 0.7)]
        sizes = boxes[:, 2:4] - boxes[:, :2]
        shifted = boxes[:, :4] + boxes[:, 5:9] * np.tile(sizes, 2)
        return np.concatenate([np.fix(_squared(shifted)), boxes[:, 4:5]], axis=1)

    def _sifted(self, picture: NDArray[np.uint8], boxes: Floats, stage: int, side_px: int) -> Floats:
        """The boxes that pass network ``stage``, corrected by it; squared again unless it is the last one."""
        crops = np.stack([_crop(picture, box, side_px) for box in np.fix(boxes[:, :4]).astype(int)])
        answers = self._run(stage, _normalised(crops).transpose(0, 2, 1, 3))
        shifts, scores = answers[0], answers[-1][:, 1]
        passed = scores > _PASS[stage]
        boxes = np.concatenate([np.fix(boxes[passed, :4]), scores[passed, None]], axis=1)
        shifts = shifts[passed]
        is_last = stage == len(_PASS) - 1
        if not is_last:
            kept = _apart(boxes, 0.7)
            boxes, shifts = boxes[kept], shifts[kept]
        sizes = boxes[:, 2:4] - boxes[:, :2] + 1
        boxes = np.concatenate([boxes[:, :4] + shifts * np.tile(sizes, 2), boxes[:, 4:5]], axis=1)
        if is_last:
            return boxes[_apart(boxes, 0.7, by_smaller=True)]
        return np.concatenate([_squared(boxes[:, :4]), boxes[:, 4:5]], axis=1)


def _normalised(pixels: NDArray[Any]) -> Floats:
    return ((pixels.astype(np.float32) - 127.5) / 128).astype(np.float32)


def _squared(boxes: Floats) -> Floats:
    """Boxes grown to squares around their centres."""
    centres = (boxes[:, :2] + boxes[:, 2:4]) / 2
    half = (boxes[:, 2:4] - boxes[:, :2]).max(axis=1, keepdims=True, initial=0) / 2
    return np.concatenate([centres - half, centres + half], axis=1)


def _crop(picture: NDArray[np.uint8], box: NDArray[np.int_], side_px: int) -> NDArray[np.float32]:
    """The box (corners counted from 1, both inside) as a square picture; black where it leaves the picture."""
    import cv2  # noqa: PLC0415 - an extra

    left, top, right, bottom = int(box[0]) - 1, int(box[1]) - 1, int(box[2]), int(box[3])
    height, width = picture.shape[:2]
    canvas = np.zeros((max(bottom - top, 1), max(right - left, 1), 3), np.float32)
    y1, y2, x1, x2 = max(top, 0), min(bottom, height), max(left, 0), min(right, width)
    if y1 < y2 and x1 < x2:
        canvas[y1 - top : y2 - top, x1 - left : x2 - left] = picture[y1:y2, x1:x2]
    small: NDArray[np.float32] = cv2.resize(canvas, (side_px, side_px), interpolation=cv2.INTER_AREA)
    return small


def _apart(boxes: Floats, most_overlap: float, *, by_smaller: bool = False) -> list[int]:
    """Places of boxes that overlap no better one by more than ``most_overlap`` of their union (or of the smaller)."""
    areas = (boxes[:, 2] - boxes[:, 0] + 1) * (boxes[:, 3] - boxes[:, 1] + 1)
    waiting = np.argsort(-boxes[:, 4], kind="stable")
    kept: list[int] = []
    while len(waiting):
        best, rest = waiting[0], waiting[1:]
        kept.append(int(best))
        low = np.maximum(boxes[best, :2], boxes[rest, :2])
        high = np.minimum(boxes[best, 2:4], boxes[rest, 2:4])
        shared = np.prod(np.maximum(0, high - low + 1), axis=1)
        whole = np.minimum(areas[best], areas[rest]) if by_smaller else areas[best] + areas[rest] - shared
        waiting = rest[shared / whole <= most_overlap]
    return kept
