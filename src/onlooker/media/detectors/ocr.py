"""Text on screen, read by the models that the ``rapidocr`` package carries. Nothing is ever downloaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import MissingExtra

# Below this confidence a line is as often texture as text.
LEAST_CONFIDENCE = 0.85
_DETECTION_SIDE_PX = 512


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text: its box in pixels of the picture and the reader's confidence 0..1."""

    text: str
    confidence: float
    left_px: int
    top_px: int
    right_px: int
    bottom_px: int


class TextReader:
    """Loads the models once. Raises ``MissingExtra``, also where the package came without its models.

    ``detection_side_px``: the longer side of the picture in which text is looked for; larger ones are shrunk to it, and
    letters of less than about 8 pixels are then missed. ``least_confidence``: of a line, 0..1.
    """

    def __init__(self, detection_side_px: int = _DETECTION_SIDE_PX, least_confidence: float = LEAST_CONFIDENCE) -> None:
        try:
            import rapidocr  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise MissingExtra("perception", "reading text on screen") from error
        # With paths given, the package looks for nothing on the network.
        folder = Path(str(rapidocr.__file__)).parent / "models"
        finders, readers = sorted(folder.glob("*_det_*.onnx")), sorted(folder.glob("*_rec_*.onnx"))
        if not finders or not readers:
            raise MissingExtra("perception", f"reading text on screen (no models in {folder})")
        self._reader: Any = rapidocr.RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "critical",
                "Global.text_score": least_confidence,
                "Det.model_path": str(finders[-1]),
                "Det.limit_type": "max",
                "Det.limit_side_len": detection_side_px,
                "Rec.model_path": str(readers[-1]),
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            }
        )

    def read(self, picture: NDArray[np.uint8]) -> list[TextLine]:
        """Lines of text from top to bottom. The reading network runs only where boxes were found."""
        found = self._reader(np.ascontiguousarray(picture[:, :, ::-1]))  # it wants BGR
        if found.txts is None:
            return []
        return [
            TextLine(
                text=text.strip(),
                confidence=round(float(confidence), 4),
                left_px=int(box[:, 0].min()),
                top_px=int(box[:, 1].min()),
                right_px=int(box[:, 0].max()),
                bottom_px=int(box[:, 1].max()),
            )
            for box, text, confidence in zip(found.boxes, found.txts, found.scores, strict=True)
            if text.strip()
        ]
