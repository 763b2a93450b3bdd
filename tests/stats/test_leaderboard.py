"""Ranks on the same draws: hand-worked cases and a naive loop."""

from __future__ import annotations

import numpy as np
import pytest

from onlooker.stats import Sums, cluster_weights, generator, leaderboard, mean, ratio
from onlooker.stats.cluster import FEW_CLUSTERS, NO_UNITS, Statistic

CLUSTER = np.arange(20) % 10


def systems_of(*shifts: float) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(6)
    common = rng.normal(size=20)
    return {f"m{i}": common + shift + 0.5 * rng.normal(size=20) for i, shift in enumerate(shifts)}


def test_ranks_equal_a_naive_loop() -> None:
    values = systems_of(0.2, 0, 0.3, -1)
    weights = cluster_weights(10, 500, generator("test", 1))
    found = leaderboard({name: mean(CLUSTER, v) for name, v in values.items()}, weights)
    ranks: dict[str, list[int]] = {name: [] for name in values}
    for draw in weights:
        rows = [i for i, c in enumerate(CLUSTER) for _ in range(draw[c])]
        means = {name: v[rows].mean() for name, v in values.items()}
        for name in values:
            ranks[name].append(1 + sum(m > means[name] for m in means.values()))
    for name, standing in found.items():
        ordered = sorted(ranks[name])
        assert standing.rank == 1 + sum(v.mean() > values[name].mean() for v in values.values())
        # Places .025 * 499 = 12.475 and .975 * 499 = 486.525, taken outwards.
        assert (standing.rank_low, standing.rank_high) == (ordered[12], ordered[487])
        assert standing.best == pytest.approx(ranks[name].count(1) / 500)
        assert standing.undefined_draws == 0
    assert sum(standing.best or 0 for standing in found.values()) == pytest.approx(1)
    assert found["m3"].rank_low == 4


def test_equal_systems_share_the_first_place() -> None:
    values = systems_of(0)["m0"]
    weights = cluster_weights(10, 300, generator("test", 1))
    found = leaderboard({"x": mean(CLUSTER, values), "y": mean(CLUSTER, values.copy())}, weights)
    for standing in found.values():
        assert (standing.rank, standing.rank_low, standing.rank_high, standing.best) == (1, 1, 2, 0.5)


def test_lower_can_be_better() -> None:
    weights = cluster_weights(10, 300, generator("test", 1))
    systems = {name: mean(CLUSTER, v) for name, v in systems_of(0, -5).items()}
    found = leaderboard(systems, weights, higher_is_better=False)
    assert (found["m1"].rank, found["m1"].best, found["m0"].rank) == (1, 1, 2)


def test_a_system_without_a_value_takes_no_rank() -> None:
    weights = cluster_weights(10, 300, generator("test", 1))
    empty = mean(np.zeros(0, dtype=np.int64), np.zeros(0))
    found = leaderboard({"none": empty, "some": mean(CLUSTER, np.ones(20))}, weights)
    assert (found["none"].rank, found["none"].best, found["none"].reason) == (None, None, NO_UNITS)
    assert (found["some"].rank, found["some"].rank_high, found["some"].best) == (1, 1, 1)
    assert leaderboard({}, weights) == {}
    assert leaderboard({"none": empty}, weights)["none"].reason == NO_UNITS


def test_draws_in_which_a_system_is_undefined_are_left_out_and_counted() -> None:
    # "rare" has a denominator in one of two clusters only: a quarter of the draws lacks it.
    rare: Statistic = Sums(np.array([0, 1]), np.array([[1.0, 1.0], [0.0, 0.0]]), ratio)
    found = leaderboard(
        {"rare": rare, "all": mean(np.array([0, 1]), np.array([0.0, 0.5]))},
        cluster_weights(2, 4000, generator("test", 1)),
    )
    assert found["all"].undefined_draws == pytest.approx(1000, abs=120)
    assert (found["all"].rank_low, found["all"].rank_high, found["rare"].best) == (2, 2, 1)


def test_one_cluster_has_a_rank_without_an_interval() -> None:
    weights = cluster_weights(1, 100, generator("test", 1))
    one = {"x": mean(np.zeros(2, dtype=np.int64), np.array([1.0, 0]))}
    found = leaderboard(one, weights)["x"]
    assert (found.rank, found.rank_low, found.best, found.reason) == (1, None, None, FEW_CLUSTERS)
