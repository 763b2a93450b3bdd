"""Models behind a chat-completions endpoint: OpenAI, vLLM, llama.cpp, whatever speaks that format.

Built on the official SDK with its retries switched off: one ``ask`` is one request on the wire, and
waiting is the business of ``retry.ask_with_retry``, so that every paid call can be counted.
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from onlooker.errors import (
    InputError,
    MissingExtra,
    ModelError,
    QuotaExhausted,
    TransientModelError,
)
from onlooker.models.request import Image, Modality, Reply, Request, Sound

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI
    from openai.types.chat import ChatCompletion

ImageDetail = Literal["low", "high", "auto"]

_OPENAI_URL = "https://api.openai.com/v1"
_LOCAL_HOSTS = frozenset(("localhost", "127.0.0.1", "::1", "0.0.0.0"))  # noqa: S104  a name to recognise, not to bind
_PASSING_STATUS = frozenset((408, 409, 425, 429))
_QUOTA_WORDS = ("insufficient_quota", "billing_hard_limit", "exceeded your current quota")
_TEXT: frozenset[Modality] = frozenset(("text",))
_TEXT_AND_IMAGE: frozenset[Modality] = frozenset(("text", "image"))


class OpenAIModel:
    """One model at one endpoint.

    ``base_url`` None is OpenAI's own endpoint; the SDK's environment variables for another one are
    not read, because a hidden setting would change what a run measured. The key is read from the
    variable ``api_key_env``; an endpoint on this machine needs none. ``timeout_s`` bounds a whole
    call, not a read. The output budget is sent as ``max_completion_tokens`` to OpenAI (its newer
    models refuse the older name) and as ``max_tokens`` elsewhere (compatible servers may ignore the
    newer one). Raises InputError where the key is missing or the URL is none; MissingExtra.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        accepts: frozenset[Modality] = _TEXT_AND_IMAGE,
        timeout_s: float = 300.0,
        image_detail: ImageDetail | None = None,
    ) -> None:
        self._model = model
        self._url = (base_url or _OPENAI_URL).rstrip("/")
        self._own_endpoint = base_url is None
        self._accepts = accepts | _TEXT
        self._timeout_s = timeout_s
        self._image_detail = image_detail
        host = _host(self._url)
        self._key = os.environ.get(api_key_env, "").strip()
        if not self._key and host not in _LOCAL_HOSTS:
            raise InputError(
                f"no key for {host}: the environment variable {api_key_env} is not set",
                where=self.name,
                remedy=f"export {api_key_env}=..., or name another variable",
            )
        self._sdk = _load_sdk()
        self._client: AsyncOpenAI | None = None

    @property
    def name(self) -> str:
        """``openai:MODEL``."""
        return f"openai:{self._model}"

    @property
    def accepts(self) -> frozenset[Modality]:
        """As given; text always."""
        return self._accepts

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Model, endpoint and how media are sent; never the key."""
        return {
            "kind": "openai chat completions",
            "model": self._model,
            "endpoint": self._url,
            "accepts": ",".join(sorted(self._accepts)),
            "image_detail": self._image_detail or "not sent",
        }

    @property
    def at_once(self) -> int | None:
        """As many as it is asked."""
        return None

    async def ask(self, request: Request) -> Reply:
        """One request on the wire. Errors as ``Model.ask`` says; the key is in no message."""
        openai = self._sdk
        body = self._body(request)
        client = self._connected()
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await client.chat.completions.create(**body)
        except (TimeoutError, openai.APITimeoutError):
            raise TransientModelError(f"no answer within {self._timeout_s:g} s", where=self.name) from None
        except openai.APIStatusError as error:
            raise self._refusal(error) from None
        except openai.APIConnectionError as error:
            reason = self._hide(str(error.__cause__ or error))
            raise TransientModelError(
                "the connection failed", where=f"{self.name} at {self._url}", value=reason
            ) from None
        except (openai.APIError, ValueError) as error:
            # ValueError: a body that is no JSON although the server said so.
            raise TransientModelError(
                "the answer is not a chat completion", where=self.name, value=self._hide(str(error))
            ) from None
        return self._reply(answer)

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _connected(self) -> AsyncOpenAI:
        if self._client is None:
            self._client = self._sdk.AsyncOpenAI(
                base_url=self._url,
                api_key=self._key or "none",
                timeout=self._timeout_s,
                max_retries=0,
            )
        return self._client

    def _body(self, request: Request) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": "user", "content": self._content(request)}],
            "temperature": request.temperature,
        }
        budget = "max_completion_tokens" if self._own_endpoint else "max_tokens"
        body[budget] = request.max_output_tokens
        if request.seed is not None:
            body["seed"] = request.seed
        return body

    def _content(self, request: Request) -> str | list[dict[str, Any]]:
        """The parts in order, neighbouring words joined; a plain string where all are words."""
        content: list[dict[str, Any]] = []
        for part in request.parts:
            if isinstance(part, Image):
                self._require("image")
                image = {"url": f"data:image/jpeg;base64,{_base64(part.jpeg)}"}
                detail = {"detail": self._image_detail} if self._image_detail else {}
                content.append({"type": "image_url", "image_url": image | detail})
            elif isinstance(part, Sound):
                self._require("sound")
                sound = {"data": _base64(part.wav), "format": "wav"}
                content.append({"type": "input_audio", "input_audio": sound})
            elif content and content[-1]["type"] == "text":
                content[-1]["text"] += part.text
            else:
                content.append({"type": "text", "text": part.text})
        if len(content) == 1 and content[0]["type"] == "text":
            words: str = content[0]["text"]
            return words
        return content

    def _require(self, modality: Modality) -> None:
        if modality not in self._accepts:
            raise ModelError(
                f"the request holds {modality}, which this model is not said to take",
                where=self.name,
                value=sorted(self._accepts),
            )

    def _reply(self, answer: ChatCompletion) -> Reply:
        choices = getattr(answer, "choices", None)
        if not choices:
            raise TransientModelError("the answer holds no choice", where=self.name, value=self._hide(str(answer)))
        message, finish = choices[0].message, choices[0].finish_reason
        if message is None:
            raise TransientModelError("the choice holds no message", where=self.name)
        text = message.content or message.refusal or ""
        usage = answer.usage
        return Reply(
            text=text,
            status="refused"
            if message.refusal or finish == "content_filter"
            else "truncated"
            if finish == "length"
            else "ok"
            if text.strip()
            else "empty",
            input_tokens=usage.prompt_tokens if usage else None,
            output_tokens=usage.completion_tokens if usage else None,
            served_model=answer.model or None,
            details={"finish_reason": finish, "response_id": answer.id},
        )

    def _refusal(self, error: APIStatusError) -> ModelError:
        """The server's own words as the error they mean."""
        words = self._hide(_words(error))
        status: int = error.status_code
        where = f"{self.name} at {self._url}"
        quota = any(word in words.lower() for word in _QUOTA_WORDS)
        if status == 402 or (status in (403, 429) and quota):
            return QuotaExhausted(
                f"the account is out of quota (status {status})",
                where=where,
                value=words,
                remedy="top up or wait, then run again: what is finished is kept",
            )
        if status in _PASSING_STATUS or status >= 500:
            return TransientModelError(
                f"the server answered with status {status}",
                where=where,
                value=words,
                retry_after_s=retry_after_s(error.response.headers, now_s=time.time()),
            )
        return ModelError(f"the server refused the request (status {status})", where=where, value=words)

    def _hide(self, words: str) -> str:
        return words.replace(self._key, "[key]") if self._key else words


def retry_after_s(headers: Mapping[str, str], *, now_s: float) -> float | None:
    """Seconds (>= 0) a server asks to wait; None where it does not say.

    Read from ``retry-after-ms``, else from ``Retry-After``.
    ``Retry-After`` is a number of seconds or an HTTP date (RFC 9110, section 10.2.3), the date
    counted from ``now_s`` (seconds of the Unix epoch). Header names are looked up in lower case.
    """
    for header, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(header)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * unit_s)
        except ValueError:
            pass
        try:
            at = parsedate_to_datetime(value)
        except ValueError:
            continue
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, at.timestamp() - now_s)
    return None


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


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _host(url: str) -> str:
    parts = urlsplit(url)
    try:
        _ = parts.port
    except ValueError as error:
        raise InputError(f"not an http(s) URL ({error})", where="base URL", value=url) from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InputError("not an http(s) URL", where="base URL", value=url)
    if parts.username or parts.password:
        raise InputError(
            "a base URL must hold no credentials, since it is written into run folders",
            where=f"base URL of {parts.hostname}",
            remedy="put the key into an environment variable",
        )
    return parts.hostname
