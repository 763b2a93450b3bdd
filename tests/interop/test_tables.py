"""Tables of VLMEvalKit and sample files of lmms-eval as predictions, by hand-made files of their formats."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.cli.main import main
from onlooker.errors import InputError, MissingExtra
from onlooker.interop.lmms_eval import read_samples
from onlooker.interop.rows import Matching, Reply, match, pick, read_ids
from onlooker.interop.vlmevalkit import read_table
from onlooker.records.bundle import open_bundle
from onlooker.records.results import read_predictions
from tests.interop.making import choice, make_bundle, siv, write_rows

Row = dict[str, Any]


def table(path: Path, rows: list[Row]) -> Path:
    """As pandas writes it for VLMEvalKit: every cell quoted."""
    with path.open("w", encoding="utf-8", newline="") as file:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return path


VLM = [
    {"index": "0", "video": "red", "question": "Which  colour, 0?", "answer": "A", "prediction": 'It is "A",\nsurely.'},
    {"index": "1", "video": "blue", "question": "Which colour, 1?", "answer": "A", "prediction": ""},
    {
        "index": "2",
        "video": "red",
        "question": "Which colour, 2?",
        "answer": "A",
        "prediction": "Failed to obtain answer via API.",
    },
]


@pytest.mark.parametrize("kind", ["tsv", "csv", "json"])
def test_a_table_matched_by_its_questions(kind: str, tmp_path: Path) -> None:
    bundle, out = siv(tmp_path / "bundle"), tmp_path / "predictions.jsonl"
    path = tmp_path / f"Model_SIV.{kind}"
    if kind == "json":
        path.write_text(json.dumps(VLM), encoding="utf-8")
    else:
        table(path, VLM)
    shared = ["--bundle", str(bundle), "--out", str(out), "--model", "vlm", "--condition", "origin"]
    assert main(["import", "vlmevalkit", str(path), *shared, "--question-field", "question", "--seed", "3"]) == 0
    rows = read_predictions([out])
    assert [(r.item, r.raw, r.status, r.seed) for r in rows] == [
        ("q0", 'It is "A",\nsurely.', "ok", 3),
        ("q1", "", "empty", 3),
        ("q2", "", "error", 3),
    ]
    assert (rows[0].usage, rows[0].cost_usd, rows[0].prompt_sha256) == (None, None, None)


def test_ids_are_translated_and_the_default_is_the_index(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle, out = siv(tmp_path / "bundle"), tmp_path / "predictions.jsonl"
    path = table(tmp_path / "t.tsv", VLM)
    ids = tmp_path / "ids.json"
    ids.write_text('{"0": "q5", "1": "q4", "2": "q3"}', encoding="utf-8")
    command = ["import", "vlmevalkit", str(path), "--bundle", str(bundle), "--out", str(out)]
    command += ["--model", "vlm", "--condition", "origin"]
    assert main(command) == 1
    error = capsys.readouterr().err
    assert "3 of 3 rows" in error
    assert all(f"row {n}: index '{n - 2}' is no item" in error for n in (2, 3, 4)), "all of them, not the first"
    assert not out.exists()
    assert main([*command, "--ids", str(ids)]) == 0
    assert [row.item for row in read_predictions([out])] == ["q3", "q4", "q5"]


def test_a_question_of_several_videos_is_narrowed_by_the_video(tmp_path: Path) -> None:
    episodes = [{"id": name, "media": {"video": f"media/{name}.mp4"}} for name in ("red", "blue")]
    labels = {"dimension": "SSU", "subtask": "EP"}
    items = [choice(f"q-{name}", name, "What are they?", labels=labels) for name in ("red", "blue")]
    answers = {item["id"]: {"answer": ["A"]} for item in items}
    bundle = open_bundle(make_bundle(tmp_path / "bundle", "sivbench", episodes, items, answers))
    rows = [{"video": name, "question": "What are they?", "prediction": name} for name in ("blue", "red", "green")]
    path = table(tmp_path / "t.csv", rows[:2])
    with pytest.raises(InputError, match="2 of 2 rows") as refused:
        match(read_table(path), bundle, Matching(question_field="question"), model="m", condition="c")
    assert "is 2 items (q-blue, q-red ...)" in str(refused.value)
    how = Matching(question_field="question", video_field="video")
    found = match(read_table(path), bundle, how, model="m", condition="c")
    assert [(row.item, row.raw) for row in found] == [("q-red", "red"), ("q-blue", "blue")]
    with pytest.raises(InputError, match="video 'green' is no item"):
        match(read_table(table(path, rows)), bundle, how, model="m", condition="c")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.tsv", "index\tprediction\n0\n", "another number of cells"),
        ("t.tsv", "index\tprediction\n0\tA\tB\n", "another number of cells"),
        ("t.csv", "index,answer\n0,A\n", "no column 'prediction'"),
        ("t.csv", "index,prediction,prediction\n0,A,B\n", "two columns have the same name, found 'prediction'"),
        ("t.json", '{"index": 0}', "array of objects"),
        ("t.json", '[{"index": 0, "prediction": 3}]', "the reply is no text"),
        ("t.json", "[", "cannot be read as JSON"),
        ("t.pkl", "", "no table of a known kind"),
        ("t.xlsx", "no zip", "Excel table"),
    ],
)
def test_what_is_no_table_is_refused(name: str, content: str, words: str, tmp_path: Path) -> None:
    if name.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        list(read_table(path))


def test_an_excel_table_needs_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match="xlsx"):
        list(read_table(tmp_path / "t.xlsx"))


def test_an_excel_table(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    longest = "x" * 32_767
    for row in [["index", "prediction"], [0, "=A is right"], [1, None], [2, longest]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    found = list(read_table(tmp_path / "t.xlsx"))
    assert [(r.names["index"], r.fields["raw"], r.fields["status"]) for r in found] == [
        (0, "=A is right", "ok"),
        (1, "", "empty"),
        (2, longest, "truncated"),
    ]


def test_pictures_in_a_table_may_be_large(tmp_path: Path) -> None:
    limit = csv.field_size_limit()
    path = table(tmp_path / "t.tsv", [{"index": "0", "image": "x" * 200_000, "prediction": "A"}])
    assert [reply.fields["raw"] for reply in read_table(path)] == ["A"]
    assert csv.field_size_limit() == limit


LMMS = [
    {"doc_id": 0, "input": "Which colour, 0?\nA. red", "target": "A", "resps": [["The answer is A"]]}
    | {"filtered_resps": ["A"], "doc_hash": "h", "siv_acc": {"id": "q0", "question": "Which colour, 0?"}},
    {
        "doc_id": 1,
        "target": "A",
        "filtered_resps": ["B. blue"],
        "siv_acc": {"id": "q1", "question": "Which colour, 1?"},
    },
    {"doc_id": 2, "target": "A", "filtered_resps": [[" "]], "siv_acc": {"id": "q2", "question": "Which colour, 2?"}},
]


@pytest.mark.parametrize("how", [["--id-field", "siv_acc.id"], ["--question-field", "siv_acc.question"]])
def test_a_sample_file(how: list[str], tmp_path: Path) -> None:
    bundle, out, path = siv(tmp_path / "bundle"), tmp_path / "predictions.jsonl", tmp_path / "samples_siv.jsonl"
    write_rows(path, LMMS)
    command = ["import", "lmms-eval", str(path), "--bundle", str(bundle), "--out", str(out)]
    assert main([*command, "--model", "lmm", "--condition", "origin", *how]) == 0
    assert [(row.item, row.raw, row.status) for row in read_predictions([out])] == [
        ("q0", "The answer is A", "ok"),
        ("q1", "B. blue", "ok"),
        ("q2", " ", "empty"),
    ]


def test_several_replies_are_seeds_and_filters_are_one_reply(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    write_rows(path, [{"doc_id": "q0", "resps": [["A", "B"]], "filtered_resps": ["A"], "filter": "none"}])
    assert [(r.fields["raw"], r.fields["seed"]) for r in read_samples(path, seed=9)] == [("A", 0), ("B", 1)]
    rows: list[Row] = [{"doc_id": "q0", "resps": [["A"]], "filtered_resps": [f], "filter": f} for f in ("x", "y")]
    write_rows(path, rows)
    assert [r.fields for r in read_samples(path)] == [{"raw": "A", "status": "ok", "seed": None}]
    write_rows(path, [{**rows[0], "filter": "x"}] * 2)
    with pytest.raises(InputError, match="answered already"):
        match(
            read_samples(path),
            open_bundle(siv(tmp_path / "bundle")),
            Matching(id_field="doc_id"),
            model="m",
            condition="c",
        )


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"doc_id": 0, "resps": [[[-1.5, False]], [[-0.2, True]]]}, "2 requests"),
        ({"doc_id": 0, "resps": [[[-1.5, False]]]}, "no text"),
        ({"doc_id": 0, "filtered_resps": []}, "no replies"),
        ({"doc_id": 0}, "no replies"),
        ({"doc_id": 0, "resps": [[]]}, "no text"),
    ],
)
def test_samples_without_one_reply_are_refused(row: Row, words: str, tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    write_rows(path, [row])
    with pytest.raises(InputError, match=words):
        list(read_samples(path))


def test_how_rows_are_matched_is_said_once() -> None:
    with pytest.raises(InputError, match="by one thing"):
        Matching(id_field="index", question_field="question")
    with pytest.raises(InputError, match="by one thing"):
        Matching()
    with pytest.raises(InputError, match="narrows questions only"):
        Matching(id_field="index", video_field="video")
    with pytest.raises(InputError, match="translated only"):
        Matching(question_field="question", ids={"1": "q1"})


@pytest.mark.parametrize("content", ["[]", '{"1": 2}', "{", ""])
def test_a_translation_is_an_object_of_texts(content: str, tmp_path: Path) -> None:
    (tmp_path / "ids.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError):
        read_ids(tmp_path / "ids.json")


def test_a_run_folder_is_not_written_over(tmp_path: Path) -> None:
    bundle, path = siv(tmp_path / "bundle"), table(tmp_path / "t.tsv", VLM)
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "plan.json").write_text('{"items": ["q0"]}', encoding="utf-8")
    command = ["import", "vlmevalkit", str(path), "--bundle", str(bundle), "--question-field", "question"]
    command += ["--model", "m", "--condition", "c", "--out", str(tmp_path / "run" / "predictions.jsonl")]
    assert main(command) == 1
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["plan.json"]


def test_whole_numbers_that_became_floats_are_the_same_id(tmp_path: Path) -> None:
    bundle = open_bundle(siv(tmp_path / "bundle"))
    ids = {"3": "q0"}
    for value in (3, 3.0, "3"):
        reply = Reply("row", {"index": value}, {"raw": "A", "status": "ok"})
        rows = match([reply], bundle, Matching("index", ids=ids), model="m", condition="c")
        assert [row.item for row in rows] == ["q0"]
    for wrong in (3.5, True, None):
        reply = Reply("row", {"index": wrong}, {"raw": "A", "status": "ok"})
        with pytest.raises(InputError, match="1 of 1 rows"):
            match([reply], bundle, Matching("index", ids=ids), model="m", condition="c")


def test_fields_inside_fields() -> None:
    assert pick({"a.b": 1, "a": {"b": 2}}, "a.b") == 1
    assert pick({"a": {"b": {"c": 2}}}, "a.b.c") == 2
    assert pick({"a": 3}, "a.b") is None


@given(st.text())
def test_a_reply_comes_through_unaltered(tmp_path_factory: pytest.TempPathFactory, raw: str) -> None:
    raw = raw.encode("utf-8", "ignore").decode()
    path = tmp_path_factory.mktemp("table") / "t.tsv"
    (reply,) = read_table(table(path, [{"index": "0", "prediction": raw}]))
    assert reply.fields["raw"] == raw
    assert reply.fields["status"] == ("ok" if raw.strip() else "empty")


@pytest.mark.parametrize(
    ("raw", "model", "words"),
    [
        ("Yes \ud83d", "m", "t.json, row 1: the reply holds half a character at place 4.*found 'U\\+D83D'"),
        ("Yes", "", r"t.json, row 1: no prediction can say this: .* \(model\)"),
    ],
)
def test_what_no_row_can_hold_is_refused_with_its_place(raw: str, model: str, words: str, tmp_path: Path) -> None:
    bundle = open_bundle(siv(tmp_path / "bundle"))
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"index": "q0", "prediction": raw}]), encoding="utf-8")
    with pytest.raises(InputError, match=words):
        match(read_table(path), bundle, Matching(id_field="index"), model=model, condition="c")
