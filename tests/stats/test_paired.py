"""Paired tests against hand-worked numbers and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onlooker.stats.paired import mcnemar, wilcoxon_signed_rank


def test_equal_discordant_counts_give_one_not_more() -> None:
    assert mcnemar(5, 5).p == 1
    assert mcnemar(0, 0).p == 1


def test_mcnemar_worked_by_hand() -> None:
    # 1 + 6 of 64 sign patterns, twice: 14/64.
    assert mcnemar(1, 5).p == pytest.approx(14 / 64)


@given(st.integers(0, 300), st.integers(0, 300))
def test_mcnemar_is_the_binomial_test(a: int, b: int) -> None:
    expected = stats.binomtest(a, a + b, 0.5).pvalue if a + b else 1
    assert mcnemar(a, b).p == pytest.approx(expected, abs=1e-12)


def test_wilcoxon_worked_by_hand() -> None:
    # Without the zero: ranks 1, 2, 3 all positive, one sign pattern of 8 in each tail.
    found = wilcoxon_signed_rank([0.1, 0.2, 0.0, 0.3])
    assert found.n == 3
    assert found.p == pytest.approx(0.25)


def test_wilcoxon_without_differences_is_undefined() -> None:
    assert wilcoxon_signed_rank([0.0, 0.0]).p is None
    assert wilcoxon_signed_rank([]).n == 0


def test_rounding_errors_do_not_break_ties_or_make_differences() -> None:
    assert wilcoxon_signed_rank([0.3 - 0.1, -0.2, 0.1 + 0.2 - 0.3]).p == 1


@pytest.mark.parametrize("size", [5, 13, 14, 40, 50, 51, 200])
@pytest.mark.parametrize("tied", [False, True])
def test_wilcoxon_equals_scipy(size: int, tied: bool) -> None:
    rng = np.random.default_rng(size)
    differences = rng.integers(1, 6, size) / 4 if tied else rng.permutation(size) + 1.0
    differences = differences * rng.choice([-1, 1], size, p=[0.35, 0.65])
    found = wilcoxon_signed_rank(differences.tolist())
    assert found.p == pytest.approx(stats.wilcoxon(differences).pvalue, abs=1e-10)
