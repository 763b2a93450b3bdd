"""Raters who are strict or mild: a two-way additive model of rater and item, fitted to a table with gaps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from onlooker.stats.arrays import Floats, Ints, Labels, Numbers, check_lengths, finite, number_labels


@dataclass(frozen=True, slots=True)
class Additive:
    """rating = value + rater effect + item effect + rest. Effects of raters, and of items, add up to 0.

    value           the mean over items of their debiased means
    debiased_means  {item: value + its effect}, what the item would get from the raters' average
    raw_means       {item: mean of the ratings it got}
    largest_change  the largest |debiased - raw| of an item
    residual_sd     standard deviation of the rest; None where no degree of freedom is left for it
    Mappings are empty where the model is undefined.
    """

    value: float | None
    rater_effects: Mapping[Hashable, float]
    item_effects: Mapping[Hashable, float]
    debiased_means: Mapping[Hashable, float]
    raw_means: Mapping[Hashable, float]
    largest_change: float | None
    residual_sd: float | None
    reason: str | None = None


def additive_model(raters: Labels, items: Labels, ratings: Numbers) -> Additive:
    """Least squares of rater + item over ratings in long form: three sequences, one entry a rating, gaps left out.

    Undefined without ratings, and where raters and items fall into groups that no rating joins: a strict group and a
    hard group of items cannot be told apart then. Raters must be few (their squared number is solved); items may be
    many. Searle (1971), Linear Models, section 7.1 (two-way crossed classification without interaction).

    >>> found = additive_model(["x", "x", "y"], ["a", "b", "a"], [1, 2, 3])
    >>> dict(found.debiased_means)
    {'a': 2.0, 'b': 3.0}
    """
    y = finite("ratings", ratings)
    check_lengths(raters=len(raters), items=len(items), ratings=y.size)
    rater_names, rater = number_labels(raters)
    item_names, item = number_labels(items)
    if y.size == 0:
        return _undefined("undefined (no ratings)")
    groups = _groups(rater, item, len(rater_names), len(item_names))
    if groups > 1:
        return _undefined(f"undefined (raters and items fall into {groups} groups that no rating joins)")
    effects, means = _solve(rater, item, y, len(rater_names), len(item_names))
    raw = np.bincount(item, y) / np.bincount(item)
    rest = y - effects[rater] - means[item]
    free = y.size - len(rater_names) - len(item_names) + 1
    grand = float(means.mean())
    return Additive(
        grand,
        dict(zip(rater_names, effects.tolist(), strict=True)),
        dict(zip(item_names, (means - grand).tolist(), strict=True)),
        dict(zip(item_names, means.tolist(), strict=True)),
        dict(zip(item_names, raw.tolist(), strict=True)),
        float(np.abs(means - raw).max()),
        math.sqrt(float(rest @ rest) / free) if free > 0 else None,
    )


def _undefined(reason: str) -> Additive:
    return Additive(None, {}, {}, {}, {}, None, None, reason)


def _groups(rater: Ints, item: Ints, n_raters: int, n_items: int) -> int:
    # Every node starts as a group of its own; a rating joins the groups of its rater and its item.
    parent = list(range(n_raters + n_items))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for r, i in zip(rater.tolist(), item.tolist(), strict=True):
        parent[root(r)] = root(n_raters + i)
    return sum(parent[node] == node for node in range(len(parent)))


def _solve(rater: Ints, item: Ints, y: Floats, n_raters: int, n_items: int) -> tuple[Floats, Floats]:
    counts = np.zeros((n_raters, n_items))
    np.add.at(counts, (rater, item), 1)
    of_item = counts.sum(axis=0)
    raw = np.bincount(item, y, minlength=n_items) / of_item
    # Items are eliminated from the normal equations. What is left is singular in the direction of equal effects; the
    # ones added to it fix their sum at 0.
    left = np.diag(counts.sum(axis=1)) - (counts / of_item) @ counts.T + 1
    right = np.bincount(rater, y, minlength=n_raters) - counts @ raw
    effects = np.linalg.solve(left, right)
    effects -= effects.mean()
    means = raw - (effects @ counts) / of_item
    return effects, np.asarray(means, dtype=np.float64)
