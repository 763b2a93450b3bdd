"""The batch APIs: matched by key in any order, paid once whatever happens, and what was not carried out stays owed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models import batch_anthropic, batch_google, batch_openai
from onlooker.models.batch import BatchLimits, BatchModel, batch_name, open_batch
from onlooker.models.request import Reply, Request, Text
from onlooker.models.scripted import ScriptedModel
from tests.models.adapters import KEYS, KINDS, Kind, ask, everything, everything_options, open_adapter
from tests.models.fake_server import Answer, Call, FakeServer, failure

ASKED = {f"item {n}|part|seed {n}": Request((Text(f"Question {n}"),), max_output_tokens=9) for n in range(5)}
KEYS_ASKED = list(ASKED)
T = TypeVar("T")

pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS.values():
        monkeypatch.setenv(name, "key")


def said(call: Call) -> Answer:
    return Answer(f"reply to {call.text}")


def run(kind: Kind, server: FakeServer, use: Callable[[BatchModel], Awaitable[T]], **options: Any) -> T:
    """Use the batch API as one process does."""

    async def work() -> T:
        model = open_adapter(kind, server, **options)
        try:
            return await use(open_batch(model))
        finally:
            await model.close()

    return asyncio.run(work())


async def finished(batch: BatchModel, handle: str) -> Mapping[str, Reply | ModelError]:
    while (await batch.poll(handle)).status == "running":
        await asyncio.sleep(0)
    return await batch.fetch(handle, {key: replace(request, parts=()) for key, request in ASKED.items()})


def submit(kind: Kind, server: FakeServer, **options: Any) -> str:
    return run(kind, server, lambda batch: batch.submit(list(ASKED.items())), **options)


def test_results_come_in_any_order_and_find_their_calls(kind: Kind) -> None:
    with FakeServer(said) as server:
        server.batches.running = 2
        handle = submit(kind, server)
        # Another process, that knows the handle only: the first one may have been killed.
        results = run(kind, server, lambda batch: finished(batch, handle))
        [job] = server.batches.jobs.values()
        assert job.looks >= 3
        assert server.calls == []
    texts = {key: result.text for key, result in results.items() if isinstance(result, Reply)}
    assert texts == {key: f"reply to Question {n}" for n, key in enumerate(ASKED)}
    assert {r.input_tokens for r in results.values() if isinstance(r, Reply)} == {2}


def test_a_batch_that_was_submitted_but_not_stored_is_found_again(kind: Kind) -> None:
    with FakeServer(said) as server:
        handle = submit(kind, server)
        if kind == "anthropic":
            # Its batches have no names: as long as it is under way, it is not told whether it is the same.
            with pytest.raises(ModelError, match="a batch of as many calls is under way"):
                run(kind, server, lambda batch: batch.find(KEYS_ASKED))
            run(kind, server, lambda batch: finished(batch, handle))
        assert run(kind, server, lambda batch: batch.find(KEYS_ASKED[::-1])) == handle
        assert run(kind, server, lambda batch: batch.find([f"{key}?" for key in KEYS_ASKED])) is None
        assert run(kind, server, lambda batch: batch.find(KEYS_ASKED[1:])) is None
    assert len(server.batches.jobs) == 1


def test_what_expired_stays_owed(kind: Kind) -> None:
    with FakeServer(said) as server:
        server.batches.unasked = 2
        handle = submit(kind, server)
        results = run(kind, server, lambda batch: finished(batch, handle))
    assert sorted(results) == KEYS_ASKED[:3]
    assert all(isinstance(result, Reply) for result in results.values())


def test_failures_in_a_batch_are_the_errors_they_mean(kind: Kind) -> None:
    failures = {0: failure(400, "no such parameter"), 1: failure(429, "busy"), 2: failure(402, "no money")}

    def answer(call: Call) -> Answer:
        return failures.get(call.order, said(call))

    with FakeServer(answer) as server:
        handle = submit(kind, server)
        results = run(kind, server, lambda batch: finished(batch, handle))
    kinds = [type(results[key]) for key in KEYS_ASKED]
    # An overload of the server's own in a batch is a failure that may pass; money is not.
    assert kinds == [ModelError, TransientModelError, QuotaExhausted, Reply, Reply]
    assert "no such parameter" in str(results[KEYS_ASKED[0]])


def test_a_batch_that_fails_as_a_whole_says_why(kind: Kind) -> None:
    with FakeServer(said) as server:
        handle = submit(kind, server)
        server.batches.failed = True
        state = run(kind, server, lambda batch: batch.poll(handle))
    if kind == "anthropic":  # it has no such state: every request has its own result
        assert state.status == "running"
        return
    assert state.status == "failed"
    assert state.reason == {"openai": "line 1 is no JSON", "google": "no reason given"}[kind]


def test_the_bodies_are_those_of_single_calls(kind: Kind, tmp_path: Path) -> None:
    request, options = everything(kind, tmp_path), everything_options(kind)
    with FakeServer(said) as server:
        run(kind, server, lambda batch: batch.submit([("a", request)]), **options)
        ask(open_adapter(kind, server, **options), request)
        [job] = server.batches.jobs.values()
        [(name, body)] = job.rows
    assert len(name) == 40
    single = server.calls[0].body
    assert _plain(body) == _plain(single)


def _plain(body: Any) -> Any:
    """With names in camel case, as the API reads both spellings."""
    if isinstance(body, dict):
        return {_camel(name): _plain(value) for name, value in body.items()}
    return [_plain(value) for value in body] if isinstance(body, list) else body


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def test_a_batch_has_a_size(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"openai": batch_openai, "anthropic": batch_anthropic, "google": batch_google}[kind]
    calls = list(ASKED.items())
    with FakeServer(said) as server:
        with pytest.raises(InputError, match="found 0"):
            run(kind, server, lambda batch: batch.submit([]))
        with pytest.raises(InputError, match="the same key"):
            run(kind, server, lambda batch: batch.submit([calls[0], calls[0]]))
        for limits, words in ((BatchLimits(4, 10**6), "1 to 4 calls"), (BatchLimits(9, 300), "at most 300 bytes")):
            monkeypatch.setattr(module, "_LIMITS", limits)
            with pytest.raises(InputError, match=words):
                submit(kind, server)
        assert server.batches.jobs == {}


def test_the_name_of_a_batch_is_that_of_its_calls_and_its_model(kind: Kind) -> None:
    with FakeServer() as server:
        model, other = open_adapter(kind, server), open_adapter(kind, server, settings={"a": 1})
        assert batch_name(model, KEYS_ASKED) == batch_name(model, KEYS_ASKED[::-1])
        names = {batch_name(model, KEYS_ASKED), batch_name(model, KEYS_ASKED[1:]), batch_name(other, KEYS_ASKED)}
    assert len(names) == 3
    with pytest.raises(InputError, match="no batch API, found 'scripted:first'"):
        open_batch(ScriptedModel.by_rule("first"))
