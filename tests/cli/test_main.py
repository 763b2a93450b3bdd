"""The command line as a person meets it: exit codes, where messages go, no traceback for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from onlooker.cli.main import main
from tests.models.fake_server import Answer, FakeServer, failure
from tests.run.conftest import write_rows


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onlooker.cli.main", *map(str, words)], capture_output=True, text=True, check=False
    )


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "bundle.yaml").write_text("name: b\nfamily: mmhbench\nversion: '1'\nlicense: CC0\n", encoding="utf-8")
    write_rows(folder / "episodes.jsonl", [{"id": "e1", "media": {}}, {"id": "e2", "media": {}, "duration_s": 660.0}])
    items = [
        {
            "id": f"q{n}",
            "episode": f"e{n % 2 + 1}",
            "task": "choice",
            "question": f"What is felt, {n}?",
            "options": [{"id": i, "text": f"{i} {n}"} for i in "ABCD"],
            "select": "one",
            "labels": {"perspective": "third", "topic": "health"},
        }
        for n in range(8)
    ]
    write_rows(folder / "items.jsonl", items)
    write_rows(folder / "references.jsonl", [{"item": f"q{n}", "answer": ["ABCD"[n % 4]]} for n in range(8)])
    return folder


def test_wrong_usage_is_2_and_bad_input_is_1(bundle: Path, tmp_path: Path) -> None:
    assert run("score").returncode == 2
    assert run("no-such-command").returncode == 2
    missing = run("score", tmp_path / "nothing", "--predictions", "p.jsonl", "--out", tmp_path / "s.json")
    assert missing.returncode == 1
    assert missing.stdout == ""
    assert "no such folder" in missing.stderr
    assert "Traceback" not in missing.stderr


def test_the_whole_path_from_bundle_to_report(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert run("validate", bundle).returncode == 0
    asked = run("eval", bundle, "--model", "scripted:first", "--condition", "question_only", "--out", out)
    assert asked.returncode == 0, asked.stderr
    scored = run(
        *("score", bundle, "--predictions", out / "predictions.jsonl", "--out", out / "scores.json"),
        *("--items-out", out / "items.jsonl", "--draws", "200"),
    )
    assert scored.returncode == 0, scored.stderr
    metrics = json.loads((out / "scores.json").read_text())["models"]["scripted:first"]["question_only"]["metrics"]
    assert metrics["accuracy"]["value"] == 0.25
    assert metrics["accuracy"]["n"] == 8
    assert "25.0" in scored.stdout
    rows: list[dict[str, Any]] = [json.loads(line) for line in (out / "items.jsonl").read_text().splitlines()]
    assert [row["credit"] for row in rows] == [1, 0, 0, 0, 1, 0, 0, 0]
    assert {row["outcome"] for row in rows} == {"scored"}
    reported = run("report", out, "--out", out / "report.html", "--draws", "200")
    assert reported.returncode == 0, reported.stderr
    assert "25.0%" in (out / "report.html").read_text(encoding="utf-8")


def test_other_questions_than_were_asked_are_not_scored_and_corrected_references_are(
    bundle: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    assert (
        main(["eval", str(bundle), "--model", "scripted:first", "--condition", "question_only", "--out", str(out)]) == 0
    )
    score = (
        "score",
        bundle,
        "--predictions",
        out / "predictions.jsonl",
        "--out",
        out / "scores.json",
        "--draws",
        "100",
    )
    references = bundle / "references.jsonl"
    references.write_text(references.read_text().replace('"A"', '"B"'))
    assert run(*score).returncode == 0
    scored = json.loads((out / "scores.json").read_text())["models"]["scripted:first"]["question_only"]["metrics"]
    assert scored["accuracy"]["value"] == 0
    items = bundle / "items.jsonl"
    items.write_text(items.read_text().replace("What is felt", "What is seen"))
    for words in (score, ("report", out, "--out", out / "report.html")):
        refused = run(*words)
        assert refused.returncode == 1
        assert "have changed since these questions were asked" in refused.stderr


def test_nothing_that_is_read_is_written_over(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    asked = ["eval", str(bundle), "--model", "scripted:first", "--condition", "question_only"]
    assert main([*asked, "--out", str(out)]) == 0
    before = {path: path.read_bytes() for folder in (bundle, out) for path in folder.iterdir() if path.is_file()}
    predictions = str(out / "predictions.jsonl")
    for words in (
        ["score", str(bundle), "--predictions", predictions, "--out", predictions],
        ["score", str(bundle), "--predictions", predictions, "--out", str(bundle / "items.jsonl")],
        ["score", str(bundle), "--predictions", predictions, "--out", str(tmp_path)],
        ["score", str(bundle), "--predictions", predictions, "--out", "x.json", "--items-out", "x.json"],
        ["report", str(out), "--out", str(out / "ledger.sqlite")],
        [*asked, "--out", str(bundle)],
    ):
        assert main(words) == 1, words
    assert {path: path.read_bytes() for path in before} == before


def test_a_moved_bundle_is_found_where_the_user_says(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert (
        main(["eval", str(bundle), "--model", "scripted:first", "--condition", "question_only", "--out", str(out)]) == 0
    )
    bundle.rename(tmp_path / "elsewhere")
    refused = run("report", out, "--out", out / "report.html")
    assert "say where it is now with --bundle DIR" in refused.stderr
    moved = run("report", out, "--out", out / "report.html", "--bundle", tmp_path / "elsewhere", "--draws", "100")
    assert moved.returncode == 0, moved.stderr


def test_an_endpoint_that_refuses_everything_is_not_asked_everything(bundle: Path, tmp_path: Path) -> None:
    items = bundle / "items.jsonl"
    rows = [json.loads(line) for line in items.read_text().splitlines()]
    write_rows(items, [{**row, "id": f"{row['id']}-{n}"} for n in range(10) for row in rows])
    with FakeServer(lambda call: failure(401, "wrong key")) as server:
        refused = run(
            *("eval", bundle, "--model", "openai:m", "--base-url", server.url, "--condition", "question_only"),
            *("--out", tmp_path / "run"),
        )
    assert refused.returncode == 1
    assert "calls all failed" in refused.stderr
    assert "wrong key" in refused.stderr
    assert len(server.calls) < 20
    assert "next:" not in refused.stdout


def test_a_call_ends_at_its_deadline(bundle: Path, tmp_path: Path) -> None:
    started = time.monotonic()
    with FakeServer(lambda call: Answer("A", delay_s=4.0)) as server:
        late = run(
            *("eval", bundle, "--model", "openai:m", "--base-url", server.url, "--condition", "question_only"),
            *("--limit", "1", "--deadline", "1", "--out", tmp_path / "run"),
        )
    assert late.returncode == 1
    assert "no answer within 1 s" in late.stdout
    assert time.monotonic() - started < 15


def test_validate_lists_every_problem_on_standard_output(bundle: Path) -> None:
    items = bundle / "items.jsonl"
    items.write_text(items.read_text().replace('"perspective": "third"', '"perspective": "second"') + "{not json\n")
    found = run("validate", bundle)
    assert found.returncode == 1
    assert found.stdout.count("perspective") == 8
    assert "items.jsonl, line 9" in found.stdout
    assert found.stdout.endswith("9 errors, 1 warnings\n")


def test_a_condition_that_would_be_another_ones_request_is_refused(bundle: Path, tmp_path: Path) -> None:
    (bundle / "bundle.yaml").write_text("name: b\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
    items = bundle / "items.jsonl"
    items.write_text(items.read_text().replace('"labels": {"perspective": "third", "topic": "health"}', '"labels": {}'))
    deaf = ("--base-url", "http://127.0.0.1:9/v1", "--model", "openai:x", "--condition", "no_audio")
    refused = run("eval", bundle, *deaf, "--out", tmp_path / "run")
    assert refused.returncode == 1
    assert "the same request as origin" in refused.stderr
    assert not (tmp_path / "run").exists()


def test_show_prints_the_item_and_keeps_the_answer_back(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(bundle), "q3"]) == 0
    shown = capsys.readouterr().out
    assert "What is felt, 3?" in shown
    assert "reference" not in shown
    assert main(["show", str(bundle), "q3", "--answers"]) == 0
    assert '"answer":["D"]' in capsys.readouterr().out
    assert main(["show", str(bundle), "q99"]) == 1
    assert main(["show", str(bundle)]) == 0
    assert "8 items (8 choice)" in capsys.readouterr().out


def test_words_of_data_do_not_steer_the_terminal(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = bundle / "items.jsonl"
    items.write_text(items.read_text().replace("What is felt, 3?", "red \\u001b[31m bell \\u0007 turned \\u202eoot"))
    assert main(["show", str(bundle), "q3"]) == 0
    assert "red \\u001b[31m bell \\u0007 turned \\u202eoot" in capsys.readouterr().out


def test_a_report_measures_guessers_on_the_items_that_were_asked(bundle: Path, tmp_path: Path) -> None:
    """Answers run A B C D A B C D: of the first three any place is right once, of all eight twice."""
    out = tmp_path / "run"
    asked = ["eval", str(bundle), "--model", "scripted:first", "--condition", "question_only", "--limit", "3"]
    assert main([*asked, "--out", str(out)]) == 0
    assert main(["report", str(out), "--out", str(out / "r.html"), "--draws", "100"]) == 0
    page = (out / "r.html").read_text(encoding="utf-8")
    majority = page[page.index("Majority") :][:300]
    assert "33.3%" in majority


def test_a_pipe_that_closes_early_is_no_error(bundle: Path) -> None:
    command = f"{sys.executable} -m onlooker.cli.main describe mmhbench | head -n 1"
    piped = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert piped.stdout.startswith("MMHBench")
    assert piped.stderr == ""
