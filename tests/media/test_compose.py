"""Two counters on one clock: at every time of the output both halves show the frame on screen."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.errors import InputError, NoStream
from onlooker.media.card import probe
from onlooker.media.compose import cached_side_by_side, compose_inset, compose_side_by_side
from onlooker.media.frames import sample
from onlooker.media.pictures import Rect
from onlooker.media.sound import read_sound
from tests.media.making import counter, gray, pixels, tone, write
from tests.media.reading import luma

BLACK = 16


def level(plane: Any, rect: tuple[int, int, int, int]) -> int:
    """Gray level inside a rectangle (left, top, right, bottom), its border left out."""
    left, top, right, bottom = rect
    return round(float(plane[top + 4 : bottom - 4, left + 4 : right - 4].mean()))


def shown(ticks: list[int], rate: int, end_s: float, time_s: float, begin_s: float) -> int:
    """Level of the counter on screen at ``time_s`` of the output, black outside its time."""
    own = time_s - begin_s
    if not -1e-6 <= own < end_s - 1e-6:
        return BLACK
    return 16 + 4 * (bisect_right(ticks, (own + 1e-4) * rate) - 1)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    left=st.lists(st.integers(1, 40), min_size=2, max_size=12, unique=True),
    right=st.lists(st.integers(1, 40), min_size=2, max_size=12, unique=True),
    offset_ms=st.sampled_from([0, 300, 450, -400, 2500]),
    suffix=st.sampled_from(["mp4", "mkv"]),
)
def test_both_halves_show_what_is_on_screen(
    tmp_path: Path, left: list[int], right: list[int], offset_ms: int, suffix: str
) -> None:
    ticks = [sorted({0, *t}) for t in (left, right)]
    first = write(tmp_path / f"left.{suffix}", counter(len(ticks[0])), ticks[0], rate=10)
    second = write(tmp_path / f"right.{suffix}", counter(len(ticks[1])), ticks[1], rate=10)
    ends = [probe(p).duration_s for p in (first, second)]
    offset = offset_ms / 1000
    clip = compose_side_by_side(first, second, tmp_path / "out.mp4", offset_s=offset, sound="none")
    assert (clip.width_px, clip.height_px) == (128, 64)
    assert clip.duration_s == pytest.approx(max(ends[0], offset + ends[1]), abs=2e-3)
    found = luma(clip.path)
    assert found[0][0] == 0.0
    changes = {0.0}
    changes |= {t / 10 for t in ticks[0]} | {ends[0]}
    changes |= {offset + t / 10 for t in ticks[1]} | {offset + ends[1]}
    changes = {t for t in changes if 0 <= t < clip.duration_s - 5e-3}
    assert {round(t, 2) for t, _ in found} == {round(t, 2) for t in changes}
    for time_s, plane in found:
        assert level(plane, (0, 0, 64, 64)) == pytest.approx(shown(ticks[0], 10, ends[0], time_s, 0.0), abs=1)
        assert level(plane, (64, 0, 128, 64)) == pytest.approx(shown(ticks[1], 10, ends[1], time_s, offset), abs=1)


def test_a_fixed_rate_and_windows(tmp_path: Path) -> None:
    left = write(tmp_path / "left.mp4", counter(40), rate=10)
    right = write(tmp_path / "right.mp4", counter(50), rate=25)
    clip = compose_side_by_side(
        left, right, tmp_path / "out.mp4", left_window=(1.0, 3.0), right_window=(0.4, 1.4), fps=5, sound="none"
    )
    found = luma(clip.path)
    assert [t for t, _ in found] == [pytest.approx(k / 5) for k in range(10)]
    for k, (_, plane) in enumerate(found):
        assert level(plane, (0, 0, 64, 64)) == pytest.approx(16 + 4 * (10 + 2 * k), abs=1)
        assert level(plane, (64, 0, 128, 64)) == pytest.approx(16 + 4 * (10 + 5 * k) if k < 5 else BLACK, abs=1)
    assert (clip.start_s, clip.end_s, len(clip.sources_sha256)) == (1.0, 3.0, 2)
    assert clip.source_sha256 == probe(left).sha256
    assert clip.sources_sha256[1] == probe(right).sha256


def test_sizes_and_rotation(tmp_path: Path) -> None:
    left = write(tmp_path / "left.mp4", [gray(60, 96, 64)] * 5, rotation_deg=90)
    right = write(tmp_path / "right.mp4", [gray(120, 128, 48)] * 5)
    clip = compose_side_by_side(left, right, tmp_path / "out.mp4", sound="none")
    assert (clip.width_px, clip.height_px) == (32 + 128, 48)
    tall = compose_side_by_side(left, right, tmp_path / "out.mp4", sound="none", height_px=144)
    assert (tall.width_px, tall.height_px) == (96 + 384, 144)
    plane = luma(tall.path)[0][1]
    assert [level(plane, (0, 0, 96, 144)), level(plane, (96, 0, 480, 144))] == [
        pytest.approx(60, abs=1),
        pytest.approx(120, abs=1),
    ]


def test_an_inset_lies_in_its_rectangle_while_it_lasts(tmp_path: Path) -> None:
    background = write(tmp_path / "a.mp4", [gray(40 + n, 160, 120) for n in range(40)], rate=10)
    inset = write(tmp_path / "b.mp4", [gray(150 + 4 * n) for n in range(20)], rate=10)
    rect = Rect(100, 20, 148, 68)
    clip = compose_inset(background, inset, tmp_path / "out.mp4", rectangle=rect, offset_s=1.0, sound="none")
    assert (clip.width_px, clip.height_px, clip.frames) == (160, 120, 40)
    for n, (_, plane) in enumerate(luma(clip.path)):
        inside = level(plane, (rect.left_px, rect.top_px, rect.right_px, rect.bottom_px))
        assert inside == pytest.approx(150 + 4 * (n - 10) if 10 <= n < 30 else 40 + n, abs=1)
        assert level(plane, (0, 0, 96, 120)) == pytest.approx(40 + n, abs=1)
        if 10 <= n < 30:  # the border is where it was put, to the pixel
            columns = np.flatnonzero(np.abs(plane[44].astype(int) - inside) < 12)
            rows = np.flatnonzero(np.abs(plane[:, 124].astype(int) - inside) < 12)
            assert (columns[0], columns[-1] + 1, rows[0], rows[-1] + 1) == (100, 148, 20, 68)
    for bad in (Rect(101, 20, 148, 68), Rect(100, 20, 162, 68), Rect(100, 68, 148, 68)):
        with pytest.raises(InputError, match="rectangle"):
            compose_inset(background, inset, tmp_path / "out.mp4", rectangle=bad)


def test_colours_of_both_survive(tmp_path: Path) -> None:
    colours = ((200, 40, 60), (30, 90, 210))
    paths = [
        write(tmp_path / f"{n}.mp4", [np.full((64, 64, 3), rgb, np.uint8)] * 3, codec_options={"crf": "5"})
        for n, rgb in enumerate(colours)
    ]
    clip = compose_side_by_side(paths[0], paths[1], tmp_path / "out.mp4", sound="none")
    found = pixels(sample(clip.path, "uniform:1", jpeg_quality=100).frames[0].jpeg).astype(int)
    for n, path in enumerate(paths):
        alone = pixels(sample(path, "uniform:1", jpeg_quality=100).frames[0].jpeg).astype(int)
        assert np.abs(found[32, 32 + 64 * n] - alone[32, 32]).max() <= 4


@pytest.mark.parametrize(("heard", "at_s"), [("left", 0.5), ("right", 1.3)])
def test_the_sound_keeps_its_place(tmp_path: Path, heard: Literal["left", "right"], at_s: float) -> None:
    burst = np.concatenate([np.zeros(8000, np.int16), tone(1000, 0.1), np.zeros(8000, np.int16)])
    left = write(tmp_path / "left.mp4", counter(20), rate=10, sounds=[burst])
    right = write(tmp_path / "right.mp4", counter(20), rate=10, sounds=[burst])
    clip = compose_side_by_side(left, right, tmp_path / "out.mp4", offset_s=0.8, sound=heard)
    sound = read_sound(clip.path)
    onset = np.flatnonzero(np.abs(sound.samples.astype(int)) > 2000)[0] / sound.rate_hz + sound.start_s
    assert onset == pytest.approx(at_s, abs=0.01)
    assert probe(clip.path).sound_duration_s == pytest.approx(2.8, abs=0.03)


def test_sound_that_is_not_there_is_not_replaced(tmp_path: Path) -> None:
    left = write(tmp_path / "left.mp4", counter(20), rate=10, sounds=[tone(440, 2)])
    right = write(tmp_path / "right.mp4", counter(20), rate=10)
    with pytest.raises(NoStream, match="no sound track"):
        compose_side_by_side(left, right, tmp_path / "out.mp4", sound="right")
    with pytest.raises(InputError, match="its own source"):
        compose_side_by_side(left, right, left)
    with pytest.raises(InputError, match="even number"):
        compose_side_by_side(left, right, tmp_path / "out.mp4", height_px=63)
    assert not (tmp_path / "out.mp4").exists()


def test_same_bytes_and_once_in_the_cache(tmp_path: Path) -> None:
    left = write(tmp_path / "left.mp4", counter(20), rate=10, sounds=[tone(440, 2)])
    right = write(tmp_path / "right.mp4", counter(20), rate=10)
    first = compose_side_by_side(left, right, tmp_path / "a.mp4")
    clip = cached_side_by_side(tmp_path / "cache", left, right)
    assert clip.sha256 == first.sha256
    inode = clip.path.stat().st_ino
    assert cached_side_by_side(tmp_path / "cache", left, right) == clip
    assert clip.path.stat().st_ino == inode
    assert cached_side_by_side(tmp_path / "cache", right, left, sound="none").sha256 != clip.sha256


@pytest.mark.parametrize("options", [{"offset_s": v} for v in (float("nan"), float("inf"), 1e9)] + [{"fps": 1e-9}])
def test_numbers_that_cannot_be_meant_are_refused(tmp_path: Path, options: dict[str, float]) -> None:
    path = write(tmp_path / "a.mp4", counter(3), rate=10)
    with pytest.raises(InputError):
        compose_side_by_side(path, path, tmp_path / "out.mp4", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "out.mp4").exists()


def test_long_work_tells_how_far_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(4), rate=10)
    told: list[tuple[int, int]] = []
    compose_side_by_side(
        path, path, tmp_path / "b.mp4", sound="none", advance=lambda done, total: told.append((done, total))
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
