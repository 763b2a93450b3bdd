from __future__ import annotations

from dataclasses import replace

import pytest

from onlooker.benchmarks.mmhbench.protocol import BENCHMARK
from onlooker.errors import InputError
from onlooker.protocol.condition import Condition

ONE = Condition("one", "", "p.txt")
TWO = Condition("two", "", "p.txt", frames="uniform:4")


def test_a_benchmark_may_have_no_baseline_and_no_condition() -> None:
    assert replace(BENCHMARK, conditions=(), baseline=None).conditions == ()
    assert replace(BENCHMARK, conditions=(ONE, TWO), baseline=None).default is ONE


def test_baseline_names_a_condition() -> None:
    with pytest.raises(InputError, match=r"benchmark mmhbench: baseline names no condition, found 'tow'.*one, two"):
        replace(BENCHMARK, conditions=(ONE, TWO), baseline="tow")


def test_conditions_have_names_of_their_own() -> None:
    with pytest.raises(InputError, match="two conditions of the same name, found 'one'"):
        replace(BENCHMARK, conditions=(ONE, replace(TWO, name="one")), baseline="one")


@pytest.mark.parametrize("other", ["three", "two"])
def test_same_as_names_another_condition(other: str) -> None:
    with pytest.raises(InputError, match=rf"same_as of condition two names no other condition, found '{other}'"):
        replace(BENCHMARK, conditions=(ONE, replace(TWO, same_as=other)), baseline="one")


def test_scoring_is_of_the_same_family() -> None:
    with pytest.raises(InputError, match="benchmark mine: scoring is of another family, found 'mmhbench'"):
        replace(BENCHMARK, family="mine")
