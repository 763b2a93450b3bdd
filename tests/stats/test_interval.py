"""Intervals of one number."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from onlooker.stats.interval import percentile_interval, wilson


def ends(interval: tuple[float, float] | None) -> list[float]:
    assert interval is not None
    return list(interval)


def test_wilson_at_the_edges() -> None:
    assert ends(wilson(0, 20)) == pytest.approx([0, 0.161], abs=0.0005)
    assert ends(wilson(20, 20)) == pytest.approx([0.839, 1], abs=0.0005)
    assert ends(wilson(0, 20))[0] == 0
    assert ends(wilson(20, 20))[1] == 1
    assert wilson(0, 0) is None


@pytest.mark.parametrize(("successes", "n"), [(1, 3), (57, 112), (99, 100), (0, 7)])
def test_wilson_equals_scipy(successes: int, n: int) -> None:
    expected = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert ends(wilson(successes, n)) == pytest.approx([expected.low, expected.high], abs=1e-12)


def test_undefined_draws_are_left_out() -> None:
    draws = np.array([np.nan, *range(101)], dtype=float)
    assert ends(percentile_interval(draws)) == pytest.approx([2.5, 97.5])
    assert percentile_interval(np.array([np.nan])) is None
