"""Anthropic's message batches. Source: platform.claude.com/docs/en/build-with-claude/batch-processing."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from onlooker.errors import ModelError
from onlooker.models.anthropic_messages import AnthropicModel
from onlooker.models.batch import BatchLimits, BatchState, call_id, check_batch, check_batch_bytes
from onlooker.models.request import Reply, Request

_LIMITS = BatchLimits(max_calls=100_000, max_bytes=256_000_000)
_STATUS = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "overloaded_error": 529,
}


class AnthropicBatch:
    """See ``BatchModel``."""

    def __init__(self, model: AnthropicModel) -> None:
        self._model = model

    @property
    def limits(self) -> BatchLimits:
        """As Anthropic documents them."""
        return _LIMITS

    async def submit(self, calls: Sequence[tuple[str, Request]]) -> str:
        """All requests in one body."""
        check_batch([key for key, _ in calls], _LIMITS, self._model.name)
        rows: list[Any] = []
        size = 0
        for key, request in calls:
            rows.append({"custom_id": call_id(key), "params": self._model.body(request)})
            size += len(json.dumps(rows[-1]))
            check_batch_bytes(size, _LIMITS, self._model.name)
        batch = await self._model.call(lambda client: client.messages.batches.create(requests=rows))
        return batch.id

    async def find(self, keys: Sequence[str]) -> str | None:
        """By the keys among the results, since these batches have no names.

        Raises ModelError while a batch of as many calls is under way: whether it is the same cannot be told before it
        ends, and submitting again could pay twice.
        """
        wanted = {call_id(key) for key in keys}

        async def look() -> str | None:
            client = self._model.connect()
            async for batch in await client.messages.batches.list():
                counts = batch.request_counts
                total = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
                if total != len(wanted):
                    continue
                if batch.processing_status != "ended":
                    raise ModelError(
                        "a batch of as many calls is under way; whether it is the same cannot be told yet",
                        where=self._model.name,
                        value=batch.id,
                        remedy="run again when it has ended (within 24 hours)",
                    )
                if batch.results_url is None:
                    continue
                async for row in await client.messages.batches.results(batch.id):
                    if row.custom_id in wanted:
                        return batch.id
                    break
            return None

        return await self._model.call(lambda _: look())

    async def poll(self, handle: str) -> BatchState:
        """Every batch ends, after 24 hours at the latest."""
        batch = await self._model.call(lambda client: client.messages.batches.retrieve(handle))
        return BatchState("ended" if batch.processing_status == "ended" else "running", batch.processing_status)

    async def fetch(self, handle: str, calls: Mapping[str, Request]) -> dict[str, Reply | ModelError]:
        """Cancelled and expired calls have no result."""
        keys = {call_id(key): key for key in calls}
        results: dict[str, Reply | ModelError] = {}

        async def read() -> None:
            async for row in await self._model.connect().messages.batches.results(handle):
                key = keys.get(row.custom_id)
                if key is not None and (result := self._result(row.result, calls[key])) is not None:
                    results[key] = result

        await self._model.call(lambda _: read())
        return results

    def _result(self, result: Any, request: Request) -> Reply | ModelError | None:
        if result.type == "succeeded":
            try:
                return self._model.reply(result.message, request)
            except ModelError as garbled:
                return garbled
        if result.type == "errored":
            error = result.error.error
            return self._model.failure(_STATUS.get(error.type, 500), f"{error.type} {error.message}")
        return None
