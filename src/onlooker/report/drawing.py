"""A plot as a matplotlib figure, the same bytes for the same plot."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from onlooker.errors import MissingExtra
from onlooker.report.palette import GRID, INK, MARKERS, MUTED, PAPER, SERIES
from onlooker.report.plots import LINES, Dots, Plot
from onlooker.report.results import Number
from onlooker.report.wording import printable, shorten_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NARROW_IN, _WIDE_IN = 5.2, 6.9  # beside a table; across a page
_AXES_IN = 2.6  # the legend goes below where the axes would be narrower
_COUNT_IN = 0.72  # the column of n at the right
FONT_PT = 9.5
_CHAR_IN = 0.082  # mean advance of the drawing font at that size
_LABEL_CHARS = 26
NAME_CHARS = 44
_LINE_STYLES = {"dashed": (0, (4, 2.5)), "dotted": (0, (1, 1.6))}
_DOT_STEP_IN = 0.15
FORMATS = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Producer": None},
    "png": {"Software": None},
}
_PNG_DPI = 200


def draw(plot: Plot, file_format: str) -> tuple[bytes, tuple[str, ...]]:
    """The plot as ``svg`` (text as text) or ``pdf`` (fonts inside), and what the drawing could not do.

    The second part names glyphs that no installed font has: a PDF shows boxes for them, an SVG leaves them to the
    reader's fonts. Raises ``MissingExtra`` without matplotlib.
    """
    return rendered(lambda: _figure(plot), file_format, plot.id)


def rendered(
    make: Callable[[], Figure], file_format: str, salt: str, font_pt: float = FONT_PT
) -> tuple[bytes, tuple[str, ...]]:
    """The bytes of the figure that ``make`` draws, the same for the same ``salt``, and the glyphs that no font has.

    ``svg``, ``pdf``, or ``png`` at 200 dots an inch on white paper (the others are clear behind).
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow to import
    except ImportError as error:
        raise MissingExtra("report", "drawing figures") from error
    with mpl.rc_context(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mpl.rcdefaults()  # a reader's matplotlibrc must not change the bytes
        mpl.rcParams.update(
            {
                "svg.hashsalt": salt,
                "svg.fonttype": "none",
                "pdf.fonttype": 42,
                "font.size": font_pt,
                "text.parse_math": False,  # a dollar sign in a label is a dollar sign
            }
        )
        out = io.BytesIO()
        figure = make()
        if file_format == "png":
            figure.set_facecolor(PAPER)
        figure.savefig(out, format=file_format, metadata=FORMATS[file_format], dpi=_PNG_DPI)
    problems = dict.fromkeys(str(w.message).split(" from font")[0] for w in caught if "Glyph" in str(w.message))
    return out.getvalue(), tuple(problems)


def _figure(plot: Plot) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    labels = list(shorten_apart(plot.rows, _LABEL_CHARS))
    names = [*shorten_apart([d.name for d in plot.dots], NAME_CHARS), *plot.baselines]
    legend_in = 0.45 + 0.9 * _CHAR_IN * max(map(len, names))  # one column of the legend
    width = _WIDE_IN if plot.is_wide else _NARROW_IN
    left = 0.25 + _CHAR_IN * max(len(label) for label in labels)
    is_beside = plot.is_wide and width - left - _COUNT_IN - legend_in >= _AXES_IN
    right = _COUNT_IN + (legend_in if is_beside else 0)
    columns = 1 if is_beside else max(1, min(len(names), int(width / legend_in)))
    top, bottom = 0.12, 0.52
    if not is_beside:
        bottom += 0.2 * -(-len(names) // columns) + 0.12
    row_in = max(0.34, 0.16 + _DOT_STEP_IN * len(plot.dots))
    height = max(top + row_in * len(labels) + bottom, 0.2 * len(names) + 0.3 if is_beside else 0)
    figure = Figure(figsize=(width, height), facecolor="none")
    axes = figure.add_axes(
        (left / width, bottom / height, (width - left - right) / width, 1 - (top + bottom) / height),
        facecolor="none",
    )
    _frame(axes, plot, labels)
    for place, dots in enumerate(plot.dots):
        offset = (place - (len(plot.dots) - 1) / 2) * _DOT_STEP_IN / row_in
        _dots(axes, plot, dots, place, offset)
    for name, numbers in plot.baselines.items():
        _baseline(axes, plot, name, numbers)
    handles, _ = axes.get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        loc="upper right" if is_beside else "lower center",
        ncols=columns,
        frameon=False,
        labelcolor=INK,
        borderpad=0.2,
        handlelength=1.6,
        columnspacing=1.4,
    )
    return figure


def _frame(axes: Axes, plot: Plot, labels: list[str]) -> None:
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_xlim(0, _right_end(plot))
    axes.set_xlabel(f"{printable(plot.measure)}, %" if plot.scale == "percent" else printable(plot.measure), color=INK)
    axes.tick_params(axis="x", colors=MUTED, length=3, width=0.6)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.grid(axis="x", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(MUTED)
        spine.set_linewidth(0.6)
    for y, row in enumerate(plot.rows):
        counts = sorted({d.numbers[row].n for d in plot.dots if row in d.numbers})
        text = "–".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1]))) if counts else "0"
        axes.annotate(
            f"n {text}",
            (1, y),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=MUTED,
            fontsize=FONT_PT - 1.5,
        )
        if y:
            axes.axhline(y - 0.5, color=GRID, linewidth=0.4)


def _dots(axes: Axes, plot: Plot, dots: Dots, place: int, offset: float) -> None:
    factor = _factor(plot)
    colour = SERIES[place]
    axes.plot(  # the legend's entry, outside the axes
        [-1000],
        [0],
        linestyle="none",
        marker=MARKERS[place],
        color=colour,
        markerfacecolor=PAPER if len(dots.hollow) == len(plot.rows) else colour,
        markersize=5,
        label=dots.name,
        clip_on=True,
    )
    for y, row in enumerate(plot.rows):
        number = dots.numbers.get(row)
        if number is None:
            continue
        if number.value is None:
            if not _is_void(plot, row):
                _say_undefined(axes, y + offset, colour)
            elif place == 0:
                _say_undefined(axes, y, MUTED)
            continue
        if number.low is not None and number.high is not None:
            ends = [number.low * factor, number.high * factor]
            axes.plot(ends, [y + offset] * 2, color=colour, linewidth=1.4, solid_capstyle="round", clip_on=False)
        axes.plot(
            [number.value * factor],
            [y + offset],
            marker=MARKERS[place],
            color=colour,
            markerfacecolor=PAPER if row in dots.hollow else colour,
            markersize=5,
            clip_on=False,
            zorder=3,
        )


def _is_void(plot: Plot, row: str) -> bool:
    return all(d.numbers[row].value is None for d in plot.dots if row in d.numbers)


def _say_undefined(axes: Axes, y: float, colour: str) -> None:
    axes.annotate(
        "undefined",
        (0, y),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=colour,
        fontsize=FONT_PT - 2,
        style="italic",
    )


def _baseline(axes: Axes, plot: Plot, name: str, numbers: Mapping[str, Number]) -> None:
    style = _LINE_STYLES.get(LINES.get(name, ""), (0, (6, 1.5, 1, 1.5)))
    points = [
        (number.value * _factor(plot), y)
        for y, row in enumerate(plot.rows)
        if (number := numbers.get(row)) is not None and number.value is not None
    ]
    axes.plot([-1000], [0], color=MUTED, linewidth=1.2, linestyle=style, label=name)
    for x, y in points:
        axes.plot([x, x], [y - 0.5, y + 0.5], color=MUTED, linewidth=1.2, linestyle=style, zorder=1)


def _right_end(plot: Plot) -> float:
    if plot.scale == "percent":
        return 100
    ends = [n.high if n.high is not None else n.value for d in plot.dots for n in d.numbers.values()]
    return max([e for e in ends if e is not None] + [1]) * 1.05


def _factor(plot: Plot) -> float:
    return 100 if plot.scale == "percent" else 1
