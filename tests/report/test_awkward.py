"""What a stranger found misleading or lost on the page of an awkward report."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from onlooker.report.figures import inline_svg
from onlooker.report.page import render_report
from onlooker.report.plots import plots_of
from onlooker.report.results import read_results
from tests.report.awkward import CONDITIONS, LONG, LONG_NOTE, MODELS, awkward_content
from tests.report.tree import Node, parse


@pytest.fixture(scope="module")
def root() -> Node:
    return parse(render_report(awkward_content()))


def rows_of(root: Node, head: str) -> dict[str, list[str]]:
    """The cells of the tables whose first column is headed so, by the first cell of the row."""
    tables = [t for t in root.all("table") if next(t.all("th")).words() == head]
    lines = [[c.words() for c in tr.all("th", "td")] for t in tables for tr in t.all("tr")]
    return {line[0]: line[1:] for line in lines}


def test_baselines_state_their_n_and_their_items(root: Node) -> None:
    rows = rows_of(root, "Model, condition")
    assert rows["Majority"] == [
        "60.0% [28.1, 100.0] n 5",
        "always the most frequent answer on the items that were asked",
    ]
    assert rows["Chance"] == ["60.0% [28.1, 100.0] n 5", "a random answer, expected on the items that were asked"]


def test_one_n_stands_for_a_row_only_where_the_baselines_have_it_too(root: Node) -> None:
    rows = rows_of(root, "Relation")
    assert rows["friends n 38"][-1] == "25.0% [28.1, 100.0]"
    assert rows["(empty)"][0] == "60.0% [28.1, 100.0] n 38"
    assert rows["(empty)"][-2:] == ["60.0% [28.1, 100.0] n 5"] * 2


def test_a_legend_names_every_entry_differently_with_its_condition() -> None:
    section = awkward_content().sections[0]
    _, *by = plots_of(section, read_results(section), "s1")
    entries: list[str] = []
    for plot in by:
        texts = [e.text or "" for e in ET.fromstring(inline_svg(plot)).iter("text")]
        entries += [t for t in texts if t.startswith("scripted")]
        assert "(empty)" in texts
        assert all(len(t) <= 44 for t in texts)
    assert len(entries) == len(set(entries)) == len(MODELS) * len(CONDITIONS)
    for condition in CONDITIONS:
        assert sum(e.endswith(f" · {condition}") for e in entries) == len(MODELS)


def test_a_plot_keeps_room_for_its_axes_beside_long_names() -> None:
    section = awkward_content().sections[0]
    for plot in plots_of(section, read_results(section), "s1"):
        root = ET.fromstring(inline_svg(plot))
        width = float(root.attrib["viewBox"].split()[2])
        ticks = {e.text: float(e.attrib["x"]) for e in root.iter("text") if e.text in {"0", "100"}}
        assert ticks["100"] - ticks["0"] > 0.35 * width


def test_more_columns_than_a_page_holds_make_several_tables(root: Node) -> None:
    tables = [t for t in root.all("table") if next(t.all("th")).words() == "Metric"]
    assert [len(list(next(t.all("tr")).all("th"))) for t in tables] == [7, 7]
    assert "(2 of 2)" in next(tables[1].all("caption")).words()


def test_an_error_says_whether_a_call_was_made(root: Node) -> None:
    never = root.by_id("s1-item-item-3").words()
    assert "no call was made: the request could not be built" in never
    assert "clip.mp4: no such file" in never
    assert "0.01" not in never
    failed = root.by_id("s1-item-item-4").words()
    assert "the call failed after 2.50 s; given input A HTTP 503" in failed
    for words in (never, failed):
        assert "The reply is empty" not in words
        assert "nothing read" not in words


def test_an_input_is_not_named_like_an_option(root: Node) -> None:
    words = root.by_id("s1-item-item-0").words()
    assert "read as A; call ok, 0.50 s; given input A" in words
    assert "Input A: origin to" in words


def test_a_clip_that_could_not_be_used_stands_once(root: Node) -> None:
    table = next(t for t in root.all("table") if "Media that could not be used" in t.words())
    assert next(table.all("caption")).words() == "Media that could not be used: 2 clips."
    assert [[c.words() for c in tr.all("th", "td")] for tr in table.all("tr")] == [
        ["Clip", "Conditions", "Kind", "What happened"],
        ["e1", "origin, cot, no_audio", "MediaError", "no such file"],
        ["cot", "InputError", "no transcript"],
        ["e2", "cot", "MediaError", "no such file"],
    ]


def test_a_long_note_is_folded_and_whole(root: Node) -> None:
    (notes,) = root.of_class("notes")
    short, long = notes.all("li")
    assert not list(short.all("details"))
    assert next(long.all("summary")).words() == "m1, origin: draws of 10000 left out because undefined there: …"
    assert long.words().replace(" …", "") == LONG_NOTE


def test_what_is_empty_has_a_name(root: Node) -> None:
    item = root.by_id("s1-item-item-1")
    assert "relation (empty)" in item.words()
    assert [o.words() for o in next(item.of_class("options")).all("li")][1:] == ["B (empty)", "C (blank)"]
    assert [o.words() for o in root.all("option") if "(empty)" in o.words()] == ["(empty) (1)"]


def test_no_control_of_direction_is_left_in_the_page(root: Node) -> None:
    page = render_report(awkward_content())
    assert not [c for c in page if c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
    assert "مرحبا [⇐]evil[↑] [⇠]שלום[⇡]" in root.text()
    assert LONG in root.text()
