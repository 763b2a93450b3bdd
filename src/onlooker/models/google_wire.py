"""What Google's API says, as JSON, in our words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from onlooker.models.request import Reply, Status

_REFUSED = frozenset(
    (
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "MODEL_ARMOR",
    )
)


def read_reply(answer: Mapping[str, Any]) -> Reply | None:
    """A GenerateContentResponse; None where it holds neither a candidate nor the reason of a blocked prompt."""
    candidates, blocked = answer.get("candidates") or [], (answer.get("promptFeedback") or {}).get("blockReason")
    if not blocked and not (isinstance(candidates, list) and candidates and isinstance(candidates[0], Mapping)):
        return None
    first = candidates[0] if candidates else {}
    spoken = (first.get("content") or {}).get("parts") or []
    text = "".join(part.get("text") or "" for part in spoken if not part.get("thought"))
    finish = first.get("finishReason")
    status: Status = "ok" if text.strip() else "empty"
    if blocked or finish in _REFUSED:
        status = "refused"
    elif finish == "MAX_TOKENS":
        status = "truncated"
    usage = answer.get("usageMetadata") or {}
    written, thought = usage.get("candidatesTokenCount"), usage.get("thoughtsTokenCount")
    details: dict[str, object] = {"finish_reason": finish or blocked, "response_id": answer.get("responseId")}
    if thought is not None:
        details["reasoning_tokens"] = thought
    return Reply(
        text=text,
        status=status,
        input_tokens=usage.get("promptTokenCount"),
        output_tokens=None if written is None and thought is None else (written or 0) + (thought or 0),
        cached_tokens=usage.get("cachedContentTokenCount"),
        served_model=answer.get("modelVersion"),
        details=details,
    )


def read_status(body: Any) -> tuple[str, float | None]:
    """An error body (google.rpc.Status): its words, with the quotas it names, and how many seconds it asks to wait."""
    error = body.get("error", body) if isinstance(body, dict) else {}
    if not isinstance(error, dict):
        error = {"message": error}
    words = f"{error.get('status') or ''} {error.get('message') or body}".strip()
    wait_s: float | None = None
    quotas: list[str] = []
    for detail in error.get("details") or []:
        if not isinstance(detail, dict):
            continue
        if str(detail.get("@type", "")).endswith("RetryInfo"):
            wait_s = _seconds(detail.get("retryDelay"))
        quotas += [str(violation.get("quotaId", "")) for violation in detail.get("violations") or []]
    return words + (f" ({', '.join(quotas)})" if quotas else ""), wait_s


def duration(at_s: float) -> str:
    """Seconds as the API writes a duration."""
    return f"{at_s:.3f}".rstrip("0").rstrip(".") + "s"


def _seconds(words: object) -> float | None:
    """A duration as the API writes it (``34.07s``) in seconds; None where it is none."""
    try:
        return max(0.0, float(str(words).removesuffix("s")))
    except ValueError:
        return None


def merged(body: dict[str, Any], further: Mapping[str, Any]) -> dict[str, Any]:
    """The body with further parameters put into it, level by level."""
    result = dict(body)
    for name, value in further.items():
        inner = result.get(name)
        result[name] = merged(inner, value) if isinstance(inner, dict) and isinstance(value, Mapping) else value
    return result
