"""What Inspect kept of a reply, as the fields of a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from inspect_ai.model import ModelOutput, StopReason

    from onlooker.records.results import Status

MARK: Final = "onlooker"
"""The key of our metadata, of a task and of a sample."""
STATUS: Final[Mapping[StopReason, Status]] = {
    "stop": "ok",
    "max_tokens": "truncated",
    "model_length": "truncated",
    "content_filter": "refused",
    "tool_calls": "ok",
    "unknown": "ok",
}
"""Our status by Inspect's reason to stop. A blank reply is ``empty`` where the reason says ``ok``."""


def reply_fields(output: ModelOutput) -> dict[str, Any]:
    """``raw``, ``status``, ``usage``, ``latency_s`` and ``served_model`` of a prediction.

    A sample without any reply is an ``error``. The text is that of the message as Inspect gives it: what a provider
    hands over as reasoning stands apart in the log. Inspect counts tokens read from a cache beside ``input_tokens``, we
    count them in.
    """
    usage: dict[str, int | None] = {"input_tokens": None, "output_tokens": None}
    if output.usage is not None:
        read, written = output.usage.input_tokens_cache_read or 0, output.usage.input_tokens_cache_write or 0
        usage["input_tokens"] = output.usage.input_tokens + read + written
        usage["output_tokens"] = output.usage.output_tokens
        if output.usage.input_tokens_cache_read is not None:
            usage["cached_tokens"] = read
    status: Status = "error"
    if output.choices:
        status = STATUS[output.stop_reason]
        if status == "ok" and not output.completion.strip():
            status = "empty"
    return {
        "raw": output.completion,
        "status": status,
        "usage": usage,
        "cost_usd": None,
        "latency_s": None if output.time is None else round(output.time, 4),
        "served_model": output.model if output.choices else None,
    }
