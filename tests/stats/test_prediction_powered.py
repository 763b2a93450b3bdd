"""A judge's mean corrected by people: hand-worked numbers, the published formulas, coverage, tuning by search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import Corrected, prediction_powered_mean
from onlooker.stats.cluster import FEW_CLUSTERS

Z = 1.959963984540054
scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)
unlabelled = st.lists(st.integers(0, 4), min_size=2, max_size=20)


def half(found: Corrected) -> float:
    assert found.low is not None
    assert found.high is not None
    return (found.high - found.low) / 2


def test_worked_by_hand() -> None:
    # The judge is 1/4 too high on four rows; on eight others it gives 3/4. Variances: rest (0,-1,0,0) 1/4, judge 12/56.
    found = prediction_powered_mean([1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 0, 1, 1, 1, 0, 1])
    assert found.value == pytest.approx(0.5)
    assert half(found) == pytest.approx(Z * (1 / 16 + 12 / 56 / 8) ** 0.5)
    assert (found.bias, found.human_mean, found.judge_mean) == pytest.approx((0.25, 0.75, 10 / 12))
    assert (found.tuning, found.labelled, found.unlabelled) == (1, 4, 8)


@given(scores, unlabelled)
def test_equals_the_published_formula(labelled: list[tuple[int, int]], rest: list[int]) -> None:
    y, f, g = np.array([a for a, _ in labelled]), np.array([b for _, b in labelled]), np.array(rest)
    found = prediction_powered_mean(y, f, g)
    assert found.value == pytest.approx(g.mean() - (f - y).mean())
    variance = g.var(ddof=1) / g.size + (f - y).var(ddof=1) / y.size
    assert half(found) == pytest.approx(Z * variance**0.5, abs=1e-9)


@given(scores, unlabelled)
def test_tuning_is_the_best_weight_there_is(labelled: list[tuple[int, int]], rest: list[int]) -> None:
    y, f, g = np.array([a for a, _ in labelled]), np.array([b for _, b in labelled]), np.array(rest)
    found = prediction_powered_mean(y, f, g, tune=True)
    assert found.tuning is not None
    assert found.value == pytest.approx(found.tuning * g.mean() + (y - found.tuning * f).mean())
    for weight in np.linspace(0, 1, 101):
        variance = weight**2 * g.var(ddof=1) / g.size + (y - weight * f).var(ddof=1) / y.size
        assert half(found) <= Z * variance**0.5 + 1e-9
    # Weights 1 and 0 are the plain estimate and the people alone.
    assert half(found) <= half(prediction_powered_mean(y, f, g)) + 1e-9
    assert half(found) <= Z * (y.var(ddof=1) / y.size) ** 0.5 + 1e-9


@given(scores, unlabelled, st.integers(-3, 3), st.booleans())
def test_a_judge_that_is_off_by_a_constant_changes_nothing(
    labelled: list[tuple[int, int]], rest: list[int], off: int, tune: bool
) -> None:
    y, f = [a for a, _ in labelled], [b for _, b in labelled]
    one = prediction_powered_mean(y, f, rest, tune=tune)
    other = prediction_powered_mean(y, [v + off for v in f], [v + off for v in rest], tune=tune)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), abs=1e-9)


def test_rows_of_one_video_count_once() -> None:
    # Every row doubled within its video: the same interval as without the copies.
    y, f, g = [1, 0, 1, 1, 0], [1, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0]
    plain = prediction_powered_mean(y, f, g)
    doubled = prediction_powered_mean(y * 2, f * 2, g * 2, list("abcde") * 2, list("fghijk") * 2)
    assert (doubled.value, doubled.low, doubled.high) == pytest.approx((plain.value, plain.low, plain.high))
    assert half(prediction_powered_mean(y * 2, f * 2, g * 2)) < half(plain)


def test_a_video_in_both_parts_is_one_cluster() -> None:
    # Where the judge is perfect, its errors of both parts are those of the same videos; worked by residuals.
    y, g = np.array([1.0, 0, 1]), np.array([1.0, 0, 0])
    found = prediction_powered_mean(y, y * 0, g, ["a", "b", "c"], ["a", "b", "c"])
    residuals = 1.5**0.5 / 3 * ((y - y.mean()) + (g - g.mean()))
    assert half(found) == pytest.approx(Z * float(residuals @ residuals) ** 0.5)


@pytest.mark.parametrize("tune", [False, True])
def test_intervals_cover_the_truth_and_beat_people_alone(tune: bool) -> None:
    rng = np.random.default_rng(12)
    hits, widths, alone = 0, [], []
    for _ in range(400):
        video = np.arange(400) // 4
        truth = np.repeat(rng.normal(size=100), 4) + 0.5 * rng.normal(size=400)
        judge = truth + 0.7 + 0.3 * rng.normal(size=400)
        found = prediction_powered_mean(truth[:160], judge[:160], judge[160:], video[:160], video[160:], tune=tune)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0 <= found.high
        widths.append(half(found))
        alone.append(Z * truth[:160].reshape(40, 4).mean(axis=1).std(ddof=1) / 40**0.5)
    assert 0.91 <= hits / 400 <= 0.98
    assert np.mean(widths) < np.mean(alone)


def test_undefined_cases_say_why() -> None:
    nobody = prediction_powered_mean([], [], [1, 2])
    assert (nobody.value, nobody.judge_mean, nobody.reason) == (None, 1.5, "undefined (no labelled row)")
    everybody = prediction_powered_mean([1, 0], [1, 1], [])
    assert (everybody.value, everybody.human_mean) == (None, 0.5)
    assert everybody.reason == "undefined (no unlabelled row: the human mean says it all)"
    one = prediction_powered_mean([1, 0], [1, 1], [1, 0], ["a", "a"], ["b", "c"])
    assert (one.value, one.low, one.reason) == (0, None, FEW_CLUSTERS)
    constant = prediction_powered_mean([1, 0, 1], [2, 2, 2], [2, 2], tune=True)
    assert constant.tuning == 0
    assert constant.value == pytest.approx(2 / 3)
    with pytest.raises(InputError, match="same length"):
        prediction_powered_mean([1, 0], [1], [1])
    with pytest.raises(InputError, match="both parts"):
        prediction_powered_mean([1, 0], [1, 1], [1, 1], ["a", "b"])
