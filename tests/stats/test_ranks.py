"""Correlations against hand-worked numbers and scipy."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from onlooker.stats.ranks import (
    average_ranks,
    extended_spearman,
    pair_order_accuracy,
    pearson,
    spearman,
)

ties = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=9)


def test_ties_share_the_mean_of_their_places() -> None:
    assert average_ranks([10, 20, 20, 5]) == [2, 3.5, 3.5, 1]


@given(ties)
def test_spearman_and_pearson_equal_scipy(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


def test_a_list_that_does_not_vary_has_no_correlation() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert pearson([1, 2], [3, 3]) is None
    assert pearson([1], [2]) is None


def test_rho0_is_zero_for_a_constant_prediction_only() -> None:
    assert extended_spearman([50, 50, 50], [1, 2, 3]) == 0
    assert extended_spearman([1, 2, 3], [2, 2, 2]) is None
    # Ranks 1, 2.5, 2.5 against 1, 2, 3: covariance 1.5, spreads 1.5 and 2.
    assert extended_spearman([0, 9, 9], [1, 2, 3]) == pytest.approx(1.5 / (1.5 * 2) ** 0.5)


def test_pair_order_counts_pairs_whose_target_differs() -> None:
    # Pairs by target: (0,1) tie is left out; (0,2) right, (1,2) tied in the prediction.
    assert pair_order_accuracy([1, 5, 5], [0, 0, 2]) == pytest.approx(0.75)
    assert pair_order_accuracy([5, 1], [0, 2]) == 0
    assert pair_order_accuracy([1, 2], [2, 2]) is None
