"""The sound of a stretch of video at its own rate, cut and filled to the sample, so that it starts with the picture."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import UnreadableMedia
from onlooker.media.container import default_sound_stream, keep_only, open_media, sound_streams

if TYPE_CHECKING:
    from av.audio.frame import AudioFrame
    from av.audio.resampler import AudioResampler

Samples = NDArray[np.float32]
_AAC_RATES_HZ = {8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000}
_USUAL_RATE_HZ = 48_000
# Time stamps jitter by a codec frame's rounding; a longer hole is a hole in the sound and is silent.
_HOLE_S = Fraction(1, 20)
# Decoding begins this much early after a seek: bit reservoirs and overlapping windows have settled by then.
_SETTLING_S = Fraction(1)
_SEEKABLE = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}
_SILENCE = 1 << 16


@dataclass(frozen=True, slots=True)
class SoundPieces:
    """Iterates over float samples (channels x n, -1 to 1) that together last ``duration_s``, from ``origin_s`` on the
    file's own clock. Silence stands where there is no sound. ``track``: the stream's index."""

    path: Path
    track: int
    origin_s: Fraction
    duration_s: Fraction
    rate_hz: int
    layout: Literal["mono", "stereo"]

    @property
    def channels(self) -> int:
        return 1 if self.layout == "mono" else 2

    def __iter__(self) -> Iterator[Samples]:
        """Decode. Raises ``UnreadableMedia`` where nothing of the track can be decoded."""
        total = round(self.duration_s * self.rate_hz)
        written = 0
        for at, samples in self._placed():
            if at > written:
                gap = min(at, total) - written
                yield from self._silence(gap)
                written += max(0, gap)
            piece = samples[:, max(0, written - at) : max(0, total - at)]
            if piece.shape[1]:
                yield piece
                written += piece.shape[1]
            if written >= total:
                return
        yield from self._silence(total - written)

    def _silence(self, number: int) -> Iterator[Samples]:
        while number > 0:
            yield np.zeros((self.channels, min(number, _SILENCE)), np.float32)
            number -= _SILENCE

    def _placed(self) -> Iterator[tuple[int, Samples]]:
        """Decoded pieces with the place of their first sample, counted from the origin."""
        from av import AudioResampler  # noqa: PLC0415 - an extra

        resampler: AudioResampler | None = None
        at = 0
        next_s: Fraction | None = None
        for frame in self._frames():
            at_s = _time_s(frame)
            if at_s is None:
                at_s = next_s or self.origin_s
            if resampler is None or next_s is None or at_s - next_s > _HOLE_S:
                if resampler is not None:
                    for samples in _resampled(resampler, None):
                        yield at, samples
                        at += samples.shape[1]
                resampler = AudioResampler(format="fltp", layout=self.layout, rate=self.rate_hz)
                at = round((at_s - self.origin_s) * self.rate_hz)
            next_s = at_s + Fraction(frame.samples, frame.sample_rate)
            frame.pts = None  # the resampler would otherwise pad or cut by the container's rounded times
            for samples in _resampled(resampler, frame):
                yield at, samples
                at += samples.shape[1]
        if resampler is None:
            raise UnreadableMedia(
                "no sound can be decoded", where=str(self.path), value=self.track, remedy="leave the sound out"
            )
        for samples in _resampled(resampler, None):
            yield at, samples
            at += samples.shape[1]

    def _frames(self) -> Iterator[AudioFrame]:
        """Frames from a little before the origin on where seeking leads there, else all."""
        early_s = self.origin_s - _SETTLING_S
        if early_s > 0:
            frames = _decoded(self.path, self.track, early_s)
            first = next(frames, None)
            first_s = None if first is None else _time_s(first)
            if first is not None and first_s is not None and first_s <= early_s + _SETTLING_S / 2:
                yield first
                yield from frames
                return
            frames.close()
        yield from _decoded(self.path, self.track, None)


def sound_pieces(path: Path, origin_s: Fraction, duration_s: Fraction) -> SoundPieces | None:
    """The default sound track from ``origin_s`` on the file's clock, for ``duration_s``: its own rate where AAC has it,
    else 48 kHz; one channel or two. None where the file has no sound."""
    with open_media(path) as container:
        stream = default_sound_stream(sound_streams(container))
        if stream is None:
            return None
        rate = stream.rate if stream.rate in _AAC_RATES_HZ else _USUAL_RATE_HZ
        layout: Literal["mono", "stereo"] = "mono" if stream.channels == 1 else "stereo"
        return SoundPieces(path, stream.index, origin_s, duration_s, rate, layout)


def _decoded(path: Path, track: int, from_s: Fraction | None) -> Generator[AudioFrame]:
    """Every frame that decodes; with ``from_s`` from about there on, none where the container cannot be sought."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    with open_media(path) as container:
        stream = next(s for s in container.streams.audio if s.index == track)
        keep_only(container, stream)
        try:
            if from_s is not None:
                if stream.time_base is None or container.format.name not in _SEEKABLE:
                    return
                container.seek(int(from_s / stream.time_base), stream=stream)
            for packet in container.demux(stream):
                try:
                    frames = stream.codec_context.decode(packet if packet.size else None)
                except FFmpegError:
                    continue
                yield from frames
        except FFmpegError:
            return  # the demuxer gave up


def _time_s(frame: AudioFrame) -> Fraction | None:
    return None if frame.pts is None or frame.time_base is None else frame.pts * frame.time_base


def _resampled(resampler: AudioResampler, frame: AudioFrame | None) -> Iterator[Samples]:
    for piece in resampler.resample(frame):
        if piece.samples:
            yield np.asarray(piece.to_ndarray(), np.float32)
