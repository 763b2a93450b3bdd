"""Draws the figures that analyses specify: dots, bars, lines, heat maps, radars and boxes, as SVG and PDF."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.protocol.analysis import Figure, Series
from onlooker.report.drawing import FONT_PT, FORMATS, NAME_CHARS, rendered
from onlooker.report.figures import WrittenFigures, make_folder
from onlooker.report.palette import GRID, INK, MARKERS, MUTED, PAPER, SERIES
from onlooker.report.plots import MAX_SERIES
from onlooker.report.wording import printable, shorten_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

_WIDE_IN = 6.9  # across a page
_ROW_IN = 0.3
_ONE_COLOUR = ("heatmap", "boxes")  # these tell their series apart by place


def write_analysis_figures(figures: Sequence[Figure], folder: Path, name: str) -> WrittenFigures:
    """Write ``NAME-k.svg`` and ``NAME-k.pdf`` for every figure, k from 1.

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
    """The figure as ``svg`` (text as text) or ``pdf`` (fonts inside), and the glyphs that no installed font has.

    ``salt`` makes the ids inside an SVG. Undefined values are said to be so, or left as a gap in a line. Raises
    ``MissingExtra`` without matplotlib.
    """
    return rendered(lambda: _canvas(_named(figure)), file_format, salt)


def _named(figure: Figure) -> Figure:
    """The figure with names short enough to stand beside it, and still different where they were."""
    names = shorten_apart([series.name for series in figure.series], NAME_CHARS)
    return dataclasses.replace(
        figure,
        categories=shorten_apart(figure.categories, NAME_CHARS),
        series=tuple(dataclasses.replace(s, name=name) for s, name in zip(figure.series, names, strict=True)),
        blocks=tuple((shorten_apart([name], NAME_CHARS)[0], first, after) for name, first, after in figure.blocks),
    )


def _parts(figure: Figure) -> list[Figure]:
    if figure.kind in _ONE_COLOUR or len(figure.series) <= MAX_SERIES:
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

    canvas = Canvas(figsize=(_WIDE_IN, _height_in(figure)), facecolor="none", layout="constrained")
    radar = figure.kind == "radar"
    axes = canvas.add_subplot(projection="polar" if radar else None, facecolor="none")
    canvas.suptitle(printable(figure.title), x=0.01, ha="left", color=INK, fontsize=FONT_PT + 1, fontweight="bold")
    {
        "dots": _rows,
        "bars": _rows,
        "lines": _lines,
        "heatmap": _heatmap,
        "radar": _radar,
        "boxes": _boxes,
    }[figure.kind](axes, figure)
    _calm(axes)
    handles, labels = axes.get_legend_handles_labels()
    if labels and figure.kind not in _ONE_COLOUR:
        canvas.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=max(1, min(3, int(_WIDE_IN / (0.6 + 0.075 * max(map(len, labels)))))),
            frameon=False,
            labelcolor=INK,
        )
    return canvas


def _height_in(figure: Figure) -> float:
    columns, rows = max(1, len(figure.categories)), max(1, len(figure.series))
    if figure.kind in {"dots", "bars"}:
        return 1.5 + columns * max(_ROW_IN, 0.1 + 0.15 * rows)
    if figure.kind == "heatmap":
        return 1.7 + 0.34 * rows
    return {"lines": 3.9, "radar": 5.6, "boxes": 1.2 + 0.42 * rows}[figure.kind]


def _rows(axes: Axes, figure: Figure) -> None:
    """Dots or bars in rows, categories top to bottom, an offset a series."""
    count = len(figure.series)
    step = 0.72 / max(1, count)
    for place, series in enumerate(figure.series):
        colour = SERIES[place]
        named = False
        for row, (value, low, high) in enumerate(_points(series, figure)):
            y = row + (place - (count - 1) / 2) * step
            if value is None:
                axes.annotate(
                    "undefined", (0, y), xytext=(4, 0), textcoords="offset points",
                    va="center", color=colour, fontsize=FONT_PT - 2.5, style="italic",
                )  # fmt: skip
                continue
            label = None if named else series.name
            named = True
            if figure.kind == "bars":
                axes.barh(y, value, height=step * 0.85, color=colour, label=label)
            else:
                axes.plot([value], [y], MARKERS[place], color=colour, markersize=5, label=label, zorder=3)
            if low is not None and high is not None:
                ink = INK if figure.kind == "bars" else colour
                axes.plot([low, high], [y, y], color=ink, linewidth=1.4 if figure.kind == "dots" else 0.9)
    if figure.chance is not None:
        axes.axvline(figure.chance * _factor(figure), color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance")
    axes.set_ylim(len(figure.categories) - 0.5, -0.5)
    axes.set_yticks(range(len(figure.categories)), list(figure.categories))
    axes.set_xlabel(_measure(figure), color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    if any(v is not None and v < 0 for s in figure.series for v in (*s.values, *s.low)):
        axes.axvline(0, color=MUTED, linewidth=0.8)
    elif figure.percent:
        axes.set_xlim(0, 100)


def _lines(axes: Axes, figure: Figure) -> None:
    for place, series in enumerate(figure.series):
        colour = SERIES[place]
        points = _points(series, figure)
        ys = [float("nan") if value is None else value for value, _, _ in points]
        axes.plot(range(len(ys)), ys, marker=MARKERS[place], color=colour, markersize=5, label=series.name)
        shift = (place - (len(figure.series) - 1) / 2) * 0.05
        for x, (_, low, high) in enumerate(points):
            if low is not None and high is not None:
                axes.plot([x + shift] * 2, [low, high], color=colour, linewidth=0.9, alpha=0.7)
    if figure.chance is not None:
        axes.axhline(figure.chance * _factor(figure), color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance")
    axes.set_xticks(range(len(figure.categories)), list(figure.categories))
    axes.set_ylabel(_measure(figure), color=INK)
    axes.grid(axis="y", color=GRID, linewidth=0.6)


def _heatmap(axes: Axes, figure: Figure) -> None:
    """A row a series, the number in each cell; blocks frame the diagonal of a square map, else whole columns."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: PLC0415 - an extra
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    grid = [[value for value, _, _ in _points(series, figure)] for series in figure.series]
    known = [abs(value) for row in grid for value in row if value is not None]
    places = 0 if all(value == int(value) for value in known) else 1 if figure.percent else 2
    signed = any(value is not None and value < 0 for row in grid for value in row)
    top = max(known, default=1) or 1
    colours = LinearSegmentedColormap.from_list("house", [*([SERIES[1]] if signed else []), PAPER, SERIES[0]])
    norm = Normalize(-top if signed else 0, top)
    for y, row in enumerate(grid):
        for x, value in enumerate(row):
            shade = GRID if value is None else colours(norm(value))
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, edgecolor=PAPER, linewidth=0.6))
            dark = value is not None and abs(value) > 0.6 * top
            text = "–" if value is None else f"{value:.{places}f}"
            size = FONT_PT - (2 if len(figure.categories) <= 10 else 3.5)
            axes.text(x, y, text, ha="center", va="center", color=PAPER if dark else INK, fontsize=size)
    square = len(figure.series) == len(figure.categories)
    for name, first, after in figure.blocks:
        start, size = (first, after - first) if square else (0, len(figure.series))
        axes.add_patch(
            Rectangle(
                (first - 0.5, start - 0.5), after - first, size,
                fill=False, edgecolor=SERIES[1], linewidth=1.4, linestyle=(0, (4, 2)), zorder=4,
            )
        )  # fmt: skip
        axes.annotate(
            name, ((first + after - 1) / 2, -0.5), xytext=(0, 3), textcoords="offset points",
            ha="center", va="bottom", color=SERIES[1], fontsize=FONT_PT - 2.5, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlim(-0.5, len(figure.categories) - 0.5)
    axes.set_ylim(len(figure.series) - 0.5, -0.5)
    slanted = sum(len(c) for c in figure.categories) > 60
    axes.set_xticks(range(len(figure.categories)), list(figure.categories))
    axes.tick_params(axis="x", labelrotation=90 if slanted else 0)
    axes.set_yticks(range(len(figure.series)), [s.name for s in figure.series])
    axes.set_xlabel(_measure(figure), color=INK)


def _radar(axes: Axes, figure: Figure) -> None:
    count = len(figure.categories)
    angles = [2 * 3.141592653589793 * k / max(1, count) for k in range(count)]
    for place, series in enumerate(figure.series):
        ys = [float("nan") if value is None else value for value, _, _ in _points(series, figure)]
        axes.plot(
            [*angles, *angles[:1]], [*ys, *ys[:1]],
            marker=MARKERS[place], color=SERIES[place], markersize=4, linewidth=1.3, label=series.name,
        )  # fmt: skip
    if figure.chance is not None:
        ring = [figure.chance * _factor(figure)] * 100
        around = [2 * 3.141592653589793 * k / 99 for k in range(100)]
        axes.plot(around, ring, color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance")
    axes.set_xticks(angles, list(figure.categories))
    axes.set_ylim(0, 100 if figure.percent else None)
    axes.set_xlabel(_measure(figure), color=INK, labelpad=14)
    axes.grid(color=GRID, linewidth=0.6)


def _boxes(axes: Axes, figure: Figure) -> None:
    """Tukey's boxes, a row a series: quartiles, whiskers to the last value within 1.5 box lengths, the rest as dots."""
    values = [[value for value, _, _ in _points(series, figure) if value is not None] for series in figure.series]
    axes.boxplot(
        values,
        orientation="horizontal",
        widths=0.55,
        boxprops={"color": SERIES[0]},
        medianprops={"color": SERIES[1], "linewidth": 1.6},
        whiskerprops={"color": MUTED},
        capprops={"color": MUTED},
        flierprops={"marker": ".", "markersize": 3, "markeredgecolor": MUTED},
    )
    rows = range(1, len(values) + 1)
    names = [f"{s.name} (n {len(v)})" for s, v in zip(figure.series, values, strict=True)]
    axes.set_yticks(rows, names)
    axes.invert_yaxis()
    axes.set_xlabel(_measure(figure), color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)


def _calm(axes: Axes) -> None:
    axes.set_axisbelow(True)
    axes.tick_params(axis="x", colors=MUTED, length=3, width=0.6, labelcolor=INK)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"bottom", "polar"})
        spine.set_color(MUTED)
        spine.set_linewidth(0.6)


def _points(series: Series, figure: Figure) -> list[tuple[float | None, float | None, float | None]]:
    """Value, low and high of each place, as per cent where the figure says so."""
    factor = _factor(figure)
    lows = series.low or (None,) * len(series.values)
    highs = series.high or (None,) * len(series.values)
    return [
        (None if v is None else v * factor, None if a is None else a * factor, None if b is None else b * factor)
        for v, a, b in zip(series.values, lows, highs, strict=True)
    ]


def _factor(figure: Figure) -> float:
    return 100 if figure.percent else 1


def _measure(figure: Figure) -> str:
    return f"{printable(figure.value_label)}, %" if figure.percent else printable(figure.value_label)
