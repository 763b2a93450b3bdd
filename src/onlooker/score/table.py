"""Scores as rows of plain text, for whoever prints them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onlooker.protocol.metric import Unit
from onlooker.records.results import OUTCOMES
from onlooker.score.score import ScoreResult


@dataclass(frozen=True, slots=True)
class Table:
    """One model under one condition: rows of (metric, value, interval, n), coverage, and the rules
    that moved a number.
    """

    model: str
    condition: str
    rows: tuple[tuple[str, str, str, str], ...]
    coverage: str
    notes: tuple[str, ...]


def score_tables(result: ScoreResult) -> list[Table]:
    """A table for each model and condition: fractions as percentages, everything else on its own
    scale.
    """
    return [
        Table(
            model,
            condition,
            tuple(metric_row(name, m, result.units[name]) for name, m in one["metrics"].items()),
            coverage_line(one["coverage"]),
            tuple(one["notes"]),
        )
        for model, conditions in result.scores["models"].items()
        for condition, one in conditions.items()
    ]


def metric_row(name: str, metric: Mapping[str, Any], unit: Unit) -> tuple[str, str, str, str]:
    """(name, value, interval, n) as text; a dash where undefined."""
    low, high = metric["low"], metric["high"]
    interval = "-" if low is None else f"[{number(low, unit)}, {number(high, unit)}]"
    return name, number(metric["value"], unit), interval, str(metric["n"])


def number(value: float | None, unit: Unit) -> str:
    """A value as a table shows it; a dash where undefined."""
    if value is None:
        return "-"
    match unit:
        case "fraction":
            return f"{100 * value:.1f}"
        case "correlation":
            return f"{value:.3f}"
        case "seconds":
            return f"{value:.2f} s"
        case "points":
            return f"{value:.2f}"
        case "count":
            return f"{value:g}"


def coverage_line(coverage: Mapping[str, int]) -> str:
    """``193 items x 1 seed: 169 scored, 8 missing``; outcomes that did not occur are left out."""
    seeds = coverage["seeds"]
    counts = ", ".join(f"{coverage[o]} {o}" for o in OUTCOMES if coverage[o])
    return f"{coverage['items']} items x {seeds} seed{'' if seeds == 1 else 's'}: {counts or 'nothing'}"
