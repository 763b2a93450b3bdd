"""The rater + item model against hand-worked numbers and a plain least-squares fit on dummies."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.stats import additive_model

cells = st.dictionaries(st.tuples(st.integers(0, 3), st.integers(0, 4)), st.integers(0, 9), min_size=1, max_size=20)


def test_a_strict_rater_worked_by_hand() -> None:
    # y is 2 below x on item a, so item b, which only y rated, gains half of that against the average rater.
    found = additive_model(["x", "y", "y"], ["a", "a", "b"], [5, 3, 3])
    assert found.rater_effects == pytest.approx({"x": 1, "y": -1})
    assert found.debiased_means == pytest.approx({"a": 4, "b": 4})
    assert found.raw_means == pytest.approx({"a": 4, "b": 3})
    assert found.item_effects == pytest.approx({"a": 0, "b": 0})
    assert (found.value, found.largest_change) == pytest.approx((4, 1))
    # Three ratings, three free numbers.
    assert found.residual_sd is None


def test_the_order_of_items_can_change() -> None:
    # The mild rater x (+2) alone rated c: raw c beats b, debiased it does not.
    found = additive_model(list("xyxyx"), list("aabbc"), [6, 4, 7, 5, 6.5])
    assert found.raw_means["c"] > found.raw_means["b"]
    assert found.debiased_means["c"] == pytest.approx(5.5)
    assert found.debiased_means["b"] == pytest.approx(6)


@given(cells)
def test_equals_least_squares_on_dummies(table: dict[tuple[int, int], int]) -> None:
    raters, items, ratings = [r for r, _ in table], [i for _, i in table], list(table.values())
    found = additive_model(raters, items, ratings)
    rater_names, item_names = list(dict.fromkeys(raters)), list(dict.fromkeys(items))
    design = np.array([[r == x for x in rater_names] + [i == x for x in item_names] for r, i in table], dtype=float)
    y = np.array(ratings, dtype=float)
    if np.linalg.matrix_rank(design) < len(rater_names) + len(item_names) - 1:
        assert found.value is None
        assert found.reason is not None
        assert "groups that no rating joins" in found.reason
        return
    fitted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
    ours = [found.rater_effects[r] + found.debiased_means[i] for r, i in table]
    assert ours == pytest.approx(fitted.tolist(), abs=1e-8)
    assert sum(found.rater_effects.values()) == pytest.approx(0, abs=1e-9)
    assert sum(found.item_effects.values()) == pytest.approx(0, abs=1e-9)
    free = len(y) - len(rater_names) - len(item_names) + 1
    if free:
        assert found.residual_sd == pytest.approx(np.sqrt(((y - fitted) ** 2).sum() / free), abs=1e-7)


def test_a_full_table_keeps_its_raw_means() -> None:
    table = np.random.default_rng(2).normal(size=(4, 9))
    rater, item = np.indices(table.shape)
    found = additive_model(rater.ravel(), item.ravel(), table.ravel())
    assert list(found.debiased_means.values()) == pytest.approx(table.mean(axis=0).tolist())
    assert found.largest_change == pytest.approx(0, abs=1e-12)


def test_what_was_put_in_comes_out() -> None:
    rng = np.random.default_rng(5)
    strictness, level = np.array([1.0, -0.5, 0.0, -0.5]), rng.normal(size=30)
    seen = [(r, i) for i in range(30) for r in rng.choice(4, 2, replace=False)]
    found = additive_model([r for r, _ in seen], [i for _, i in seen], [strictness[r] + level[i] for r, i in seen])
    assert [found.rater_effects[r] for r in range(4)] == pytest.approx(strictness.tolist())
    assert [found.debiased_means[i] for i in range(30)] == pytest.approx(level.tolist())
    assert found.residual_sd == pytest.approx(0, abs=1e-9)


def test_a_design_in_parts_is_undefined_with_the_reason() -> None:
    found = additive_model(["x", "x", "y"], ["a", "b", "c"], [1, 2, 3])
    assert found.value is None
    assert found.reason == "undefined (raters and items fall into 2 groups that no rating joins)"
    assert (found.debiased_means, found.largest_change) == ({}, None)
    assert additive_model([], [], []).reason == "undefined (no ratings)"
    with pytest.raises(InputError, match="same length"):
        additive_model(["x"], ["a", "b"], [1])


def test_many_items_cost_little() -> None:
    rng = np.random.default_rng(3)
    start = time.process_time()
    additive_model(np.tile(np.arange(5), 10_000), np.repeat(np.arange(10_000), 5), rng.normal(size=50_000))
    assert time.process_time() - start < 2
