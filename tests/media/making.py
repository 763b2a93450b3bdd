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


def barred(number: int, width: int = 96, height: int = 64) -> Pixels:
    """The number, 0 to 255, as eight bars, the lowest bit on the left, black for 0; below them the same bars inverted,
    so that a picture that is half of one frame and half of another reads as none. RGB."""
    bits = number >> (np.arange(width) * 8 // width) & 1
    level = np.where(bits, 225, 30).astype(np.uint8)
    picture = np.empty((height, width, 3), np.uint8)
    picture[: height // 2] = level[:, None]
    picture[height // 2 :] = 255 - level[:, None]
    return picture


def read_bars(picture: Pixels) -> int | None:
    """The number that the bars of an RGB or gray picture of any size code; None where they are not whole."""
    gray_levels = picture.mean(axis=2) if picture.ndim == 3 else picture.astype(float)
    height, width = gray_levels.shape
    number = 0
    for bit in range(8):
        columns = slice(
            int((bit + 0.3) * width / 8), max(int((bit + 0.7) * width / 8), int((bit + 0.3) * width / 8) + 1)
        )
        upper = gray_levels[height // 8 : height * 3 // 8, columns].mean()
        lower = gray_levels[height * 5 // 8 : height * 7 // 8, columns].mean()
        if abs(upper - lower) < 100:
            return None
        number |= int(upper > lower) << bit
    return number


def beeps(seconds: int, rate_hz: int = 16_000) -> NDArray[np.int16]:
    """At every full second k a tone of 0.2 s at 400 + 100 k Hz, silence in between."""
    samples = np.zeros(seconds * rate_hz, np.int16)
    for k in range(seconds):
        beep = tone(400 + 100 * k, 0.2, rate_hz)
        samples[k * rate_hz : k * rate_hz + len(beep)] = beep
    return samples


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
    pix_fmt: str = "yuv420p",
    pixel_aspect: Fraction | None = None,
    interlaced: bool = False,
    languages: Sequence[str] = (),
    cover: Pixels | None = None,
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
            video.pix_fmt = pix_fmt
            if pixel_aspect is not None:
                video.codec_context.sample_aspect_ratio = pixel_aspect
            video.gop_size = gop
            video.max_b_frames = b_frames
            video.codec_context.time_base = Fraction(1, rate)
            if interlaced:
                video.codec_context.flags |= 0x20040000  # interlaced DCT and motion estimation
            if rotation_deg:
                video.set_display_rotation(rotation_deg)
        tracks = []
        for number, _ in enumerate(sounds):
            track: Any = out.add_stream(sound_codec, rate=sound_rate_hz, layout="mono")
            track.disposition = 1 if number == default_sound else 0
            if number < len(languages):
                track.metadata["language"] = languages[number]
            tracks.append(track)
        if cover is not None:
            art: Any = out.add_stream("mjpeg", rate=1)
            art.height, art.width, art.pix_fmt = *cover.shape[:2], "yuvj420p"
            art.disposition = av.stream.Disposition.attached_pic
            still = av.VideoFrame.from_ndarray(cover, format="rgb24").reformat(format="yuvj420p")
            out.mux([*art.encode(still), *art.encode(None)])
        for place, picture in enumerate(pictures):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24" if picture.ndim == 3 else "yuv420p")
            tick = place if ticks is None else ticks[place]
            frame.pts = tick + round(offset_s * rate)
            frame.time_base = Fraction(1, rate)
            if frame.format.name != pix_fmt:
                frame = frame.reformat(format=pix_fmt)
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
