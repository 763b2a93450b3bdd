"""The three wire formats as a server sees and speaks them, written after what the official SDKs send and read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

Format = Literal["openai", "anthropic", "google"]
_GOOGLE_ASK = re.compile(r"/v1(?:beta)?/models/(?P<model>[^:]+):generateContent")
_FINISH: Mapping[Format, Mapping[str, str]] = {
    "openai": {},
    "anthropic": {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"},
    "google": {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"},
}
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


@dataclass(frozen=True)
class Call:
    """A request as received: its place in the order of arrival (from 0), headers in lower case, body as JSON."""

    order: int
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    raw: bytes

    @property
    def sha256(self) -> str:
        """Of the body's bytes, in hex."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def format(self) -> Format:
        """By the path."""
        return format_of(self.path) or "openai"

    @property
    def model(self) -> str:
        """Which model is asked."""
        found = _GOOGLE_ASK.fullmatch(self.path)
        return found["model"] if found else str(self.body["model"])

    @property
    def key(self) -> str | None:
        """The key that was sent, None where there was none."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer or self.headers.get("x-goog-api-key") or self.headers.get("x-api-key")

    @cached_property
    def parts(self) -> list[dict[str, Any]]:
        """All parts of all turns in order, as the format has them; words as ``{"text": ...}``."""
        body = self.body
        if self.format == "google":
            turns = [body["systemInstruction"]] if "systemInstruction" in body else []
            return [part for turn in (*turns, *body["contents"]) for part in turn["parts"]]
        contents = [body["system"]] if "system" in body else []
        contents += [turn["content"] for turn in body["messages"]]
        return [part for content in contents for part in ([{"text": content}] if isinstance(content, str) else content)]

    @property
    def text(self) -> str:
        """All words, in order."""
        return "".join(part["text"] for part in self.parts if "text" in part)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. ``body`` replaces the completion; ``cut_after_bytes`` resets the connection in the body.

    ``error``: message and code of a failure, put into the words of the format that was asked in.
    """

    text: str = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_after_bytes: int | None = None
    error: tuple[str, str | None] | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


def failure(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the format of the API."""
    return Answer(status=status, error=(message, code), headers=headers or {})


def format_of(path: str) -> Format | None:
    """Whose completions are asked at a path; None where it is something else."""
    if path.endswith("/chat/completions"):
        return "openai"
    if path == "/v1/messages":
        return "anthropic"
    return "google" if _GOOGLE_ASK.fullmatch(path) else None


def rendered(call: Call, answer: Answer) -> bytes:
    """The bytes of the body that goes back."""
    if answer.body is not None:
        return answer.body
    return json.dumps(error_body(call.format, answer) if answer.error else completion(call, answer)).encode()


def error_body(form: Format, answer: Answer) -> dict[str, Any]:
    """As each API tells a failure."""
    assert answer.error is not None
    message, code = answer.error
    status = answer.status
    if form == "openai":
        return {"error": {"message": message, "type": code or "error", "code": code, "param": None}}
    if form == "anthropic":
        kind = _ANTHROPIC_TYPES.get(status, "api_error")
        told = f"{message} ({code})" if code else message
        return {"type": "error", "error": {"type": kind, "message": told}, "request_id": "req_1"}
    details = []
    if code:
        quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": code}]}
        details.append(quota)
    name = _GOOGLE_STATUS.get(status, "INTERNAL")
    return {"error": {"code": status, "message": message, "status": name, "details": details}}


def completion(call: Call, answer: Answer) -> dict[str, Any]:
    """A reply as each API gives one; token counts are counts of words."""
    finish = _FINISH[call.format].get(answer.finish_reason, answer.finish_reason)
    read, written = len(call.text.split()), len(answer.text.split())
    served = f"{call.model}-2026-01-01"
    if call.format == "openai":
        return _openai(call, answer, finish, read, written, served)
    if call.format == "anthropic":
        usage: dict[str, Any] = {"input_tokens": read - (answer.cached_tokens or 0), "output_tokens": written}
        if answer.cached_tokens is not None:
            usage["cache_read_input_tokens"] = answer.cached_tokens
        if answer.reasoning_tokens is not None:
            usage["output_tokens_details"] = {"thinking_tokens": answer.reasoning_tokens}
        return {
            "id": f"msg_{call.sha256[:24]}",
            "type": "message",
            "role": "assistant",
            "model": served,
            "content": [{"type": "text", "text": answer.text}] if answer.text else [],
            "stop_reason": "refusal" if answer.refusal is not None else finish,
            "stop_sequence": None,
            "usage": usage,
        }
    counts: dict[str, Any] = {
        "promptTokenCount": read,
        "candidatesTokenCount": written,
        "totalTokenCount": read + written,
    }
    if answer.cached_tokens is not None:
        counts["cachedContentTokenCount"] = answer.cached_tokens
    if answer.reasoning_tokens is not None:
        counts["thoughtsTokenCount"] = answer.reasoning_tokens
        counts["candidatesTokenCount"] = written - answer.reasoning_tokens
    reply: dict[str, Any] = {"usageMetadata": counts, "modelVersion": served, "responseId": call.sha256[:24]}
    if answer.refusal is not None:
        return reply | {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
    content = {"role": "model", "parts": [{"text": answer.text}] if answer.text else []}
    return reply | {"candidates": [{"index": 0, "content": content, "finishReason": finish}]}


def _openai(call: Call, answer: Answer, finish: str, read: int, written: int, served: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.refusal is not None:
        message["content"] = None
    usage: dict[str, Any] = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    if answer.cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": answer.cached_tokens}
    if answer.reasoning_tokens is not None:
        usage["completion_tokens_details"] = {"reasoning_tokens": answer.reasoning_tokens}
    return {
        "id": f"chatcmpl-{call.sha256[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": served,
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": usage,
    }
