"""Rank and product-moment correlation of two short lists."""

from __future__ import annotations

import math
from collections.abc import Sequence


def average_ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, ties sharing the mean of their places: ``[10, 20, 20] -> [1.0, 2.5, 2.5]``."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and values[order[end + 1]] == values[order[start]]:
            end += 1
        for place in order[start : end + 1]:
            ranks[place] = (start + end) / 2 + 1
        start = end + 1
    return ranks


def pearson(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Pearson's r; None for fewer than two pairs, or where one list does not vary."""
    if len(x) < 2 or len(set(x)) < 2 or len(set(y)) < 2:
        return None
    mean_x, mean_y = math.fsum(x) / len(x), math.fsum(y) / len(y)
    dx, dy = [v - mean_x for v in x], [v - mean_y for v in y]
    together = math.fsum(a * b for a, b in zip(dx, dy, strict=True))
    return together / math.sqrt(math.fsum(a * a for a in dx) * math.fsum(b * b for b in dy))


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's rho with average ranks; None where one list does not vary. Spearman (1904)."""
    return pearson(average_ranks(x), average_ranks(y))


def extended_spearman(predicted: Sequence[float], target: Sequence[float]) -> float | None:
    """rho0: 0 for a constant prediction, else Spearman's rho, which is None where the target does
    not vary.

    ReactionBench, section 3 (intensity profiling).
    """
    return 0.0 if len(set(predicted)) < 2 else spearman(predicted, target)


def pair_order_accuracy(predicted: Sequence[float], target: Sequence[float]) -> float | None:
    """Share of pairs with different targets that the prediction puts in the right order, a
    predicted tie counting 1/2.

    None where no pair has different targets.
    """
    points: list[float] = []
    for i in range(len(target)):
        for j in range(i + 1, len(target)):
            if target[i] == target[j]:
                continue
            if predicted[i] == predicted[j]:
                points.append(0.5)
            else:
                points.append(float((predicted[i] < predicted[j]) == (target[i] < target[j])))
    return sum(points) / len(points) if points else None
