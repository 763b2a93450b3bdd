"""Pearson's r with interval and p against hand-worked numbers and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from onlooker.errors import InputError
from onlooker.stats import pearson_interval

points = st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=20)


def test_worked_by_hand() -> None:
    # r = .8 of five pairs: z = atanh .8 = 1.0986, half-width 1.96 / sqrt 2.
    found = pearson_interval([1, 2, 3, 4, 5], [1, 3, 2, 5, 4])
    assert found.value == pytest.approx(0.8)
    assert found.low == pytest.approx(math.tanh(math.log(3) - 1.959964 / 2**0.5), abs=1e-6)
    assert found.high == pytest.approx(math.tanh(math.log(3) + 1.959964 / 2**0.5), abs=1e-6)


@given(points, st.sampled_from([0.8, 0.95]))
def test_equals_scipy(pairs: list[tuple[int, int]], level: float) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1 and abs(np.corrcoef(x, y)[0, 1]) < 0.999999)
    expected = stats.pearsonr(x, y)
    found = pearson_interval(x, y, level)
    assert found.value == pytest.approx(expected.statistic, abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-7, abs=1e-12)
    interval = expected.confidence_interval(level)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_undefined_cases_say_what_is_missing() -> None:
    assert pearson_interval([1], [2]).reason == "undefined (fewer than two pairs)"
    assert pearson_interval([1, 1], [2, 3]).reason == "undefined (one list does not vary)"
    three = pearson_interval([1, 2, 3], [1, 3, 2])
    assert (three.low, three.reason) == (None, "no interval (fewer than four pairs)")
    assert three.p == pytest.approx(stats.pearsonr([1, 2, 3], [1, 3, 2]).pvalue)
    line = pearson_interval([1, 2, 3, 4], [0.1, 0.2, 0.3, 0.4])
    assert (line.low, line.p) == (None, 0)
    assert line.value == pytest.approx(1)
    assert line.reason == "no interval (all points lie on a line)"
    with pytest.raises(InputError, match="same length"):
        pearson_interval([1, 2], [1])
