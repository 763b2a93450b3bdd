"""Sound as 16 kHz mono samples on the clock of the picture."""

from __future__ import annotations

import io
import math
import wave
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.container import demuxed, keep_only, open_media, sound_stream
from onlooker.media.digest import file_sha256
from onlooker.media.start import picture_start_s

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.stream import AudioStream
    from av.container import InputContainer

RATE_HZ = 16_000
# Time stamps jitter by a codec frame's rounding; a longer hole is a hole in the sound and is filled
# with silence.
_HOLE_S = 0.05
# A longer one is a broken time stamp, and its silence would fill the memory.
_LONGEST_HOLE_S = 3600
# Time stamps that go back by more are those of another recording.
_LONGEST_BACK_S = 0.5
# Samples that are resampled at once: each call has its price.
_BATCH = 65_536


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
    up, so the clip may be shorter, or empty. They are the samples of the whole, so what lies before the window is
    decoded, too (a thousandth of its length in time): decoders carry state from packet to packet, AAC the seed of its
    noise, and jumping in gives other samples. Only the window is kept in memory. Holes inside the sound are silence, so
    that later samples keep their time. Raises ``NoStream`` without a sound track, ``InputError`` for a bad
    window or track, ``UnreadableMedia`` if nothing decodes or time stamps jump.
    """
    if window is not None and not 0 <= window[0] < window[1]:
        raise InputError("a window needs 0 <= start < end (seconds)", value=window)
    zero = picture_start_s(path)
    begin, end = 0, math.inf
    kept: list[NDArray[np.int16]] = []
    first_s: Fraction | None = None
    place = 0
    with open_media(path) as container:
        stream = sound_stream(container, path, track)
        keep_only(container, stream)
        chosen = stream.index
        for at_s, samples in _runs(container, stream, path):
            if first_s is None:
                first_s = at_s
                zero = at_s if zero is None else zero
                if window is not None:
                    begin = max(0, round((window[0] - float(first_s - zero)) * RATE_HZ))
                    end = max(begin, round((window[1] - float(first_s - zero)) * RATE_HZ))
            hole = round((at_s - first_s) * RATE_HZ) - place
            if hole > _HOLE_S * RATE_HZ:
                silent = int(min(place + hole, end)) - max(place, begin)
                kept.append(np.zeros(max(0, silent), np.int16))
                place += hole
            inside = samples[max(0, begin - place) : max(0, int(min(end - place, len(samples))))]
            if len(inside):  # an empty view would keep what it is a view of
                kept.append(inside)
            place += len(samples)
            if place > end:
                break
    if first_s is None or zero is None:
        raise UnreadableMedia("no sound can be decoded", where=str(path), value=chosen)
    start_s = float(first_s - zero) + (0 if window is None else min(begin, place) / RATE_HZ)
    return SoundClip(
        np.concatenate([np.zeros(0, np.int16), *kept]), RATE_HZ, start_s, chosen, source_sha256 or file_sha256(path)
    )


def wav_bytes(clip: SoundClip) -> bytes:
    """The clip as a WAV file (PCM, 16 bit, mono)."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(clip.rate_hz)
        file.writeframes(clip.samples.astype("<i2").tobytes())
    return buffer.getvalue()


def _runs(container: InputContainer, stream: AudioStream, path: Path) -> Iterator[tuple[Fraction, NDArray[np.int16]]]:
    """Resampled pieces with the time stamp, in seconds, of their first sample. Between two pieces of a run without a
    hole, time is what the samples say."""
    run: _Run | None = None
    base = stream.time_base or Fraction(1)
    next_units = 0
    for frame in _frames(container, stream):
        rate_hz, count = frame.sample_rate, frame.samples
        kind = (rate_hz, frame.layout.nb_channels, frame.format.name)
        # Whole numbers in units of 1 / (rate x denominator of the time base): no rounding, and ten times as fast.
        second, frame_units = rate_hz * base.denominator, count * base.denominator
        at_units = next_units if frame.pts is None else frame.pts * base.numerator * rate_hz
        if run is not None:
            gap = at_units - next_units if kind == run.kind else 0
            if gap > _LONGEST_HOLE_S * second or -gap > _LONGEST_BACK_S * second:
                raise UnreadableMedia(
                    "the sound's time stamps jump", where=str(path), value=f"{float(Fraction(gap, second)):+.1f} s"
                )
            if gap > _HOLE_S * second or kind != run.kind:
                yield from run.rest()
                run = None
        if run is None:
            run = _Run(Fraction(at_units, second), kind)
        next_units = at_units + frame_units
        yield from run.put(frame)
    if run is not None:
        yield from run.rest()


class _Run:
    """Sound without a hole, resampled in batches of a second or so."""

    def __init__(self, start_s: Fraction, kind: tuple[int, int, str]) -> None:
        from av import AudioFifo, AudioResampler  # noqa: PLC0415 - an extra

        self.kind = kind
        self._start_s = start_s
        self._given = 0
        self._waiting = AudioFifo()
        self._resampler = AudioResampler(format="s16", layout="mono", rate=RATE_HZ)

    def put(self, frame: AudioFrame) -> Iterator[tuple[Fraction, NDArray[np.int16]]]:
        frame.pts = None  # the resampler would otherwise pad or cut by the container's rounded times
        self._waiting.write(frame)
        if self._waiting.samples >= _BATCH:
            yield from self._resampled(self._waiting.read())

    def rest(self) -> Iterator[tuple[Fraction, NDArray[np.int16]]]:
        if self._waiting.samples:
            yield from self._resampled(self._waiting.read())
        yield from self._resampled(None)

    def _resampled(self, frame: AudioFrame | None) -> Iterator[tuple[Fraction, NDArray[np.int16]]]:
        for piece in self._resampler.resample(frame):
            if piece.samples:
                samples = piece.to_ndarray().reshape(-1).astype(np.int16, copy=False)
                yield self._start_s + Fraction(self._given, RATE_HZ), samples
                self._given += len(samples)


def _frames(container: InputContainer, stream: AudioStream) -> Iterator[AudioFrame]:
    """Every frame that decodes; a damaged packet leaves a hole in time."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    try:
        for packet in demuxed(container, stream):
            try:
                frames = stream.codec_context.decode(packet if packet.size else None)
            except FFmpegError:
                continue
            yield from frames
    except FFmpegError:
        return
