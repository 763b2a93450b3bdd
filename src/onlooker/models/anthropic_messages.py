"""Claude, by Anthropic's messages API.

Built on the official SDK with its retries switched off. The SDK has no arguments for temperature and top_p any more
(models since Opus 4.7 refuse them); for the models that take them they go into the body.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from onlooker.errors import InputError, MissingExtra, ModelError
from onlooker.models.capabilities import refuse_sampling, refuse_unaccepted
from onlooker.models.endpoint import retry_after_s
from onlooker.models.limits import check_request
from onlooker.models.options import ModelOptions
from onlooker.models.payload import in_base64
from onlooker.models.remote import RemoteModel, Service
from onlooker.models.request import Image, Options, Reply, Request, Status, Text
from onlooker.models.soundness import token_count

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from anthropic.types import Message

_T = TypeVar("_T")
_URL = "https://api.anthropic.com"
# The SDK adds these headers to every request and cannot be told not to.
_HIDDEN = "ANTHROPIC_CUSTOM_HEADERS"
# An empty account is told as an invalid request (status 400), only by its words.
_QUOTA_WORDS = ("credit balance is too low", "billing_error", "insufficient_quota", "reached your specified api usage")
_LEAST_THINKING_TOKENS = 1024
_STATUS: Mapping[str, Status] = {
    "refusal": "refused",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
}
# Arguments of the SDK; everything else goes into the body as it is.
_NAMED = frozenset(("model", "messages", "max_tokens", "system", "thinking"))
_WRITTEN = ("model", "messages", "max_tokens", "system", "thinking", "temperature", "top_p", "stream")
_USABLE = ("base_url", "api_key_env", "accepts", "timeout_s", "effort", "sampling", "limits", "settings")


_SERVICE = Service(
    provider="anthropic",
    wire="anthropic messages",
    own_url=_URL,
    own_key_env=("ANTHROPIC_API_KEY",),
    quota_words=_QUOTA_WORDS,
    usable=_USABLE,
)


class AnthropicModel(RemoteModel):
    """One Claude; ``ModelOptions`` says what can be set.

    A thinking budget (at least 1024 tokens) is added to the output budget, because the API counts both together; with
    thinking, temperature and top_p have their defaults and are not sent. Models that have an effort instead of a budget
    are told ``effort``; for them a budget is refused, and 0 switches thinking off. There is no seed and no JSON mode in
    this API: what was not sent stands in the reply's ``details`` under ``not_sent``. Raises InputError, MissingExtra.
    """

    kind = "anthropic"

    def __init__(self, model: str, options: ModelOptions | None = None) -> None:
        options = options or ModelOptions()
        in_output = ("effort",) if options.effort else ()
        super().__init__(model, options, _SERVICE, {None: _WRITTEN, "output_config": in_output})
        if os.environ.get(_HIDDEN):
            raise InputError(
                f"the environment variable {_HIDDEN} would change what is sent, and no run would say so",
                where=self.name,
                remedy=f"unset {_HIDDEN}",
            )
        self._sdk = _load_sdk()
        self._client: AsyncAnthropic | None = None

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Model, endpoint and how everything is sent; never the key."""
        return self.described()

    async def ask(self, request: Request) -> Reply:
        """One request on the wire. Errors as ``Model.ask`` says; the key is in no message."""
        body = self.body(request)
        named = {name: value for name, value in body.items() if name in _NAMED}
        further = {name: value for name, value in body.items() if name not in _NAMED}
        answer = await self.call(lambda client: client.messages.create(**named, extra_body=further or None))
        return self.reply(answer, request)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def connect(self) -> AsyncAnthropic:
        """The SDK's client, made once and given everything, so that no variable of the environment changes it."""
        if self._client is None:
            self._client = self._sdk.AsyncAnthropic(
                base_url=self._endpoint.url,
                api_key=self._endpoint.key or "none",
                timeout=self._timeout_s,
                max_retries=0,
                open_telemetry=False,
                # The endpoint that a run names is the one that is asked: what is sent goes nowhere else.
                http_client=self._sdk.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        return self._client

    async def call(self, send: Callable[[AsyncAnthropic], Awaitable[_T]]) -> _T:
        """One exchange with the server, its failures as ours."""
        anthropic = self._sdk
        try:
            async with asyncio.timeout(self._timeout_s):
                return await send(self.connect())
        except (TimeoutError, anthropic.APITimeoutError):
            raise self._endpoint.late(self._timeout_s) from None
        except anthropic.APIStatusError as error:
            words = f"{error.type or ''} {error.api_message or error.message}".strip()
            wait_s = retry_after_s(error.response.headers)
            raise self.failure(error.status_code, words, retry_after_s=wait_s) from None
        except anthropic.APIConnectionError as error:
            raise self._endpoint.cut(error) from None
        except (anthropic.APIError, ValueError, RecursionError) as error:
            raise self._endpoint.garbled("the answer is not what the API describes", error) from None

    def body(self, request: Request) -> dict[str, Any]:
        """The body of one call as it goes out; ModelError where the request cannot be sent as it is."""
        refuse_unaccepted(request, self._accepts, self.name)
        check_request(request, self._limits, self.name)
        body: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_output_tokens + (request.thinking_tokens or 0),
            "messages": [{"role": "user", "content": _content(request)}],
        }
        if request.system is not None:
            body["system"] = request.system
        thinking = self._thinking(request)
        if thinking is not None:
            body["thinking"] = thinking
        if not self._sampling:
            refuse_sampling(request, self.name, why="this model takes no sampling parameters")
        elif thinking is not None and thinking["type"] != "disabled":
            refuse_sampling(request, self.name, why="this model thinks at its own temperature")
        else:
            body["temperature"] = request.temperature
            if request.top_p is not None:
                body["top_p"] = request.top_p
        body.update(self._options.settings)
        if self._options.effort is not None:
            body["output_config"] = {**body.get("output_config", {}), "effort": self._options.effort}
        return body

    def reply(self, answer: Message, request: Request) -> Reply:
        """What the server said; TransientModelError where it is no message."""
        blocks, usage = getattr(answer, "content", None), getattr(answer, "usage", None)
        # Whatever a server may send: the SDK checks nothing of it.
        if not isinstance(blocks, list):
            raise self._endpoint.garbled("the answer holds no content", getattr(answer, "error", None) or answer)
        words = [getattr(block, "text", None) for block in blocks if getattr(block, "type", None) == "text"]
        if not all(isinstance(word, str) for word in words):
            raise self._endpoint.garbled("a block of text holds no text", answer)
        text = "".join(map(str, words))
        stop = answer.stop_reason
        details: dict[str, object] = {"finish_reason": stop, "response_id": answer.id}
        read = written = cached = None
        if usage is not None:
            # The API counts cached tokens beside input_tokens; here input_tokens are all of them, as elsewhere.
            cached = token_count(getattr(usage, "cache_read_input_tokens", None))
            made = token_count(getattr(usage, "cache_creation_input_tokens", None))
            fresh = token_count(getattr(usage, "input_tokens", None))
            read = None if fresh is None else fresh + (cached or 0) + (made or 0)
            written = token_count(getattr(usage, "output_tokens", None))
            if made:
                details["cache_written_tokens"] = made
            if (thought := getattr(usage, "output_tokens_details", None)) is not None:
                details["reasoning_tokens"] = getattr(thought, "thinking_tokens", None)
        left_out = self._not_sent(request)
        if left_out:
            details["not_sent"] = left_out
        reply = Reply(
            text=text,
            status=_STATUS.get(str(stop), "ok" if text.strip() else "empty"),
            input_tokens=read,
            output_tokens=written,
            cached_tokens=cached,
            served_model=answer.model or None,
            details=details,
        )
        return self._endpoint.hide_in(reply)

    def failure(self, status: int, words: str, *, retry_after_s: float | None = None) -> ModelError:
        """The server's own words as the error they mean."""
        return self._endpoint.failure(status, words, retry_after_s=retry_after_s)

    def _thinking(self, request: Request) -> dict[str, Any] | None:
        tokens, kind = request.thinking_tokens, self._can.thinking
        if tokens == 0:
            return {"type": "disabled"}
        if tokens is None:
            return {"type": "adaptive"} if self._options.effort is not None and kind != "budget" else None
        if kind == "effort":
            raise ModelError(
                "this model takes an effort instead of a thinking budget",
                where=self.name,
                value=tokens,
                remedy="state the effort (low, medium, high, xhigh or max) and no budget",
            )
        if tokens < _LEAST_THINKING_TOKENS:
            raise ModelError(
                f"a thinking budget is at least {_LEAST_THINKING_TOKENS} tokens, or 0 for none",
                where=self.name,
                value=tokens,
            )
        return {"type": "enabled", "budget_tokens": tokens}

    def _not_sent(self, request: Request) -> list[str]:
        thinks = (self._thinking(request) or {"type": "disabled"})["type"] != "disabled"
        left_out = {
            "temperature": request.temperature != 1.0 and (thinks or not self._sampling),
            "seed": request.seed is not None,
            "json_object": request.json_object,
        }
        return [name for name, is_out in left_out.items() if is_out]


def _content(request: Request) -> list[dict[str, Any]]:
    """The parts in order, neighbouring words joined."""
    content: list[dict[str, Any]] = []
    for part in request.parts:
        match part:
            case Image():
                source = {"type": "base64", "media_type": "image/jpeg", "data": in_base64(part.jpeg)}
                content.append({"type": "image", "source": source})
            case Text(text=""):
                pass  # the API refuses an empty block
            case Text() | Options() if content and content[-1]["type"] == "text":
                content[-1]["text"] += part.text
            case Text() | Options():
                content.append({"type": "text", "text": part.text})
            case _:
                raise AssertionError("the kinds of parts were checked before")
    return content


def _load_sdk() -> ModuleType:
    try:
        import anthropic  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtra("anthropic", "a model of Anthropic") from error
    return anthropic
