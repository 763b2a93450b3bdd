"""Media that several tests of this folder use, each made once a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .making import coloured, counter, gray, tone, write


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("media")


@pytest.fixture(scope="session")
def base(folder: Path) -> Path:
    """4 s at 30 frames a second, no sound; the picture gets brighter all the time."""
    return write(folder / "base.mp4", [gray(16 + n) for n in range(120)], b_frames=2)


@pytest.fixture(scope="session")
def gray_counter(folder: Path) -> Path:
    """50 counted frames at 10 a second, a key frame every 25, B-frames."""
    return write(
        folder / "gray.mp4",
        counter(50),
        rate=10,
        gop=25,
        b_frames=3,
        codec_options={"qp": "0", "sc_threshold": "0"},
    )


@pytest.fixture(scope="session")
def vfr(folder: Path) -> Path:
    """30 frames a second for 2 s, then 5: 70 frames, the last at 3.8 s."""
    ticks = [*range(60), *range(60, 120, 6)]
    return write(folder / "vfr.mp4", [gray(16 + t) for t in ticks], ticks, b_frames=2)


@pytest.fixture(scope="session")
def nine(folder: Path) -> Path:
    """Nine counted frames at 30 a second."""
    return write(folder / "nine.mp4", counter(9))


@pytest.fixture(scope="session")
def red_blue(folder: Path) -> Path:
    """3 s red, 3 s blue, 10 frames a second."""
    pictures = [coloured((255, 0, 0))] * 30 + [coloured((0, 0, 255))] * 30
    return write(folder / "redblue.mp4", pictures, rate=10)


@pytest.fixture(scope="session")
def two_tracks(folder: Path) -> Path:
    """440 Hz first, 880 Hz marked default."""
    return write(
        folder / "twotracks.mp4",
        counter(40),
        rate=10,
        sounds=[tone(440, 4), tone(880, 4)],
        default_sound=1,
    )


@pytest.fixture(scope="session")
def silent(folder: Path) -> Path:
    """A picture with a sound track of digital silence."""
    return write(folder / "silent.mp4", counter(40), rate=10, sounds=[np.zeros(64_000, np.int16)])


@pytest.fixture(scope="session")
def noise(folder: Path) -> Path:
    """A picture with white noise."""
    samples = np.random.default_rng(7).normal(0, 1600, 64_000).astype(np.int16)
    return write(folder / "noise.mp4", counter(40), rate=10, sounds=[samples])
