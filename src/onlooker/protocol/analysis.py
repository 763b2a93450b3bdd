"""An analysis: a small file in a family's folder that turns graded answers into a table, JSON and a figure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from onlooker.errors import InputError

if TYPE_CHECKING:
    # Types only: a family can be named to model-facing code without the private records being loaded.
    from onlooker.protocol.scoring import Case, Private
    from onlooker.records.public import Episode, Item
    from onlooker.records.results import Judgement

Cell = str | float | int | None
FigureKind = Literal["dots", "bars", "paired-delta", "lines", "heatmap", "radar", "boxes", "histogram", "waterfall"]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as a person reads them; numbers stay numbers (fractions as 0..1), None is undefined."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One line, one set of dots or bars. ``low``, ``high``: interval ends, as many as values, None where undefined."""

    name: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """What to draw, not how.

    ``categories`` name the places along the axis (for a heat map the columns, with one series a row; for boxes and
    histograms each series holds its raw values and ``categories`` is empty). A ``paired-delta`` is a difference. A
    ``waterfall`` has, a series a panel, the start, signed changes, and in the last place what is left. ``blocks``
    outline groups of neighbouring categories: (name, place of the first, place after the last).
    """

    kind: FigureKind
    title: str
    categories: tuple[str, ...]
    series: tuple[Series, ...]
    value_label: str
    percent: bool = False
    blocks: tuple[tuple[str, int, int], ...] = ()
    chance: float | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analysis found. ``data`` becomes JSON; ``notes`` say which rule moved a number or left it undefined."""

    data: Mapping[str, Any]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GradedRun:
    """The graded cases of one model under one condition: a list a seed, over the items owed, as the bundle has them.

    ``raw``: {seed: {item id: the reply's text}} for the items that were answered in one call.
    """

    model: str
    condition: str
    by_seed: Mapping[int | None, Sequence[Case]]
    raw: Mapping[int | None, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Material:
    """What an analysis may look at.

    ``items``, ``episodes``, ``private`` by id in the bundle's order; ``runs`` sorted by model and condition;
    ``judgements`` as read (all judges and rubrics); ``draws`` and ``seed`` of every bootstrap; ``options`` as given on
    the command line, checked against what the analysis declares.
    """

    items: Mapping[str, Item]
    episodes: Mapping[str, Episode]
    private: Mapping[str, Private]
    runs: Sequence[GradedRun]
    judgements: Sequence[Judgement]
    draws: int
    seed: int
    options: Mapping[str, str]

    def run(self, model: str, condition: str) -> GradedRun:
        """The run of that name. Raises ``InputError`` that lists those there are."""
        for run in self.runs:
            if (run.model, run.condition) == (model, condition):
                return run
        there = ", ".join(f"{r.model}:{r.condition}" for r in self.runs) or "none"
        raise InputError(
            "no predictions of this model and condition", value=f"{model}:{condition}", remedy=f"one of {there}"
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis that a family offers.

    name     the word on the command line, such as ``retention``
    says     one line for people
    source   the paper's section, table or figure that it serves
    options  {name: what it means}; all are optional, and the analysis says what holds where one is absent
    run      material -> findings; raises ``InputError`` where the material cannot serve it
    """

    name: str
    says: str
    source: str
    run: Callable[[Material], Findings]
    options: Mapping[str, str] = field(default_factory=dict)
