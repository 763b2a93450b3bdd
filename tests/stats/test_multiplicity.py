"""Adjusted p-values against hand-worked numbers, the closure principle and scipy."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from onlooker.errors import InputError
from onlooker.stats import benjamini_hochberg, holm

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def test_holm_worked_by_hand() -> None:
    # Ascending .01 .03 .03 .5: times 4, 3, 2, 1 and never less than the one before.
    assert holm([0.03, 0.5, 0.01, 0.03]).values == pytest.approx((0.09, 0.5, 0.04, 0.09))


def test_benjamini_hochberg_worked_by_hand() -> None:
    # Ascending .01 .03 .04 .5: 4/1, 4/2, 4/3 and 1 times; the second (.06) gives way to the third.
    assert benjamini_hochberg([0.04, 0.5, 0.01, 0.03]).values == pytest.approx((0.16 / 3, 0.5, 0.04, 0.16 / 3))


def test_a_comparison_without_p_is_not_counted() -> None:
    found = holm([None, 0.02, None, 0.04])
    assert found.values == pytest.approx((None, 0.04, None, 0.04))
    assert found.counted == {"all": 2}
    assert holm([None]).counted == {"all": 0}
    assert benjamini_hochberg([]).values == ()


def test_families_are_adjusted_apart() -> None:
    found = holm([0.02, 0.02, 0.03, None], ["x", "y", "x", "z"])
    assert found.values == pytest.approx((0.04, 0.02, 0.04, None))
    assert found.counted == {"x": 2, "y": 1, "z": 0}


@given(p_lists)
def test_holm_is_the_closure_of_bonferroni(p: list[float]) -> None:
    subsets = [s for size in range(1, len(p) + 1) for s in itertools.combinations(range(len(p)), size)]
    for i, adjusted in enumerate(holm(p).values):
        closed = max(min(1.0, len(s) * min(p[j] for j in s)) for s in subsets if i in s)
        assert adjusted == pytest.approx(closed)


@given(p_lists)
def test_benjamini_hochberg_equals_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p).values == pytest.approx(tuple(stats.false_discovery_control(p)))


@given(p_lists, st.randoms())
def test_order_does_not_matter_and_holm_is_the_stricter(p: list[float], random: object) -> None:
    places = list(range(len(p)))
    random.shuffle(places)  # type: ignore[attr-defined]
    for adjust in (holm, benjamini_hochberg):
        straight = adjust(p).values
        assert adjust([p[i] for i in places]).values == tuple(straight[i] for i in places)
    for raw, loose, strict in zip(p, benjamini_hochberg(p).values, holm(p).values, strict=True):
        assert loose is not None
        assert strict is not None
        assert raw <= loose + 1e-12 <= strict + 2e-12
        assert strict <= 1


@pytest.mark.parametrize("wrong", [1.1, -0.01, float("nan")])
def test_what_is_no_p_value_is_refused(wrong: float) -> None:
    with pytest.raises(InputError, match="a p-value lies in"):
        holm([0.1, wrong])
