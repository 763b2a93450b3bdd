"""OpenAI's batch API: a file of requests goes up, a file of answers and a file of errors come down.

Compatible servers that have it (DashScope, for one) take the same. Source: developers.openai.com/api/docs/guides/batch.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onlooker.errors import ModelError
from onlooker.models.batch import (
    BatchLimits,
    BatchState,
    batch_name,
    call_id,
    check_batch,
    check_batch_bytes,
    read_rows,
)
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.request import Reply, Request

_TAG = "onlooker"
_LIMITS = BatchLimits(max_calls=50_000, max_bytes=200_000_000)
# An expired or cancelled batch has the answers of those calls whose turn had come.
_ENDED = frozenset(("completed", "expired", "cancelled"))
_NEVER_ASKED = frozenset(("batch_expired", "batch_cancelled"))


class OpenAIBatch:
    """See ``BatchModel``."""

    def __init__(self, model: OpenAIModel) -> None:
        self._model = model

    @property
    def limits(self) -> BatchLimits:
        """As OpenAI documents them."""
        return _LIMITS

    async def submit(self, calls: Sequence[tuple[str, Request]]) -> str:
        """Write the file of requests, send it, start the batch."""
        keys = [key for key, _ in calls]
        check_batch(keys, _LIMITS, self._model.name)
        with tempfile.TemporaryDirectory() as folder:
            path, size = Path(folder) / "calls.jsonl", 0
            with path.open("w", encoding="utf-8") as file:
                for key, request in calls:
                    body = await self._model.body(request)
                    row = {"custom_id": call_id(key), "method": "POST", "url": "/v1/chat/completions", "body": body}
                    size += file.write(json.dumps(row) + "\n")
                    check_batch_bytes(size, _LIMITS, self._model.name)
            sent = await self._model.call(lambda client: client.files.create(file=path, purpose="batch"))
        batch = await self._model.call(
            lambda client: client.batches.create(
                input_file_id=sent.id,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={_TAG: batch_name(self._model, keys)},
            )
        )
        return batch.id

    async def find(self, keys: Sequence[str]) -> str | None:
        """By the name among the batch's metadata."""
        name = batch_name(self._model, keys)

        async def look() -> str | None:
            async for batch in self._model.connect().batches.list():
                if (batch.metadata or {}).get(_TAG) == name:
                    return batch.id
            return None

        return await self._model.call(lambda _: look())

    async def poll(self, handle: str) -> BatchState:
        """A batch whose file was refused has failed as a whole."""
        batch = await self._model.call(lambda client: client.batches.retrieve(handle))
        if batch.status == "failed":
            found = batch.errors.data if batch.errors else None
            return BatchState("failed", "; ".join(error.message or "" for error in found or []))
        return BatchState("ended" if batch.status in _ENDED else "running", batch.status)

    async def fetch(self, handle: str, calls: Mapping[str, Request]) -> dict[str, Reply | ModelError]:
        """Both files, where there are any."""
        batch = await self._model.call(lambda client: client.batches.retrieve(handle))
        keys = {call_id(key): key for key in calls}
        results: dict[str, Reply | ModelError] = {}
        for name in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = await self._model.call(lambda client, name=name: client.files.content(name))  # type: ignore[misc]
            for row in read_rows(content.text, self._model.name):
                key = keys.get(row.get("custom_id", ""))
                if key is not None and (result := self._result(row, calls[key])) is not None:
                    results[key] = result
        return results

    def _result(self, row: Mapping[str, Any], request: Request) -> Reply | ModelError | None:
        """None where the call was never carried out."""
        from openai.types.chat import ChatCompletion  # noqa: PLC0415  an extra

        error, response = row.get("error"), row.get("response")
        if error:
            if error.get("code") in _NEVER_ASKED:
                return None
            return ModelError("the call failed in the batch", where=self._model.name, value=error.get("message"))
        if not response:
            return None
        body, status = response.get("body") or {}, response.get("status_code", 200)
        if status != 200:
            told = body.get("error") or body
            names = ("message", "code", "type")
            words = " ".join(str(told[n]) for n in names if told.get(n)) if isinstance(told, dict) else str(told)
            return self._model.failure(status, words)
        try:
            return self._model.reply(ChatCompletion.construct(**body), request)
        except ModelError as garbled:
            return garbled
