"""Agreement against hand-worked numbers, Krippendorff's own example and the reference package."""

from __future__ import annotations

import itertools
import time

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onlooker.stats.agreement import (
    LEVELS,
    Level,
    fleiss_kappa,
    krippendorff_alpha,
    pair_agreement,
    step_shares,
    tabulate,
    two_draw_agreement,
    unanimity,
)

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


@pytest.mark.parametrize(("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_own_example(level: Level, published: float) -> None:
    table = tabulate(by_unit(OBSERVERS))
    assert krippendorff_alpha(table, level).value == pytest.approx(published, abs=0.0005)


def test_alpha_worked_by_hand() -> None:
    # Units (1,1), (1,2): coincidences o11 = 2, o12 = o21 = 1, so n = 4, n1 = 3, n2 = 1.
    # Nominal: 1 - (n - 1) (o12 + o21) / (2 n1 n2) = 1 - 3 * 2 / 6 = 0.
    table = tabulate([[1, 1], [1, 2]])
    assert krippendorff_alpha(table, "nominal").value == pytest.approx(0, abs=1e-12)


@given(units_of_ratings, st.sampled_from(LEVELS))
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
    for level in LEVELS:
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
