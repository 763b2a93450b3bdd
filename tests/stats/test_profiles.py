"""Leave-one-rater-out accuracy, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import leave_one_rater_out

profiles = st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=5)


def test_worked_by_hand() -> None:
    # Without x, y's 0 2 2 orders (0,1) and (0,2). The prediction 5 1 9 has one right, x both.
    # Without y, x's 0 1 2 orders all three. The prediction has two right, y two and a tie.
    found = leave_one_rater_out([[0, 1, 2], [0, 2, 2]], [5, 1, 9])
    assert found.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert found.human == pytest.approx((1 + 2.5 / 3) / 2)
    assert found.raters == 2


def test_a_rater_with_gaps_is_not_left_out_but_counts_among_the_others() -> None:
    found = leave_one_rater_out([[0, 1, 2], [2, None, 0]], [1, 2, 3])
    # Only x is eligible; against y the outer pair is reversed, for the prediction too.
    assert (found.value, found.human, found.raters) == (0, 0, 1)


def test_nobody_eligible_is_undefined() -> None:
    cases: list[list[list[float | None]]] = [[], [[0, 1]], [[0, 1], [None, 1]], [[1, 1], [1, 1]]]
    for ratings in cases:
        found = leave_one_rater_out(ratings, [1, 2])
        assert (found.value, found.human, found.raters) == (None, None, 0)
        assert found.reason is not None
    with pytest.raises(InputError, match="one column a moment"):
        leave_one_rater_out([[1, 2]], [1])


@given(profiles, st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_reversed_prediction_mirrors_its_accuracy(ratings: list[list[int]], predicted: list[int]) -> None:
    one = leave_one_rater_out(ratings, predicted)
    other = leave_one_rater_out(ratings, [-v for v in predicted])
    assert (one.human, one.raters) == (other.human, other.raters)
    if one.value is not None and other.value is not None:
        assert one.value + other.value == pytest.approx(1)
