"""Differences on the same draws: hand-worked values, a naive loop, p against the interval, false alarms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.stats import (
    Pairs,
    cluster_weights,
    contrasts,
    difference_of_differences,
    generator,
    match_rows,
    mean,
    paired_difference,
)
from onlooker.stats.cluster import FEW_CLUSTERS, NO_UNITS

EMPTY = Pairs(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))


def weights_of(n_clusters: int, draws: int = 2000) -> NDArray[Any]:
    return cluster_weights(n_clusters, draws, generator("test", 1))


def pairs_of(seed: int, rows: int = 30, clusters: int = 6) -> Pairs:
    rng = np.random.default_rng(seed)
    return Pairs(rng.integers(0, clusters, rows), rng.normal(size=rows), rng.normal(size=rows))


def naive(pairs: Pairs, draw: NDArray[Any]) -> float:
    rows = [i for i, c in enumerate(pairs.cluster) for _ in range(draw[c])]
    return float(np.mean(pairs.a[rows]) - np.mean(pairs.b[rows]))


def test_rows_are_paired_by_id_and_the_drop_is_counted() -> None:
    # Two models with 100 and 98 answers, rows shuffled: as if they stood side by side.
    rng = np.random.default_rng(4)
    ids = np.array([f"q{i}" for i in range(100)])
    right_a, right_b = (np.asarray(rng.random(100) < share, dtype=np.float64) for share in (0.6, 0.5))
    order_a, order_b = rng.permutation(100), rng.permutation(100)[:98]
    found = match_rows(ids[order_a], ids[order_b])
    assert (found.a.size, found.only_a, found.only_b) == (98, 2, 0)
    assert ids[order_a][found.a].tolist() == ids[order_b][found.b].tolist()
    shared = np.sort(order_b)
    video = np.arange(100) // 10
    weights = weights_of(10)
    one = paired_difference(Pairs(video[shared], right_a[shared], right_b[shared]), weights)
    a, b = order_a[found.a], order_b[found.b]
    assert paired_difference(Pairs(video[a], right_a[a], right_b[b]), weights) == one


def test_an_id_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match="ids_b: an id stands twice, found 'x'"):
        match_rows(["x"], ["x", "y", "x"])


def test_equal_outcomes_of_a_video_count_once() -> None:
    # Ten videos of ten equal rows; a wins four videos, loses none: P(no win drawn) = .6^10, so p = 2 (1 + k) / (1 + B).
    cluster = np.repeat(np.arange(10), 10)
    a = np.repeat([1.0, 1, 1, 1, 0, 0, 0, 0, 0, 0], 10)
    found = paired_difference(Pairs(cluster, a, np.zeros(100)), weights_of(10, 10_000))
    assert found.value == pytest.approx(0.4)
    assert (found.low, found.high) == pytest.approx((0.1, 0.7), abs=0.001)
    assert found.p == pytest.approx(2 * 0.6**10, abs=0.006)


def test_equals_a_naive_loop_over_the_same_draws() -> None:
    first, second, weights = pairs_of(1), pairs_of(2, rows=17), weights_of(6, 400)
    single = [naive(first, draw) for draw in weights]
    double = [naive(first, draw) - naive(second, draw) for draw in weights]
    for found, draws in (
        (paired_difference(first, weights), single),
        (difference_of_differences(first, second, weights), double),
    ):
        assert (found.low, found.high) == pytest.approx(np.quantile(draws, [0.025, 0.975]).tolist(), abs=1e-9)
        beyond = min(sum(d <= 0 for d in draws), sum(d >= 0 for d in draws))
        assert found.p == pytest.approx(min(1, 2 * (1 + beyond) / 401))


def test_difference_of_differences_worked_by_hand() -> None:
    cluster = np.array([0, 0, 1, 1])
    # .75 - .5 with the subtitles, .5 - .5 without them.
    first = Pairs(cluster, np.array([1.0, 1, 1, 0]), np.array([1.0, 0, 1, 0]))
    second = Pairs(cluster, np.array([1.0, 0, 1, 0]), np.array([0.0, 1, 0, 1]))
    assert difference_of_differences(first, second, weights_of(2)).value == pytest.approx(0.25)


def test_equal_systems_have_p_of_one_in_spite_of_rounding() -> None:
    values = np.random.default_rng(1).normal(size=30)
    one = Pairs(np.arange(30) % 6, values, values + 1e-15)
    found = paired_difference(one, weights_of(6))
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.p == 1


@given(st.integers(0, 10_000), st.sampled_from([0.8, 0.95, 0.99]))
def test_p_and_interval_say_the_same(seed: int, level: float) -> None:
    found = paired_difference(pairs_of(seed), weights_of(6, 999), level)
    assert found.p is not None
    assert found.low is not None
    assert found.high is not None
    # Interpolation between two draws, and the added one, leave a small gap.
    if found.p < 1 - level - 0.004:
        assert not found.low <= 0 <= found.high
    if found.p > 1 - level + 0.008:
        assert found.low <= 0 <= found.high


@given(st.integers(0, 10_000))
def test_swapped_systems_mirror_value_and_keep_p(seed: int) -> None:
    pairs, weights = pairs_of(seed), weights_of(6, 300)
    one, other = paired_difference(pairs, weights), paired_difference(Pairs(pairs.cluster, pairs.b, pairs.a), weights)
    assert one.value == pytest.approx(-(other.value or 0))
    assert one.p == other.p


def test_false_alarms_are_as_rare_as_said() -> None:
    # Forty videos, no true difference: p <= .05 in about one of twenty.
    rng, weights = np.random.default_rng(8), weights_of(40, 999)
    cluster = np.repeat(np.arange(40), 3)
    samples = [mean(cluster, np.repeat(rng.normal(size=40), 3) + rng.normal(size=120)) for _ in range(400)]
    alarms = sum(found.p is not None and found.p <= 0.05 for found in contrasts(samples, weights))
    assert 0.025 <= alarms / 400 <= 0.085


def test_too_few_clusters_have_no_p_and_say_so() -> None:
    one = paired_difference(Pairs(np.array([1, 1]), np.array([1.0, 0]), np.array([0.0, 0])), weights_of(3))
    assert (one.value, one.low, one.p, one.reason) == (0.5, None, None, FEW_CLUSTERS)
    none = paired_difference(EMPTY, weights_of(3))
    assert (none.value, none.p, none.reason) == (None, None, NO_UNITS)
    with pytest.raises(InputError, match=r"a cluster without a column of weights, found \(2000, 3\)"):
        paired_difference(Pairs(np.array([0, 3]), np.zeros(2), np.zeros(2)), weights_of(3))
    with pytest.raises(InputError, match="same length"):
        paired_difference(Pairs(np.array([0]), np.zeros(2), np.zeros(2)), weights_of(3))
