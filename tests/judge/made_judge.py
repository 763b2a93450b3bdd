"""A judge whose replies a test writes, in front of the real gateway and book."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from onlooker.catalog import load_benchmark
from onlooker.judge.session import JudgeSession, Tally, choose_rubrics
from onlooker.models.book import CallBook
from onlooker.models.gateway import Gateway
from onlooker.models.request import Reply, Request
from onlooker.models.scripted import ScriptedModel
from onlooker.protocol.answered import read_runs
from onlooker.protocol.ground import load_ground
from onlooker.records.results import Judgement
from tests.score.made import Made, Row

Answer = Callable[[Request], Reply]


async def no_wait(_seconds: float) -> None:
    """Waits between attempts take no time in tests."""


class Judge:
    """Counts what it is asked, and answers by a function of the request."""

    def __init__(self, answer: Answer | str, name: str = "scripted:judge") -> None:
        self.asked: list[Request] = []
        self._answer: Answer = answer if callable(answer) else (lambda _request: Reply(answer, "ok"))
        self.model = ScriptedModel(self._reply, script_id="test", name=name)

    def _reply(self, request: Request) -> Reply:
        self.asked.append(request)
        return self._answer(request)


def judge_rows(
    made: Made,
    rows: Sequence[Row],
    judge: Judge,
    *,
    rubrics: Sequence[str] = (),
    earlier: Sequence[Judgement] = (),
    book: Path | None = None,
    limit: int | None = None,
) -> tuple[list[dict[str, Any]], list[Tally], JudgeSession]:
    """The judgements of these prediction rows."""
    benchmark = load_benchmark(made.bundle.card.family)
    ground = load_ground(made.bundle)
    runs = read_runs([made.predictions(rows)], benchmark.scoring, ground.items)
    calls = CallBook(book or made.folder / "calls.sqlite")

    async def work() -> tuple[JudgeSession, list[Tally]]:
        gateway = Gateway(judge.model, calls, role="judge", attempts=3, sleep=no_wait)
        session = JudgeSession(ground, benchmark.scoring, runs, gateway, earlier, limit)
        tallies = await session.judge(choose_rubrics(benchmark.judging, rubrics, benchmark.family))
        await gateway.close()
        return session, tallies

    session, tallies = asyncio.run(work())
    calls.close()
    return session.rows, tallies, session
