"""Case V22: a list of cuts names the same frames after a round trip, also at 29.97 frames a second."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import av
import pytest

from onlooker.errors import InputError
from onlooker.media.cut import cut_clip
from onlooker.media.cutlist import frame_window, picture_clock, read_cuts, window_frames, write_cuts
from tests.media.making import gray
from tests.media.reading import counts


@pytest.fixture(scope="module")
def ntsc(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """50 frames at 30000/1001 a second."""
    path = tmp_path_factory.mktemp("ntsc") / "a.mp4"
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=Fraction(30000, 1001))
        video.width = video.height = 64
        video.pix_fmt = "yuv420p"
        for n in range(50):
            out.mux(video.encode(av.VideoFrame.from_ndarray(gray(16 + 4 * n), format="yuv420p")))
        out.mux(video.encode(None))
    return path


def test_every_cut_comes_back_at_its_frame(ntsc: Path, tmp_path: Path) -> None:
    clock = picture_clock(ntsc)
    cuts = list(pairwise(range(51)))
    windows = [frame_window(clock, *cut) for cut in cuts]
    assert windows[1][0] == pytest.approx(1001 / 30000, abs=1e-9)
    write_cuts(windows, clock, tmp_path / "cuts.csv")
    again = read_cuts(tmp_path / "cuts.csv", clock)
    assert again == windows
    assert [window_frames(clock, w) for w in again] == cuts
    rows = (tmp_path / "cuts.csv").read_text().splitlines()
    assert rows[0] == "start_s,end_s,first_frame,end_frame"
    assert rows[7].endswith(",6,7")


@pytest.mark.parametrize("digits", [3, 4, 6])
def test_a_list_in_milliseconds_is_snapped(ntsc: Path, tmp_path: Path, digits: int) -> None:
    clock = picture_clock(ntsc)
    cuts = [(n, n + 7) for n in range(43)]
    lines = [",".join(f"{t:.{digits}f}" for t in frame_window(clock, *cut)) for cut in cuts]
    (tmp_path / "cuts.csv").write_text("\n".join(["start_s,end_s", *lines, ""]))
    windows = read_cuts(tmp_path / "cuts.csv", clock)
    assert [window_frames(clock, w) for w in windows] == cuts
    for cut, window in list(zip(cuts, windows, strict=True))[::14]:
        clip = cut_clip(ntsc, tmp_path / "out.mp4", window=window)
        assert [n for _, n in counts(clip.path)] == list(range(*cut))


def test_times_between_frames_stay_and_bad_lists_are_named(ntsc: Path, tmp_path: Path) -> None:
    clock = picture_clock(ntsc)
    path = tmp_path / "cuts.csv"
    path.write_text("start_s,end_s\n0.05,0.08\n")
    assert read_cuts(path, clock) == [(0.05, 0.08)]
    assert window_frames(clock, (0.05, 0.08)) == (1, 3)
    for text in ("start_s,end_s\n1,0.5\n", "start_s,end_s\nx,1\n", "a,b\n1,2\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"cuts\.csv:2"):
            read_cuts(path, clock)
    with pytest.raises(InputError, match="frames 0 <= first < end <= 50"):
        frame_window(clock, 3, 51)
