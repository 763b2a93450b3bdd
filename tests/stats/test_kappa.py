"""Cohen's kappa against hand-worked numbers, published examples and all pairs."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import Weighting, cohen_kappa

# Fleiss (1971): two of six psychiatrists on thirty patients, one digit a diagnosis (irr, data set "diagnoses").
FIRST = "422521311511212311215221121215"
SECOND = "423521311542242311235421421235"
# Anxiety of twenty people by two raters (the R package irr, data set "anxiety").
ANXIETY = ("33345523522615221243", "36462424332333221334")

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=15)


def test_kappa_worked_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed .7, by chance .5 * .6 + .5 * .4 = .5.
    a = ["y"] * 25 + ["n"] * 25
    b = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohen_kappa(a, b)
    assert found.observed == pytest.approx(0.7)
    assert found.expected == pytest.approx(0.5)
    assert found.value == pytest.approx(0.4)


def test_published_examples() -> None:
    # The R package irr prints 0.651 and, with squared weights, 0.297.
    assert cohen_kappa(list(FIRST), list(SECOND)).value == pytest.approx(0.651, abs=0.0005)
    a, b = ([int(digit) for digit in rater] for rater in ANXIETY)
    assert cohen_kappa(a, b, "quadratic").value == pytest.approx(0.297, abs=0.0005)


@given(pairs, st.sampled_from(get_args(Weighting)))
def test_kappa_equals_all_pairs(rated: list[tuple[int, int]], weights: Weighting) -> None:
    a, b = zip(*rated, strict=True)
    assume(len({*a, *b}) > 1)
    cost = {"none": lambda x, y: x != y, "linear": lambda x, y: abs(x - y), "quadratic": lambda x, y: (x - y) ** 2}
    found = sum(cost[weights](x, y) for x, y in rated) / len(a)
    by_chance = sum(cost[weights](x, y) for x, y in itertools.product(a, b)) / len(a) ** 2
    assert cohen_kappa(a, b, weights).value == pytest.approx(1 - found / by_chance, abs=1e-12)
    assert cohen_kappa(b, a, weights).value == pytest.approx(1 - found / by_chance, abs=1e-12)
    # Two values are equally far apart under every weight.
    if len({*a, *b}) == 2:
        assert cohen_kappa(a, b, weights).value == pytest.approx(cohen_kappa(a, b).value)


def test_weights_use_the_numbers_or_the_declared_places() -> None:
    a, b = [1, 2, 9, 9], [1, 9, 9, 2]
    by_number, by_place = cohen_kappa(a, b, "linear"), cohen_kappa(a, b, "linear", order=[1, 2, 9])
    # Costs 7/8 and 1/2 for a difference of 2 and 9, twice among four.
    assert by_number.observed == pytest.approx(1 - 2 * (7 / 8) / 4)
    assert by_place.observed == pytest.approx(1 - 2 * (1 / 2) / 4)


def test_words_need_an_order_for_weights() -> None:
    a, b = ["low", "mid", "high"], ["low", "high", "high"]
    assert cohen_kappa(a, b, "linear").reason == "undefined (linear weights of words need a declared order)"
    # Observed 1 - .5 / 3; by chance the costs of (l,m,h) x (l,h,h): 0+1+1 + .5+.5+.5 + 1+0+0 = 4.5 of 9.
    assert cohen_kappa(a, b, "linear", order=["low", "mid", "high"]).value == pytest.approx(1 - (0.5 / 3) / (4.5 / 9))
    with pytest.raises(InputError, match="outside the declared order, found 'high'"):
        cohen_kappa(a, b, order=["low", "mid"])
    with pytest.raises(InputError, match="weights"):
        cohen_kappa(a, b, "cubic")  # type: ignore[arg-type]


def test_undefined_cases_keep_the_raw_agreement() -> None:
    same = cohen_kappa([3, 3, 3], [3, 3, 3])
    assert (same.value, same.observed, same.n, same.reason) == (None, 1, 3, "undefined (no variation)")
    gaps = cohen_kappa([1, None], [None, 2])
    assert (gaps.value, gaps.n, gaps.reason) == (None, 0, "undefined (no unit has both ratings)")
    # Each constant, but different: no agreement where chance gives none either.
    assert cohen_kappa([1, 1], [2, 2]).value == 0
    assert cohen_kappa([1, 2, None], [1, 2, 2]).n == 2
