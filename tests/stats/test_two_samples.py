"""Tests and effect sizes of two groups against hand-worked numbers and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special, stats

from onlooker.errors import InputError
from onlooker.stats import cohen_d, mann_whitney, paired_cohen_d, regularized_beta, student_p, t_test

whole = st.lists(st.integers(-5, 5), min_size=1, max_size=14)
numbers = st.lists(st.floats(-100, 100).map(lambda v: round(v, 3)), min_size=2, max_size=20)


def test_u_worked_by_hand() -> None:
    # Pairs (3,1) (3,2) (3,4) and (2.5,1) (2.5,2) (2.5,4): four of six are larger. Of the 10 arrangements of 2 among 5,
    # those with U <= 2 number 1 + 1 + 2 = 4: p = 8/10.
    found = mann_whitney([3, 2.5], [1, 2, 4])
    assert (found.value, found.p, found.exact) == (4, 0.8, True)
    assert found.superiority == pytest.approx(4 / 6)


def test_a_tie_counts_half_and_a_group_without_a_number_is_undefined() -> None:
    assert mann_whitney([1], [1, 0]).value == 1.5
    empty = mann_whitney([], [1.0])
    assert (empty.value, empty.p, empty.superiority, empty.n_b) == (None, None, None, 1)
    assert empty.reason == "undefined (a group is empty)"


@given(whole, whole)
def test_u_equals_scipy_with_and_without_ties(a: list[int], b: list[int]) -> None:
    expected = stats.mannwhitneyu(a, b)
    found = mann_whitney(a, b)
    assert found.value == expected.statistic
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)


@pytest.mark.parametrize(("n_a", "n_b"), [(1, 1), (8, 8), (8, 60), (60, 8), (9, 9), (9, 200), (300, 300)])
def test_u_is_exact_up_to_eight_without_ties_as_in_scipy(n_a: int, n_b: int) -> None:
    drawn = np.random.default_rng(n_a).permutation(n_a + n_b).astype(float)
    found, expected = mann_whitney(drawn[:n_a], drawn[n_a:]), stats.mannwhitneyu(drawn[:n_a], drawn[n_a:])
    assert found.exact == (min(n_a, n_b) <= 8)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10)


@given(whole, whole)
def test_swapped_groups_mirror_u_and_keep_p(a: list[int], b: list[int]) -> None:
    one, other = mann_whitney(a, b), mann_whitney(b, a)
    assert one.value is not None
    assert other.value is not None
    assert one.value + other.value == len(a) * len(b)
    assert one.p == other.p


@given(st.floats(0, 1), st.floats(0.05, 500), st.floats(0.05, 500))
def test_incomplete_beta_equals_scipy(x: float, a: float, b: float) -> None:
    assert regularized_beta(x, a, b) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("df", [1, 1.5, 2, 10, 37.2, 1000, 1e5])
@pytest.mark.parametrize("t", [0, 1e-9, 1e-3, 0.5, 1, 2, 5, 12, 40])
def test_p_of_t_equals_scipy_also_in_the_far_tail(t: float, df: float) -> None:
    assert student_p(t, df) == pytest.approx(2 * stats.t.sf(t, df), rel=1e-8)
    assert student_p(-t, df) == student_p(t, df)


def test_t_worked_by_hand() -> None:
    # Means 2 and 5, variances 1 and 4, three values each: t = -3 / sqrt(5/3); df = (5/3)^2 / ((1/9 + 16/9) / 2).
    found = t_test([1, 2, 3], [3, 5, 7])
    assert found.value == pytest.approx(-3 / (5 / 3) ** 0.5)
    assert found.df == pytest.approx(25 / 9 / (17 / 18))
    assert t_test([1, 2, 3], [3, 5, 7], equal_variances=True).df == 4


@given(numbers, numbers, st.booleans())
def test_t_equals_scipy(a: list[float], b: list[float], equal: bool) -> None:
    assume(np.ptp(a) > 0.01 and np.ptp(b) > 0.01)
    expected = stats.ttest_ind(a, b, equal_var=equal)
    found = t_test(a, b, equal_variances=equal)
    assert found.value == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert found.df == pytest.approx(expected.df, rel=1e-9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-8, abs=1e-12)


def test_t_and_d_without_spread_are_undefined_with_a_reason() -> None:
    # Three times 0.1 has a variance of 1e-34 by rounding: still none.
    same = t_test([0.1, 0.1, 0.1], [0.3, 0.3, 0.3])
    assert (same.value, same.p) == (None, None)
    assert same.difference == pytest.approx(-0.2)
    assert same.reason == "undefined (no variation within the groups)"
    assert t_test([1], [1, 2]).reason == "undefined (a group has fewer than two values)"
    assert cohen_d([0.1, 0.1, 0.1], [0.3, 0.3, 0.3]).value is None
    assert cohen_d([1], [1, 2]).value is None
    assert t_test([1, 1], [1, 3]).df == 1


def test_d_worked_by_hand() -> None:
    # Pooled variance (2 * 1 + 2 * 4) / 4 = 2.5. Differences -2, -3, -4: mean -3, deviation 1.
    assert cohen_d([1, 2, 3], [3, 5, 7]).value == pytest.approx(-3 / 2.5**0.5)
    assert paired_cohen_d([1, 2, 3], [3, 5, 7]).value == pytest.approx(-3)


def test_paired_d_sees_equal_differences_and_unequal_lengths() -> None:
    assert paired_cohen_d([0.3, 0.2], [0.2, 0.1]).reason == "undefined (the differences do not vary)"
    assert paired_cohen_d([1], [2]).reason == "undefined (fewer than two pairs)"
    with pytest.raises(InputError, match="same length"):
        paired_cohen_d([1, 2], [1])


@given(numbers, numbers, st.floats(-10, 10), st.sampled_from([0.5, 2, 8]))
def test_d_ignores_the_unit_of_measurement(a: list[float], b: list[float], shift: float, scale: float) -> None:
    assume(np.ptp(a) > 0.01)
    x, y = [[shift + scale * v for v in side] for side in (a, b)]
    assert cohen_d(x, y).value == pytest.approx(cohen_d(a, b).value, rel=1e-6, abs=1e-6)


def test_a_number_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"b: expected finite numbers, found nan"):
        mann_whitney([1.0], [float("nan")])
    with pytest.raises(InputError, match="one dimension"):
        t_test(np.ones((2, 2)), [1.0])
