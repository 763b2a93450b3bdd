"""Speech to text on this machine, with Whisper weights that a package carries."""

from __future__ import annotations

import threading
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from onlooker.assets import asset, locate
from onlooker.errors import InputError, MissingExtra, NoStream
from onlooker.media.digest import file_sha256
from onlooker.media.sound import SoundClip, read_sound
from onlooker.media.transcript import Segment, Status, Transcript, clamp_segment

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

# Below and above these, Whisper's own decoder distrusts its text (Radford et al. 2022, section
# 4.5).
_LEAST_MEAN_LOG_PROBABILITY = -1.0
_GREATEST_COMPRESSION_RATIO = 2.4
_GREATEST_NO_SPEECH_PROBABILITY = 0.6

_models: dict[str, WhisperModel] = {}
_lock = threading.Lock()


def transcribe(
    path: Path,
    *,
    model: str = "whisper-tiny-en",
    language: str | None = None,
    track: int | None = None,
) -> Transcript:
    """What is said in ``path``, with times in seconds from the picture's first frame.

    ``model``: the name of an asset, or the folder of a Whisper model for CTranslate2. ``language``:
    a code such as ``en``; None lets a multilingual model detect it. Voice detection comes first, so
    that silence gives no words; segments that the model itself distrusts are marked ``suspect``. A
    file without sound gives status ``no_audio``; nothing said, ``no_speech``. Raises
    ``UnreadableMedia``, ``MissingExtra``, ``MissingAsset``; ``InputError`` for a language the model
    has not.
    """
    made_by = f"{_name(model)} with {speech_version()}"
    try:
        clip = read_sound(path, track=track)
    except NoStream:
        return Transcript((), None, "no_audio", made_by)
    if not len(clip.samples):
        return Transcript((), None, "no_speech", made_by)
    with _lock:
        segments, spoken = _recognise(_loaded(model), clip, language)
    status: Status = "ok" if segments else "no_speech"
    return Transcript(tuple(segments), spoken if segments else None, status, made_by)


def model_sha256(model: str, cache_dir: Path | None = None) -> str:
    """What the weights are, for cache keys: an asset's pinned digest, which needs no download, or
    that of the folder's file."""
    if _is_folder(model):
        return file_sha256(Path(model) / "model.bin", cache_dir)
    return asset(model).digest


def speech_version() -> str:
    """Name and version of the recogniser, part of every cache key."""
    try:
        import faster_whisper  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("asr", "speech recognition") from error
    return f"{faster_whisper.__name__} {version('faster-whisper')}"


def _is_folder(model: str) -> bool:
    return "/" in model or Path(model).is_dir()


def _name(model: str) -> str:
    return Path(model).name if _is_folder(model) else model


def _loaded(model: str) -> WhisperModel:
    from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra

    if model not in _models:
        folder = Path(model) if _is_folder(model) else locate(model)
        _models[model] = WhisperModel(str(folder), device="cpu", compute_type="int8", local_files_only=True)
    return _models[model]


def _recognise(whisper: WhisperModel, clip: SoundClip, language: str | None) -> tuple[list[Segment], str | None]:
    if not whisper.model.is_multilingual and language not in {None, "en"}:
        raise InputError("this speech model knows only English", value=language, remedy="use another model")
    found, info = whisper.transcribe(
        clip.samples.astype(np.float32) / 32768,
        language=language,
        vad_filter=True,
        temperature=0.0,
        condition_on_previous_text=False,
    )
    segments = []
    for piece in found:
        segment = clamp_segment(
            Segment(
                start_s=clip.start_s + piece.start,
                end_s=clip.start_s + piece.end,
                text=piece.text.strip(),
                suspect=_suspicion(piece),
            ),
            clip.end_s,
        )
        if segment is not None and segment.text:
            segments.append(segment)
    return segments, info.language


def _suspicion(piece: Any) -> str | None:
    """Why the words may be invented, None where nothing speaks for it."""
    if piece.avg_logprob < _LEAST_MEAN_LOG_PROBABILITY:
        return f"mean log-probability {piece.avg_logprob:.2f}"
    if piece.compression_ratio > _GREATEST_COMPRESSION_RATIO:
        return f"repeats itself (compression ratio {piece.compression_ratio:.1f})"
    if piece.no_speech_prob > _GREATEST_NO_SPEECH_PROBABILITY:
        return f"probably no speech ({piece.no_speech_prob:.2f})"
    return None
