"""What was typed is what comes out: rows, counts, words, and nobody's name."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.annotate.adjudicating import adjudicate, disagreements
from onlooker.annotate.assigning import next_case
from onlooker.annotate.database import Database
from onlooker.annotate.export import collect, csv_text, write_export
from onlooker.annotate.monitor import monitor
from onlooker.annotate.submitting import Desk, Submission, put_aside, submit
from onlooker.errors import InputError
from onlooker.protocol.form import Choice, Decision, Form, Layout, ManyOf, OneOf, OptOut, Scale, When, Words
from onlooker.records.jsonl import read_rows
from onlooker.records.private import Rating
from onlooker.score.agreement import rater_agreement

from .made import join, make_bundle, make_desk
from .test_store import ROOT

WORDS = 'a, "b"\n\tc \U0001f600 \u4e2d\u6587 e\u0301 \u2028 \u0000'
NASTY_CELLS = ["=1+1", "+1", "-1", "@x", WORDS, "", " ", "'", '"', "\r\n", "NULL", "null", "0"]

REVIEW = Form(
    name="review",
    title="Review",
    says="",
    tasks=("choice", "open"),
    layout=Layout("text", ()),
    fields=(
        OneOf("valid", "Valid?", rubric="validity", choices=(Choice("keep", "Keep"), Choice("drop", "Drop"))),
        ManyOf(
            "why",
            "Why?",
            choices=(Choice("vague", "Vague"), Choice("wrong", "Wrong")),
            when=When("valid", ("drop",)),
        ),
        Scale("clarity", "Clarity", rubric="clarity", anchors=tuple(Choice(n, str(n)) for n in range(4))),
        Words("says", "More", required=False),
    ),
    shows=("question",),
    opt_outs=(OptOut("unfamiliar", "Not familiar"),),
    decision=Decision(lambda answer: str(answer["valid"]), ("keep", "drop"), "unanimous", ("why",)),
)


def give(
    desk: Desk, rater: str, case: str, answer: dict[str, Any] | None, base: int = 0, opt_out: str | None = None
) -> int:
    key = f"key-{rater}-{case}-{base}"
    return submit(desk, rater, case, Submission(key, base, answer, opt_out), {}).version


def take_all(desk: Desk, rater: str) -> None:
    """Open every case, as one who skips through them does."""
    while (work := next_case(desk.store, desk.study, desk.cases, rater)) is not None and work.state == "assigned":
        put_aside(desk, rater, work.case, "skipped", f"key-skip-{work.case}")
        if len(desk.store.works(rater=rater)) == len(desk.cases.by_id):
            return


def test_w08_three_raters_two_tasks_one_edited_twice(database: Database, tmp_path: Path) -> None:
    desk = make_desk(database, make_bundle(tmp_path / "b", 2), overlap=3)
    raters = [join(desk) for _ in range(3)]
    for rater in raters:
        take_all(desk, rater)
        for case in ("q0", "q1"):
            give(desk, rater, case, {"answer": ["A"]})
    work = desk.store.work(raters[0], "q0")
    assert work is not None
    version = give(desk, raters[0], "q0", {"answer": ["B"]}, work.version)
    give(desk, raters[0], "q0", {"answer": ["A"]}, version)
    counts = write_export(collect(desk, history=True), tmp_path / "out", ["jsonl", "csv"])
    assert counts == {"ratings.jsonl": 6, "ratings.csv": 6, "history.jsonl": 8, "history.csv": 8}
    with (tmp_path / "out" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 6
    lines = [json.loads(line) for line in (tmp_path / "out" / "history.jsonl").read_text().splitlines()]
    edited = [row["value"] for row in lines if row["item"] == "q0" and row["rater"] == raters[0]]
    assert edited == ["A", "B", "A"]
    rows = [row.record for row in read_rows(tmp_path / "out" / "ratings.jsonl", Rating)]
    assert {(r.item, r.unit, r.rubric) for r in rows} == {("q0", "q0", "human_answer"), ("q1", "q1", "human_answer")}


def test_w09_words_come_out_as_they_were_typed(database: Database, tmp_path: Path) -> None:
    """Typed into the database, exported in a process whose locale knows no UTF-8, read back."""
    bundle = make_bundle(tmp_path / "bundle", 5)
    settings: dict[str, Any] = {"overlap": 20, "items": {"tasks": ["open"]}}
    desk = make_desk(database, bundle, **settings)
    typed = {}
    for words in [one for one in NASTY_CELLS if one.strip()]:
        rater = join(desk)
        assert next_case(desk.store, desk.study, desk.cases, rater) is not None
        give(desk, rater, "q4", {"answer": words})
        typed[rater] = words
    write_export(collect(desk), tmp_path / "out", ["jsonl", "csv"])
    rows = [row.record for row in read_rows(tmp_path / "out" / "ratings.jsonl", Rating)]
    assert {row.rater: row.value for row in rows} == typed
    content = (tmp_path / "out" / "ratings.csv").read_bytes()
    assert {r["rater"]: r["value"] for r in csv.DictReader(io.StringIO(content.decode(), newline=""))} == typed
    assert "\u4e2d\u6587".encode() in content, "no escapes in place of Chinese"


def test_w09_neutralised_on_request_only() -> None:
    rows = [{"value": cell} for cell in NASTY_CELLS]
    assert "'=1+1" not in csv_text(rows)
    cells = [row[0] for row in csv.reader(io.StringIO(csv_text(rows, neutralise=True), newline=""))][1:]
    assert cells[:4] == ["'=1+1", "'+1", "'-1", "'@x"]
    assert cells[4:] == [*NASTY_CELLS[4:9], "'\r\n", *NASTY_CELLS[10:]]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), min_size=1))
def test_csv_gives_back_any_text(cells: list[str]) -> None:
    text = csv_text([{"value": cell, "n": 0} for cell in cells])
    back = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["value"] for row in back] == cells
    assert {row["n"] for row in back} == {"0"}


def test_a_study_without_ratings_exports_empty_files(database: Database, bundle: Path, tmp_path: Path) -> None:
    counts = write_export(collect(make_desk(database, bundle)), tmp_path / "out", ["jsonl", "csv"])
    assert counts == {"ratings.jsonl": 0, "ratings.csv": 0}


def test_zero_opt_out_and_reasons_are_all_kept(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle, form=REVIEW, overlap=2)
    one, other = join(desk), join(desk)
    for rater in (one, other):
        take_all(desk, rater)
    give(desk, one, "q0", {"valid": "drop", "why": ["vague"], "clarity": 0})
    give(desk, other, "q0", None, opt_out="unfamiliar")
    rows = collect(desk).files["ratings"]
    told = {(r["rater"], r["rubric"]): (r["value"], r["opt_out"], r.get("why")) for r in rows}
    assert told == {
        (one, "validity"): ("drop", None, ["vague"]),
        (one, "clarity"): (0, None, ["vague"]),
        (other, "validity"): (None, "unfamiliar", None),
        (other, "clarity"): (None, "unfamiliar", None),
    }


def test_the_dashboard_says_what_onlooker_agreement_says(database: Database, tmp_path: Path) -> None:
    desk = make_desk(database, make_bundle(tmp_path / "b", 6), form=REVIEW, overlap=3)
    grades = [[0, 1, 2, 3, 0, 1], [0, 1, 2, 2, 1, 1], [0, 2, 2, 3, 0, 3]]
    for own in grades:
        rater = join(desk)
        take_all(desk, rater)
        for n, grade in enumerate(own):
            give(desk, rater, f"q{n}", {"valid": "keep", "clarity": grade})
    write_export(collect(desk), tmp_path / "out", ["jsonl"])
    shown = monitor(desk)["agreement"]
    for rubric in ("clarity", "validity"):
        told = rater_agreement(tmp_path / "out" / "ratings.jsonl", rubric)
        assert {k: v for k, v in shown[rubric].items() if k != "notes"} == told.report
        assert shown[rubric]["notes"] == told.notes
    assert shown["clarity"]["alpha.ordinal"] == pytest.approx(0.69318600)  # package krippendorff 0.8


def test_decisions_unanimous_and_adjudicated_beside_the_originals(database: Database, bundle: Path) -> None:
    desk = make_desk(database, bundle, form=REVIEW, overlap=2)
    one, other, expert = join(desk), join(desk), join(desk, "expert")
    for rater in (one, other):
        take_all(desk, rater)
    keep, drop = {"valid": "keep", "clarity": 1}, {"valid": "drop", "why": ["vague", "wrong"], "clarity": 1}
    for case, answers in (("q0", (keep, keep)), ("q1", (keep, drop)), ("q2", (keep, None))):
        for rater, answer in zip((one, other), answers, strict=True):
            if answer is not None:
                give(desk, rater, case, answer)
    decided = {row["item"]: (row["decision"], row["reasons"]) for row in collect(desk).files["decisions"]}
    assert decided == {"q0": ("keep", []), "q1": ("drop", ["vague", "wrong"])}, "q2 waits for its second reviewer"
    assert [one.case for one in disagreements(desk)] == ["q1"]
    with pytest.raises(InputError, match="rated this case yourself"):
        adjudicate(desk, one, "q1", keep, None, "key-adjudicated")
    adjudicate(desk, expert, "q1", keep, "both read it", "key-adjudicated")
    files = collect(desk).files
    row = next(row for row in files["decisions"] if row["item"] == "q1")
    assert (row["decision"], row["reviewers"], row["adjudicated"]) == ("keep", [expert], True)
    assert {r["value"] for r in files["ratings"] if r["item"] == "q1" and r["rubric"] == "validity"} == {"keep", "drop"}
    assert [r["says"] for r in files["adjudications"]] == ["both read it"]


def test_w16_no_name_address_or_path_in_any_export(database: Database, tmp_path: Path) -> None:
    desk = make_desk(database, make_bundle(tmp_path / "bundle", 2), overlap=2)
    for name in ("Ana Example <ana@example.org>", "Bo 10.0.0.7"):
        rater = join(desk, name=name)
        take_all(desk, rater)
        give(desk, rater, "q0", {"answer": ["A"]})
    write_export(collect(desk, history=True, surplus=True, special=True), tmp_path / "out", ["jsonl", "csv"])
    content = b"".join(path.read_bytes() for path in (tmp_path / "out").iterdir()) + json.dumps(monitor(desk)).encode()
    for private in (b"@", b"Ana", b"Bo ", b"10.0.0.7", str(tmp_path).encode(), b"/tmp", os.uname().nodename.encode()):
        assert private not in content, private
    assert len(database.rows("SELECT * FROM people")) == 2


def test_the_commands_work_without_utf8_in_the_locale(tmp_path: Path) -> None:
    """invite, export, status and withdraw from the shell, LANG=C."""
    from onlooker.annotate.database import open_database

    from .made import study_file

    bundle = make_bundle(tmp_path / "bundle", 5)
    study = study_file(tmp_path, overlap=2)
    environment = {
        "PATH": os.environ["PATH"],
        "LANG": "C",
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
    }

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "onlooker.cli.main", "annotate", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, cwd=ROOT, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode("ascii")

    links = run("invite", str(bundle), "--study", str(study), "--count", "2").split()
    assert len(set(links)) == 2
    assert all(link.startswith("http://127.0.0.1:8000/join/") for link in links)
    desk = make_desk(open_database(str(tmp_path / "STUDY.sqlite"), "pilot"), bundle, overlap=2)
    rater = join(desk)
    take_all(desk, rater)
    give(desk, rater, "q4", {"answer": WORDS})
    desk.store.database.close()
    told = run("export", str(bundle), "--study", str(study), "--out", str(tmp_path / "out"), "--format", "jsonl", "csv")
    assert "ratings.csv: 1 rows" in told
    assert [r.record.value for r in read_rows(tmp_path / "out" / "ratings.jsonl", Rating)] == [WORDS]
    assert "1 of 10 answers" in run("status", str(bundle), "--study", str(study), "--out", str(tmp_path / "s.json"))
    assert rater in (tmp_path / "s.json").read_text()
    assert "removed" in run("withdraw", str(bundle), "--study", str(study), "--rater", rater, "--mode", "delete")
    run("export", str(bundle), "--study", str(study), "--out", str(tmp_path / "out"))
    assert (tmp_path / "out" / "ratings.jsonl").read_text() == ""
