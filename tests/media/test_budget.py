"""Plans never pass a limit, keep both ends, are monotone, and say what they changed."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError, MediaError
from onlooker.media.budget import (
    LOWEST_SIDE_PX,
    MediaLimits,
    even_places,
    lower_side,
    plan_clip,
    plan_frames,
    rate_within,
)

SIZES = st.lists(st.tuples(st.integers(1, 4000), st.integers(1, 4000)), min_size=1, max_size=40)


def test_hundred_and_twenty_frames_of_full_hd() -> None:
    """Case V25: at most 100 images and 2000 px a side; then 20 million pixels."""
    plan = plan_frames([(1920, 1080)] * 120, MediaLimits(max_images=100, max_side_px=1568))
    assert len(plan.places) == 100
    assert (plan.places[0], plan.places[-1], plan.offered) == (0, 119, 120)
    assert set(plan.sizes) == {(1568, 882)}
    assert plan.changes == (
        "100 of 120 frames, at most 100 images may be sent",
        "longer side at most 1568 px",
    )
    small = plan_frames([(1920, 1080)] * 120, MediaLimits(max_images=100, max_total_pixels=20_000_000))
    assert len(small.places) == 100
    assert sum(w * h for w, h in small.sizes) <= 20_000_000 < 100 * 600 * 338
    assert small.sizes[0] == (596, 335)  # sqrt(20e6 / (100 x 1920 x 1080)) = 0.3106
    few = plan_frames([(1920, 1080)] * 120, MediaLimits(max_total_pixels=1_000_000))
    assert len(few.places) == 35  # 224 x 126 pixels each at the least
    assert few.sizes[0] == (225, 126)
    assert plan_frames([(64, 64)] * 5, MediaLimits()).changes == ()


def test_bytes_leave_frames_out() -> None:
    plan = plan_frames([(64, 64)] * 5, MediaLimits(max_bytes=350), bytes_each=[100, 200, 100, 200, 100])
    assert plan.places == (0, 2, 4)
    with pytest.raises(MediaError, match="not one frame fits into 50 bytes"):
        plan_frames([(64, 64)] * 5, MediaLimits(max_bytes=50), bytes_each=[100] * 5)
    with pytest.raises(InputError, match="above 0"):
        MediaLimits(max_images=0)


@given(
    sizes=SIZES,
    images=st.none() | st.integers(1, 50),
    side=st.none() | st.integers(16, 3000),
    total=st.none() | st.integers(1000, 50_000_000),
    each=st.none() | st.integers(1, 100_000),
    most=st.none() | st.integers(1, 2_000_000),
)
def test_no_limit_is_passed(
    sizes: list[tuple[int, int]],
    images: int | None,
    side: int | None,
    total: int | None,
    each: int | None,
    most: int | None,
) -> None:
    limits = MediaLimits(max_bytes=most, max_side_px=side, max_images=images, max_total_pixels=total)
    files = None if each is None else [each + i % 7 for i in range(len(sizes))]
    try:
        plan = plan_frames(sizes, limits, bytes_each=files)
    except MediaError:
        assert total is not None or (most is not None and files is not None)
        return
    kept = len(plan.places)
    assert kept >= 1
    assert plan.places == even_places(len(sizes), kept)
    assert images is None or kept <= images
    assert all(side is None or max(size) <= side for size in plan.sizes)
    assert total is None or sum(w * h for w, h in plan.sizes) <= total
    assert most is None or files is None or sum(files[p] for p in plan.places) <= most
    before = [sizes[p] for p in plan.places]
    assert all(w <= a and h <= b for (w, h), (a, b) in zip(plan.sizes, before, strict=True))
    assert bool(plan.changes) == (kept < len(sizes) or list(plan.sizes) != before)
    if kept > 1:
        assert (plan.places[0], plan.places[-1]) == (0, len(sizes) - 1)


@given(
    number=st.integers(1, 200),
    loose=st.integers(1000, 10_000_000),
    share=st.floats(0.01, 1),
    images=st.integers(1, 200),
)
def test_tighter_limits_keep_no_more(number: int, loose: int, share: float, images: int) -> None:
    def kept(total: int, most: int) -> int:
        try:
            plan = plan_frames([(640, 360)] * number, MediaLimits(max_total_pixels=total, max_images=most))
        except MediaError:
            return 0
        return len(plan.places)

    tight = max(1, int(loose * share))
    assert kept(tight, images) <= kept(loose, images)
    assert kept(loose, max(1, images // 2)) <= kept(loose, images)


@given(number=st.integers(0, 500), kept=st.integers(0, 500))
def test_places_are_even(number: int, kept: int) -> None:
    places = even_places(number, kept)
    assert len(places) == min(number, kept)
    assert list(places) == sorted(set(places))
    gaps = {b - a for a, b in pairwise(places)}
    assert not gaps or max(gaps) - min(gaps) <= 1


@given(
    duration=st.floats(0.1, 3600),
    fps=st.floats(1, 60),
    size=st.tuples(st.integers(2, 4000), st.integers(2, 4000)),
    side=st.none() | st.integers(2, 2000),
    rate=st.none() | st.floats(0.1, 60),
    images=st.none() | st.integers(1, 1000),
    total=st.none() | st.integers(10_000, 10**9),
)
def test_clip_plans_hold(
    duration: float,
    fps: float,
    size: tuple[int, int],
    side: int | None,
    rate: float | None,
    images: int | None,
    total: int | None,
) -> None:
    frames = max(1, round(duration * fps))
    limits = MediaLimits(max_side_px=side, max_fps=rate, max_images=images, max_total_pixels=total)
    try:
        plan = plan_clip(duration, size, frames, limits)
    except MediaError:
        assert total is not None
        return
    assert side is None or max(plan.size) <= side
    assert images is None or plan.frames <= images
    assert rate is None or plan.fps <= rate + 1e-9
    assert total is None or plan.frames * plan.size[0] * plan.size[1] <= total
    assert plan.size[0] % 2 == plan.size[1] % 2 == 0
    assert plan.frames <= frames
    if plan.max_fps is not None:  # what cut_clip looks at
        assert math.ceil(plan.max_fps * duration - 1e-9) <= (images or math.inf)


def test_what_is_too_long_is_refused_and_not_cut_off() -> None:
    with pytest.raises(MediaError, match="longer than the 60 s"):
        plan_clip(61.0, (640, 360), 1830, MediaLimits(max_duration_s=60))
    plan = plan_clip(60.0, (1920, 1080), 1800, MediaLimits(max_duration_s=60, max_side_px=768, max_fps=2))
    assert (plan.size, plan.fps, plan.frames, plan.max_side_px) == ((768, 432), 2, 120, 768)
    assert plan.changes == ("at most 2 frames a second", "longer side at most 768 px")
    assert plan_clip(60.0, (640, 360), 1800, MediaLimits(max_side_px=768)).changes == ()


@given(duration=st.floats(0.05, 7200), most=st.integers(1, 10**9), has_sound=st.booleans())
def test_rates_add_up_to_no_more_than_the_budget(duration: float, most: int, has_sound: bool) -> None:
    frames = max(1, round(duration * 25))
    try:
        rate = rate_within(most, duration, frames, has_sound=has_sound)
    except MediaError:
        return
    assert rate.picture_bps is not None
    bits = rate.picture_bps * (duration + rate.buffer_s) + rate.sound_bps * duration
    assert bits / 8 + 20 * frames <= most


@given(size=st.tuples(st.integers(2, 8000), st.integers(2, 8000)), over=st.floats(1.0001, 1000))
def test_sides_shrink_until_the_lowest(size: tuple[int, int], over: float) -> None:
    tries = 0
    longer = max(size)
    while (smaller := lower_side(size, round(1e6 * over), 10**6)) is not None:
        assert max(smaller) < max(size)
        assert max(smaller) >= min(LOWEST_SIDE_PX, longer) - 1
        size = smaller
        tries += 1
    assert tries <= 30
    assert max(size) <= LOWEST_SIDE_PX + 1
