"""Sampled frames and transcripts kept by content: what was read is never read again, what changed
is never taken for it.

A key is the SHA-256 of the file's digest, everything asked for, and the versions of the code that
answers. A file's name is no part of it. Entries are written atomically, so any number of processes
may share a folder; what a kill leaves behind is never an entry.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from onlooker.errors import MissingExtra
from onlooker.media.digest import file_sha256, write_atomically
from onlooker.media.frames import Frame, Sampled, sample
from onlooker.media.grid import Policy, parse_policy
from onlooker.media.speech import model_sha256, speech_version, transcribe
from onlooker.media.transcript import Transcript, read_transcript, write_transcript

# Raised whenever the same request would give other frames, or an entry is written in another form.
_FRAMES_REVISION = 2
_TRANSCRIPT_REVISION = 1


def cached_sample(
    cache_dir: Path,
    path: Path,
    policy: Policy | str,
    *,
    window: tuple[float, float] | None = None,
    max_side_px: int = 512,
    jpeg_quality: int = 90,
) -> Sampled:
    """``sample`` through the cache in ``cache_dir``: the same value, from disk where it is there.
    Raises what ``sample`` raises."""
    policy = parse_policy(policy) if isinstance(policy, str) else policy
    digest = file_sha256(path, cache_dir)
    request = [
        digest,
        str(policy),
        None if window is None else [float(t) for t in window],
        max_side_px,
        jpeg_quality,
        decoder_version(),
        _FRAMES_REVISION,
    ]
    entry = _entry(cache_dir / "frames", request, "frames")
    known = _read_sampled(entry)
    if known is not None:
        return known
    sampled = sample(
        path,
        policy,
        window=window,
        max_side_px=max_side_px,
        jpeg_quality=jpeg_quality,
        source_sha256=digest,
    )
    write_atomically(entry, _sampled_bytes(sampled))
    return sampled


def cached_transcribe(
    cache_dir: Path,
    path: Path,
    *,
    model: str = "whisper-tiny-en",
    language: str | None = None,
    track: int | None = None,
) -> Transcript:
    """``transcribe`` through the cache in ``cache_dir``: the same value, from disk where it is
    there."""
    request = [
        file_sha256(path, cache_dir),
        model_sha256(model, cache_dir),
        language,
        track,
        speech_version(),
        decoder_version(),
        _TRANSCRIPT_REVISION,
    ]
    entry = _entry(cache_dir / "transcripts", request, "json")
    if entry.is_file():
        return read_transcript(entry)
    transcript = transcribe(path, model=model, language=language, track=track)
    write_transcript(transcript, entry)
    return transcript


def decoder_version() -> str:
    """Versions of the decoder and of the JPEG writer, which both decide a frame's bytes."""
    try:
        import av  # noqa: PLC0415 - an extra
        import PIL  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "reading media files") from error
    return f"av {av.__version__}, pillow {PIL.__version__}"


def _entry(folder: Path, request: Sequence[object], suffix: str) -> Path:
    key = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    return folder / key[:2] / f"{key}.{suffix}"


def _sampled_bytes(sampled: Sampled) -> bytes:
    """One line of JSON that says what follows, then the JPEG files one after the other."""
    head = {
        "source_sha256": sampled.source_sha256,
        "policy": sampled.policy,
        "wanted": sampled.wanted,
        "missing": sampled.missing,
        "frames": [
            [f.index, f.time_s, f.pts_s, f.status, len(f.jpeg), f.width_px, f.height_px] for f in sampled.frames
        ],
    }
    return b"".join([json.dumps(head).encode(), b"\n", *(f.jpeg for f in sampled.frames)])


def _read_sampled(entry: Path) -> Sampled | None:
    try:
        data = entry.read_bytes()
    except FileNotFoundError:
        return None
    line, _, pictures = data.partition(b"\n")
    head = json.loads(line)
    frames: list[Frame] = []
    place = 0
    for index, time_s, pts_s, status, size, width_px, height_px in head["frames"]:
        jpeg = pictures[place : place + size]
        place += size
        frames.append(Frame(index, time_s, pts_s, status, jpeg, width_px, height_px, head["source_sha256"]))
    return Sampled(tuple(frames), head["source_sha256"], head["policy"], head["wanted"], tuple(head["missing"]))
