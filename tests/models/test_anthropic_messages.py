"""What only Anthropic's API has: thinking, models without sampling, an account that is told by words."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted
from onlooker.models.anthropic_messages import AnthropicModel
from onlooker.models.options import ModelOptions
from onlooker.models.request import Request, Text
from tests.models.adapters import ask, open_adapter
from tests.models.fake_server import FakeServer, failure

PLAIN = (Text("Who?"),)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def sent(server: FakeServer, request: Request, **options: Any) -> dict[str, Any]:
    """The body that arrives, without its words."""
    ask(open_adapter("anthropic", server, **options), request)
    return {name: value for name, value in server.calls[-1].body.items() if name not in ("messages", "model")}


def test_a_thinking_budget_is_added_to_the_output_budget_and_fixes_the_temperature(server: FakeServer) -> None:
    # The API wants max_tokens > budget_tokens and temperature 1 while a model thinks.
    body = sent(server, Request(PLAIN, max_output_tokens=100, thinking_tokens=2048))
    assert body == {"max_tokens": 2148, "thinking": {"type": "enabled", "budget_tokens": 2048}}
    reply = ask(open_adapter("anthropic", server), Request(PLAIN, thinking_tokens=2048, seed=1, json_object=True))
    assert reply.details["not_sent"] == ["temperature", "seed", "json_object"]
    with pytest.raises(ModelError, match="thinks at its own temperature"):
        sent(server, Request(PLAIN, thinking_tokens=2048, temperature=0.7))


def test_no_thinking_is_said_and_a_budget_has_a_floor(server: FakeServer) -> None:
    body = sent(server, Request(PLAIN, max_output_tokens=5, thinking_tokens=0, temperature=0.7, top_p=0.5))
    assert body == {"max_tokens": 5, "thinking": {"type": "disabled"}, "temperature": 0.7, "top_p": 0.5}
    with pytest.raises(ModelError, match="at least 1024 tokens, or 0 for none, found 512"):
        sent(server, Request(PLAIN, thinking_tokens=512))


def test_newer_models_have_an_effort_and_no_sampling(server: FakeServer) -> None:
    newer = {"model": "claude-test-9"}
    assert sent(server, Request(PLAIN, max_output_tokens=5), **newer) == {"max_tokens": 5}
    body = sent(server, Request(PLAIN, max_output_tokens=5), effort="high", **newer)
    assert body == {"max_tokens": 5, "thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}
    with pytest.raises(ModelError, match="an effort instead of a thinking budget"):
        sent(server, Request(PLAIN, thinking_tokens=2048), **newer)
    with pytest.raises(ModelError, match="takes no sampling parameters"):
        sent(server, Request(PLAIN, temperature=0.3), **newer)
    # The table may be wrong about a model of tomorrow: the user can say so.
    assert sent(server, Request(PLAIN, max_output_tokens=5), sampling=True, **newer)["temperature"] == 0.0


@pytest.mark.parametrize(
    ("model", "sampling"),
    [
        ("claude-3-5-sonnet-latest", True),
        ("claude-3-opus-20240229", True),
        ("claude-opus-4-20250514", True),
        ("claude-sonnet-4-0", True),
        ("claude-opus-4-1-20250805", True),
        ("claude-haiku-4-5", True),
        ("claude-sonnet-4-6", True),
        ("claude-opus-4-7", False),
        ("claude-opus-4-8", False),
        ("claude-sonnet-5", False),
        ("claude-haiku-5-5", False),
        ("claude-fable-5-2", False),
    ],
)
def test_which_models_take_a_temperature(model: str, sampling: bool) -> None:
    body = AnthropicModel(model, ModelOptions()).body(Request(PLAIN))
    assert ("temperature" in body) is sampling


def test_headers_of_the_environment_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "anthropic-beta: something")
    with pytest.raises(InputError, match=r"Remedy: unset ANTHROPIC_CUSTOM_HEADERS"):
        AnthropicModel("claude-opus-5")


def test_an_empty_account_is_told_as_an_invalid_request() -> None:
    words = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing"
    with FakeServer(lambda call: failure(400, words)) as server, pytest.raises(QuotaExhausted, match="credit balance"):
        ask(open_adapter("anthropic", server))


def test_cached_and_newly_cached_tokens_are_input_tokens() -> None:
    from anthropic.types import Message

    model = AnthropicModel("claude-test-4-5", ModelOptions())
    usage = {"input_tokens": 10, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 20, "output_tokens": 5}
    content = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "A"}]
    fields: dict[str, Any] = {"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_sequence": None}
    answer = Message.model_validate({**fields, "content": content, "stop_reason": "end_turn", "usage": usage})
    reply = model.reply(answer, Request(PLAIN))
    assert (reply.text, reply.input_tokens, reply.cached_tokens, reply.output_tokens) == ("A", 100, 70, 5)
    assert reply.details["cache_written_tokens"] == 20
    cut = answer.model_copy(update={"stop_reason": "model_context_window_exceeded"})
    assert model.reply(cut, Request(PLAIN)).status == "truncated"
    asyncio.run(model.close())
