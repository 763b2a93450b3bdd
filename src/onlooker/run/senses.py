"""The senses of a model that reads only text: detectors for pictures, speech recognition for sound.

The models know these as plain callables; here the media layer provides them, with results cached by content.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from onlooker.assets import ASSETS
from onlooker.errors import MissingExtra
from onlooker.media.cache import cached_transcribe
from onlooker.media.perception import Perceiver, describe
from onlooker.media.transcript import render_transcript, shift_transcript
from onlooker.models.request import Image, Sound


def make_perceive(cache_dir: Path) -> Callable[[Sequence[Image]], str]:
    """Frames to timed lines of what the detectors report (text on screen, faces, expressions)."""
    perceiver = Perceiver(cache_dir)

    def perceive(images: Sequence[Image]) -> str:
        times_s = [image.time_s for image in images]
        return describe(perceiver.observe([image.jpeg for image in images], times_s), times_s)

    return perceive


def make_hear(cache_dir: Path, asr_model: str = "whisper-tiny-en") -> Callable[[Sound], str]:
    """Sound to timed lines of the words that speech recognition reports."""

    def hear(sound: Sound) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sound.wav"
            path.write_bytes(sound.wav)
            transcript = cached_transcribe(cache_dir, path, model=asr_model)
        # Recognition counts from the start of the stretch it was given, the prompt from the start of the medium.
        return render_transcript(shift_transcript(transcript, sound.start_s))

    return hear


def sense_versions(asr_model: str = "whisper-tiny-en") -> dict[str, str]:
    """What the senses are made of, for the fingerprint of the model that uses them."""
    return {
        "text": f"rapidocr {_version('rapidocr')}",
        "faces": f"mtcnn {ASSETS['mtcnn'].digest[:12]} on onnxruntime {_version('onnxruntime')}",
        "expressions": f"fer {ASSETS['fer'].digest[:12]} on ai-edge-litert {_version('ai-edge-litert')}",
        "speech": f"{asr_model} {ASSETS[asr_model].digest[:12]} on faster-whisper {_version('faster-whisper')}",
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError as error:
        extra = "asr" if package == "faster-whisper" else "perception"
        raise MissingExtra(extra, "the embedded model's perception") from error
