"""p-values of several comparisons, adjusted within each family of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.stats.arrays import check_lengths

PValues = Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Adjusted:
    """``values`` are the adjusted p-values in the order given, 0..1; None where there was none to adjust.

    ``counted`` is the number of p-values by family; a comparison without one does not make the others stricter.
    """

    values: tuple[float | None, ...]
    counted: Mapping[Hashable, int]


def holm(p_values: PValues, family: Sequence[Hashable] | None = None) -> Adjusted:
    """Holm's step-down adjustment, which bounds the chance of any false finding in a family, under any dependence.

    The j-th smallest of m: the largest of (m - i + 1) p_i over i <= j, at most 1. ``family``: the family of each
    comparison; all are one without it. InputError for a number outside 0..1. Holm (1979), Scand. J. Statist. 6 (65).

    >>> holm([0.01, None, 0.04, 0.03]).values
    (0.03, None, 0.06, 0.06)
    """
    return _adjust(p_values, family, _step_down)


def benjamini_hochberg(p_values: PValues, family: Sequence[Hashable] | None = None) -> Adjusted:
    """Benjamini and Hochberg's step-up adjustment, which bounds the expected share of false findings in a family.

    The j-th smallest of m: the smallest of m / i p_i over i >= j, at most 1. Holds for independent or positively
    dependent tests. ``family`` as in :func:`holm`. Benjamini and Hochberg (1995), J. R. Statist. Soc. B 57 (289).

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03]).values
    (0.03, None, 0.04, 0.04)
    """
    return _adjust(p_values, family, _step_up)


def _adjust(
    p_values: PValues, family: Sequence[Hashable] | None, rule: Callable[[list[float]], list[float]]
) -> Adjusted:
    families: Sequence[Hashable] = ["all"] * len(p_values) if family is None else family
    check_lengths(p_values=len(p_values), family=len(families))
    for p in p_values:
        if p is not None and not 0 <= p <= 1:
            raise InputError("a p-value lies in 0..1", where="p_values", value=p)
    members: dict[Hashable, list[tuple[float, int]]] = {name: [] for name in families}
    for place, (p, name) in enumerate(zip(p_values, families, strict=True)):
        if p is not None:
            members[name].append((p, place))
    values: list[float | None] = [None] * len(p_values)
    for group in members.values():
        group.sort()
        for (_, place), adjusted in zip(group, rule([p for p, _ in group]), strict=True):
            values[place] = adjusted
    return Adjusted(tuple(values), {name: len(group) for name, group in members.items()})


def _step_down(ascending: list[float]) -> list[float]:
    m, largest, adjusted = len(ascending), 0.0, []
    for i, p in enumerate(ascending):
        largest = max(largest, min(1.0, (m - i) * p))
        adjusted.append(largest)
    return adjusted


def _step_up(ascending: list[float]) -> list[float]:
    m, smallest, adjusted = len(ascending), 1.0, []
    for i in range(m, 0, -1):
        smallest = min(smallest, ascending[i - 1] * m / i)
        adjusted.append(smallest)
    return adjusted[::-1]
