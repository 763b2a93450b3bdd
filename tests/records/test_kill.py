"""R03: SIGKILL at random moments while writing leaves files that load, and loses at most the row under way."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from onlooker.records.jsonl import AppendFile, read_rows, write_rows
from onlooker.records.public import Episode

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

KILLS = 50
PADDING = "é" * 20_000


def kill_during(work: Callable[[int], None], after_s: float) -> None:
    """Run ``work`` in a child, which tells through a pipe that it started, and kill it ``after_s`` later."""
    begun, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            work(tell)
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(begun, 1) == b"."
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os.close(begun)
    assert os.WIFSIGNALED(status)


def rows(version: int) -> list[Episode]:
    return [Episode(id=f"{number}", version=version, padding=PADDING) for number in range(20)]


def test_replaced_files_are_old_or_new(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, rows(0))

    def work(tell: int) -> None:
        os.write(tell, b".")
        version = 1
        while True:
            write_rows(path, rows(version))
            version += 1

    moments = random.Random(3)
    left_behind = 0
    for _ in range(KILLS):
        kill_during(work, moments.uniform(0, 0.02))
        found = [row.record for row in read_rows(path, Episode)]
        assert [episode.id for episode in found] == [f"{number}" for number in range(20)]
        assert len({episode.extra["version"] for episode in found}) == 1
        for leftover in tmp_path.glob(".rows.jsonl.*.tmp"):
            left_behind += 1
            leftover.unlink()
    # Otherwise no kill came while a file was being written, and the test would prove nothing.
    assert left_behind > 0


def test_appended_rows_are_never_lost(tmp_path: Path) -> None:
    moments = random.Random(4)
    path, before = tmp_path / "0.jsonl", 0

    def work(tell: int) -> None:
        with AppendFile(path) as file:
            number = before
            os.write(tell, b".")
            while True:
                file.append(Episode(id=f"{number}", padding=PADDING))
                number += 1

    for kill in range(KILLS):
        if kill % 10 == 0:  # reading a file again and again gets slow as it grows
            path, before = tmp_path / f"{kill}.jsonl", 0
        kill_during(work, moments.uniform(0, 0.01))
        AppendFile(path).close()
        ids = [row.record.id for row in read_rows(path, Episode)]
        assert ids == [f"{number}" for number in range(len(ids))]
        assert len(ids) >= before
        before = len(ids)
    assert before > 10
