"""Agreement against hand-worked numbers, Krippendorff's own example and the reference package."""

from __future__ import annotations

import itertools
import time
from typing import get_args

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats.agreement import (
    LEVELS,
    Level,
    fleiss_kappa,
    krippendorff_alpha,
    krippendorff_interval,
    pair_agreement,
    step_shares,
    tabulate,
    two_draw_agreement,
    unanimity,
)
from onlooker.stats.cluster import FEW_CLUSTERS, cluster_weights
from onlooker.stats.seeds import generator

# Krippendorff (2011), example C: four observers, twelve units, None where an observer gave nothing.
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
units_of_ratings = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=12)


def by_unit(raters: list[list[int | None]]) -> list[list[int]]:
    return [[v for v in unit if v is not None] for unit in zip(*raters, strict=True)]


EXAMPLE_C: list[tuple[Level, float]] = [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
EVERY_LEVEL = get_args(Level)


@pytest.mark.parametrize(("level", "published"), EXAMPLE_C)
def test_alpha_of_krippendorffs_own_example(level: Level, published: float) -> None:
    table = tabulate(by_unit(OBSERVERS))
    assert krippendorff_alpha(table, level).value == pytest.approx(published, abs=0.0005)


def test_alpha_worked_by_hand() -> None:
    # Units (1,1), (1,2): coincidences o11 = 2, o12 = o21 = 1, so n = 4, n1 = 3, n2 = 1.
    # Nominal: 1 - (n - 1) (o12 + o21) / (2 n1 n2) = 1 - 3 * 2 / 6 = 0.
    table = tabulate([[1, 1], [1, 2]])
    assert krippendorff_alpha(table, "nominal").value == pytest.approx(0, abs=1e-12)


@given(units_of_ratings, st.sampled_from(EVERY_LEVEL))
def test_alpha_equals_the_reference_package(units: list[list[int]], level: Level) -> None:
    pairable = [unit for unit in units if len(unit) > 1]
    assume(len({v for unit in pairable for v in unit}) > 1)
    counts = np.array([[unit.count(v) for v in range(4)] for unit in units])
    expected = krippendorff.alpha(value_counts=counts, value_domain=[0, 1, 2, 3], level_of_measurement=level)
    assert krippendorff_alpha(tabulate(units), level).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("units", [[[1], [2], [3]], [[1], [2], [3], [1]]])
def test_no_unit_rated_twice_is_undefined_with_a_reason(units: list[list[int]]) -> None:
    found = krippendorff_alpha(tabulate(units), "ordinal")
    assert found.value is None
    assert found.reason == "undefined (no unit has two ratings)"


def test_a_rater_who_rated_nothing_changes_nothing() -> None:
    raters: list[list[int | None]] = [[1, 2, 3, 2], [None] * 4, [1, 2, 3, 1]]
    found = krippendorff_alpha(tabulate(by_unit(raters)), "ordinal")
    assert found.value == pytest.approx(0.79, abs=0.005)


def test_no_variation_is_undefined_and_agrees_in_full() -> None:
    table = tabulate([[3, 3], [3, 3], [3, 3]])
    for level in EVERY_LEVEL:
        assert krippendorff_alpha(table, level).reason == "undefined (no variation)"
    assert fleiss_kappa(table).reason == "undefined (no variation)"
    assert pair_agreement(table) == 1
    assert unanimity(table) == 1


def test_words_have_the_nominal_level_only() -> None:
    table = tabulate([["yes", "yes"], ["no", "yes"], ["no", "no"]])
    # o(yes,yes) = o(no,no) = 2, o(yes,no) = 2 in all: 1 - 5 * 2 / (2 * 3 * 3).
    assert krippendorff_alpha(table, "nominal").value == pytest.approx(1 - 10 / 18)
    assert krippendorff_alpha(table, "ordinal").value is None
    assert step_shares(table) == {}


def test_alpha_costs_linear_time_and_equals_all_pairs() -> None:
    rng = np.random.default_rng(1)
    ratings = rng.integers(0, 4, size=(10_000, 5)).tolist()
    start = time.process_time()
    for level in LEVELS:
        krippendorff_alpha(tabulate(ratings), level)
    assert time.process_time() - start < 2
    small = ratings[:20]
    pairs = [(a - b) ** 2 for unit in small for a, b in itertools.permutations(unit, 2)]
    everything = [v for unit in small for v in unit]
    expected = [(a - b) ** 2 for a, b in itertools.permutations(everything, 2)]
    by_pairs = 1 - (sum(pairs) / len(pairs)) / (sum(expected) / len(expected))
    assert krippendorff_alpha(tabulate(small), "interval").value == pytest.approx(by_pairs)


def test_fleiss_kappa_worked_by_hand() -> None:
    # Three raters. Agreement of the units 1 and 1/3, mean 2/3; shares 5/6 and 1/6, chance 26/36.
    found = fleiss_kappa(tabulate([[0, 0, 0], [0, 0, 1]]))
    assert found.value == pytest.approx((2 / 3 - 26 / 36) / (1 - 26 / 36))


def test_fleiss_kappa_needs_the_same_number_of_ratings() -> None:
    assert fleiss_kappa(tabulate([[0, 0], [0, 1, 1]])).value is None
    assert fleiss_kappa(tabulate([[0, 0], [1]])).value is None


def test_pairs_units_draws_and_steps_worked_by_hand() -> None:
    table = tabulate([[2, 2, 1], [3, 3], [0]])
    # Pairs: (2,2) (2,1) (2,1) and (3,3): two of four are equal; one of two units is unanimous.
    assert pair_agreement(table) == pytest.approx(0.5)
    assert unanimity(table) == pytest.approx(0.5)
    # Six ratings: 0 once, 1 once, 2 twice, 3 twice.
    assert two_draw_agreement(table) == pytest.approx((1 + 1 + 4 + 4) / 36)
    assert step_shares(table) == {"0-1": 0, "1-2": 1, "2-3": 0}
    assert unanimity(tabulate([[1]])) is None
    assert two_draw_agreement(tabulate([])) is None


def test_words_of_a_declared_order_have_the_ordinal_level() -> None:
    words = {1: "never", 2: "at times", 3: "often", 4: "mostly", 5: "always"}
    units = [[words[v] for v in unit] for unit in by_unit(OBSERVERS)]
    table = tabulate(units, order=list(words.values()))
    assert krippendorff_alpha(table, "ordinal").value == pytest.approx(0.815, abs=0.0005)
    assert krippendorff_alpha(table, "interval").reason == "undefined (interval needs numbers, these ratings are words)"
    reason = krippendorff_alpha(tabulate(units), "ordinal").reason
    assert reason == "undefined (ordinal needs numbers or a declared order, these ratings are words)"
    with pytest.raises(InputError, match="outside the declared order, found 'always'"):
        tabulate(units, order=["never", "at times", "often", "mostly"])


def test_the_ratio_level_needs_a_true_zero() -> None:
    # Units (0,0), (0,2): pairs 0-2 cost ((0-2)/(0+2))^2 = 1, so as nominal: 1 - 3 * 2 / 6 = 0.
    assert krippendorff_alpha(tabulate([[0, 0], [0, 2]]), "ratio").value == pytest.approx(0)
    assert (
        krippendorff_alpha(tabulate([[-1, 1], [1, 1]]), "ratio").reason
        == "undefined (ratio needs numbers of 0 and more)"
    )


@pytest.mark.parametrize("level", EVERY_LEVEL)
@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_of_alpha_equals_a_naive_loop(level: Level, clustered: bool) -> None:
    units = by_unit(OBSERVERS)
    cluster = np.arange(len(units)) % 5 if clustered else np.arange(len(units))
    n_clusters = int(cluster.max()) + 1
    weights = cluster_weights(n_clusters, 300, generator("test", 2))
    found = krippendorff_interval(tabulate(units), level, weights, cluster if clustered else None)
    naive = []
    for draw in weights:
        drawn = [unit for c, unit in zip(cluster, units, strict=True) for _ in range(draw[c])]
        naive.append(krippendorff_alpha(tabulate(drawn), level).value)
    defined = [value for value in naive if value is not None]
    low, high = np.quantile(defined, [0.025, 0.975])
    assert found.value == krippendorff_alpha(tabulate(units), level).value
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
    assert found.undefined_draws == len(naive) - len(defined)


def test_the_interval_of_alpha_needs_two_clusters_and_variation() -> None:
    weights = cluster_weights(3, 200, generator("test", 1))
    one = krippendorff_interval(tabulate([[1, 2], [2, 2], [1]]), "nominal", weights, np.array([0, 0, 1]))
    assert (one.low, one.reason) == (None, FEW_CLUSTERS)
    assert one.value is not None
    same = krippendorff_interval(tabulate([[1, 1], [1, 1], [1, 1]]), "nominal", weights)
    assert (same.value, same.reason) == (None, "undefined (no variation)")
    # A draw of the third unit alone, or of the first two only, does not vary: 1/27 and 8/27 of the draws.
    rare = krippendorff_interval(
        tabulate([[1, 1], [1, 1], [2, 2]]), "nominal", cluster_weights(3, 2700, generator("t", 1))
    )
    assert (rare.value, rare.low, rare.high) == (1, 1, 1)
    assert rare.undefined_draws == pytest.approx(900, abs=90)
    with pytest.raises(InputError, match="same length"):
        krippendorff_interval(tabulate([[1, 2], [2, 2]]), "nominal", weights, np.array([0]))
    with pytest.raises(InputError, match="without a column of weights"):
        krippendorff_interval(tabulate([[1, 2], [2, 2]]), "nominal", weights, np.array([0, 3]))


def test_the_interval_of_alpha_costs_linear_time() -> None:
    table = tabulate(np.random.default_rng(1).integers(0, 4, size=(10_000, 5)).tolist())
    weights = cluster_weights(10_000, 200, generator("test", 1))
    start = time.process_time()
    krippendorff_interval(table, "ordinal", weights)
    assert time.process_time() - start < 2
