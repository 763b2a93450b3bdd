"""Sampling times, worked by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.media.grid import Policy, grid_times, parse_policy, parse_window


def test_uniform_takes_the_starts_of_equal_parts() -> None:
    assert grid_times(parse_policy("uniform:4"), 4.0) == (0.0, 1.0, 2.0, 3.0)
    assert grid_times(parse_policy("uniform:4"), 10.0, (2.0, 6.0)) == (2.0, 3.0, 4.0, 5.0)


def test_fps_is_the_grid_of_the_whole_medium_also_inside_a_window() -> None:
    assert grid_times(parse_policy("fps:1"), 4.0) == (0.0, 1.0, 2.0, 3.0)
    assert grid_times(parse_policy("fps:1"), 4.002) == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert grid_times(parse_policy("fps:2"), 10.0, (2.3, 4.0)) == (2.5, 3.0, 3.5)
    assert grid_times(parse_policy("fps:1"), 10.0, (3.0, 5.0)) == (3.0, 4.0)


def test_a_container_s_rounding_of_the_end_adds_no_time() -> None:
    # 4 s in milliseconds: 3.967 + 0.034 s. A grid point 1 ms before the end is the end.
    assert grid_times(parse_policy("fps:1"), 4.001) == grid_times(parse_policy("fps:1"), 4.0) == (0.0, 1.0, 2.0, 3.0)
    assert grid_times(parse_policy("fps:1"), 4.001, (2.5, 9.0)) == (3.0,)
    # Half a step at most: a thousand frames a second keep their last one.
    assert len(grid_times(parse_policy("fps:1000"), 0.01)) == 10


def test_a_window_without_a_grid_point_gives_its_start() -> None:
    assert grid_times(parse_policy("fps:1"), 10.0, (2.3, 2.9)) == (2.3,)
    # A rate below one in the whole clip still looks once (a 0.3 s clip at 0.5 frames a second).
    assert grid_times(parse_policy("fps:0.5"), 0.3) == (0.0,)


def test_a_cap_keeps_both_ends_and_times_of_the_grid() -> None:
    # 12 times 0, 0.5 .. 5.5; places round(j * 11 / 3) = 0, 4, 7, 11.
    assert grid_times(parse_policy("fps:2:4"), 6.0) == (0.0, 2.0, 3.5, 5.5)
    # 100 times 0 .. 99 to 64: the ends, no time twice.
    times = grid_times(parse_policy("fps:1:64"), 100.0)
    assert (len(times), times[0], times[-1], len(set(times))) == (64, 0.0, 99.0, 64)
    assert grid_times(parse_policy("fps:1:64"), 3.0) == (0.0, 1.0, 2.0)


def test_midpoint() -> None:
    assert grid_times(parse_policy("midpoint"), 5.0) == (2.5,)
    assert grid_times(parse_policy("midpoint"), 5.0, (3.0, 9.0)) == (4.0,)


@pytest.mark.parametrize(
    "text",
    [
        "fps:0",
        "fps:-1",
        "fps:nan",
        "fps:inf",
        "fps:1/0",
        "fps:1:0",
        "fps:1:2:3",
        "fps",
        "uniform:0",
        "uniform:-4",
        "uniform:2.5",
        "uniform:²",
        "uniform",
        "midpoint:1",
        "",
        "every",
        "fps:1:x",
        "uniform:" + "9" * 5000,
        "uniform:100001",
        "fps:1:" + "1" * 5000,
        "fps:1e3000000:4",
        "fps:1e400000000",
        "fps:1e1",
        "fps:1_0",
        "fps:+1",
        "fps: 1",
        "fps:1001",
        "fps:0.0000001",
        "fps:.5",
        "bolt:" + "9" * 5000,
        "a" * 100_000,
    ],
)
def test_wrong_policies_are_refused_with_the_text(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_policy(text)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("window", [(2.0, 2.0), (3.0, 1.0), (-1.0, 2.0), (10.0, 12.0)])
def test_wrong_windows_are_refused(window: tuple[float, float]) -> None:
    with pytest.raises(InputError, match="window"):
        grid_times(parse_policy("fps:1"), 10.0, window)


def test_a_window_is_two_plain_numbers() -> None:
    assert parse_window("12.5:20") == (12.5, 20.0)
    assert parse_window("0:0.25") == (0.0, 0.25)
    for text in ("", "3", "3:", ":3", "3:3", "5:4", "-1:2", "nan:1", "0:inf", "0:1e3", "0:1:2", "a:b", "1_0:20"):
        with pytest.raises(InputError, match=r"START:END|start before end"):
            parse_window(text)


def test_a_broken_duration_does_not_fill_the_memory() -> None:
    with pytest.raises(InputError, match="more than"):
        grid_times(parse_policy("fps:1"), 1e12)
    with pytest.raises(InputError, match="from 1 to 100000"):
        parse_policy("uniform:1000000000")
    assert len(grid_times(parse_policy("uniform:100000"), 10.0)) == 100_000
    assert grid_times(parse_policy("fps:1:3"), 1e9) == (0.0, 5e8, 999_999_999.0)


def test_bolt_needs_an_encoder() -> None:
    policy = parse_policy("bolt:16")
    assert policy == Policy("bolt", count=16)
    with pytest.raises(InputError, match="needs the text and an image-text encoder") as caught:
        grid_times(policy, 10.0)
    assert "or use uniform:N" in str(caught.value.remedy)


@pytest.mark.parametrize("text", ["uniform:64", "fps:1", "fps:30000/1001", "fps:1/2:64", "midpoint", "bolt:16"])
def test_the_text_of_a_policy_reads_back(text: str) -> None:
    assert str(parse_policy(text)) == text
    assert parse_policy("fps:0.5") == Policy("fps", rate_hz=Fraction(1, 2))


@given(
    rate=st.fractions(min_value=Fraction(1, 10), max_value=60, max_denominator=1001),
    cap=st.integers(1, 80),
    duration_s=st.floats(0.01, 100),
    ends=st.tuples(st.floats(0, 0.99), st.floats(0.01, 1)),
)
def test_times_rise_stay_inside_and_keep_to_the_cap(
    rate: Fraction, cap: int, duration_s: float, ends: tuple[float, float]
) -> None:
    start_s, end_s = ends[0] * duration_s, (ends[0] + ends[1]) * duration_s
    whole = grid_times(Policy("fps", rate_hz=rate), duration_s)
    capped = grid_times(Policy("fps", count=cap, rate_hz=rate), duration_s)
    assert 1 <= len(capped) <= cap
    assert set(capped) <= set(whole)
    assert capped[0] == whole[0]
    assert len(capped) == 1 or capped[-1] == whole[-1]
    assert list(capped) == sorted(set(capped))
    inside = grid_times(Policy("fps", rate_hz=rate), duration_s, (start_s, end_s))
    assert all(start_s - 1e-6 <= t < max(end_s, start_s + 1e-9) for t in inside)
