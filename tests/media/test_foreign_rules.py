"""The sampling rules of other tools by name: numbers worked by hand from their formulas, and against numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.media.frames import sample
from onlooker.media.grid import Policy, counted_frames, grid_times, parse_policy

from .making import counted, counter, gray, remux, write


def numbers(policy: str, frames: int, seconds: float, window: tuple[float, float] | None = None) -> list[int]:
    """Numbers of the frames that a rule chooses of a clip with a constant rate."""
    times_s = [n * seconds / frames for n in range(frames)]
    return [times_s.index(t) for t in grid_times(parse_policy(policy), seconds, window, times_s)]


@pytest.mark.parametrize(
    ("policy", "frames", "seconds", "expected"),
    [
        # step 9 / 4 = 2.25: 2.25, 4.5, 6.75.
        ("vlmeval:3", 9, 0.3, [2, 4, 6]),
        ("vlmeval:8", 100, 4, [11, 22, 33, 44, 55, 66, 77, 88]),
        # step 1/3: 0.3, 0.7, 1, 1.3, 1.7, 2, 2.3, 2.7.
        ("vlmeval:8", 3, 1, [0, 1, 2]),
        ("vlmeval-fps:1", 100, 4, [0, 25, 50, 75]),
        # 29.97 frames a second: int(29.97 i), int(10.01) of them.
        ("vlmeval-fps:1", 300, 10.01, [0, 29, 59, 89, 119, 149, 179, 209, 239, 269]),
        # A rate above the clip's own: 2 / 4 = 0.5 a step, each frame once.
        ("vlmeval-fps:4", 6, 3, [0, 1, 2, 3, 4, 5]),
        # int(0.3 s x 1) is none: there the original has nothing to show.
        ("vlmeval-fps:1", 9, 0.3, [0]),
        ("lmms-eval:4", 10, 1, [0, 3, 6, 9]),
        ("lmms-eval:8", 100, 4, [0, 14, 28, 42, 56, 70, 84, 99]),
        ("lmms-eval:8", 3, 1, [0, 1, 2]),
        ("lmms-eval:1", 50, 2, [0]),
        # s = 25: 12.5 + 0, 25, 50, 75.
        ("mvbench:4", 101, 4, [12, 37, 62, 87]),
        # s = 2.25: 1.125 + 0, 2, 4 (4.5 to the even number), 7.
        ("mvbench:4", 10, 1, [1, 3, 5, 8]),
        # 10 s x 2 = 20 of them, 249 / 19 = 13.105 a step.
        ("qwen-vl", 250, 10, [0, 13, 26, 39, 52, 66, 79, 92, 105, 118,
                              131, 144, 157, 170, 183, 197, 210, 223, 236, 249]),
        # At least 4: 0, 1.33, 2.67, 4.
        ("qwen-vl", 5, 1, [0, 1, 3, 4]),
        # At most 3 frames, rounded down to 2.
        ("qwen-vl", 3, 1, [0, 2]),
        ("qwen-vl", 1, 0.04, [0]),
        # 7.9 of one a second, rounded down to 6: 78 / 5 = 15.6 a step.
        ("qwen-vl:1", 79, 7.9, [0, 16, 31, 47, 62, 78]),
    ],
)  # fmt: skip
def test_numbers_worked_by_hand(policy: str, frames: int, seconds: float, expected: list[int]) -> None:
    assert numbers(policy, frames, seconds) == expected


def test_qwen_takes_no_more_than_768() -> None:
    chosen = numbers("qwen-vl", 30_000, 1200)
    assert (len(chosen), chosen[0], chosen[-1]) == (768, 0, 29_999)


@given(frames=st.integers(1, 5000), count=st.integers(1, 200))
def test_against_the_numpy_of_the_originals(frames: int, count: int) -> None:
    linspace = np.unique(np.linspace(0, frames - 1, count, dtype=int))
    assert numbers(f"lmms-eval:{count}", frames, frames / 25) == linspace.tolist()
    size = float(frames - 1) / count
    parts = np.unique([int((size / 2) + np.round(size * i)) for i in range(count)])
    assert numbers(f"mvbench:{count}", frames, frames / 25) == [min(n, frames - 1) for n in parts.tolist()]


@given(
    policy=st.sampled_from(["vlmeval:7", "vlmeval-fps:3", "lmms-eval:7", "mvbench:7", "qwen-vl", "qwen-vl:30"]),
    frames=st.integers(1, 400),
    ends=st.tuples(st.floats(0, 0.99), st.floats(0.001, 1)),
)
def test_chosen_frames_are_distinct_and_on_screen_in_the_window(
    policy: str, frames: int, ends: tuple[float, float]
) -> None:
    seconds = frames / 25
    times_s = [n / 25 for n in range(frames)]
    window = (ends[0] * seconds, (ends[0] + ends[1]) * seconds)
    chosen = grid_times(parse_policy(policy), seconds, window, times_s)
    assert len(chosen) >= 1
    assert list(chosen) == sorted(set(chosen))
    assert set(chosen) <= {times_s[n] for n in counted_frames(times_s, seconds, window)}
    assert all(window[0] - 0.0401 <= t < window[1] for t in chosen)


def test_a_window_counts_the_frames_on_screen_in_it() -> None:
    # 10 frames a second: 20 .. 39, of which the first, number 9.5 rounded down and the last.
    assert numbers("lmms-eval:3", 100, 10, (2.0, 4.0)) == [20, 29, 39]
    assert numbers("lmms-eval:3", 100, 10, (2.05, 4.0)) == [20, 29, 39]
    # Less than a frame: the one on screen.
    for policy in ("vlmeval:8", "vlmeval-fps:1", "lmms-eval:8", "mvbench:8", "qwen-vl"):
        assert numbers(policy, 100, 10, (2.32, 2.38)) == [23]
    assert counted_frames([0.0, 0.1, 0.2], 0.3) == range(3)


@pytest.mark.parametrize("text", ["vlmeval:8", "vlmeval-fps:1/2", "lmms-eval:32", "mvbench:16", "qwen-vl", "qwen-vl:1"])
def test_the_text_reads_back(text: str) -> None:
    assert str(parse_policy(text)) == text
    assert parse_policy(text).counts_frames
    assert not parse_policy("uniform:8").counts_frames


@pytest.mark.parametrize("text", ["vlmeval", "vlmeval:0", "vlmeval-fps:0", "lmms-eval:1:2", "mvbench:x", "qwen-vl:"])
def test_wrong_ones_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_policy(text)


def test_frames_have_to_be_known() -> None:
    with pytest.raises(InputError, match="by number, and none are known"):
        grid_times(Policy("vlmeval", count=3), 10.0)
    with pytest.raises(InputError, match="more than"):
        grid_times(parse_policy("vlmeval-fps:1000"), 1e6, None, [0.0, 1.0])


def test_frames_of_a_medium_carry_their_own_time_and_the_number_counted(folder: Path, gray_counter: Path) -> None:
    sampled = sample(gray_counter, "mvbench:4")
    # F = 50, s = 12.25: 6.125 + 0, 12, 24 (24.5), 37 (36.75).
    assert [counted(f.jpeg) for f in sampled.frames] == [6, 18, 30, 43]
    assert [f.time_s for f in sampled.frames] == [f.pts_s for f in sampled.frames] == [0.6, 1.8, 3.0, 4.3]
    assert (sampled.counted, sampled.wanted, sampled.policy) == (50, 4, "mvbench:4")
    assert sample(gray_counter, "uniform:4").counted is None
    few = sample(write(folder / "three.mp4", counter(3)), "lmms-eval:8")
    assert ([counted(f.jpeg) for f in few.frames], few.wanted, few.counted) == ([0, 1, 2], 3, 3)


def test_a_variable_rate_is_counted_not_timed(vfr: Path) -> None:
    # 70 frames, 60 of them in the first 2 s: linspace(0, 69, 4) = 0, 23, 46, 69.
    sampled = sample(vfr, "lmms-eval:4")
    assert [round(f.pts_s * 30) for f in sampled.frames] == [0, 23, 46, 114]
    inside = sample(vfr, "lmms-eval:2", window=(1.9, 3.0))
    # Frames 57 .. 59 at 1.9 s and after, 60 .. 64 at 2.0 .. 2.8 s.
    assert (inside.counted, [round(f.pts_s * 30) for f in inside.frames]) == (8, [57, 84])


def test_frames_hidden_by_an_edit_list_are_not_counted(folder: Path) -> None:
    from fractions import Fraction

    whole = write(folder / "rules-whole.mp4", [gray(16 + n) for n in range(120)], gop=30, b_frames=2)
    edited = remux(whole, folder / "rules-edit.mp4", shift_s=Fraction(-1, 2))
    assert (sample(whole, "vlmeval:4").counted, sample(edited, "vlmeval:4").counted) == (120, 105)
    assert [round(f.pts_s * 30) for f in sample(edited, "vlmeval:4").frames] == [21, 42, 63, 84]
