"""Speech to text: by Whisper weights on this machine, or by a server.

Voice detection comes first, so that silence gives no words. What the recogniser distrusts, what loops, and words where
nobody was heard are kept and marked ``suspect``; prompts leave them out.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onlooker.assets import asset, locate
from onlooker.errors import InputError, MissingExtra, NoStream
from onlooker.media.digest import file_sha256
from onlooker.media.sound import SoundClip, read_sound
from onlooker.media.speech_endpoint import DEFAULT_KEY_VARIABLE, PREFIX, Endpoint
from onlooker.media.speech_endpoint import recognise as ask_server
from onlooker.media.suspicion import Stretch, decoder_doubt, flag_repetition, flag_silence
from onlooker.media.transcript import Segment, Transcript, clamp_segment
from onlooker.media.transcript_json import Status

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

_models: dict[str, WhisperModel] = {}
_lock = threading.Lock()


def transcribe(
    path: Path,
    *,
    model: str = "whisper-tiny-en",
    language: str | None = None,
    track: int | None = None,
    base_url: str | None = None,
    key_variable: str = DEFAULT_KEY_VARIABLE,
) -> Transcript:
    """What is said in ``path``, with times in seconds from the picture's first frame.

    ``model``: the name of an asset, the folder of a Whisper model for CTranslate2, or ``openai:NAME`` for the model
    NAME of the server at ``base_url`` (see ``speech_endpoint``), whose key is in the environment variable
    ``key_variable``. ``language``: a code such as ``en``; None lets a multilingual model detect it. ``track``: see
    ``read_sound``.

    Segments are cut to [0, end of the sound], and one that ends before it starts is rejected; ``notices`` says so. A
    file without sound gives status ``no_audio``; nothing said, ``no_speech``. Raises ``UnreadableMedia``,
    ``MissingExtra``, ``MissingAsset``; ``InputError`` for a language the model has not; ``ModelError`` where a server
    fails.
    """
    endpoint = _endpoint(model, base_url, key_variable)
    made_by = f"{_name(model)} at a server" if endpoint else f"{_name(model)} with {speech_version()}"
    try:
        clip = read_sound(path, track=track)
    except NoStream:
        return Transcript((), None, "no_audio", made_by)
    if not len(clip.samples):
        return Transcript((), None, "no_speech", made_by)
    heard = speech_stretches(clip)
    if endpoint is not None:
        found, spoken = ask_server(endpoint, clip, heard, language)
    else:
        with _lock:
            found, spoken = _recognise(_loaded(model), clip, language)
    segments, notices = _fitted(found, clip)
    segments = flag_silence(flag_repetition(segments), heard)
    status: Status = "ok" if segments else "no_speech"
    return Transcript(tuple(segments), spoken if segments else None, status, made_by, notices)


def speech_stretches(clip: SoundClip) -> list[Stretch]:
    """(start_s, end_s) of what voice detection (Silero's, which faster-whisper carries) takes for speech, on the
    clip's clock, each with 0.4 s around it. Raises ``MissingExtra``."""
    try:
        from faster_whisper.vad import get_speech_timestamps  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("asr", "voice detection") from error
    found = get_speech_timestamps(_floats(clip))
    return [(clip.start_s + s["start"] / clip.rate_hz, clip.start_s + s["end"] / clip.rate_hz) for s in found]


def model_sha256(model: str, cache_dir: Path | None = None) -> str:
    """What the weights are, for cache keys: an asset's pinned digest, which needs no download, or
    that of the folder's file. Of a server's model only the name is known."""
    if model.startswith(PREFIX):
        return hashlib.sha256(model.encode()).hexdigest()
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


def _endpoint(model: str, base_url: str | None, key_variable: str) -> Endpoint | None:
    if model.startswith(PREFIX):
        return Endpoint(model.removeprefix(PREFIX), base_url, key_variable)
    if base_url is not None:
        raise InputError("only a server's model has a base URL", value=model, remedy=f"write {PREFIX}{model}")
    return None


def _is_folder(model: str) -> bool:
    return not model.startswith(PREFIX) and ("/" in model or Path(model).is_dir())


def _name(model: str) -> str:
    return Path(model).name if _is_folder(model) else model


def _loaded(model: str) -> WhisperModel:
    from faster_whisper import WhisperModel  # noqa: PLC0415 - an extra

    if model not in _models:
        folder = Path(model) if _is_folder(model) else locate(model)
        if not (folder / "model.bin").is_file():
            raise InputError("holds no Whisper model for CTranslate2 (no model.bin)", where=str(folder))
        _models[model] = WhisperModel(str(folder), device="cpu", compute_type="int8", local_files_only=True)
    return _models[model]


def _recognise(whisper: WhisperModel, clip: SoundClip, language: str | None) -> tuple[list[Segment], str | None]:
    if not whisper.model.is_multilingual and language not in {None, "en"}:
        raise InputError("this speech model knows only English", value=language, remedy="use another model")
    if language is not None and language not in whisper.supported_languages:
        raise InputError(
            "this speech model does not know the language",
            value=language,
            remedy=f"one of {', '.join(whisper.supported_languages)}",
        )
    found, info = whisper.transcribe(
        _floats(clip),
        language=language,
        vad_filter=True,
        temperature=0.0,
        condition_on_previous_text=False,
    )
    segments = [
        Segment(
            start_s=clip.start_s + piece.start,
            end_s=clip.start_s + piece.end,
            text=piece.text.strip(),
            suspect=decoder_doubt(piece.text, piece.avg_logprob, piece.compression_ratio, piece.no_speech_prob),
        )
        for piece in found
    ]
    return segments, info.language


def _fitted(found: Iterable[Segment], clip: SoundClip) -> tuple[list[Segment], tuple[str, ...]]:
    """The segments with words cut to the medium, in the order of time, and what was changed or rejected."""
    kept: list[Segment] = []
    notices: list[str] = []
    for segment in found:
        if not segment.text:
            continue
        times = f"[{segment.start_s:.3f}, {segment.end_s:.3f}]"
        fitted = clamp_segment(segment, clip.end_s)
        if fitted is None:
            notices.append(f"rejected: {times} is no stretch of the sound, which ends at {clip.end_s:.3f} s")
            continue
        if fitted != segment:
            notices.append(f"cut to the medium, 0 to {clip.end_s:.3f} s: {times}")
        kept.append(fitted)
    kept.sort(key=lambda s: (s.start_s or 0.0, s.end_s or 0.0))
    return kept, tuple(notices)


def _floats(clip: SoundClip) -> NDArray[np.float32]:
    return clip.samples.astype(np.float32) / np.float32(32768)
