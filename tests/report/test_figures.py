"""Figures: the same bytes, text as text, no colour or id of their own in a page, the right points."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from onlooker.report.content import ReportContent
from onlooker.report.drawing import draw
from onlooker.report.figures import inline_svg, write_figures
from onlooker.report.plots import MAX_SERIES, Dots, Plot, plots_of, series_names
from onlooker.report.results import Coverage, Number, Series, read_results


def plot(**changes: object) -> Plot:
    """Two rows, one of them undefined."""
    fields: dict[str, object] = {
        "id": "p-main",
        "title": "Accuracy",
        "measure": "accuracy",
        "corner": "Condition",
        "scale": "percent",
        "rows": ("origin", "text $only$ <b>"),
        "dots": (Dots("m & n", frozenset(), {"origin": Number(0.5, 0.25, 0.75, 8)}),),
        "baselines": {"chance": {"origin": Number(0.25, None, None, 8)}},
    }
    return Plot(**(fields | changes))  # type: ignore[arg-type]


def test_the_files_are_the_same_bytes_each_time(content: ReportContent, tmp_path: Path) -> None:
    first = write_figures(content, tmp_path / "a" / "b")
    second = write_figures(content, tmp_path / "c")
    assert [p.name for p in first.paths] == [
        f"01-siv-sample-{part}.{kind}" for part in ("main", "by1", "by2") for kind in ("svg", "pdf", "png")
    ]
    assert [p.read_bytes() for p in first.paths] == [p.read_bytes() for p in second.paths]
    assert first.problems == ()
    assert all(p.read_bytes().startswith((b"<?xml", b"%PDF", b"\x89PNG")) for p in first.paths)


def test_a_readers_own_matplotlibrc_does_not_change_a_figure() -> None:
    import matplotlib as mpl

    before = draw(plot(), "svg")
    with mpl.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.grid": False}):
        assert draw(plot(), "svg") == before


def test_text_stays_text_also_with_dollar_signs_and_markup() -> None:
    root = ET.fromstring(inline_svg(plot()))
    texts = [e.text for e in root.iter("text")]
    assert "text $only$ <b>" in texts
    assert "m & n" in texts
    assert "accuracy, %" in texts
    assert "n 8" in texts


def test_in_a_page_a_figure_has_no_colour_no_address_and_only_its_own_ids() -> None:
    markup = inline_svg(plot())
    assert not re.search(r"#[0-9a-f]{6}\b|style=|http|<style|<metadata", markup)
    root = ET.fromstring(markup)
    assert root.attrib["aria-labelledby"] == "p-main-title"
    assert all(e.attrib["id"].startswith("p-main-") for e in root.iter() if "id" in e.attrib)
    classes = {c for e in root.iter() for c in e.attrib.get("class", "").split()}
    assert {"s-series0", "f-series0", "f-ink", "s-muted"} <= classes


def test_a_dot_and_its_interval_stand_where_the_numbers_say() -> None:
    root = ET.fromstring(inline_svg(plot()))
    ticks = {e.text: float(e.attrib["x"]) for e in root.iter("text") if (e.text or "").isdigit()}
    zero, full = ticks["0"], ticks["100"]

    def place(share: float) -> float:
        return zero + share * (full - zero)

    lines = [e for e in root.iter("path") if e.attrib.get("class") == "s-series0" and "stroke-width" in e.attrib]
    ends = [[float(x) for x, _ in re.findall(r"([\d.]+) ([\d.]+)", e.attrib["d"])] for e in lines]
    assert any(e == pytest.approx([place(0.25), place(0.75)], abs=0.01) for e in ends)
    dots = [float(e.attrib["x"]) for e in root.iter("use") if "f-series0" in e.attrib.get("class", "")]
    assert any(x == pytest.approx(place(0.5), abs=0.01) for x in dots)
    chance = [e for e in root.iter("path") if "stroke-dasharray" in e.attrib and "s-muted" in e.attrib["class"]]
    assert any(float(re.findall(r"[\d.]+", e.attrib["d"])[0]) == pytest.approx(place(0.25), abs=0.01) for e in chance)


def test_what_is_undefined_is_said_once_where_nothing_in_the_row_is_defined() -> None:
    void = Number(None, None, None, 0)
    some = Number(0.5, None, None, 4)
    dots = (Dots("a", frozenset(), {"x": void, "y": void}), Dots("b", frozenset(), {"x": void, "y": some}))
    root = ET.fromstring(inline_svg(plot(rows=("x", "y"), dots=dots)))
    assert [e.text for e in root.iter("text")].count("undefined") == 2
    assert "n 0–4" in [e.text for e in root.iter("text")]


def test_a_question_only_row_is_drawn_hollow(content: ReportContent) -> None:
    section = content.sections[0]
    main = plots_of(section, read_results(section), "s1")[0]
    assert main.rows == ("origin", "no_audio", "text_only")
    assert [d.name for d in main.dots] == ["embedded", "openai:gpt-5.5"]
    assert all(d.hollow == {"text_only"} for d in main.dots)
    assert "f-paper" in inline_svg(main)
    assert main.key == "hollow: question only; dashed: chance; dotted: majority"
    assert plot(baselines={}).key == ""


def test_more_series_than_colours_make_several_figures(content: ReportContent) -> None:
    section = content.sections[0]
    results = read_results(section)
    many = tuple(
        Series(f"m{i}", "origin", Coverage(1, 1, {"scored": 1}), {"accuracy": Number(0.1 * i, 0, 1, 9)})
        for i in range(8)
    )
    plots = plots_of(section, dataclasses.replace(results, series=many, question_only=()), "s1")
    assert [(p.id, p.title, len(p.dots)) for p in plots] == [
        ("s1-main-1", "Accuracy by condition (1 of 2)", MAX_SERIES),
        ("s1-main-2", "Accuracy by condition (2 of 2)", 2),
    ]


def test_series_have_the_shortest_names_that_tell_them_apart() -> None:
    def series(*names: tuple[str, str]) -> list[Series]:
        return [Series(m, c, Coverage(0, 1, {}), {}) for m, c in names]

    assert series_names(series(("a", "x"), ("b", "x"))) == ("a", "b")
    assert series_names(series(("a", "x"), ("a", "y"))) == ("x", "y")
    assert series_names(series(("a", "x"), ("b", "y"))) == ("a · x", "b · y")


def test_a_glyph_that_no_font_has_is_reported_not_hidden() -> None:
    _, problems = draw(plot(rows=("origin", "关")), "pdf")
    assert problems == ("Glyph 20851 (\\N{CJK UNIFIED IDEOGRAPH-5173}) missing",)
