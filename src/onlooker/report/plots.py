"""What the figures show: dots with intervals in rows, and baselines as ticks. Nothing is drawn here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onlooker.report.content import Scale, Section
from onlooker.report.results import Number, Results, Series
from onlooker.report.wording import sentence

LINES = {"chance": "dashed", "majority": "dotted"}  # any other baseline is drawn in dashes and dots
MAX_SERIES = 6  # as many colours and markers as can be told apart


@dataclass(frozen=True, slots=True)
class Dots:
    """One colour of a plot: a number a row, where there is one.

    ``hollow``: the rows whose condition shows the question alone.
    """

    name: str
    hollow: frozenset[str]
    numbers: Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class Plot:
    """A dot-and-interval plot that stands beside a table of the same numbers.

    ``rows`` are top to bottom; ``baselines`` give a value a row; ``corner`` heads the column of row names.
    ``names``: what a row's short name stands for.
    """

    id: str
    title: str
    measure: str
    corner: str
    scale: Scale
    rows: tuple[str, ...]
    dots: tuple[Dots, ...]
    baselines: Mapping[str, Mapping[str, Number]]
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_wide(self) -> bool:
        """Whether it takes the width of a page."""
        return len(self.dots) > 3

    @property
    def key(self) -> str:
        """What its signs mean, beyond the legend: ``hollow: question only; dashed: chance; dotted: majority``."""
        signs = ["hollow: question only"] if any(d.hollow for d in self.dots) else []
        return "; ".join([*signs, *(f"{LINES.get(name, 'dash and dot')}: {name}" for name in self.baselines)])

    def shared_n(self, row: str) -> int | None:
        """The n of a row where all its numbers, baselines too, have the same, else None."""
        tables = [*(d.numbers for d in self.dots), *self.baselines.values()]
        counts = {numbers[row].n for numbers in tables if row in numbers}
        return counts.pop() if len(counts) == 1 else None


def plots_of(section: Section, results: Results, anchor: str) -> tuple[Plot, ...]:
    """The figures of a section, the main one first. ``anchor`` begins every id. No scores: no figure."""
    every = (*results.series, *results.question_only)
    if not every:
        return ()
    plots = _main(section, results, anchor)
    for place, group in enumerate(section.groups, start=1):
        known = list(group.names)
        rows = tuple(
            sorted(results.values_under(group.prefix), key=lambda v: known.index(v) if v in known else len(known))
        )
        dots = [
            Dots(
                name,
                frozenset(rows if s in results.question_only else ()),
                _rows_of(s.metrics, group.prefix, rows),
            )
            for s, name in zip(every, series_names(every), strict=True)
        ]
        dots = [d for d in dots if d.numbers]
        baselines = {
            name: found for name, table in results.baselines.items() if (found := _rows_of(table, group.prefix, rows))
        }
        if rows and dots:
            plots += _parts(
                Plot(
                    id=f"{anchor}-by{place}",
                    title=group.title,
                    measure=group.prefix.rstrip(".").rsplit(".", 1)[0],
                    corner=sentence(group.title.removeprefix("By ")),
                    scale=group.scale,
                    rows=rows,
                    dots=tuple(dots),
                    baselines=baselines,
                    names=group.names,
                )
            )
    return tuple(plots)


def series_names(series: Sequence[Series]) -> tuple[str, ...]:
    """The shortest names that keep series apart: the model, the condition, or both."""
    if len({s.condition for s in series}) == 1:
        return tuple(s.model for s in series)
    if len({s.model for s in series}) == 1:
        return tuple(s.condition for s in series)
    return tuple(f"{s.model} · {s.condition}" for s in series)


def _main(section: Section, results: Results, anchor: str) -> list[Plot]:
    """A row a condition, question-only last and hollow; a colour a model."""
    metric = section.main_metric
    every = [s for s in (*results.series, *results.question_only) if metric in s.metrics]
    rows = tuple(dict.fromkeys(s.condition for s in every))
    models = dict.fromkeys(s.model for s in every)
    hollow = frozenset(s.condition for s in results.question_only)
    dots = tuple(
        Dots(model, hollow, {s.condition: s.metrics[metric] for s in every if s.model == model}) for model in models
    )
    baselines = {
        name: dict.fromkeys(rows, table[metric]) for name, table in results.baselines.items() if metric in table
    }
    if not dots:
        return []
    return _parts(
        Plot(
            id=f"{anchor}-main",
            title=f"{sentence(metric)} by condition",
            measure=metric,
            corner="Condition",
            scale=section.main_scale,
            rows=rows,
            dots=dots,
            baselines=baselines,
        )
    )


def _rows_of(metrics: Mapping[str, Number], prefix: str, rows: Sequence[str]) -> dict[str, Number]:
    return {row: metrics[prefix + row] for row in rows if prefix + row in metrics}


def _parts(plot: Plot) -> list[Plot]:
    """The plot, or several of at most ``MAX_SERIES`` colours each."""
    if len(plot.dots) <= MAX_SERIES:
        return [plot]
    count = -(-len(plot.dots) // MAX_SERIES)
    return [
        Plot(
            id=f"{plot.id}-{part + 1}",
            title=f"{plot.title} ({part + 1} of {count})",
            measure=plot.measure,
            corner=plot.corner,
            scale=plot.scale,
            rows=plot.rows,
            dots=plot.dots[part * MAX_SERIES : (part + 1) * MAX_SERIES],
            baselines=plot.baselines,
        )
        for part in range(count)
    ]
