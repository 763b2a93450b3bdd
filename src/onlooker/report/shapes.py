"""How figures of analyses are drawn into one pair of axes: dots, bars, differences, lines, heat maps, radars, boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.protocol.analysis import Figure, Series
from onlooker.report.palette import GRID, INK, MARKERS, MUTED, PAPER, SERIES
from onlooker.report.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.projections.polar import PolarAxes

TEXT_PT = 8  # legible at the size of a column of print
SMALL_PT = 6.5


def draw_rows(axes: Axes, figure: Figure) -> None:
    """Dots or bars in rows, categories top to bottom, an offset a series."""
    count = len(figure.series)
    step = 0.72 / max(1, count)
    for place, series in enumerate(figure.series):
        colour = SERIES[place]
        named = False
        for row, (value, low, high) in enumerate(points_of(series, figure)):
            y = row + (place - (count - 1) / 2) * step
            if value is None:
                _say_undefined(axes, y, colour)
                continue
            label = None if named else series.name
            named = True
            if figure.kind == "bars":
                axes.barh(y, value, height=step * 0.85, color=colour, label=label)
            else:
                axes.plot([value], [y], MARKERS[place], color=colour, markersize=4.5, label=label, zorder=3)
            if low is not None and high is not None:
                ink = INK if figure.kind == "bars" else colour
                axes.plot([low, high], [y, y], color=ink, linewidth=1.4 if figure.kind == "dots" else 0.9)
    if figure.chance is not None:
        axes.axvline(
            figure.chance * factor_of(figure), color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance"
        )
    axes.set_ylim(len(figure.categories) - 0.5, -0.5)
    axes.set_yticks(range(len(figure.categories)), list(figure.categories))
    axes.set_xlabel(measure_of(figure), color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    if any(v is not None and v < 0 for s in figure.series for v in (*s.values, *s.low)):
        axes.axvline(0, color=MUTED, linewidth=0.8)
    elif figure.percent:
        axes.set_xlim(0, 100)


def draw_deltas(axes: Axes, figure: Figure) -> None:
    """Differences in rows around a line at zero: filled where the interval leaves zero out, else hollow."""
    count = len(figure.series)
    step = 0.72 / max(1, count)
    ends = [0.0]
    for place, series in enumerate(figure.series):
        colour, marker = SERIES[place], MARKERS[place]
        axes.plot([], [], marker, color=colour, markersize=4.5, label=series.name)
        for row, (value, low, high) in enumerate(points_of(series, figure)):
            y = row + (place - (count - 1) / 2) * step
            if value is None:
                _say_undefined(axes, y, colour)
                continue
            ends.append(value)
            clear = False
            if low is not None and high is not None:
                clear = low > 0 or high < 0
                ends += [low, high]
                axes.plot([low, high], [y, y], color=colour, linewidth=1.4)
            axes.plot([value], [y], marker, color=colour, markerfacecolor=colour if clear else PAPER, markersize=4.5)
    axes.axvline(0, color=INK, linewidth=0.9, zorder=1)
    for row in range(1, len(figure.categories)):
        axes.axhline(row - 0.5, color=GRID, linewidth=0.4)
    room = 0.08 * (max(ends) - min(ends)) or 1
    axes.set_xlim(min(ends) - room, max(ends) + room)
    axes.set_ylim(len(figure.categories) - 0.5, -0.5)
    axes.set_yticks(range(len(figure.categories)), list(figure.categories))
    unit = ", percentage points" if figure.percent else ""
    axes.set_xlabel(f"{printable(figure.value_label)}{unit}\nhollow: interval holds 0, or there is none", color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)


def _say_undefined(axes: Axes, y: float, colour: str) -> None:
    axes.annotate(
        "undefined", (0, y), xytext=(4, 0), textcoords="offset points",
        va="center", color=colour, fontsize=SMALL_PT, style="italic",
    )  # fmt: skip


def draw_lines(axes: Axes, figure: Figure) -> None:
    for place, series in enumerate(figure.series):
        colour = SERIES[place]
        points = points_of(series, figure)
        ys = [float("nan") if value is None else value for value, _, _ in points]
        axes.plot(range(len(ys)), ys, marker=MARKERS[place], color=colour, markersize=4.5, label=series.name)
        shift = (place - (len(figure.series) - 1) / 2) * 0.05
        for x, (_, low, high) in enumerate(points):
            if low is not None and high is not None:
                axes.plot([x + shift] * 2, [low, high], color=colour, linewidth=0.9, alpha=0.7)
    if figure.chance is not None:
        axes.axhline(
            figure.chance * factor_of(figure), color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance"
        )
    axes.set_xticks(range(len(figure.categories)), list(figure.categories))
    axes.set_ylabel(measure_of(figure), color=INK)
    axes.grid(axis="y", color=GRID, linewidth=0.6)


def draw_heatmap(axes: Axes, figure: Figure) -> None:
    """A row a series, the number in each cell, its interval below where there is one.

    Blocks frame the diagonal of a square map, else whole columns.
    """
    from matplotlib.colors import LinearSegmentedColormap, Normalize  # noqa: PLC0415 - an extra
    from matplotlib.patches import Rectangle  # noqa: PLC0415

    grid = [points_of(series, figure) for series in figure.series]
    known = [abs(value) for row in grid for value, _, _ in row if value is not None]
    places = 0 if all(value == int(value) for value in known) else 1 if figure.percent else 2
    signed = any(value is not None and value < 0 for row in grid for value, _, _ in row)
    top = max(known, default=1) or 1
    colours = LinearSegmentedColormap.from_list("house", [*([SERIES[1]] if signed else []), PAPER, SERIES[0]])
    norm = Normalize(-top if signed else 0, top)
    for y, row in enumerate(grid):
        for x, (value, low, high) in enumerate(row):
            shade = GRID if value is None else colours(norm(value))
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=shade, edgecolor=PAPER, linewidth=0.6))
            text = "–" if value is None else f"{value:.{places}f}".replace("-", "−")
            size = TEXT_PT if len(figure.categories) <= 10 else SMALL_PT - 0.5
            ink = INK if value is None else _readable_on(colours(norm(value)))
            both = low is not None and high is not None
            axes.text(x, y - 0.16 if both else y, text, ha="center", va="center", color=ink, fontsize=size)
            if both:
                ends = f"[{low:.{places}f}, {high:.{places}f}]".replace("-", "−")
                axes.text(x, y + 0.22, ends, ha="center", va="center", color=ink, fontsize=size - 2)
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
            ha="center", va="bottom", color=SERIES[1], fontsize=SMALL_PT, annotation_clip=False,
        )  # fmt: skip
    axes.set_xlim(-0.5, len(figure.categories) - 0.5)
    axes.set_ylim(len(figure.series) - 0.5, -0.5)
    slanted = sum(len(c) for c in figure.categories) > 60
    axes.set_xticks(range(len(figure.categories)), list(figure.categories))
    axes.tick_params(axis="x", labelrotation=90 if slanted else 0)
    axes.set_yticks(range(len(figure.series)), [s.name for s in figure.series])
    axes.set_xlabel(measure_of(figure), color=INK)


def _readable_on(colour: tuple[float, float, float, float]) -> str:
    """Ink or paper, whichever stands out more (WCAG 2.2, relative luminance)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # Paper has luminance 1, ink 0.015.
    return PAPER if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.065 else INK


def draw_radar(axes: PolarAxes, figure: Figure) -> None:
    count = len(figure.categories)
    angles = [2 * 3.141592653589793 * k / max(1, count) for k in range(count)]
    for place, series in enumerate(figure.series):
        ys = [float("nan") if value is None else value for value, _, _ in points_of(series, figure)]
        axes.plot(
            [*angles, *angles[:1]], [*ys, *ys[:1]],
            marker=MARKERS[place], color=SERIES[place], markersize=4, linewidth=1.3, label=series.name,
        )  # fmt: skip
    if figure.chance is not None:
        ring = [figure.chance * factor_of(figure)] * 100
        around = [2 * 3.141592653589793 * k / 99 for k in range(100)]
        axes.plot(around, ring, color=MUTED, linestyle=(0, (4, 2.5)), linewidth=1, label="chance")
    axes.set_xticks(angles, list(figure.categories))
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_rlabel_position(180 / max(1, count))  # between two spokes
    axes.set_ylim(0, 100 if figure.percent else None)
    axes.set_xlabel(measure_of(figure), color=INK, labelpad=14)
    axes.grid(color=GRID, linewidth=0.6)


def draw_boxes(axes: Axes, figure: Figure) -> None:
    """Tukey's boxes, a row a series: quartiles, whiskers to the last value within 1.5 box lengths, the rest as dots."""
    values = [[value for value, _, _ in points_of(series, figure) if value is not None] for series in figure.series]
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
    axes.set_xlabel(measure_of(figure), color=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)


def points_of(series: Series, figure: Figure) -> list[tuple[float | None, float | None, float | None]]:
    """Value, low and high of each place, as per cent where the figure says so."""
    factor = factor_of(figure)
    lows = series.low or (None,) * len(series.values)
    highs = series.high or (None,) * len(series.values)
    return [
        (None if v is None else v * factor, None if a is None else a * factor, None if b is None else b * factor)
        for v, a, b in zip(series.values, lows, highs, strict=True)
    ]


def factor_of(figure: Figure) -> float:
    return 100 if figure.percent else 1


def measure_of(figure: Figure) -> str:
    return f"{printable(figure.value_label)}, %" if figure.percent else printable(figure.value_label)
