from __future__ import annotations

import gc
import struct
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest

from onlooker.media.card import probe
from onlooker.media.cut import cut_clip
from onlooker.media.frames import sample
from onlooker.media.orientation import orientation
from onlooker.media.pictures import open_footage, walk
from tests.media.making import Pixels, counter, pixels, write

# Four corners that tell all eight ways apart, twice as wide as high.
STORED = np.zeros((64, 128, 3), np.uint8)
STORED[:32, :64], STORED[:32, 64:], STORED[32:, :64] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
Shown = Callable[[Pixels], Pixels]

# (a, b, c, d): the point (x, y), downwards, is shown at (a x + c y, b x + d y).
WAYS: dict[str, tuple[tuple[float, float, float, float], Shown, int, bool]] = {
    "upright": ((1, 0, 0, 1), lambda p: p, 0, False),
    "clockwise": ((0, 1, -1, 0), lambda p: np.rot90(p, -1), 270, False),
    "over head": ((-1, 0, 0, -1), lambda p: p[::-1, ::-1], 180, False),
    "counter-clockwise": ((0, -1, 1, 0), np.rot90, 90, False),
    "left to right": ((-1, 0, 0, 1), lambda p: p[:, ::-1], 0, True),
    "top to bottom": ((1, 0, 0, -1), lambda p: p[::-1], 180, True),
    "transposed": ((0, 1, 1, 0), lambda p: p.transpose(1, 0, 2), 90, True),
    "other diagonal": ((0, -1, -1, 0), lambda p: p[::-1, ::-1].transpose(1, 0, 2), 270, True),
    "no matrix at all": ((0, 0, 0, 0), lambda p: p, 0, False),
}


def with_matrix(folder: Path, matrix: tuple[float, float, float, float]) -> Path:
    """A video of three pictures with this display matrix in its track header (ISO/IEC 14496-12, 8.3.2)."""
    path = write(folder / "turned.mp4", [STORED] * 3, rate=10)
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 4 + 20 + 8 + 8
    a, b, c, d = (round(value * 65536) for value in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("way", WAYS)
def test_pictures_are_shown_as_a_player_shows_them(tmp_path: Path, way: str) -> None:
    matrix, shown, turned_deg, mirrored = WAYS[way]
    path = with_matrix(tmp_path, matrix)
    expected = shown(STORED).astype(int)

    card = probe(path).video
    assert card is not None
    assert (card.rotation_deg, card.mirrored) == (turned_deg, mirrored)
    assert (card.height_px, card.width_px) == expected.shape[:2]

    (frame,) = sample(path, "midpoint").frames
    clip = cut_clip(path, tmp_path / "cut.mp4")
    (cut,) = sample(clip.path, "midpoint").frames
    footage = open_footage(path)
    _, first = next(walk(footage))
    for seen in (pixels(frame.jpeg), pixels(cut.jpeg), footage.pixels(first, (footage.width_px, footage.height_px))):
        assert seen.shape == expected.shape
        assert np.abs(seen.astype(int) - expected).mean() < 8


def test_reading_it_leaves_no_frame_in_memory(tmp_path: Path) -> None:
    """A frame tied to itself would stay until the collector of cycles comes by, which does not see how large it is."""
    path = write(tmp_path / "in.mp4", counter(20), rate=10)
    gc.collect()
    gc.disable()
    try:
        with av.open(str(path)) as container:
            assert sum(orientation(frame).is_upright for frame in container.decode(video=0)) == 20
        assert gc.collect() == 0, "nothing is left for the collector of cycles"
    finally:
        gc.enable()
