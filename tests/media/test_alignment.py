"""Offsets that are known, and pairs that have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from onlooker.assets import is_present, locate
from onlooker.errors import InputError, NoStream
from onlooker.media.alignment import offset_between
from onlooker.media.sound import RATE_HZ, read_sound

from .making import Pixels, counter, tone, write

needs_speech = pytest.mark.skipif(
    not is_present("clips-moonshine"), reason="needs: onlooker assets get clips-moonshine"
)


def sound(path: Path, samples: NDArray[np.float64]) -> Path:
    level = np.asarray(samples / np.abs(samples).max() * 20_000, np.int16)
    return write(path, sounds=[level], sound_codec="pcm_s16le" if path.suffix == ".mkv" else "aac")


def speech(name: str = "two_cities.wav") -> NDArray[np.float64]:
    return read_sound(locate("clips-moonshine", name)).samples.astype(np.float64)


@needs_speech
@pytest.mark.parametrize("shift", [-23_456, -80, 0, 1_234, 40_000])
def test_two_microphones_are_aligned_within_10_ms(tmp_path: Path, shift: int) -> None:
    whole, start, length = speech(), 100_000, 8 * RATE_HZ
    other = np.convolve(whole[start - shift : start - shift + length], [1, -0.7])
    other[1600:] += 0.4 * other[:-1600]
    other += np.random.default_rng(1).normal(size=len(other)) * other.std() / 3
    a = sound(tmp_path / "a.mkv", whole[start : start + length])
    found = offset_between(a, sound(tmp_path / "b.mp4", other))
    assert found.offset_s == pytest.approx(shift / RATE_HZ, abs=0.010)
    assert found.by == "sound"
    back = offset_between(tmp_path / "b.mp4", a)
    assert back.offset_s == pytest.approx(-shift / RATE_HZ, abs=0.010)


@needs_speech
def test_the_clock_is_that_of_the_picture(tmp_path: Path) -> None:
    samples = np.asarray(speech()[: 5 * RATE_HZ], np.int16)
    a = write(tmp_path / "a.mkv", counter(50), rate=10, sounds=[samples], sound_codec="pcm_s16le")
    b = write(tmp_path / "b.mkv", counter(50), rate=10, sounds=[samples], sound_codec="pcm_s16le", sound_offset_s=0.75)
    assert offset_between(a, b).offset_s == pytest.approx(0.75, abs=0.010)


@needs_speech
def test_no_offset_where_none_stands_out(tmp_path: Path) -> None:
    one = sound(tmp_path / "one.mkv", speech()[: 8 * RATE_HZ])
    stranger = offset_between(one, sound(tmp_path / "other.mkv", speech("beckett.wav")[: 8 * RATE_HZ]))
    assert stranger.offset_s is None
    assert stranger.reason == "the recordings agree at no shift"
    beats = np.tile(np.concatenate([tone(440, 0.2), np.zeros(4800, np.int16)]), 16).astype(np.float64)
    beating = offset_between(sound(tmp_path / "p.mkv", beats), sound(tmp_path / "q.mkv", beats[8000:]))
    assert beating.offset_s is None
    assert "stand out" in (beating.reason or "")
    silence = write(tmp_path / "s.mkv", sounds=[np.zeros(64_000, np.int16)], sound_codec="pcm_s16le")
    assert offset_between(one, silence).offset_s is None
    assert "does not change" in (offset_between(one, silence).reason or "")
    short = sound(tmp_path / "short.mkv", speech()[: RATE_HZ // 2])
    assert "to compare" in (offset_between(one, short).reason or "")
    with pytest.raises(NoStream):
        offset_between(one, silence, by="picture")
    with pytest.raises(InputError, match="max_offset_s"):
        offset_between(one, silence, max_offset_s=0)


def scene(count: int, size: int, first: int, seed: int = 9) -> list[Pixels]:
    """A disc that wanders at random before a ground whose light flickers slowly, seen with ``size`` pixels a side."""
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(0, 0.04, (200, 2)), axis=0) * rng.choice([0.3, 1.5], (200, 1)) % 1
    light = 90 + 30 * np.cumsum(rng.normal(0, 0.2, 200))
    rows, columns = np.mgrid[0:size, 0:size] / size
    pictures = []
    for k in range(first, first + count):
        disc = (rows - places[k, 0]) ** 2 + (columns - places[k, 1]) ** 2 < 0.03
        pictures.append(np.repeat(np.clip(light[k] + 90 * disc, 0, 255).astype(np.uint8)[..., None], 3, axis=2))
    return pictures


@pytest.mark.parametrize("frames", [-9, 0, 2])
def test_pictures_are_aligned_to_the_frame(tmp_path: Path, frames: int) -> None:
    a = write(tmp_path / "a.mp4", scene(100, 96, 20), rate=25)
    b = write(tmp_path / "b.mp4", [p // 2 + 30 for p in scene(100, 128, 20 - frames)], rate=25)
    found = offset_between(a, b)
    assert found.by == "picture"
    assert found.offset_s == pytest.approx(frames / 25, abs=0.02)
    stranger = offset_between(a, write(tmp_path / "c.mp4", scene(100, 96, 20, seed=10), rate=25))
    assert stranger.offset_s is None
