"""What was read of media, kept by content: what was read is never read again, what changed is never taken for it.

A key is the SHA-256 of the file's digest, everything asked for, and the versions of the code that
answers. A file's name is no part of it, and neither is the model or the condition that asks. How entries lie on disk,
how processes share them and what bounds them: ``store``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import TypeAdapter

from onlooker.errors import MissingExtra, NoStream
from onlooker.media import keyframes
from onlooker.media.card import MediaCard, probe
from onlooker.media.digest import file_sha256, unchanged
from onlooker.media.encoders import ImageTextEncoder
from onlooker.media.frames import DamagePolicy, Sampled, sample
from onlooker.media.grid import Policy, parse_policy
from onlooker.media.sound import read_sound, wav_bytes
from onlooker.media.speech import model_sha256, speech_version, transcribe
from onlooker.media.speech_endpoint import DEFAULT_KEY_VARIABLE
from onlooker.media.store import kept
from onlooker.media.transcript import Transcript

# Raised whenever the same request would give something else, or an entry is written in another form.
_FRAMES_REVISION = 4
_TRANSCRIPT_REVISION = 2
_CARD_REVISION = 2
_SOUND_REVISION = 1
_KEYFRAMES_REVISION = 2

Window = tuple[float, float]
T = TypeVar("T")
_adapters: dict[type[Any], tuple[TypeAdapter[Any], str]] = {}


def cached_sample(
    cache_dir: Path,
    path: Path,
    policy: Policy | str,
    *,
    window: Window | None = None,
    max_side_px: int = 512,
    jpeg_quality: int = 90,
    damage: DamagePolicy = "skip",
) -> Sampled:
    """``sample`` through the cache in ``cache_dir``: the same value, from disk where it is there.
    Raises what ``sample`` raises."""
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    digest = file_sha256(path, cache_dir)
    request = [
        digest,
        str(policy),
        policy.times_s,
        _plain(window),
        max_side_px,
        jpeg_quality,
        damage,
        decoder_version(),
        _FRAMES_REVISION,
        _adapter(Sampled)[1],
    ]

    def make() -> bytes:
        with unchanged(path, digest, cache_dir):
            sampled = sample(
                path,
                policy,
                window=window,
                max_side_px=max_side_px,
                jpeg_quality=jpeg_quality,
                source_sha256=digest,
                damage=damage,
            )
        return _sampled_bytes(sampled)

    return _sampled(kept(cache_dir, "frames", request, make))


def cached_transcribe(
    cache_dir: Path,
    path: Path,
    *,
    model: str = "whisper-tiny-en",
    language: str | None = None,
    track: int | None = None,
    base_url: str | None = None,
    key_variable: str = DEFAULT_KEY_VARIABLE,
) -> Transcript:
    """``transcribe`` through the cache in ``cache_dir``: the same value, from disk where it is
    there. Which server answered is part of the key, the key to it is not."""
    digest = file_sha256(path, cache_dir)
    request = [
        digest,
        model_sha256(model, cache_dir),
        language,
        track,
        base_url,
        speech_version(),
        decoder_version(),
        _TRANSCRIPT_REVISION,
    ]

    def make() -> Transcript:
        with unchanged(path, digest, cache_dir):
            return transcribe(
                path, model=model, language=language, track=track, base_url=base_url, key_variable=key_variable
            )

    return _kept_value(cache_dir, "transcripts", request, Transcript, make)


def cached_probe(cache_dir: Path, path: Path) -> MediaCard:
    """``probe`` through the cache in ``cache_dir``."""
    digest = file_sha256(path, cache_dir)

    def make() -> MediaCard:
        with unchanged(path, digest, cache_dir):
            return probe(path, cache_dir=cache_dir)

    return _kept_value(cache_dir, "cards", [digest, decoder_version(), _CARD_REVISION], MediaCard, make)


@dataclass(frozen=True, slots=True)
class KeptSound:
    """A stretch of sound as a WAV file (16 kHz, mono, 16 bit), ``start_s`` to ``end_s`` of its source."""

    wav: bytes
    start_s: float
    end_s: float
    source_sha256: str


def cached_sound(cache_dir: Path, path: Path, *, window: Window | None = None) -> KeptSound | None:
    """``read_sound`` of the default track as WAV, through the cache; None for a file without a sound track."""
    digest = file_sha256(path, cache_dir)

    def make() -> bytes:
        with unchanged(path, digest, cache_dir):
            try:
                clip = read_sound(path, window=window, source_sha256=digest)
            except NoStream:
                return _joined({"silent": True}, b"")
        end_s = clip.start_s + len(clip.samples) / clip.rate_hz
        return _joined({"start_s": clip.start_s, "end_s": end_s}, wav_bytes(clip))

    request = [digest, _plain(window), decoder_version(), _SOUND_REVISION]
    head, wav = _parted(kept(cache_dir, "sounds", request, make))
    return None if "silent" in head else KeptSound(wav, head["start_s"], head["end_s"], digest)


@dataclass(frozen=True, slots=True)
class Keyframes:
    """Times in seconds chosen by ``bolt``, rising, each with the cosine of frame and text; of ``candidates`` frames."""

    times_s: tuple[float, ...]
    similarities: tuple[float, ...]
    candidates: int

    def policy(self, count: int) -> Policy:
        """``bolt:count`` as ``sample`` takes it."""
        return keyframes.at_times(count, self.times_s)


def cached_keyframes(
    cache_dir: Path,
    path: Path,
    count: int,
    query: str,
    encoder: ImageTextEncoder,
    *,
    window: Window | None = None,
) -> Keyframes:
    """At most ``count`` key frames of ``path`` for the text ``query`` (see ``keyframes``), through the cache.

    The pictures of a medium are embedded once for all texts, and a warm call does not ask the encoder at all. Raises
    what ``sample`` and the encoder raise, and ``InputError`` for a blank text.
    """
    digest = file_sha256(path, cache_dir)
    embedded = [
        digest,
        _plain(window),
        str(keyframes.CANDIDATE_RATE_HZ),
        keyframes.CANDIDATE_SIDE_PX,
        keyframes.CANDIDATE_JPEG_QUALITY,
        encoder.fingerprint,
        decoder_version(),
        _KEYFRAMES_REVISION,
    ]

    def embed() -> bytes:
        duration_s = cached_probe(cache_dir, path).duration_s
        with unchanged(path, digest, cache_dir):
            times_s, vectors = keyframes.embed_candidates(path, duration_s, encoder, window=window)
        return _joined({"times_s": times_s, "width": vectors.shape[1]}, vectors.astype("<f4").tobytes())

    def choose() -> Keyframes:
        text = keyframes.embed_query(query, encoder)
        head, data = _parted(kept(cache_dir, "embeddings", embedded, embed))
        cosines = keyframes.similarities(np.frombuffer(data, "<f4").reshape(-1, head["width"]), text)
        places = keyframes.choose(cosines.tolist(), count)
        times_s = tuple(float(head["times_s"][place]) for place in places)
        return Keyframes(times_s, tuple(float(cosines[place]) for place in places), len(cosines))

    request = [embedded, query, count, keyframes.EXPONENT]
    return _kept_value(cache_dir, "keyframes", request, Keyframes, choose)


@cache
def decoder_version() -> str:
    """Versions of the decoder and of the JPEG writer, which both decide a frame's bytes."""
    try:
        import av  # noqa: PLC0415 - an extra
        import PIL  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "reading media files") from error
    return f"av {av.__version__}, pillow {PIL.__version__}"


def _kept_value(cache_dir: Path, kind: str, request: Sequence[object], shape: type[T], make: Callable[[], T]) -> T:
    """``kept`` for a frozen value of plain fields. Its fields are part of the key: a value of another shape is made
    anew."""
    values, fields = _adapter(shape)
    value: T = values.validate_json(kept(cache_dir, kind, [*request, fields], lambda: values.dump_json(make())))
    return value


def _adapter(shape: type[Any]) -> tuple[TypeAdapter[Any], str]:
    if shape not in _adapters:
        values = TypeAdapter(shape)
        _adapters[shape] = values, json.dumps(values.json_schema(), sort_keys=True)
    return _adapters[shape]


def _plain(window: Window | None) -> list[float] | None:
    return None if window is None else [float(t) for t in window]


def _joined(head: dict[str, Any], data: bytes) -> bytes:
    """One line of JSON that says what follows, then the data."""
    return b"".join((json.dumps(head).encode(), b"\n", data))


def _parted(body: bytes) -> tuple[dict[str, Any], bytes]:
    line, _, data = body.partition(b"\n")
    return json.loads(line), data


def _sampled_bytes(sampled: Sampled) -> bytes:
    """Everything but the pictures, then these one after the other."""
    bare = replace(sampled, frames=tuple(replace(f, jpeg=b"") for f in sampled.frames))
    head = {
        "sampled": _adapter(Sampled)[0].dump_python(bare, mode="json"),
        "sizes": [len(f.jpeg) for f in sampled.frames],
    }
    return _joined(head, b"".join(f.jpeg for f in sampled.frames))


def _sampled(body: bytes) -> Sampled:
    head, pictures = _parted(body)
    bare: Sampled = _adapter(Sampled)[0].validate_python(head["sampled"])
    ends = list(accumulate(head["sizes"], initial=0))
    frames = (replace(f, jpeg=pictures[i:j]) for f, (i, j) in zip(bare.frames, pairwise(ends), strict=True))
    return replace(bare, frames=tuple(frames))
