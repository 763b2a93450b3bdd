"""Figures of analyses: the same bytes, text as text, marks where the numbers say, undefined said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from onlooker.errors import InputError
from onlooker.protocol.analysis import Figure, FigureKind, Series
from onlooker.report.analysis_figures import draw_figure, write_analysis_figures
from onlooker.report.palette import SERIES
from onlooker.report.plots import MAX_SERIES

SVG = "{http://www.w3.org/2000/svg}"
KINDS: tuple[FigureKind, ...] = get_args(FigureKind)
RAW = ("boxes", "histogram")


def figure(kind: FigureKind, **changes: object) -> Figure:
    """Three categories, two series, one value undefined."""
    fields: dict[str, object] = {
        "kind": kind,
        "title": "Accuracy $x$ <b>",
        "categories": () if kind in RAW else ("first", "second $y$", "third"),
        "series": (
            Series("m & n", (0.25, None, 0.5), (0.125, None, 0.25), (0.5, None, 0.75)),
            Series("other", (0.5, 0.75, 0.375)),
        ),
        "value_label": "share",
        "percent": kind not in RAW,
    }
    return Figure(**(fields | changes))  # type: ignore[arg-type]


def texts(drawn: bytes) -> list[str]:
    return [(e.text or "") for e in ET.fromstring(drawn).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_drawn_with_its_words_and_the_same_bytes(kind: FigureKind) -> None:
    drawn, problems = draw_figure(figure(kind), "svg", "one")
    assert draw_figure(figure(kind), "svg", "one") == (drawn, problems)
    assert problems == ()
    words = texts(drawn)
    assert "Accuracy $x$ <b>" in words
    assert any("m & n" in word for word in words)
    assert {"paired-delta": "share, percentage points"}.get(kind, "share" if kind in RAW else "share, %") in words
    if kind not in RAW:
        assert "second $y$" in words
    assert draw_figure(figure(kind), "pdf", "one")[0].startswith(b"%PDF")
    png = draw_figure(figure(kind), "png", "one")[0]
    assert png.startswith(b"\x89PNG")
    assert draw_figure(figure(kind), "png", "one")[0] == png


def test_a_readers_own_matplotlibrc_does_not_change_a_figure() -> None:
    import matplotlib as mpl

    before = draw_figure(figure("bars"), "svg", "one")
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert draw_figure(figure("bars"), "svg", "one") == before


@pytest.mark.parametrize("kind", ["dots", "bars", "paired-delta", "waterfall"])
def test_an_undefined_value_is_said_and_not_drawn_as_zero(kind: FigureKind) -> None:
    assert texts(draw_figure(figure(kind), "svg", "one")[0]).count("undefined") == 1
    whole = figure(kind, series=(Series("m", (0.25, 0.5, 0.75)),))
    assert "undefined" not in texts(draw_figure(whole, "svg", "one")[0])


def test_dots_stand_where_the_numbers_say() -> None:
    drawn = ET.fromstring(draw_figure(figure("dots", series=(Series("m", (0.25, 0.5, 1.0)),)), "svg", "one")[0])
    ticks = {e.text: float(e.attrib["x"]) for e in drawn.iter(f"{SVG}text") if (e.text or "").isdigit()}
    zero, full = ticks["0"], ticks["100"]
    marks = [
        float(e.attrib["x"]) for e in drawn.iter(f"{SVG}use") if f"stroke: {SERIES[0]}" in e.attrib.get("style", "")
    ]
    assert marks[:3] == pytest.approx([zero + share * (full - zero) for share in (0.25, 0.5, 1.0)], abs=0.05)


def test_a_heat_map_shows_its_numbers_and_frames_its_blocks() -> None:
    rows = tuple(
        Series(name, values) for name, values in (("a", (3.0, 0.0, None)), ("b", (1.0, 12.5, 2.25)), ("c", (0, 0, 150)))
    )
    heat = figure("heatmap", series=rows, percent=False, blocks=(("pair", 0, 2), ("one", 2, 3)))
    drawn = draw_figure(heat, "svg", "one")[0]
    words = texts(drawn)
    assert {"3.00", "0.00", "–", "12.50", "2.25", "150.00", "pair", "one"} <= set(words)
    whole = replace(heat, series=tuple(Series(s.name, (1, 2.0, None)) for s in rows))
    assert {"1", "2", "–"} <= set(texts(draw_figure(whole, "svg", "one")[0]))
    dashed = re.findall(r"stroke-dasharray[^;]*;", drawn.decode())
    assert len(dashed) == 2


def test_more_series_than_colours_become_several_figures(tmp_path: Path) -> None:
    many = tuple(Series(f"m{k}", (0.1, 0.2, 0.3)) for k in range(MAX_SERIES + 1))
    written = write_analysis_figures([figure("lines", series=many), figure("heatmap", series=many)], tmp_path, "name")
    assert [p.name for p in written.paths] == [f"name-{k}.{kind}" for k in (1, 2, 3) for kind in ("svg", "pdf", "png")]
    assert "Accuracy $x$ <b> (2 of 2)" in texts((tmp_path / "name-2.svg").read_bytes())
    assert "m6" in texts((tmp_path / "name-2.svg").read_bytes())
    again = write_analysis_figures(
        [figure("lines", series=many), figure("heatmap", series=many)], tmp_path / "b", "name"
    )
    assert [p.read_bytes() for p in written.paths] == [p.read_bytes() for p in again.paths]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw_is_no_crash(kind: FigureKind) -> None:
    nothing = replace(figure(kind), series=(Series("m", () if kind in RAW else (None, None, None)),))
    assert draw_figure(nothing, "svg", "one")[0].startswith(b"<?xml")
    empty = replace(figure(kind), series=(), categories=())
    assert draw_figure(empty, "svg", "one")[0].startswith(b"<?xml")


def test_differences_have_a_zero_line_and_no_end_at_zero() -> None:
    words = texts(draw_figure(figure("dots", series=(Series("m", (-0.1, 0.2, 0.3)),)), "svg", "one")[0])
    assert any(word.startswith("−") for word in words)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be made"):
        write_analysis_figures([figure("bars")], tmp_path / "file" / "x", "name")


def bars_of(drawn: bytes, colour: str) -> list[tuple[float, float]]:
    """Left and right end of every bar of that colour, in SVG units, top to bottom."""
    found = []
    for path in ET.fromstring(drawn).iter(f"{SVG}path"):
        if f"fill: {colour}" in path.attrib.get("style", "") and "clip-path" in path.attrib:
            xs = [float(x) for x in re.findall(r"[ML] ([\d.]+) ", path.attrib["d"])]
            found.append((min(xs), max(xs)))
    return found


def test_a_waterfall_falls_from_where_the_last_bar_ended() -> None:
    fall = figure("waterfall", categories=("all", "a", "b", "left"), series=(Series("m", (1.0, -0.25, -0.5, 0.25)),))
    drawn = draw_figure(fall, "svg", "one")[0]
    (first,), (lost_a, lost_b), (left,) = (bars_of(drawn, c) for c in ("#8b9198", SERIES[1], SERIES[0]))
    zero, full = first
    expected = [zero + share * (full - zero) for share in (0.75, 1, 0.25, 0.75, 0, 0.25)]
    assert [*lost_a, *lost_b, *left] == pytest.approx(expected, abs=0.05)
    assert {"100", "−25", "−50", "25"} <= set(texts(drawn))


def test_after_an_undefined_change_nothing_is_drawn_until_the_end() -> None:
    fall = figure("waterfall", categories=("all", "a", "b", "left"), series=(Series("m", (1.0, None, -0.5, 0.25)),))
    drawn = draw_figure(fall, "svg", "one")[0]
    assert bars_of(drawn, SERIES[1]) == []
    assert {"undefined", "−50"} <= set(texts(drawn))
    assert len(bars_of(drawn, SERIES[0])) == 1


def test_a_difference_is_hollow_where_its_interval_holds_zero_or_is_missing() -> None:
    series = Series("m", (0.2, 0.1, -0.3, 0.2), (0.1, -0.1, -0.4, None), (0.3, 0.2, -0.1, None))
    drawn = draw_figure(figure("paired-delta", categories=tuple("abcd"), series=(series,)), "svg", "one")[0]
    marks = [
        e.attrib["style"] for e in ET.fromstring(drawn).iter(f"{SVG}use") if f"stroke: {SERIES[0]}" in e.attrib["style"]
    ]
    assert ["fill: #ffffff" in style for style in marks[:4]] == [False, True, False, True]
    assert any("hollow" in word for word in texts(drawn))


def test_a_histogram_counts_whole_numbers_in_bins_of_their_own() -> None:
    series = (Series("m", (1, 2, 2, 4, None)), Series("none", (None,)))
    drawn = draw_figure(figure("histogram", categories=(), series=series), "svg", "one")[0]
    heights = [
        max(ys) - min(ys)
        for path in ET.fromstring(drawn).iter(f"{SVG}path")
        if f"fill: {SERIES[0]}" in path.attrib.get("style", "")
        and (ys := [float(y) for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", path.attrib["d"])])
    ]
    assert [h / heights[0] for h in heights] == pytest.approx([1, 2, 0, 1])
    assert {"m (n 4, median 2)", "none (undefined: no values)"} <= set(texts(drawn))


def test_a_heat_map_shows_intervals_below_its_numbers() -> None:
    words = texts(draw_figure(figure("heatmap"), "svg", "one")[0])
    assert {"25.0", "[12.5, 50.0]", "[25.0, 75.0]", "–"} <= set(words)
    assert sum(word.startswith("[") for word in words) == 2


def test_a_png_has_200_dots_an_inch_on_white_paper() -> None:
    import io

    from PIL import Image

    with Image.open(io.BytesIO(draw_figure(figure("bars"), "png", "one")[0])) as image:
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
        assert image.width == 680
        assert image.convert("RGBA").getpixel((679, 0)) == (255, 255, 255, 255)
        assert set(image.info) == {"dpi"}
