"""The scores of a section, read from the structure of scores.json into typed rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.report.content import Section

OUTCOMES = ("scored", "unparsed", "empty", "truncated", "refused", "error", "missing", "unjudged")


@dataclass(frozen=True, slots=True)
class Number:
    """A metric's value with its 95 % interval; None where undefined, with ``reason``. ``n``: what it averages over."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None

    @property
    def why_no_value(self) -> str:
        """Why the value is undefined, in words."""
        return self.reason or ("nothing to average over" if self.n == 0 else "not defined on these items")

    @property
    def why_no_interval(self) -> str:
        """Why the interval is undefined, in words."""
        return self.reason or "fewer than two clusters to resample"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Outcome counts of a model and condition; ``counts`` has every outcome, in the order of ``OUTCOMES``."""

    items: int
    seeds: int
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All rows owed: items x seeds."""
        return self.items * self.seeds


@dataclass(frozen=True, slots=True)
class Series:
    """One model under one condition."""

    model: str
    condition: str
    coverage: Coverage
    metrics: Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class Results:
    """All numbers of a section. ``question_only`` series are apart from the others; baselines are by name.

    ``level``, ``draws`` and ``seed`` are the settings of the intervals, None where the scores do not state them.
    """

    series: tuple[Series, ...]
    question_only: tuple[Series, ...]
    baselines: Mapping[str, Mapping[str, Number]]
    level: float
    draws: int | None
    seed: int | None

    def values_under(self, prefix: str) -> tuple[str, ...]:
        """The label values that a metric group has, in the order the scores give them; "" where a label is empty."""
        tables = [s.metrics for s in (*self.series, *self.question_only)] + list(self.baselines.values())
        names = dict.fromkeys(name for table in tables for name in table if name.startswith(prefix))
        return tuple(name[len(prefix) :] for name in names if name != prefix or prefix.endswith("."))


def read_results(section: Section) -> Results:
    """The numbers of a section. Raises ``InputError`` that names the place where scores.json is not as it should be."""
    where = f"scores of {section.bundle.name}"
    settings = _mapping(section.scores.get("settings", {}), f"{where}: settings")
    series: list[Series] = []
    for model, conditions in _mapping(section.scores.get("models", {}), f"{where}: models").items():
        for condition, found in _mapping(conditions, f"{where}: {model}").items():
            at = f"{where}: {model}, {condition}"
            row = _mapping(found, at)
            coverage = _coverage(row.get("coverage"), f"{at}, coverage")
            metrics = _numbers(row.get("metrics"), f"{at}, metrics")
            series.append(Series(model, condition, coverage, metrics))
    level = _float(settings.get("level", 0.95), f"{where}: settings, level")
    if level is None or not 0 < level < 1:
        raise InputError("the level is not between 0 and 1", where=f"{where}: settings", value=level)
    return Results(
        series=tuple(s for s in series if s.condition != section.question_only),
        question_only=tuple(s for s in series if s.condition == section.question_only),
        baselines={
            name: _numbers(table, f"{section.bundle.name}: baseline {name}")
            for name, table in section.baselines.items()
        },
        level=level,
        draws=_setting(settings, "draws", where),
        seed=_setting(settings, "seed", where),
    )


def _setting(settings: Mapping[str, object], name: str, where: str) -> int | None:
    found = settings.get(name)
    return None if found is None else _count(found, f"{where}: settings, {name}")


def _mapping(found: object, where: str) -> Mapping[str, object]:
    if not isinstance(found, Mapping) or not all(isinstance(key, str) for key in found):
        raise InputError("not an object", where=where, value=found)
    return found


def _coverage(found: object, where: str) -> Coverage:
    row = _mapping(found, where)
    counts = {name: _count(row.get(name, 0), f"{where}, {name}") for name in OUTCOMES}
    items, seeds = (_count(row.get(name), f"{where}, {name}") for name in ("items", "seeds"))
    if sum(counts.values()) != items * seeds:
        raise InputError(
            f"the outcomes add up to {sum(counts.values())}, not to {items} items x {seeds} seeds",
            where=where,
        )
    return Coverage(items, seeds, counts)


def _numbers(found: object, where: str) -> dict[str, Number]:
    return {name: _number(n, f"{where}, {name}") for name, n in _mapping(found, where).items()}


def _number(found: object, where: str) -> Number:
    row = _mapping(found, where)
    value, low, high = (_float(row.get(key), f"{where}, {key}") for key in ("value", "low", "high"))
    if (low is None) != (high is None) or (low is not None and high is not None and low > high):
        raise InputError("not an interval", where=where, value=(low, high))
    reason = row.get("reason")
    return Number(value, low, high, _count(row.get("n"), f"{where}, n"), reason if isinstance(reason, str) else None)


def _float(found: object, where: str) -> float | None:
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise InputError("neither a number nor null", where=where, value=found)
    return float(found)


def _count(found: object, where: str) -> int:
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise InputError("not a count", where=where, value=found)
    return found
