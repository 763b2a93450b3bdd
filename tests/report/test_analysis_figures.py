"""Figures of analyses: the same bytes, text as text, marks where the numbers say, undefined said."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from onlooker.errors import InputError
from onlooker.protocol.analysis import Figure, FigureKind, Series
from onlooker.report.analysis_figures import draw_figure, write_analysis_figures
from onlooker.report.palette import SERIES
from onlooker.report.plots import MAX_SERIES

SVG = "{http://www.w3.org/2000/svg}"
KINDS: tuple[FigureKind, ...] = ("dots", "bars", "lines", "heatmap", "radar", "boxes")


def figure(kind: FigureKind, **changes: object) -> Figure:
    """Three categories, two series, one value undefined."""
    fields: dict[str, object] = {
        "kind": kind,
        "title": "Accuracy $x$ <b>",
        "categories": () if kind == "boxes" else ("first", "second $y$", "third"),
        "series": (
            Series("m & n", (0.25, None, 0.5), (0.125, None, 0.25), (0.5, None, 0.75)),
            Series("other", (0.5, 0.75, 0.375)),
        ),
        "value_label": "share",
        "percent": kind != "boxes",
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
    assert ("share, %" if kind != "boxes" else "share") in words
    if kind != "boxes":
        assert "second $y$" in words
    assert draw_figure(figure(kind), "pdf", "one")[0].startswith(b"%PDF")


def test_a_readers_own_matplotlibrc_does_not_change_a_figure() -> None:
    import matplotlib as mpl

    before = draw_figure(figure("bars"), "svg", "one")
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": True}):
        assert draw_figure(figure("bars"), "svg", "one") == before


@pytest.mark.parametrize("kind", ["dots", "bars"])
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
    assert [p.name for p in written.paths] == [f"name-{k}.{kind}" for k in (1, 2, 3) for kind in ("svg", "pdf")]
    assert "Accuracy $x$ <b> (2 of 2)" in texts((tmp_path / "name-2.svg").read_bytes())
    assert "m6" in texts((tmp_path / "name-2.svg").read_bytes())
    again = write_analysis_figures(
        [figure("lines", series=many), figure("heatmap", series=many)], tmp_path / "b", "name"
    )
    assert [p.read_bytes() for p in written.paths] == [p.read_bytes() for p in again.paths]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_to_draw_is_no_crash(kind: FigureKind) -> None:
    nothing = replace(figure(kind), series=(Series("m", () if kind == "boxes" else (None, None, None)),))
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
