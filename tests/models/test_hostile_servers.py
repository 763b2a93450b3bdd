"""Answers with status 200 that are none, or odd ones, in three formats: outcomes or errors of ours, never others."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError, ModelError, OnlookerError, QuotaExhausted, TransientModelError
from onlooker.models.book import CallBook
from onlooker.models.gateway import Gateway
from onlooker.models.prices import Price, Prices
from onlooker.models.request import Reply
from tests.models.adapters import KEYS, KINDS, WORDS, Kind, ask, open_adapter
from tests.models.fake_server import Answer, Call, FakeServer
from tests.models.wire import completion

KEY = "sk-a-key-that-must-never-be-seen"
ODD: tuple[Any, ...] = ("odd", 5, -5, 5.5, 2**70, True, None, [], [1], {}, {"a": 1}, "\ud800", [None], "DROP")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        monkeypatch.setenv(KEYS[kind], KEY)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place in a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, part in inner for found in places(part, (*path, name)))]


def with_odd(body: Any, path: tuple[str | int, ...], odd: Any) -> Any:
    """The body with something else at a place, or without what is there."""
    if not path:
        return None if odd == "DROP" else odd
    made = json.loads(json.dumps(body))
    at = made
    for name in path[:-1]:
        at = at[name]
    if odd == "DROP":
        del at[path[-1]]
    else:
        at[path[-1]] = odd
    return made


@pytest.mark.filterwarnings("ignore:.*is not a valid:UserWarning")  # the SDK of Google, of words that it does not know
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_stands_anywhere_in_an_answer_the_book_holds_an_outcome(kind: Kind, tmp_path: Path) -> None:
    answer = Answer("Answer: A", cached_tokens=1, reasoning_tokens=1)
    bodies: list[Any] = []

    def hostile(call: Call) -> Answer:
        if not bodies:
            base = completion(call, answer)
            bodies.extend(with_odd(base, path, odd) for path in places(base) for odd in ODD)
        return Answer(body=json.dumps(bodies[min(hostile_asked[0], len(bodies) - 1)]).encode())

    hostile_asked = [0]
    book = CallBook(tmp_path / "calls.sqlite")
    prices = Prices((Price(model="*", input=1.0, output=1.0),))

    async def run(server: FakeServer) -> int:
        gateway = Gateway(open_adapter(kind, server), book, role="evaluated", prices=prices, attempts=1)
        replies = 0
        while not bodies or hostile_asked[0] < len(bodies):
            try:
                reply = (await gateway.ask(WORDS, sample=hostile_asked[0])).reply
            except TransientModelError:
                pass  # no answer: worth another attempt
            else:
                replies += 1
                assert isinstance(reply.text, str)
                for count in (reply.input_tokens, reply.output_tokens, reply.cached_tokens):
                    assert count is None or (type(count) is int and 0 <= count <= 2**53)
                assert reply.cost_usd is None or reply.cost_usd >= 0
                json.dumps(dict(reply.details), ensure_ascii=False).encode()
            hostile_asked[0] += 1
        await gateway.close()
        return replies

    with FakeServer(hostile) as server:
        replies = asyncio.run(run(server))
    tried = list(book.tries())
    book.close()
    assert len(tried) == len(bodies) > 150
    assert {t["outcome"] for t in tried} <= {"ok", "empty", "refused", "TransientModelError"}
    assert 50 < replies < len(bodies)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body", [b'{"a":' * 100_000, b"[" * 100_000, b"null", b"3", b"<html>", b"\xff\xfe", b"", b"{}"]
)
def test_bodies_that_are_no_answer_are_worth_another_attempt(kind: Kind, body: bytes) -> None:
    with FakeServer(lambda call: Answer(body=body)) as server, pytest.raises(TransientModelError) as raised:
        ask(open_adapter(kind, server))
    assert raised.value.may_be_billed


def openai_body(message: Mapping[str, Any], **changes: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return json.dumps({"id": "x", "model": "m", "choices": [choice], **changes}).encode()


def said(body: bytes) -> Reply:
    with FakeServer(lambda call: Answer(body=body)) as server:
        return ask(open_adapter("openai", server))


def test_content_in_parts_is_joined_and_thinking_is_not_content() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Answer: "}, {"type": "text", "text": "A"}]
    assert said(openai_body({"content": parts})).text == "Answer: A"
    tool = said(openai_body({"content": None, "tool_calls": [{"id": "t", "type": "function", "function": {}}]}))
    assert (tool.text, tool.status, tool.input_tokens) == ("", "empty", None)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"code": 429, "message": "slow down"}, TransientModelError),
        ({"code": 402, "message": "no credits"}, QuotaExhausted),
        ({"code": 400, "message": "bad"}, ModelError),
        ({"message": "who knows"}, TransientModelError),
        ("overloaded", TransientModelError),
    ],
)
def test_an_error_inside_an_answer_with_status_200_is_that_error(told: object, expected: type[ModelError]) -> None:
    """As OpenRouter tells it, of the whole answer or of one choice: never an empty reply that stays."""
    choice = {"index": 0, "finish_reason": "error", "message": {"role": "assistant", "content": ""}, "error": told}
    for body in ({"error": told}, {"id": "x", "choices": [choice]}):
        with pytest.raises(ModelError) as raised:
            said(json.dumps(body).encode())
        assert type(raised.value) is expected
        assert str(told["message"] if isinstance(told, dict) else told) in str(raised.value)


def test_a_choice_that_ended_in_an_error_is_no_empty_reply() -> None:
    body = json.dumps({"choices": [{"finish_reason": "error", "message": {"content": ""}}]}).encode()
    with pytest.raises(TransientModelError):
        said(body)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_what_is_sent_goes_to_the_address_of_the_run_and_no_other(kind: Kind, status: int) -> None:
    with FakeServer() as other:
        headers = {"Location": f"{other.root.replace('127.0.0.1', 'localhost')}/v1/chat/completions"}
        with (
            FakeServer(lambda call: Answer(body=b"", status=status, headers=headers)) as server,
            pytest.raises(ModelError, match=rf"sends elsewhere \(status {status}\).*--base-url"),
        ):
            ask(open_adapter(kind, server))
        assert (other.calls, other.traffic) == ([], [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_a_server_repeats_is_not_written_down(kind: Kind) -> None:
    def echo(call: Call) -> Answer:
        return Answer(f"You are {call.key}.")

    with FakeServer(echo) as server:
        reply = ask(open_adapter(kind, server))
    assert (reply.text, reply.details["key"]) == ("You are [key].", "written as [key]")


def test_a_key_that_is_a_word_changes_no_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORD", "EMPTY")
    with FakeServer(lambda call: Answer("It is EMPTY.")) as server:
        assert ask(open_adapter("openai", server, api_key_env="WORD")).text == "It is EMPTY."


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["sk-se\ncret", "sk-se cret", "sk-s\u00e9cret", "sk-\u2028secret"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(
    kind: Kind, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEYS[kind], key)
    with FakeServer() as server, pytest.raises(InputError, match=KEYS[kind]) as raised:
        open_adapter(kind, server)
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", ["?key=sk-secret", "#sk-secret"])
def test_a_base_url_with_more_than_a_path_is_refused_unseen(kind: Kind, tail: str) -> None:
    with FakeServer() as server, pytest.raises(InputError, match="ends with its path") as raised:
        open_adapter(kind, server, base_url=f"{server.url}{tail}")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", ["http://[::1", "http://[x]/"])
def test_an_address_that_is_none_is_named(url: str) -> None:
    with FakeServer() as server, pytest.raises(OnlookerError, match="not an http"):
        open_adapter("openai", server, base_url=url)
