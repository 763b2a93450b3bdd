"""Sound as 16 kHz mono samples on the clock of the picture."""

from __future__ import annotations

import io
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.container import keep_only, open_media, picture_stream, sound_stream
from onlooker.media.digest import file_sha256
from onlooker.media.index import read_index

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.resampler import AudioResampler
    from av.audio.stream import AudioStream
    from av.container import InputContainer

RATE_HZ = 16_000
# Time stamps jitter by a codec frame's rounding; a longer hole is a hole in the sound and is filled
# with silence.
_HOLE_S = 0.05
# A longer one is a broken time stamp, and its silence would fill the memory.
_LONGEST_HOLE_S = 3600


@dataclass(frozen=True, slots=True)
class SoundClip:
    """Sound: ``samples`` int16, mono, ``rate_hz`` = 16000; ``start_s`` of the first sample, from
    the picture's first frame.

    ``start_s`` is below zero where the sound begins before the picture; without a picture zero is
    the sound's own start. ``track``: the stream's index in the container.
    """

    samples: NDArray[np.int16]
    rate_hz: int
    start_s: float
    track: int
    source_sha256: str

    @property
    def end_s(self) -> float:
        """Where the last sample ends, on the same clock as ``start_s``."""
        return self.start_s + len(self.samples) / self.rate_hz


def read_sound(
    path: Path,
    *,
    window: tuple[float, float] | None = None,
    track: int | None = None,
    source_sha256: str | None = None,
) -> SoundClip:
    """Decode a sound track: the default one, or the one with container index ``track``.

    ``window`` = (start_s, end_s) keeps the samples in it; what lies outside the sound is not made
    up, so the clip may be shorter, or empty. Holes inside the sound are silence, so that later
    samples keep their time. Raises ``NoStream`` without a sound track, ``InputError`` for a bad
    window or track, ``UnreadableMedia`` if nothing decodes.
    """
    if window is not None and not 0 <= window[0] < window[1]:
        raise InputError("a window needs 0 <= start < end (seconds)", value=window)
    zero = _picture_start_s(path)
    with open_media(path) as container:
        stream = sound_stream(container, path, track)
        keep_only(container, stream)
        chosen = stream.index
        pieces: list[NDArray[np.int16]] = []
        first_s: Fraction | None = None
        place = 0
        for at_s, samples in _runs(container, stream):
            if first_s is None:
                first_s = at_s
                if zero is None:
                    zero = at_s
            expected = round((at_s - first_s) * RATE_HZ)
            if expected - place > _LONGEST_HOLE_S * RATE_HZ:
                raise UnreadableMedia(
                    "the sound's time stamps jump", where=str(path), value=f"{float(at_s - first_s):.0f} s"
                )
            if expected - place > _HOLE_S * RATE_HZ:
                pieces.append(np.zeros(expected - place, np.int16))
                place = expected
            pieces.append(samples)
            place += len(samples)
            if window is not None and first_s - (zero or 0) + Fraction(place, RATE_HZ) > window[1]:
                break
    if first_s is None or zero is None:
        raise UnreadableMedia("no sound can be decoded", where=str(path), value=chosen)
    whole = np.concatenate(pieces)
    start_s = float(first_s - zero)
    if window is not None:
        begin = min(max(0, round((window[0] - start_s) * RATE_HZ)), len(whole))
        end = max(begin, round((window[1] - start_s) * RATE_HZ))
        whole = whole[begin:end]
        start_s += begin / RATE_HZ
    return SoundClip(whole, RATE_HZ, start_s, chosen, source_sha256 or file_sha256(path))


def wav_bytes(clip: SoundClip) -> bytes:
    """The clip as a WAV file (PCM, 16 bit, mono)."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(clip.rate_hz)
        file.writeframes(clip.samples.astype("<i2").tobytes())
    return buffer.getvalue()


def _picture_start_s(path: Path) -> Fraction | None:
    """Time stamp of the first frame shown, None without a picture."""
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            return None
        index = read_index(container, stream, path)
        return index.start_pts * index.time_base


def _runs(container: InputContainer, stream: AudioStream) -> Iterator[tuple[Fraction, NDArray[np.int16]]]:
    """Resampled pieces with the time stamp, in seconds, of their first sample."""
    from av import AudioResampler  # noqa: PLC0415 - an extra

    resampler: AudioResampler | None = None
    run_start_s = Fraction(0)
    given = 0
    next_s: Fraction | None = None
    for frame in _frames(container, stream):
        at_s = _time_s(frame, next_s)
        if resampler is not None and next_s is not None and at_s - next_s > _HOLE_S:
            for samples in _resampled(resampler, None):
                yield run_start_s + Fraction(given, RATE_HZ), samples
                given += len(samples)
            resampler = None
        if resampler is None:
            resampler = AudioResampler(format="s16", layout="mono", rate=RATE_HZ)
            run_start_s, given = at_s, 0
        next_s = at_s + Fraction(frame.samples, frame.sample_rate)
        frame.pts = None  # the resampler would otherwise pad or cut by the container's rounded times
        for samples in _resampled(resampler, frame):
            yield run_start_s + Fraction(given, RATE_HZ), samples
            given += len(samples)
    if resampler is not None:
        for samples in _resampled(resampler, None):
            yield run_start_s + Fraction(given, RATE_HZ), samples
            given += len(samples)


def _frames(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Every frame that decodes; a damaged packet leaves a hole in time."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        for packet in container.demux(stream):
            try:
                frames = stream.codec_context.decode(packet if packet.size else None)
            except FFmpegError:
                continue
            yield from frames
    except FFmpegError:
        return


def _time_s(frame: AudioFrame, next_s: Fraction | None) -> Fraction:
    if frame.pts is None or frame.time_base is None:
        return next_s or Fraction(0)
    return frame.pts * frame.time_base


def _resampled(resampler: AudioResampler, frame: AudioFrame | None) -> Iterator[NDArray[np.int16]]:
    for piece in resampler.resample(frame):
        if piece.samples:
            yield piece.to_ndarray().reshape(-1).astype(np.int16, copy=False)
