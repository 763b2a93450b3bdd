"""The fake server as a process of its own, as tests of killed runs use it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import tests
from onlooker.errors import TransientModelError
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.options import ModelOptions
from onlooker.models.request import Options, Reply, Request, Text

ROOT = Path(tests.__path__[0]).parent
ASKED = [Request((Text(f"Question {n}\n"), Options(("A", "B", "C"), ("x", "y", "z")))) for n in range(6)]


@contextmanager
def server(log: Path, *options: str) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.models.fake_server", "--log", str(log), *options]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        process.kill()


def ask_all(url: str) -> list[Reply]:
    async def run() -> list[Reply]:
        model = OpenAIModel("m", ModelOptions(base_url=url))
        try:
            return [await model.ask(request) for request in ASKED]
        finally:
            await model.close()

    return asyncio.run(run())


def test_replies_are_a_function_of_the_request_alone(tmp_path: Path) -> None:
    with server(tmp_path / "one.jsonl") as url:
        first = ask_all(url)
    with server(tmp_path / "two.jsonl", "--delay-s", "0.01") as url:
        ask_all(url)
        assert ask_all(url) == first
    assert len({reply.text for reply in first}) > 1
    rows = [json.loads(r) for r in (tmp_path / "two.jsonl").read_text().split("\n") if r]
    assert [row["order"] for row in rows] == list(range(12))
    assert [row["text"] for row in rows[:6]] == [reply.text for reply in first]
    assert [row["sha256"] for row in rows[:6]] == [row["sha256"] for row in rows[6:]]


def test_every_nth_answer_fails_on_demand(tmp_path: Path) -> None:
    with (
        server(tmp_path / "log.jsonl", "--fail-every", "3") as url,
        pytest.raises(TransientModelError, match="on purpose"),
    ):
        ask_all(url)
    rows = [json.loads(r) for r in (tmp_path / "log.jsonl").read_text().split("\n") if r]
    assert [row["status"] for row in rows] == [200, 200, 500]
