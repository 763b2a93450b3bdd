"""Resampling of clusters: hand-worked values, a naive loop as reference, known coverage."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.stats import cluster as module
from onlooker.stats.cluster import (
    FEW_CLUSTERS,
    NO_UNITS,
    Difference,
    Mean,
    Median,
    Proportion,
    Statistic,
    Sums,
    Total,
    cluster_weights,
    estimate,
    evaluate,
    mean,
    mean_of_ratios,
    pooled_pearson,
)
from onlooker.stats.seeds import generator


def weights_of(n_clusters: int, draws: int = 2000) -> NDArray[Any]:
    return cluster_weights(n_clusters, draws, generator("test", 1))


def ints(*values: int) -> NDArray[Any]:
    return np.array(values, dtype=np.int64)


def floats(*values: float) -> NDArray[Any]:
    return np.array(values, dtype=np.float64)


def test_a_draw_takes_as_many_clusters_as_there_are() -> None:
    weights = weights_of(7)
    assert weights.shape == (2000, 7)
    assert set(weights.sum(axis=1).tolist()) == {7}
    # Each cluster is drawn once on average.
    assert weights.mean(axis=0) == pytest.approx(np.ones(7), abs=0.1)


def test_a_named_purpose_and_a_seed_fix_the_numbers() -> None:
    # Written down once: the same in every process and on every machine.
    assert generator("score/episodes", 42).integers(0, 1000, 4).tolist() == FIRST_NUMBERS
    assert generator("score/episodes", 43).integers(0, 1000, 4).tolist() != FIRST_NUMBERS


FIRST_NUMBERS = [678, 839, 408, 632]


def test_questions_of_one_video_are_not_independent() -> None:
    # Ten videos of ten equal outcomes, four of them right: near [.1, .7], not the naive [.3, .5].
    cluster = np.repeat(np.arange(10), 10)
    right = np.repeat(floats(1, 1, 1, 1, 0, 0, 0, 0, 0, 0), 10)
    [found] = estimate([mean(cluster, right)], weights_of(10, 10_000))
    assert found.value == pytest.approx(0.4)
    assert found.low == pytest.approx(0.1, abs=0.001)
    assert found.high == pytest.approx(0.7, abs=0.001)


def test_every_statistic_equals_a_naive_loop_over_the_same_draws() -> None:
    rng = np.random.default_rng(3)
    cluster = rng.integers(0, 6, 40)
    x, y = rng.normal(size=40), rng.normal(size=40)
    group = rng.integers(0, 3, 40)
    member = np.stack([(group == g).astype(float) for g in range(3)], axis=1)
    macro = Sums(cluster, np.hstack([member * x[:, None], member]), mean_of_ratios)
    statistics: list[Statistic] = [
        mean(cluster, x),
        macro,
        pooled_pearson(cluster, x, y),
        Median(cluster, x),
        Difference(mean(cluster, x), Median(cluster, y)),
        Mean((mean(cluster, x), mean(cluster, y))),
    ]
    weights = weights_of(6, 300)
    found = estimate(statistics, weights)
    naive: list[list[float]] = [[] for _ in statistics]
    for draw in weights:
        rows = np.concatenate([np.flatnonzero(np.repeat(cluster == c, 1)) for c in range(6) for _ in range(draw[c])])
        a, b, g = x[rows], y[rows], group[rows]
        naive[0].append(a.mean())
        naive[1].append(np.mean([a[g == k].mean() if (g == k).any() else np.nan for k in range(3)]))
        naive[2].append(np.corrcoef(a, b)[0, 1])
        naive[3].append(float(np.median(a)))
        naive[4].append(a.mean() - float(np.median(b)))
        naive[5].append((a.mean() + b.mean()) / 2)
    for one, values in zip(found, naive, strict=True):
        defined = np.array([v for v in values if not np.isnan(v)])
        assert one.low == pytest.approx(np.quantile(defined, 0.025), abs=1e-9)
        assert one.high == pytest.approx(np.quantile(defined, 0.975), abs=1e-9)
        assert one.undefined_draws == len(values) - defined.size
    assert found[2].value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert found[3].value == pytest.approx(np.median(x))


def test_too_few_clusters_give_no_interval_and_say_so() -> None:
    one, none, constant = estimate([mean(ints(2, 2), floats(0, 1)), mean(ints(), floats()), Total(3)], weights_of(4))
    assert (one.value, one.low, one.high, one.reason) == (0.5, None, None, FEW_CLUSTERS)
    assert (none.value, none.low, none.reason) == (None, None, NO_UNITS)
    assert (constant.value, constant.low, constant.high) == (3, None, None)


def test_draws_without_the_group_are_left_out_and_counted() -> None:
    # A draw of two clusters misses the one with a value in a quarter of all cases.
    first = mean(ints(0, 1), floats(1, 1))
    rare = Sums(ints(0, 1), np.array([[1.0, 1.0], [0.0, 0.0]]), first.combine)
    [found] = estimate([rare], weights_of(2, 4000))
    assert (found.low, found.high) == (1, 1)
    assert found.undefined_draws == pytest.approx(1000, abs=120)


def test_a_macro_mean_needs_every_group() -> None:
    columns = np.array([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    [found] = estimate([Sums(ints(0, 1), columns, mean_of_ratios)], weights_of(2))
    assert found.value is None
    assert found.reason == "undefined on these rows"


def test_equal_numbers_have_no_correlation() -> None:
    # 0.1 has no exact binary form: their spread must still be seen as none.
    x = np.full(1000, 0.1)
    cluster = np.arange(1000) % 5
    [found] = estimate([pooled_pearson(cluster, x, np.arange(1000.0))], weights_of(5))
    assert found.value is None


def test_a_proportion_has_wilsons_interval_over_rows() -> None:
    values = floats(*[1] * 57, *[0] * 55)
    [found] = estimate([Proportion(mean(np.arange(112) % 3, values))], weights_of(3))
    # ReactionBench, table 26: 57 of 112.
    assert found.value == pytest.approx(57 / 112)
    assert found.low == pytest.approx(0.418, abs=0.001)
    assert found.high == pytest.approx(0.600, abs=0.001)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    weights = weights_of(40, 1000)
    cluster = np.repeat(np.arange(40), 5)
    samples = [np.repeat(rng.normal(size=40), 5) + rng.normal(size=200) for _ in range(300)]
    found = estimate([mean(cluster, sample) for sample in samples], weights)
    hits = sum(f.low is not None and f.high is not None and f.low <= 0 <= f.high for f in found)
    assert 0.90 <= hits / 300 <= 0.98


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30), st.randoms())
def test_the_order_of_rows_changes_nothing(rows: list[tuple[int, int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    weights = weights_of(5, 200)
    found = [
        estimate([mean(ints(*(c for c, _ in r)), floats(*(v for _, v in r)))], weights)[0] for r in (rows, shuffled)
    ]
    assert found[0] == found[1]
    if found[0].low is not None and found[0].high is not None:
        assert found[0].low <= found[0].high


def test_blocks_of_draws_and_of_statistics_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    cluster, x, y = rng.integers(0, 9, 50), rng.normal(size=50), rng.normal(size=50)
    statistics: list[Statistic] = [mean(cluster, x), pooled_pearson(cluster, x, y), Median(cluster, y), Total(3)]
    weights = weights_of(9, 700)
    whole = estimate(statistics, weights)
    monkeypatch.setattr(module, "_CELLS_AT_ONCE", 150)
    for one, other in zip(estimate(statistics, weights), whole, strict=True):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-12)


def test_the_memory_does_not_grow_with_the_statistics() -> None:
    rng = np.random.default_rng(6)
    cluster = np.arange(40)
    statistics = [mean(cluster, rng.normal(size=40)) for _ in range(2000)]
    weights = weights_of(40, 10_000)
    tracemalloc.start()
    estimate(statistics, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All draws of all statistics at once would be 160 MB.
    assert peak < 80e6


def test_values_alone_are_those_of_the_estimates() -> None:
    statistics: list[Statistic] = [mean(ints(0, 1), floats(0, 1)), Median(ints(), floats()), Total(2)]
    assert evaluate(statistics, 2).tolist() == pytest.approx([0.5, np.nan, 2], nan_ok=True)
    with pytest.raises(InputError, match="a cluster without a column of weights"):
        evaluate(statistics, 1)
    assert evaluate([], 3).shape == (0,)
