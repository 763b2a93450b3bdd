"""Detectable differences: hand-worked numbers, the round trip, and power by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import detectable_difference, items_needed

Z = 1.959964 + 0.841621
rows = st.lists(st.tuples(st.integers(0, 5), st.sampled_from([-1.0, 0.0, 1.0])), min_size=4, max_size=40)


def test_worked_by_hand() -> None:
    # Videos of two rows: sums of differences less the mean 1/3: 2 - 2/3, 0 - 2/3, 0 - 2/3; squares 24/9.
    # SE^2 = 3/2 * 24/9 / 36 = 1/9.
    found = detectable_difference(["u", "u", "v", "v", "w", "w"], [1, 1, 0, 0, 1, -1])
    assert found.difference == pytest.approx(1 / 3)
    assert found.standard_error == pytest.approx(1 / 3)
    assert found.value == pytest.approx(Z / 3, abs=1e-5)
    assert (found.items, found.clusters) == (6, 3)
    # Four times the videos halve it.
    planned = detectable_difference(["u", "u", "v", "v", "w", "w"], [1, 1, 0, 0, 1, -1], clusters=12)
    assert planned.value == pytest.approx(Z / 6, abs=1e-5)


def test_items_worked_by_hand() -> None:
    # 3 (Z / 3 / .1)^2 = 261.6 videos, so 262 of two items.
    found = items_needed(["u", "u", "v", "v", "w", "w"], [1, 1, 0, 0, 1, -1], 0.1)
    assert (found.clusters, found.value) == (262, 524)
    # A tenth of the z for a power of .5 needs fewer: 3 (1.96 / 3 / .1)^2 = 128.05.
    half = items_needed(["u", "u", "v", "v", "w", "w"], [1, 1, 0, 0, 1, -1], 0.1, power=0.5)
    assert half.clusters == 129


def test_single_rows_have_the_standard_error_of_the_mean() -> None:
    d = np.random.default_rng(1).normal(size=50)
    found = detectable_difference(np.arange(50), d)
    assert found.standard_error == pytest.approx(d.std(ddof=1) / 50**0.5)


@given(rows)
def test_what_is_detectable_needs_the_items_there_are(data: list[tuple[int, float]]) -> None:
    cluster, d = [c for c, _ in data], [v for _, v in data]
    found = detectable_difference(cluster, d)
    if found.value is None:
        assert found.reason is not None
        assert items_needed(cluster, d, 0.1).reason == found.reason
        return
    needed = items_needed(cluster, d, found.value)
    assert (needed.clusters, needed.value) == (found.clusters, found.items)
    assert (items_needed(cluster, d, found.value / 2).value or 0) >= found.items


def test_a_true_difference_of_that_size_is_found_four_times_of_five() -> None:
    rng = np.random.default_rng(9)
    cluster = np.repeat(np.arange(60), 4)

    def sample(shift: float) -> np.ndarray:
        return np.asarray(shift + np.repeat(rng.normal(size=60), 4) + rng.normal(size=240))

    true = detectable_difference(cluster, sample(0)).value
    # The exact spread of a video's mean is sqrt(1 + 1/4).
    exact = Z * (1.25 / 60) ** 0.5
    assert true == pytest.approx(exact, rel=0.25)
    hits = 0
    for _ in range(600):
        found = detectable_difference(cluster, sample(exact))
        assert found.difference is not None
        assert found.standard_error is not None
        hits += abs(found.difference) > 1.959964 * found.standard_error
    assert 0.75 <= hits / 600 <= 0.85


def test_undefined_and_impossible_requests() -> None:
    assert detectable_difference([0, 0], [1, 0]).reason == "undefined (fewer than two clusters)"
    assert detectable_difference([], []).difference is None
    assert detectable_difference([0, 1], [0.3 - 0.1, 0.2]).reason == "undefined (the differences do not vary)"
    level = detectable_difference([0, 0, 1, 1], [1, -1, 1, -1])
    assert level.reason == "undefined (the clusters' differences do not vary)"
    for wrong in (0, -0.1, float("nan")):
        with pytest.raises(InputError, match="a difference above 0"):
            items_needed([0, 1], [0, 1], wanted=wrong)
    with pytest.raises(InputError, match="power"):
        detectable_difference([0, 1], [0, 1], power=1)
    with pytest.raises(InputError, match="alpha"):
        detectable_difference([0, 1], [0, 1], alpha=0)
    with pytest.raises(InputError, match="two clusters"):
        detectable_difference([0, 1], [0, 1], clusters=1)
