"""What the page holds and how it is built up."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from onlooker.errors import InputError, MissingExtra
from onlooker.report.content import Limits, MetricGroup, ReportContent
from onlooker.report.page import _scale_of, render_report, write_report
from onlooker.report.wording import evenly
from tests.report.tree import Node, parse


@pytest.fixture(scope="module")
def root(page: str) -> Node:
    return parse(page)


def test_the_same_content_gives_the_same_bytes(content: ReportContent, page: str, tmp_path: Path) -> None:
    write_report(content, tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page


def test_landmarks_and_headings_are_in_order(root: Node) -> None:
    assert [len(list(root.all(tag))) for tag in ("header", "nav", "main", "footer", "h1")] == [1] * 5
    levels = [int(n.tag[1]) for n in root.all("h1", "h2", "h3", "h4", "h5")]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert next(root.all("html")).attributes["lang"] == "en"


def test_every_id_is_unique_and_every_reference_leads_somewhere(root: Node) -> None:
    ids = [n.attributes["id"] for n in root.everything() if "id" in n.attributes]
    assert len(ids) == len(set(ids))
    targets = {n.attributes["href"][1:] for n in root.everything() if n.attributes.get("href", "").startswith("#")}
    named = {n.attributes["aria-labelledby"] for n in root.everything() if "aria-labelledby" in n.attributes}
    clips = {c for n in root.everything() for c in re.findall(r"url\(#(.+?)\)", n.attributes.get("clip-path", ""))}
    assert targets | named | clips <= set(ids)


def test_every_table_has_a_caption_and_scoped_headers(root: Node) -> None:
    tables = list(root.all("table"))
    assert len(tables) > 8
    for table in tables:
        assert len(list(table.all("caption"))) == 1
        assert all(th.attributes.get("scope") in {"col", "row", "rowgroup"} for th in table.all("th"))
        assert all(tr.children for tr in table.all("tr"))


def test_every_control_has_a_label_and_every_picture_a_name(root: Node) -> None:
    labelled = {id(c) for label in root.all("label") for c in label.all("input", "select") if label.words()}
    controls = list(root.all("input", "select", "textarea"))
    assert len(controls) >= 8
    assert all(id(c) in labelled for c in controls)
    assert all(button.words() for button in root.all("button"))
    for svg in root.all("svg"):
        hidden = svg.attributes.get("aria-hidden") == "true"
        named = svg.attributes.get("aria-label") or svg.attributes.get("aria-labelledby")
        assert hidden or (svg.attributes["role"] == "img" and named)
    assert not list(root.all("img"))


def test_a_frame_is_named_by_its_time_and_episode(root: Node) -> None:
    item = root.by_id("s1-item-siv-000")
    names = [n.attributes["aria-label"] for n in item.everything() if n.attributes.get("role") == "img"]
    assert names[:2] == ["frame at 0.00 s of episode clip <0> 视频", "frame at 2.95 s of episode clip <0> 视频"]
    assert "frame at 11.32 s of episode clip <0> 视频: missing" in names
    assert "12 of 64 frames shown" in item.words()
    assert "12 frames" in root.by_id("s1-item-siv-006").words()


def test_frames_are_embedded_once_and_the_total_is_stated(page: str, root: Node) -> None:
    uris = re.findall(r'href="(data:image/jpeg;base64,[^"]+)"', page)
    assert len(uris) == len(set(uris)) == len(list(root.all("symbol")))
    assert len(list(root.all("use"))) > len(uris)
    foot = next(root.all("footer")).words()
    assert f"{len(uris)} frames embedded" in foot
    assert f"{sum(map(len, uris)) / 1e6:.1f} MB of a budget of 16.0 MB" in foot


def test_the_numbers_are_those_of_the_scores(content: ReportContent, root: Node) -> None:
    section = content.sections[0]
    models = section.scores["models"]
    assert isinstance(models, dict)
    rows = [r.words() for r in next(root.of_class("results")).all("tr")]
    for model, conditions in models.items():
        for condition, found in conditions.items():
            number = found["metrics"]["accuracy"]
            text = f"{number['value'] * 100:.1f}% [{number['low'] * 100:.1f}, {number['high'] * 100:.1f}] n 30"
            row = next(r for r in rows if r.startswith(f"{model} {condition}"))
            assert text in row
            assert f"{found['coverage']['scored']} of 30 scored" in row
            for outcome in ("unparsed", "error", "missing"):
                count = found["coverage"][outcome]
                assert (f"{count} {outcome}" in row) == (count > 0)


def test_label_tables_have_every_value_with_baselines_beside(content: ReportContent, root: Node) -> None:
    tables = [t for t in root.of_class("by") if "Dimension" in t.words()]
    assert len(tables) == 1
    head, *rows = [[c.words() for c in tr.all("th", "td")] for tr in tables[0].all("tr")]
    assert head[0] == "Dimension"
    assert head[-2:] == ["Chance", "Majority"]
    assert [r[0] for r in rows] == ["SSU n 10", "SSR n 10", "SDP n 10"]
    assert all(r[-2:] == ["20.0%", "26.7%"] for r in rows)
    models = content.sections[0].scores["models"]
    assert isinstance(models, dict)
    number = models["openai:gpt-5.5"]["no_audio"]["metrics"]["accuracy.dimension.SSR"]
    assert head[-3] == "openai:gpt-5.5 · text_only question only"
    column = head.index("openai:gpt-5.5 · no_audio")
    assert rows[1][column].startswith(f"{number['value'] * 100:.1f}% [")


def test_undefined_stands_with_its_reason(root: Node) -> None:
    table = next(t for t in root.of_class("by") if "Subtask" in t.words())
    cells = {tr.words().split()[0]: tr.words() for tr in table.all("tr")}
    assert "undefined" in cells["FP"]
    assert "%" not in cells["FP"].replace("20.0%", "").replace("26.7%", "")
    assert "100.0% [undefined]" in cells["HAI"]
    notes = [n.words() for n in root.of_class("footnotes")]
    assert any("nothing to average over" in n and "fewer than two clusters to resample" in n for n in notes)


def test_rubric_scores_keep_their_own_scale(root: Node) -> None:
    table = next(t for t in root.of_class("by") if "reasoning.overall" in t.words())
    assert "3.40 [3.10, 3.80] n 21" in table.words()


def test_baselines_are_in_a_report_where_nothing_was_run(root: Node) -> None:
    words = root.by_id("s2").words()
    assert "No model was scored on this bundle." in words
    assert "Question only not run no scores for the condition question_only" in words
    assert words.count("not stated") == 2
    assert "No items to show." in words


def test_what_was_run_is_told(root: Node) -> None:
    words = root.by_id("s1").words()
    for told in (
        "embedded: a text model fed by detectors, not a vision model.",
        "uniform:64",
        "unknown",
        "5 min 12 s",
        "gpt-5.5-2026-10-01",
        "123,456",
        "Unparsed, empty and missing replies to choice questions count as wrong.",
        "frame at 11.32 s could not be decoded",
    ):
        assert told in words
    assert "$0.00" in words
    assert "none" in words


def test_an_item_shows_what_each_model_got_and_said(content: ReportContent, root: Node) -> None:
    item = root.by_id("s1-item-siv-004")
    words = item.words()
    answers = content.sections[0].items[4].answers
    assert len(list(item.of_class("answer"))) == len(answers) == 6
    assert "HTTP 503 from the server <busy>, 4 attempts" in words
    assert "No reply on record." in words
    assert "␀\\ud83d" in words
    assert "Option probabilities" in words
    assert "sound 0.00 to 31.50 s" in words
    assert "The same 64 frames as input A" in words
    assert [n.words() for n in item.of_class("right")] == ["B They are colleagues reference"]


def test_a_long_transcript_stands_once(page: str) -> None:
    assert page.count("[198.00 s] Speaker 1: line 198") == 1
    assert "[the transcript, 7,289 characters: shown once, under Transcripts]" in page


def test_a_long_reply_is_cut_and_says_so(root: Node) -> None:
    assert "20,000 of 42," in root.by_id("s1-item-siv-003").words()


def test_fewer_items_than_there_are_is_said(content: ReportContent) -> None:
    root = parse(render_report(content, Limits(items_per_section=7)))
    assert "7 of 30 items are in this page, evenly chosen" in root.words()
    shown = [n.attributes["id"] for n in root.all("article")]
    assert shown == [f"s1-item-siv-{i:03d}" for i in evenly(30, 7)]


def test_a_small_budget_is_said(content: ReportContent) -> None:
    root = parse(render_report(content, Limits(frame_bytes=60_000)))
    foot = next(root.all("footer")).words()
    assert "fewer than the usual 12, to stay within the budget" in foot
    assert "of a budget of 0.1 MB" in foot


def test_two_items_whose_ids_look_alike_in_an_address_stay_apart(content: ReportContent) -> None:
    section = content.sections[0]
    twins = tuple(dataclasses.replace(section.items[0], item_id=name, answers=()) for name in ("a b", "a/b"))
    root = parse(render_report(dataclasses.replace(content, sections=(dataclasses.replace(section, items=twins),))))
    assert [n.attributes["id"] for n in root.all("article")] == ["s1-item-a_b", "s1-item-a_b~2"]


def test_an_open_question_shows_its_words_and_no_options(content: ReportContent) -> None:
    section = content.sections[0]
    first = section.items[0]
    answer = dataclasses.replace(first.answers[0], parsed="because she <left>", outcome="scored", credit=0.5)
    item = dataclasses.replace(first, options=(), reference="She <left> first", answers=(answer,))
    page = render_report(dataclasses.replace(content, sections=(dataclasses.replace(section, items=(item,)),)))
    words = next(parse(page).all("article")).words()
    assert "Reference: She <left> first" in words
    assert "partly right" in words
    assert "read as because she <left>" in words
    assert "credit 0.50" in words


def test_nothing_is_left_where_the_report_cannot_be_written(content: ReportContent, tmp_path: Path) -> None:
    empty = dataclasses.replace(content, sections=())
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="a folder stands where the report is to be written"):
        write_report(empty, tmp_path / "folder")
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="the folder cannot be made"):
        write_report(empty, tmp_path / "file" / "report.html")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    ("module", "needs"), [("matplotlib", "drawing figures needs"), ("PIL", "showing frames in a report needs")]
)
def test_a_missing_part_is_named_with_its_remedy(
    content: ReportContent, monkeypatch: pytest.MonkeyPatch, module: str, needs: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as caught:
        render_report(content)
    assert needs in str(caught.value)
    assert 'pip install "onlooker[report]"' in str(caught.value)


def test_importing_the_engine_loads_neither_matplotlib_nor_pillow() -> None:
    code = (
        "import sys, onlooker.report.page, onlooker.report.figures;"
        "sys.exit(bool({'matplotlib', 'PIL', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_report_without_bundles_is_a_page(content: ReportContent) -> None:
    assert "This report has no bundle." in render_report(dataclasses.replace(content, sections=()))


def test_metrics_of_one_kind_have_one_unit(content: ReportContent) -> None:
    """``raw.macro`` stands beside ``raw.capability.G``: not 0.22 here and 22 % there."""
    section = dataclasses.replace(
        content.sections[0],
        main_metric="verified.macro",
        groups=(MetricGroup("Raw", "raw.capability."), MetricGroup("Matching", "srm.", "own")),
    )
    scales = [_scale_of(section, name) for name in ("raw.macro", "verified.micro", "srm.error_s", "loss.answer")]
    assert scales == ["percent", "percent", "own", "own"]
