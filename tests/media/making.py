"""Media for the tests, made on the spot: a counter or colours in the picture, tones in the sound.

Frame number n is coded as the gray level 16 + 4 n of the whole picture, so a test can read off which
frame it was given.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image

RATE = 30
COUNTER_RATE = 10
Pixels = NDArray[np.uint8]


def gray(level: int, width: int = 64, height: int = 64) -> Pixels:
    """A picture of one luma level, as yuv420p planes stacked (height * 3 / 2 rows)."""
    planes = np.full((height * 3 // 2, width), 128, np.uint8)
    planes[:height] = level
    return planes


def counter(count: int) -> list[Pixels]:
    """Pictures 0 .. count - 1 of the counter; count <= 55."""
    return [gray(16 + 4 * n) for n in range(count)]


def coloured(rgb: tuple[int, int, int], width: int = 64, height: int = 64) -> Pixels:
    """A picture of one colour, as RGB."""
    return np.full((height, width, 3), rgb, np.uint8)


def tone(frequency_hz: float, seconds: float, rate_hz: int = 16_000) -> NDArray[np.int16]:
    """A sine tone at a quarter of full scale."""
    t = np.arange(round(seconds * rate_hz)) / rate_hz
    return np.asarray(np.sin(2 * np.pi * frequency_hz * t) * 8000, np.int16)


def write(
    path: Path,
    pictures: Iterable[Pixels] = (),
    ticks: Sequence[int] | None = None,
    *,
    rate: int = RATE,
    codec: str = "libx264",
    offset_s: float = 0.0,
    gop: int = 250,
    b_frames: int = 0,
    sounds: Sequence[NDArray[np.int16]] = (),
    default_sound: int = 0,
    sound_rate_hz: int = 16_000,
    sound_codec: str = "aac",
    sound_offset_s: float = 0.0,
    rotation_deg: float = 0.0,
    codec_options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    container: str | None = None,
) -> Path:
    """Encode pictures (at ``ticks`` / ``rate`` seconds, by default one a tick) and sound tracks."""
    with av.open(str(path), "w", format=container, options=container_options or {}) as out:
        pictures = list(pictures)
        video: Any = None
        if pictures:
            video = out.add_stream(codec, rate=rate, options=codec_options or {})
            shape = pictures[0].shape
            video.height, video.width = (shape[0], shape[1]) if len(shape) == 3 else (shape[0] * 2 // 3, shape[1])
            video.pix_fmt = "yuv420p"
            video.gop_size = gop
            video.max_b_frames = b_frames
            video.codec_context.time_base = Fraction(1, rate)
            if rotation_deg:
                video.set_display_rotation(rotation_deg)
        tracks = []
        for number, _ in enumerate(sounds):
            track: Any = out.add_stream(sound_codec, rate=sound_rate_hz, layout="mono")
            track.disposition = 1 if number == default_sound else 0
            tracks.append(track)
        for place, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24" if picture.ndim == 3 else "yuv420p")
            tick = place if ticks is None else ticks[place]
            frame.pts = tick + round(offset_s * rate)
            frame.time_base = Fraction(1, rate)
            out.mux(video.encode(frame))
        if video is not None:
            out.mux(video.encode(None))
        for track, samples in zip(tracks, sounds, strict=True):
            start = round(sound_offset_s * sound_rate_hz)
            for begin in range(0, len(samples), 1024):
                piece = samples[begin : begin + 1024]
                sound = av.AudioFrame.from_ndarray(piece.reshape(1, -1), format="s16", layout="mono")
                sound.sample_rate = sound_rate_hz
                sound.pts = start + begin
                sound.time_base = Fraction(1, sound_rate_hz)
                out.mux(track.encode(sound))
            out.mux(track.encode(None))
    return path


def remux(
    source: Path,
    target: Path,
    *,
    shift_s: Fraction = Fraction(0),
    container_options: dict[str, str] | None = None,
) -> Path:
    """Copy all packets with their times shifted, as ``ffmpeg -c copy`` does."""
    with (
        av.open(str(source)) as given,
        av.open(str(target), "w", options=container_options or {}) as out,
    ):
        streams = {s.index: out.add_stream_from_template(s) for s in given.streams}
        for packet in given.demux():
            if packet.dts is None or packet.pts is None:
                continue
            ticks = round(shift_s / packet.time_base)
            packet.pts += ticks
            packet.dts += ticks
            packet.stream = streams[packet.stream_index]
            out.mux(packet)
    return target


def pixels(jpeg: bytes) -> Pixels:
    """The picture of a JPEG as an RGB array."""
    return np.asarray(Image.open(io.BytesIO(jpeg)).convert("RGB"))


def counted(jpeg: bytes) -> int:
    """The frame number that the picture's gray level codes (limited-range luma 16 + 4 n)."""
    level = float(pixels(jpeg).mean())
    return round(level * 219 / 255 / 4)
