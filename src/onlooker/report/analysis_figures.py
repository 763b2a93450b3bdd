"""Draws the figures that analyses specify, as SVG, PDF and PNG."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.protocol.analysis import Figure, FigureKind
from onlooker.report.drawing import FORMATS, rendered
from onlooker.report.figures import WrittenFigures, make_folder
from onlooker.report.palette import INK, MUTED
from onlooker.report.panels import PANELS_A_ROW, histogram, waterfall
from onlooker.report.plots import MAX_SERIES
from onlooker.report.shapes import (
    SMALL_PT,
    TEXT_PT,
    draw_boxes,
    draw_deltas,
    draw_heatmap,
    draw_lines,
    draw_radar,
    draw_rows,
)
from onlooker.report.wording import printable, shorten_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_COLUMN_IN, _WIDE_IN = 3.4, 6.9  # a column of print; across a page
_CHAR_IN = 0.072  # mean advance of the drawing font
_ROW_IN = 0.25
_NAME_CHARS = 34
_UNCOLOURED = ("heatmap", "boxes", "histogram", "waterfall")  # these tell their series apart by place


def write_analysis_figures(figures: Sequence[Figure], folder: Path, name: str) -> WrittenFigures:
    """Write ``NAME-k.svg``, ``NAME-k.pdf`` and ``NAME-k.png`` for every figure, k from 1.

    A figure of more series than colours can be told apart becomes several. The same figures give the same bytes. Raises
    ``MissingExtra`` without matplotlib, ``InputError`` where the folder cannot be made.
    """
    make_folder(folder)
    paths: list[Path] = []
    problems: list[str] = []
    for k, figure in enumerate([part for whole in figures for part in _parts(whole)], start=1):
        for file_format in FORMATS:
            drawn, missing = draw_figure(figure, file_format, f"{name}-{k}")
            path = folder / f"{name}-{k}.{file_format}"
            path.write_bytes(drawn)
            paths.append(path)
            problems += [f"{path.name}: {problem}" for problem in missing]
    return WrittenFigures(tuple(paths), tuple(problems))


def draw_figure(figure: Figure, file_format: str, salt: str) -> tuple[bytes, tuple[str, ...]]:
    """The figure as ``svg`` (text as text), ``pdf`` (fonts inside) or ``png``, and the glyphs that no font here has.

    ``salt`` makes the ids inside an SVG. Undefined values are said to be so, or left as a gap in a line. Raises
    ``MissingExtra`` without matplotlib.
    """
    return rendered(lambda: _canvas(_named(figure)), file_format, salt, TEXT_PT)


def _named(figure: Figure) -> Figure:
    """The figure with names short enough to stand beside it, and still different where they were."""
    names = shorten_apart([series.name for series in figure.series], _NAME_CHARS)
    return dataclasses.replace(
        figure,
        categories=shorten_apart(figure.categories, _NAME_CHARS),
        series=tuple(dataclasses.replace(s, name=name) for s, name in zip(figure.series, names, strict=True)),
        blocks=tuple((shorten_apart([name], _NAME_CHARS)[0], first, after) for name, first, after in figure.blocks),
    )


def _parts(figure: Figure) -> list[Figure]:
    if figure.kind in _UNCOLOURED or len(figure.series) <= MAX_SERIES:
        return [figure]
    count = -(-len(figure.series) // MAX_SERIES)
    return [
        dataclasses.replace(
            figure,
            title=f"{figure.title} ({k + 1} of {count})",
            series=figure.series[k * MAX_SERIES : (k + 1) * MAX_SERIES],
        )
        for k in range(count)
    ]


def _canvas(figure: Figure) -> Canvas:
    from matplotlib.figure import Figure as Canvas  # noqa: PLC0415 - an extra

    width = _width_in(figure)
    title = textwrap.wrap(printable(figure.title), int(width / _CHAR_IN)) or [""]
    height = _height_in(figure, width) + 0.16 * (len(title) - 1)
    canvas = Canvas(figsize=(width, height), facecolor="none", layout="constrained")
    canvas.suptitle("\n".join(title), x=0.01, ha="left", color=INK, fontsize=TEXT_PT + 0.5, fontweight="bold")
    if figure.kind == "waterfall":
        every = waterfall(canvas, figure, _panel_columns(figure))
    elif figure.kind == "histogram":
        every = histogram(canvas, figure)
    else:
        projection = "polar" if figure.kind == "radar" else None
        every = [canvas.add_subplot(projection=projection, facecolor="none")]
        _SHAPES[figure.kind](every[0], figure)
    for axes in every:
        _calm(axes)
    handles, labels = every[0].get_legend_handles_labels()
    if labels and figure.kind not in _UNCOLOURED:
        canvas.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=max(1, min(3, int(width / (0.5 + _CHAR_IN * max(map(len, labels)))))),
            frameon=False,
            labelcolor=INK,
            columnspacing=1.2,
            handlelength=1.6,
        )
    return canvas


_SHAPES: Mapping[FigureKind, Callable[[Any, Figure], None]] = {
    "dots": draw_rows,
    "bars": draw_rows,
    "paired-delta": draw_deltas,
    "lines": draw_lines,
    "heatmap": draw_heatmap,
    "radar": draw_radar,
    "boxes": draw_boxes,
}


def _width_in(figure: Figure) -> float:
    """A column of print where the words beside and below the figure leave it room, else a page."""
    longest = max(map(len, figure.categories), default=0)
    names = max((len(series.name) for series in figure.series), default=0)
    columns = len(figure.categories)
    fits = {
        "dots": longest <= 20,
        "bars": longest <= 20,
        "paired-delta": longest <= 20,
        "lines": sum(map(len, figure.categories)) + 2 * columns <= 42,
        "radar": longest <= 8,
        "boxes": names <= 16,
        "histogram": True,
        "waterfall": len(figure.series) <= 1 and longest <= 20,
        "heatmap": names <= 14 and columns * _cell_chars(figure) <= 32,
    }[figure.kind]
    return _COLUMN_IN if fits else _WIDE_IN


def _cell_chars(figure: Figure) -> int:
    """The width of a heat map's cell in letters of its text."""
    return 8 if any(series.low for series in figure.series) else 5


def _height_in(figure: Figure, width: float) -> float:
    columns, rows = max(1, len(figure.categories)), max(1, len(figure.series))
    in_column = width == _COLUMN_IN
    by_row = 1.0 + 0.16 * rows + columns * max(_ROW_IN, 0.08 + 0.13 * rows)
    return {
        "dots": by_row,
        "bars": by_row,
        "paired-delta": by_row,
        "heatmap": 1.2 + (0.42 if any(series.low for series in figure.series) else 0.3) * rows,
        "lines": 2.3 + 0.16 * rows if in_column else 3.6,
        "radar": 3.3 + 0.16 * rows if in_column else 5.4,
        "boxes": 0.9 + 0.36 * rows,
        "histogram": 0.8 + 1.05 * rows,
        "waterfall": 0.7 + -(-rows // _panel_columns(figure)) * (0.5 + 0.22 * columns),
    }[figure.kind]


def _panel_columns(figure: Figure) -> int:
    count = max(1, len(figure.series))
    rows = -(-count // PANELS_A_ROW)
    return -(-count // rows)


def _calm(axes: Axes) -> None:
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", colors=MUTED, length=3, width=0.6, labelcolor=INK)
    radar = axes.name == "polar"
    axes.tick_params(axis="y", length=0, labelcolor=MUTED if radar else INK, labelsize=SMALL_PT if radar else TEXT_PT)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"bottom", "polar"})
        spine.set_color(MUTED)
        spine.set_linewidth(0.6)
