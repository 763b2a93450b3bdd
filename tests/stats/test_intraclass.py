"""Intraclass correlations against Shrout and Fleiss' own table, published examples and a plain analysis of variance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import FORMS, Form, intraclass
from tests.stats.test_kappa import ANXIETY

# Shrout and Fleiss (1979), table 2: six targets, four judges; table 4 gives the coefficients.
TARGETS = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
PUBLISHED: list[tuple[Form, float]] = [
    ("1", 0.17),
    ("2,1", 0.29),
    ("3,1", 0.71),
    ("1,k", 0.44),
    ("2,k", 0.62),
    ("3,k", 0.91),
]
ANXIETY_THIRD = "21443216111233113322"
tables = st.integers(2, 4).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=2, max_size=8)
)


@pytest.mark.parametrize(("form", "published"), PUBLISHED)
def test_shrout_and_fleiss(form: Form, published: float) -> None:
    found = intraclass(TARGETS, form)
    assert found.value == pytest.approx(published, abs=0.005)
    assert (found.units, found.raters, found.reason) == (6, 4, None)


def test_mean_squares_worked_by_hand() -> None:
    # Shrout and Fleiss, table 3: B 11.24, W 6.26, J 32.49, E 1.02 (n = 6, k = 4).
    expected = (11.24 - 1.02) / (11.24 + 3 * 1.02 + 4 * (32.49 - 1.02) / 6)
    assert intraclass(TARGETS, "2,1").value == pytest.approx(expected, abs=0.001)


def test_anxiety_as_the_r_package_irr_prints_it() -> None:
    table = [[int(v) for v in row] for row in zip(*ANXIETY, ANXIETY_THIRD, strict=True)]
    assert intraclass(table, "2,1").value == pytest.approx(0.198, abs=0.0005)


@given(tables, st.sampled_from(FORMS))
def test_equals_a_regression_on_dummies(table: list[list[int]], form: Form) -> None:
    y = np.array(table, dtype=float)
    n, k = y.shape
    unit, rater = np.repeat(np.eye(n), k, axis=0), np.tile(np.eye(k), (n, 1))

    def left(*columns: np.ndarray) -> float:
        design = np.hstack([np.ones((n * k, 1)), *columns])
        rest = y.ravel() - design @ np.linalg.lstsq(design, y.ravel(), rcond=None)[0]
        return float(rest @ rest)

    total, no_unit, no_rater, both = left(), left(rater), left(unit), left(unit, rater)
    b, w = (total - no_rater) / (n - 1), no_rater / (n * (k - 1))
    j, e = (total - no_unit) / (k - 1), both / ((n - 1) * (k - 1))
    assume(b > 1e-9 and b + (j - e) / n > 1e-9)
    expected = {
        "1": (b - w) / (b + (k - 1) * w),
        "2,1": (b - e) / (b + (k - 1) * e + k * (j - e) / n),
        "3,1": (b - e) / (b + (k - 1) * e),
        "1,k": (b - w) / b,
        "2,k": (b - e) / (b + (j - e) / n),
        "3,k": (b - e) / b,
    }[form]
    assert intraclass(table, form).value == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(tables, st.sampled_from(FORMS), st.integers(-5, 5), st.sampled_from([-2.0, 0.5, 4.0]))
def test_the_unit_of_measurement_does_not_matter(table: list[list[int]], form: Form, shift: int, scale: float) -> None:
    moved = [[shift + scale * v for v in row] for row in table]
    one, other = intraclass(moved, form), intraclass(table, form)
    assert one.reason == other.reason
    assert one.value is None or one.value == pytest.approx(other.value, rel=1e-9, abs=1e-9)


def test_a_constant_between_raters_is_consistent_but_not_agreed() -> None:
    table = [[1, 2], [2, 3], [3, 4]]
    assert intraclass(table, "3,1").value == pytest.approx(1)
    # B = 2, J = 1.5, E = 0: 2 / (2 + 2 * 1.5 / 3).
    assert intraclass(table, "2,1").value == pytest.approx(2 / 3)


def test_undefined_cases_say_why() -> None:
    assert intraclass([[1, 2]], "1").reason == "undefined (fewer than two units)"
    assert intraclass([], "1").reason == "undefined (fewer than two units)"
    assert intraclass([[1], [2]], "1").reason == "undefined (fewer than two raters)"
    assert intraclass([[1, 2], [None, 2], [1, 1]], "3,1").reason == "undefined (1 of 3 units lack a rating)"
    for form in FORMS:
        assert intraclass([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]], form).reason == "undefined (no variation)"
    # Means of 1.5 throughout: nothing between the units.
    assert intraclass([[1, 2], [2, 1]], "1,k").reason == "undefined (the units' means do not differ)"
    assert intraclass([[1, 2], [2, 1]], "1").value == pytest.approx(-1)
    assert intraclass([[1, 2], [2, 1]], "2,1").value is None
    with pytest.raises(InputError, match="one column a rater"):
        intraclass([[1, 2], [1]], "1")
    with pytest.raises(InputError, match="form"):
        intraclass([[1, 2], [2, 1]], "4")  # type: ignore[arg-type]
