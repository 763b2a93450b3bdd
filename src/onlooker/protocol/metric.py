"""Metrics over items: a name, the units behind the value, and a statistic that can be resampled by
episode.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from onlooker.stats.cluster import (
    Combine,
    Floats,
    Ints,
    Statistic,
    Sums,
    mean,
    mean_of_ratios,
    ratio,
)

Unit = Literal["fraction", "points", "correlation", "seconds", "count"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that a family reports.

    name       as in ``scores.json``
    behind     what the value averages over (item ids, mostly); ``n`` is how many there are
    statistic  the value, and how it is drawn again
    unit       how tables print it: a fraction as per cent, everything else on its own scale
    """

    name: str
    behind: tuple[Hashable, ...]
    statistic: Statistic
    unit: Unit = "fraction"


class Columns:
    """Per-item values as columns, from which metrics are made.

    ``ids`` and ``clusters`` (the episode's number) have one entry an item. A column is a list of
    the same length with None where the item has no value: such an item is not behind the metric.
    """

    def __init__(self, ids: Sequence[str], clusters: Sequence[int]) -> None:
        self.ids = tuple(ids)
        self.clusters: Ints = np.array(clusters, dtype=np.int64)

    def mean(self, name: str, values: Sequence[float | None], unit: Unit = "fraction") -> Metric:
        """The mean of the values there are."""
        rows, column = _defined(values)
        return Metric(name, self._ids(rows), mean(self.clusters[rows], column), unit)

    def means_by(
        self,
        prefix: str,
        values: Sequence[float | None],
        groups: Sequence[tuple[str, ...]],
        known: Iterable[str] = (),
    ) -> list[Metric]:
        """``prefix.GROUP`` for every group in sorted order; ``groups`` names those of each item (none, one or more).

        Groups that are ``known`` are there also where no item is in them: undefined, and n is 0.
        """
        rows, column = _defined(values)
        at = dict(zip(rows.tolist(), range(len(rows)), strict=True))
        members: dict[str, list[int]] = {name: [] for name in known}
        for i, names in enumerate(groups):
            for name in names:
                members.setdefault(name, [])
                if i in at:
                    members[name].append(i)
        metrics = []
        for name in sorted(members):
            inside = np.array(members[name], dtype=np.int64)
            picked = column[np.array([at[i] for i in members[name]], dtype=np.int64)]
            metrics.append(Metric(f"{prefix}.{name}", self._ids(inside), mean(self.clusters[inside], picked)))
        return metrics

    def macro(
        self,
        name: str,
        values: Sequence[float | None],
        group: Sequence[str | None],
        over: Sequence[str],
        combine: Combine = mean_of_ratios,
    ) -> Metric:
        """The mean over the groups ``over`` of each group's mean; undefined where one of them has
        no value.
        """
        rows, column = _defined(values)
        place = {one: k for k, one in enumerate(over)}
        inside = np.array([group[i] in place for i in rows], dtype=bool)
        rows, column = rows[inside], column[inside]
        member = np.zeros((len(rows), len(over)))
        member[np.arange(len(rows)), [place[str(group[i])] for i in rows]] = 1.0
        columns = np.hstack([member * column[:, None], member])
        return Metric(name, self._ids(rows), Sums(self.clusters[rows], columns, combine))

    def ratio(
        self,
        name: str,
        above: Sequence[float | None],
        below: Sequence[float | None],
        inside: Sequence[bool] | None = None,
    ) -> Metric:
        """Sum of ``above`` over sum of ``below``, over the items that have both (and are
        ``inside``).
        """
        rows = np.array(
            [
                i
                for i, (a, b) in enumerate(zip(above, below, strict=True))
                if a is not None and b is not None and (inside is None or inside[i])
            ],
            dtype=np.int64,
        )
        pairs = [[above[i], below[i]] for i in rows]
        columns = np.array(pairs, dtype=np.float64).reshape(len(rows), 2)
        return Metric(name, self._ids(rows), Sums(self.clusters[rows], columns, ratio))

    def _ids(self, rows: Ints) -> tuple[str, ...]:
        return tuple(self.ids[i] for i in rows.tolist())


def _defined(values: Sequence[float | None]) -> tuple[Ints, Floats]:
    rows = [i for i, value in enumerate(values) if value is not None]
    column = [value for value in values if value is not None]
    return np.array(rows, dtype=np.int64), np.array(column, dtype=np.float64)
