"""Models behind a chat-completions endpoint: OpenAI, vLLM, SGLang, OpenRouter, DashScope, whatever speaks that format.

Built on the official SDK with its retries switched off: one ``ask`` is one request on the wire, and
waiting is the business of ``retry.ask_with_retry``, so that every paid call can be counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from onlooker.errors import MissingExtra, ModelError
from onlooker.models.capabilities import (
    Provider,
    refuse_sampling,
    refuse_unaccepted,
)
from onlooker.models.endpoint import retry_after_s
from onlooker.models.limits import check_request
from onlooker.models.options import ModelOptions
from onlooker.models.payload import in_base64, read_videos
from onlooker.models.remote import RemoteModel, Service
from onlooker.models.request import Image, Reply, Request, Sound, Status, Video

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types.chat import ChatCompletion

_T = TypeVar("_T")
_OPENAI_URL = "https://api.openai.com/v1"
_QUOTA_WORDS = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota", "insufficient balance")
_WRITTEN = (
    "model",
    "messages",
    "temperature",
    "top_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "reasoning_effort",
    "stream",
    "n",
)
_USABLE = (
    "base_url",
    "api_key_env",
    "accepts",
    "timeout_s",
    "image_detail",
    "effort",
    "sampling",
    "video_as",
    "video_fps",
    "limits",
    "settings",
)


_SERVICE = Service(
    provider="openai",
    wire="openai chat completions",
    own_url=_OPENAI_URL,
    own_key_env=("OPENAI_API_KEY",),
    quota_words=_QUOTA_WORDS,
    usable=_USABLE,
)


class OpenAIModel(RemoteModel):
    """One model at one endpoint; ``ModelOptions`` says what can be set.

    The output budget is sent as ``max_completion_tokens`` to OpenAI (its newer models refuse the older name) and as
    ``max_tokens`` elsewhere (compatible servers may ignore the newer one). There is no parameter for a thinking budget
    in this format: a request with one is refused, ``effort`` and the server's own parameters (``settings``) are there
    instead. Raises InputError where the key is missing, the URL is none or an option is of no use; MissingExtra.
    """

    kind = "openai"

    def __init__(self, model: str, options: ModelOptions | None = None) -> None:
        options = options or ModelOptions()
        self._provider: Provider = "compatible" if options.base_url else "openai"
        in_processor = ("fps",) if options.video_fps else ()
        service = replace(_SERVICE, provider=self._provider)
        super().__init__(model, options, service, {None: _WRITTEN, "mm_processor_kwargs": in_processor})
        self._sdk = _load_sdk()
        self._client: AsyncOpenAI | None = None

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Model, endpoint and how everything is sent; never the key."""
        options = self._options
        return self.described(
            image_detail=options.image_detail or "not sent",
            video=f"{options.video_as or 'data'}, fps {options.video_fps or 'not sent'}",
        )

    async def ask(self, request: Request) -> Reply:
        """One request on the wire. Errors as ``Model.ask`` says; the key is in no message."""
        body = await self.body(request)
        named = {name: value for name, value in body.items() if name in _WRITTEN}
        further = {name: value for name, value in body.items() if name not in _WRITTEN}
        answer = await self.call(lambda client: client.chat.completions.create(**named, extra_body=further or None))
        return self.reply(answer, request)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def connect(self) -> AsyncOpenAI:
        """The SDK's client, made once."""
        if self._client is None:
            # The account's names, which the SDK takes from the environment, concern OpenAI alone.
            unsaid = dict.fromkeys(("OpenAI-Organization", "OpenAI-Project"), self._sdk.Omit())
            self._client = self._sdk.AsyncOpenAI(
                base_url=self._endpoint.url,
                api_key=self._endpoint.key or "none",
                timeout=self._timeout_s,
                max_retries=0,
                # The endpoint that a run names is the one that is asked: what is sent goes nowhere else.
                http_client=self._sdk.DefaultAsyncHttpxClient(follow_redirects=False),
                default_headers=unsaid if self._provider == "compatible" else None,
            )
        return self._client

    async def call(self, send: Callable[[AsyncOpenAI], Awaitable[_T]]) -> _T:
        """One exchange with the server, its failures as ours."""
        openai = self._sdk
        try:
            async with asyncio.timeout(self._timeout_s):
                return await send(self.connect())
        except (TimeoutError, openai.APITimeoutError):
            raise self._endpoint.late(self._timeout_s) from None
        except openai.APIStatusError as error:
            wait_s = retry_after_s(error.response.headers)
            raise self.failure(error.status_code, _words(error), retry_after_s=wait_s) from None
        except openai.APIConnectionError as error:
            raise self._endpoint.cut(error) from None
        except (openai.APIError, ValueError, RecursionError) as error:
            # A body that is no JSON although the server said so, or JSON without end.
            raise self._endpoint.garbled("the answer is not what the API describes", error) from None

    async def body(self, request: Request) -> dict[str, Any]:
        """The body of one call as it goes out; ModelError where the request cannot be sent as it is."""
        refuse_unaccepted(request, self._accepts, self.name)
        check_request(request, self._limits, self.name, uploaded=self._options.video_as == "file")
        if request.thinking_tokens is not None:
            raise ModelError(
                "chat completions have no parameter for a thinking budget",
                where=self.name,
                value=request.thinking_tokens,
                remedy="state an effort, or the server's own parameter as a setting",
            )
        videos = {} if self._options.video_as == "file" else await read_videos(request, self.name)
        turns = [{"role": "user", "content": self._content(request, videos)}]
        if request.system is not None:
            turns.insert(0, {"role": "system", "content": request.system})
        body: dict[str, Any] = {"model": self._model, "messages": turns}
        if self._sampling:
            body["temperature"] = request.temperature
            if request.top_p is not None:
                body["top_p"] = request.top_p
        else:
            refuse_sampling(request, self.name, why="this model takes no sampling parameters")
        budget = "max_completion_tokens" if self._provider == "openai" else "max_tokens"
        body[budget] = request.max_output_tokens
        if request.seed is not None:
            body["seed"] = request.seed
        if request.json_object:
            body["response_format"] = {"type": "json_object"}
        if self._options.effort is not None:
            body["reasoning_effort"] = self._options.effort
        body.update(self._options.settings)
        if (fps := self._processor_fps(request)) is not None:
            body["mm_processor_kwargs"] = {**body.get("mm_processor_kwargs", {}), "fps": fps}
        return body

    def reply(self, answer: ChatCompletion, request: Request) -> Reply:
        """What the server said; TransientModelError where it is no completion."""
        # Whatever a server may send: the SDK checks nothing of it.
        choices = getattr(answer, "choices", None)
        first = choices[0] if isinstance(choices, list) and choices else None
        # OpenRouter tells the failure of the provider behind it with status 200.
        for told in (getattr(answer, "error", None), getattr(first, "error", None)):
            if told:
                raise self._failure_inside(told)
        message, finish = getattr(first, "message", None), getattr(first, "finish_reason", None)
        if first is None or message is None or finish == "error":
            raise self._endpoint.garbled("the answer holds no message", answer)
        refusal = _spoken(getattr(message, "refusal", None))
        text = _spoken(getattr(message, "content", None))
        if text is None or refusal is None:
            raise self._endpoint.garbled("the message holds no words", message)
        text = text or refusal
        status: Status = "ok" if text.strip() else "empty"
        if refusal or finish == "content_filter":
            status = "refused"
        elif finish == "length":
            status = "truncated"
        details: dict[str, object] = {"finish_reason": finish, "response_id": answer.id}
        usage = answer.usage
        read = getattr(usage, "prompt_tokens_details", None)
        written = getattr(usage, "completion_tokens_details", None)
        if (thought := getattr(written, "reasoning_tokens", None)) is not None:
            details["reasoning_tokens"] = thought
        if not self._sampling and request.temperature != 1.0:
            details["not_sent"] = ["temperature"]
        reply = Reply(
            text=text,
            status=status,
            input_tokens=getattr(usage, "prompt_tokens", None),
            output_tokens=getattr(usage, "completion_tokens", None),
            cached_tokens=getattr(read, "cached_tokens", None),
            served_model=answer.model or None,
            details=details,
        )
        return self._endpoint.hide_in(reply)

    def _failure_inside(self, told: object) -> ModelError:
        """An error in a body that came with status 200; its code is the status that it would have had."""
        code = told.get("code") if isinstance(told, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        return self.failure(status, str(told.get("message") or told) if isinstance(told, dict) else str(told))

    def failure(self, status: int, words: str, *, retry_after_s: float | None = None) -> ModelError:
        """The server's own words as the error they mean."""
        return self._endpoint.failure(status, words, retry_after_s=retry_after_s)

    def _content(self, request: Request, videos: Mapping[str, bytes]) -> str | list[dict[str, Any]]:
        """The parts in order, neighbouring words joined; a plain string where all are words."""
        content: list[dict[str, Any]] = []
        for part in request.parts:
            match part:
                case Image():
                    image = {"url": f"data:image/jpeg;base64,{in_base64(part.jpeg)}"}
                    detail = {"detail": self._options.image_detail} if self._options.image_detail else {}
                    content.append({"type": "image_url", "image_url": image | detail})
                case Sound():
                    sound = {"data": in_base64(part.wav), "format": "wav"}
                    content.append({"type": "input_audio", "input_audio": sound})
                case Video():
                    content.append(self._video(part, videos))
                case _ if content and content[-1]["type"] == "text":
                    content[-1]["text"] += part.text
                case _:
                    content.append({"type": "text", "text": part.text})
        if len(content) == 1 and content[0]["type"] == "text":
            words: str = content[0]["text"]
            return words
        return content

    def _video(self, video: Video, videos: Mapping[str, bytes]) -> dict[str, Any]:
        if video.watch_s is not None:
            raise ModelError(
                "chat completions have no parameter for a stretch of a video file",
                where=self.name,
                value=video.watch_s,
                remedy="give a file that holds only the stretch",
            )
        if self._options.video_as == "file":
            url = video.path.resolve().as_uri()
        else:
            url = f"data:{video.mime};base64,{in_base64(videos[video.sha256])}"
        part: dict[str, Any] = {"type": "video_url", "video_url": {"url": url}}
        if video.fps is not None and self._options.video_fps == "part":
            part["fps"] = video.fps
        elif video.fps is not None and self._options.video_fps is None:
            raise ModelError(
                "servers differ in how they are told the frame rate of a video, and nothing was said about this one",
                where=self.name,
                value=video.fps,
                remedy="state video_fps (part for DashScope, processor for vLLM), or ask for no frame rate",
            )
        return part

    def _processor_fps(self, request: Request) -> float | None:
        """As vLLM takes it: one rate for all videos of a request."""
        rates = sorted({p.fps for p in request.parts if isinstance(p, Video) and p.fps is not None})
        if not rates or self._options.video_fps != "processor":
            return None
        if len(rates) > 1:
            raise ModelError(
                "this server takes one frame rate for all videos of a request", where=self.name, value=rates
            )
        return rates[0]


def _spoken(content: object) -> str | None:
    """The words of a message: a string, nothing, or a list of parts whose texts are joined; None: none of these."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    words = [part.get("text") for part in content if part.get("type") == "text"]
    return "".join(map(str, words)) if all(isinstance(word, str) for word in words) else None


def _load_sdk() -> ModuleType:
    try:
        import openai  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtra("openai", "a model behind an OpenAI-compatible endpoint") from error
    return openai


def _words(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        return " ".join(str(body[k]) for k in ("message", "code", "type") if body.get(k)) or str(body)
    return str(body or error.message)
