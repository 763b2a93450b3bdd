"""``onlooker eval`` killed with SIGKILL at random moments against a local server (cases R03, R06, R07)."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onlooker.run.ledger import LEDGER_NAME, Ledger
from tests.run.conftest import write_rows
from tests.run.test_session import rows, without_times

KILLS = 20
ITEMS = 240
CONCURRENCY = 4


def make_bundle(folder: Path) -> Path:
    folder.mkdir()
    (folder / "bundle.yaml").write_text("name: many\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
    write_rows(folder / "episodes.jsonl", [{"id": "e", "media": {}}])
    write_rows(
        folder / "items.jsonl",
        [
            {
                "id": f"q{n}",
                "episode": "e",
                "task": "choice",
                "question": f"Question {n}?",
                "options": [{"id": i, "text": f"{i} of {n}"} for i in "ABCDE"],
                "select": "one",
            }
            for n in range(ITEMS)
        ],
    )
    return folder


@contextmanager
def server(log: Path) -> Iterator[int]:
    """The fake server as a process of its own; yields its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.models.fake_server", "--port", "0", "--log", str(log), "--delay-s", "0.05"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def command(bundle: Path, run: Path, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "onlooker.cli.main", "eval", str(bundle), "--model", "openai:fake"),
        *("--base-url", f"http://127.0.0.1:{port}/v1", "--condition", "text_only", "--out", str(run)),
        *("--concurrency", str(CONCURRENCY)),
    ]


def committed(run: Path) -> set[str]:
    """The prompt digests of the calls whose answers are in the ledger."""
    if not (run / LEDGER_NAME).exists():
        return set()
    ledger = Ledger(run / LEDGER_NAME)
    found = {entry.prediction["prompt_sha256"] for entry in ledger.entries() if entry.final}
    ledger.close()
    return found


def test_killed_at_random_moments_nothing_is_lost_and_nothing_committed_is_asked_again(tmp_path: Path) -> None:
    bundle, log = make_bundle(tmp_path / "bundle"), tmp_path / "log.jsonl"
    moments = random.Random(20)
    with server(log) as port:
        subprocess.run(command(bundle, tmp_path / "undisturbed", port), check=True, capture_output=True)
        asked_before = len(rows(log))
        kept: set[str] = set()
        kills = 0
        while kills < KILLS:
            process = subprocess.Popen(
                command(bundle, tmp_path / "killed", port),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            time.sleep(moments.uniform(0.5, 1.0))
            if process.poll() is not None:
                break
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            now = committed(tmp_path / "killed")
            assert kept <= now, "an answer was lost"
            kept = now
        assert kills == KILLS, f"the run was over after {kills} kills: give it more items"
        subprocess.run(command(bundle, tmp_path / "killed", port), check=True, capture_output=True)
        asked = Counter(row["sha256"] for row in rows(log)[asked_before:])
    # Only calls under way at a kill can have been asked once more: at most the concurrency for each kill.
    assert set(asked) == {row["sha256"] for row in rows(log)[:asked_before]}
    assert len(asked) == ITEMS
    assert sum(asked.values()) <= ITEMS + KILLS * CONCURRENCY
    one, two = (tmp_path / run for run in ("undisturbed", "killed"))
    for name in ("predictions.jsonl", "requests.jsonl", "failures.jsonl"):
        assert [without_times(r) for r in rows(one / name)] == [without_times(r) for r in rows(two / name)], name
    assert (one / "plan.json").read_text() == (two / "plan.json").read_text()
    card = json.loads((two / "run.json").read_text())
    assert card["calls"] == ITEMS
    # Case R07: every request that reached the server is in the ledger, also those whose answer the kill took away;
    # and at most as many more as were about to be sent.
    assert sum(asked.values()) <= card["attempts"] <= sum(asked.values()) + KILLS * CONCURRENCY
    assert card["sessions"] <= KILLS + 1


def test_two_runs_killed_in_turn_with_a_shared_cache_pay_once(tmp_path: Path) -> None:
    """Each call is asked by one of the two; what the other had asked it finds in the cache, also after SIGKILL."""
    bundle, log, kills = make_bundle(tmp_path / "bundle"), tmp_path / "log.jsonl", 4
    moments = random.Random(6)
    with server(log) as port:
        sharing = ["--cache", str(tmp_path / "answers")]
        for _ in range(kills):
            both = [
                subprocess.Popen(
                    [*command(bundle, tmp_path / name, port), *sharing],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
                for name in ("one", "two")
            ]
            for process, wait_s in zip(both, (moments.uniform(0.6, 1.2), moments.uniform(0.0, 0.2)), strict=True):
                time.sleep(wait_s)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for name in ("one", "two"):
            subprocess.run([*command(bundle, tmp_path / name, port), *sharing], check=True, capture_output=True)
        asked = Counter(row["sha256"] for row in rows(log))
    assert len(asked) == ITEMS
    assert sum(asked.values()) <= ITEMS + 2 * kills * CONCURRENCY
    found = []
    for name in ("one", "two"):
        predictions = [without_times(row) for row in rows(tmp_path / name / "predictions.jsonl")]
        found.append([{**row, "cost_usd": None} for row in predictions])
    assert found[0] == found[1]
