"""Shards of a plan on several machines, and their union (D01, D02)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError
from onlooker.models.request import Reply
from onlooker.models.scripted import ScriptedModel
from onlooker.run.execute import Session
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.merge import merge, shard_folder
from onlooker.run.shards import Shard
from tests.run.conftest import write_rows
from tests.run.test_session import Noting, rows, without_times

MakeSession = Callable[..., Session]
SPENT = ("attempts", "input_tokens", "output_tokens", "calls")


def answers(run: Path) -> list[dict[str, Any]]:
    return [without_times(row) for row in rows(run / "predictions.jsonl")]


def card(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "run.json").read_text())
    return {name: found[name] for name in SPENT}


def test_the_union_of_shards_is_the_run_that_asked_everything(session: MakeSession, tmp_path: Path) -> None:
    """Case D02: every id once, a shard without items is fine; merged again nothing doubles, and the run goes on."""
    whole = session(Noting(), "origin", "text_only", run="whole")
    whole.work()
    out = tmp_path / "many"
    counts = []
    for number in range(1, 8):
        folder = shard_folder(out, number, 7)
        made = session(Noting(), "origin", "text_only", run=str(folder), shard=Shard(number, 7))
        made.work()
        counts.append(len(rows(folder / "predictions.jsonl")))
    assert 0 in counts  # seven shards of four episodes
    assert sum(counts) == 10
    for _ in range(2):
        merged = merge([out], out)
        assert (merged.owed, merged.there, merged.left, merged.absent) == (10, 10, 2, ())
        assert answers(out) == answers(whole.run_dir)
        assert json.loads((out / "plan.json").read_text()) == json.loads((whole.run_dir / "plan.json").read_text())
        assert card(out) == card(whole.run_dir)
    again = Noting()
    outcome = session(again, "origin", "text_only", run="many").work()
    assert again.asked == []
    assert outcome.left == 2  # the media that cannot be read


def test_absent_shards_are_named_and_come_later(session: MakeSession, tmp_path: Path) -> None:
    for number in (1, 2):
        session(Noting(), "text_only", run=str(shard_folder(tmp_path / "r", number, 3)), shard=Shard(number, 3)).work()
    merged = merge([tmp_path / "r"], tmp_path / "all")
    assert merged.absent == ("3/3",)
    session(Noting(), "text_only", run=str(shard_folder(tmp_path / "r", 3, 3)), shard=Shard(3, 3)).work()
    merged = merge([tmp_path / "r"], tmp_path / "all")
    assert (merged.there, merged.left, merged.absent) == (5, 0, ())
    assert card(tmp_path / "all")["attempts"] == 5


def test_the_same_answer_twice_is_one_and_another_answer_is_an_error(session: MakeSession, tmp_path: Path) -> None:
    def model(word: str) -> ScriptedModel:
        return ScriptedModel(lambda request: Reply(word, "ok"), script_id="s")

    for run, word in (("one", "A"), ("same", "A"), ("other", "B")):
        session(model(word), "text_only", run=run).work()
    merge([tmp_path / "one", tmp_path / "same"], tmp_path / "out")
    before = answers(tmp_path / "out")
    assert [p["raw"] for p in before] == ["A"] * 5
    ledger = Ledger(tmp_path / "out" / LEDGER_NAME)
    assert ledger.totals()["attempts"] == 10  # both were paid for
    ledger.close()
    with pytest.raises(InputError, match=r"item q\d .*answered otherwise.*found 'B'"):
        merge([tmp_path / "one", tmp_path / "other"], tmp_path / "out")
    assert answers(tmp_path / "out") == before
    assert not list((tmp_path / "out").glob(".ledger*"))


def test_an_answer_takes_the_place_of_a_failure(session: MakeSession, tmp_path: Path) -> None:
    first = Noting()
    first.stop_after = 2
    session(first, "text_only", run="one", concurrency=1).work()
    session(Noting(), "text_only", run="two").work()
    for pair in (("one", "two"), ("two", "one")):
        merged = merge([tmp_path / name for name in pair], tmp_path / "-".join(pair))
        assert (merged.there, merged.left) == (5, 0)


def test_runs_of_two_plans_are_not_merged(session: MakeSession, tmp_path: Path) -> None:
    session(Noting(), "text_only", run="one").work()
    session(Noting(), "text_only", run="two", seeds=[1]).work()
    with pytest.raises(InputError, match="seeds is another list"):
        merge([tmp_path / "one", tmp_path / "two"], tmp_path / "out")
    with pytest.raises(InputError, match="no ledger here"):
        merge([tmp_path], tmp_path / "out")


def test_four_processes_make_one_run_folder(tmp_path: Path) -> None:
    """Case D01, through the command line."""
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "bundle.yaml").write_text("name: many\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
    write_rows(bundle / "episodes.jsonl", [{"id": f"e{n}", "media": {}} for n in range(10)])
    options = [{"id": i, "text": i} for i in "AB"]
    write_rows(
        bundle / "items.jsonl",
        [
            {"id": f"q{n}", "episode": f"e{n}", "task": "choice", "question": f"{n}?", "options": options}
            | {"select": "one"}
            for n in range(10)
        ],
    )
    command = [sys.executable, "-m", "onlooker.cli.main", "eval", str(bundle), "--model", "scripted:first"]
    command += ["--condition", "text_only", "--out", str(tmp_path / "run")]
    many = [
        subprocess.Popen([*command, "--shard", f"{n}/4"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for n in range(1, 5)
    ]
    said = [process.communicate()[0] for process in many]
    assert [process.returncode for process in many] == [0] * 4
    assert "onlooker merge" in said[0]
    merging = [
        sys.executable,
        "-m",
        "onlooker.cli.main",
        "merge",
        str(tmp_path / "run"),
        "--out",
        str(tmp_path / "run"),
    ]
    done = subprocess.run(merging, capture_output=True, text=True, check=True)
    assert "10 of 10 answers that the plan owes, 0 of them left to ask" in done.stdout
    assert [row["item"] for row in rows(tmp_path / "run" / "predictions.jsonl")] == [f"q{n}" for n in range(10)]
    wrong = subprocess.run([*command, "--shard", "5/4"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "--shard" in wrong.stderr


@pytest.mark.parametrize("killed_at", ["replace", "write_text"])
def test_killed_while_merging_into_itself_a_run_keeps_its_answers(
    session: MakeSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_at: str
) -> None:
    """What the folder answered itself stands nowhere else: at no moment is it without a ledger."""

    class Killed(BaseException):
        """Stands for SIGKILL."""

    def kill(*given: object, **named: object) -> None:
        raise Killed

    session(Noting(), "text_only", run="run").work()
    session(Noting(), "text_only", run=str(shard_folder(tmp_path / "run", 1, 2)), shard=Shard(1, 2)).work()
    with monkeypatch.context() as patched:
        if killed_at == "replace":
            patched.setattr(Path, "replace", kill)
        else:
            patched.setattr("onlooker.run.merge.write_text", kill)
        with pytest.raises(Killed):
            merge([tmp_path / "run"], tmp_path / "run")
    assert (tmp_path / "run" / LEDGER_NAME).is_file()
    merged = merge([tmp_path / "run"], tmp_path / "run")
    assert (merged.there, merged.left) == (5, 0)
