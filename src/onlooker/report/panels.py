"""Figures of several small axes, one a series: waterfalls and histograms."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from onlooker.protocol.analysis import Figure, Series
from onlooker.report.palette import GRID, INK, MUTED, PAPER, SERIES
from onlooker.report.shapes import SMALL_PT, TEXT_PT, measure_of, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

PANELS_A_ROW = 3
_BINS = 20
_END, _LOSS, _GAIN, _START = SERIES[0], SERIES[1], SERIES[2], "#8b9198"


def waterfall(canvas: Canvas, figure: Figure, columns: int) -> list[Axes]:
    """What stands at the start, each change from there, and what is left; losses and gains in a colour each."""
    count = max(1, len(figure.series))
    rows = -(-count // columns)
    grid = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    every = [axes for row in grid for axes in row]
    ends = [0.0]
    for axes, series in zip(every, figure.series, strict=False):
        ends += _steps(axes, series, figure)
        if count > 1:
            axes.set_title(series.name, loc="left", fontsize=TEXT_PT, color=INK)
    for axes in every:
        axes.set_facecolor("none")
        axes.set_yticks(range(len(figure.categories)), list(figure.categories))
        axes.set_ylim(len(figure.categories) - 0.4, -0.6)
        axes.grid(axis="x", color=GRID, linewidth=0.6)
        axes.set_xlim(min(ends), 1.28 * max(ends) or 1)  # room for the numbers beside the bars
        if figure.percent:
            axes.set_xticks(range(0, 101, 25))
    for place, axes in enumerate(every):
        if place >= count:
            axes.set_axis_off()
        elif place + columns >= count:
            axes.set_xlabel(measure_of(figure), color=INK)
            axes.tick_params(axis="x", labelbottom=True)
    return every[:count]


def _steps(axes: Axes, series: Series, figure: Figure) -> list[float]:
    """Draws one waterfall and gives the ends of its bars.

    After an undefined change nothing says where the next one begins: its number stands alone.
    """
    at: float | None = 0.0
    last = len(figure.categories) - 1
    places = 0 if all(v is None or v == int(v) for v, _, _ in points_of(series, figure)) else 1 if figure.percent else 2
    ends: list[float] = []
    for row, (value, low, high) in enumerate(points_of(series, figure)):
        is_total = row in {0, last}
        begin = 0.0 if is_total else at
        if value is None or begin is None:
            text = "undefined" if value is None else f"{value:+.{places}f}".replace("-", "−")
            axes.annotate(
                text, (0, row), xytext=(3, 0), textcoords="offset points",
                va="center", color=MUTED, fontsize=SMALL_PT, style="italic",
            )  # fmt: skip
            at = None
            continue
        end = begin + value
        colour = (_START if row == 0 else _END) if is_total else _LOSS if value < 0 else _GAIN
        axes.barh(row, value, left=begin, height=0.62, color=colour)
        if at is not None and row > 0:
            axes.plot([at, at], [row - 1 + 0.31, row - 0.31], color=MUTED, linewidth=0.7)
        reach = [begin, end]
        if low is not None and high is not None:
            reach += [begin + low, begin + high]
            axes.plot(reach[2:], [row, row], color=INK, linewidth=0.9)
        label = f"{value:.{places}f}" if is_total else f"{value:+.{places}f}"
        axes.annotate(
            label.replace("-", "−"), (max(reach), row), xytext=(3, 0), textcoords="offset points",
            va="center", color=INK, fontsize=SMALL_PT,
        )  # fmt: skip
        ends += reach
        at = end
    return ends


def histogram(canvas: Canvas, figure: Figure) -> list[Axes]:
    """Counts in bins that all series share, a panel a series, with the median as a line."""
    values = [[value for value, _, _ in points_of(series, figure) if value is not None] for series in figure.series]
    edges = _edges([value for own in values for value in own], percent=figure.percent)
    grid = canvas.subplots(max(1, len(values)), 1, sharex=True, sharey=True, squeeze=False)
    every = [row[0] for row in grid]
    for axes, series, own in zip(every, figure.series, values, strict=False):
        axes.set_facecolor("none")
        axes.set_ylabel("count", color=INK, fontsize=SMALL_PT)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.grid(axis="y", color=GRID, linewidth=0.6)
        if own:
            axes.hist(own, bins=edges, color=SERIES[0], edgecolor=PAPER, linewidth=0.6)
            middle = statistics.median(own)
            axes.axvline(middle, color=SERIES[1], linewidth=1.4, linestyle=(0, (4, 2)))
            said = f"n {len(own)}, median {middle:.3g}"
        else:
            said = "undefined: no values"
        axes.set_title(f"{series.name} ({said})", loc="left", fontsize=TEXT_PT, color=INK)
    every[-1].set_xlabel(measure_of(figure), color=INK)
    return every


def _edges(values: list[float], *, percent: bool) -> list[float]:
    """The ends of the bins: one a whole number where all are whole and few, else twenty of equal width."""
    if not values:
        return [0.0, 100.0 if percent else 1.0]
    low, high = min(values), max(values)
    if not percent and all(value == int(value) for value in values) and high - low <= 2 * _BINS:
        return [low - 0.5 + k for k in range(int(high - low) + 2)]
    if percent and low >= 0 and high <= 100:
        low, high = 0, 100
    if low == high:
        low, high = low - 0.5, high + 0.5
    return [low + (high - low) * k / _BINS for k in range(_BINS + 1)]
