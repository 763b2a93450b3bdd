"""Google's batch API, with a file of requests. Source: ai.google.dev/gemini-api/docs/batch-api."""

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
from onlooker.models.google_genai import GoogleModel
from onlooker.models.request import Reply, Request

# The pages state no number of calls; the file is at most 2 GB.
_LIMITS = BatchLimits(max_calls=1_000_000, max_bytes=2_000_000_000)
_FAILED = "JOB_STATE_FAILED"
_ENDED = frozenset(("JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_CANCELLED", "JOB_STATE_EXPIRED"))


class GoogleBatch:
    """See ``BatchModel``."""

    def __init__(self, model: GoogleModel) -> None:
        self._model = model

    @property
    def limits(self) -> BatchLimits:
        """As Google documents them."""
        return _LIMITS

    async def submit(self, calls: Sequence[tuple[str, Request]]) -> str:
        """Write the file of requests, send it, start the batch. Large videos are uploaded before."""
        keys = [key for key, _ in calls]
        check_batch(keys, _LIMITS, self._model.name)
        with tempfile.TemporaryDirectory() as folder:
            path, size = Path(folder) / "calls.jsonl", 0
            with path.open("w", encoding="utf-8") as file:
                for key, request in calls:
                    row = {"key": call_id(key), "request": await self._model.wire_body(request)}
                    size += file.write(json.dumps(row) + "\n")
                    check_batch_bytes(size, _LIMITS, self._model.name)
            source = await self._model.send_file(path, "application/jsonl")
        name = batch_name(self._model, keys)
        return await self._model.call(
            lambda client: client.aio.batches.create(
                model=self._model.model, src=source, config={"display_name": name}
            ),
            lambda job: str(job.name),
        )

    async def find(self, keys: Sequence[str]) -> str | None:
        """By the name that is shown."""
        name = batch_name(self._model, keys)

        async def look() -> str | None:
            async for job in await self._model.connect().aio.batches.list():
                if job.display_name == name:
                    return job.name
            return None

        return await self._model.call(lambda _: look(), lambda found: found)

    async def poll(self, handle: str) -> BatchState:
        """Expired and cancelled jobs have no results: their calls stay owed."""
        job = await self._job(handle)
        state = str(job.state.value) if job.state else "JOB_STATE_UNSPECIFIED"
        if state == _FAILED:
            return BatchState("failed", (job.error.message if job.error else None) or "no reason given")
        return BatchState("ended" if state in _ENDED else "running", state)

    async def fetch(self, handle: str, calls: Mapping[str, Request]) -> dict[str, Reply | ModelError]:
        """The file of results, where there is one."""
        job = await self._job(handle)
        source = job.dest.file_name if job.dest else None
        if not source:
            return {}
        data: bytes = await self._model.call(lambda client: client.aio.files.download(file=source), bytes)
        keys = {call_id(key): key for key in calls}
        results: dict[str, Reply | ModelError] = {}
        for row in read_rows(data.decode("utf-8", "replace"), self._model.name):
            key = keys.get(row.get("key", ""))
            if key is not None:
                results[key] = self._result(row, calls[key])
        return results

    async def _job(self, handle: str) -> Any:
        return await self._model.call(lambda client: client.aio.batches.get(name=handle), lambda job: job)

    def _result(self, row: Mapping[str, Any], request: Request) -> Reply | ModelError:
        error = row.get("error") or row.get("status")
        if error:
            code = error.get("code", 500) if isinstance(error, dict) else 500
            return self._model.failure(_HTTP.get(code, code), error)
        try:
            return self._model.reply(row.get("response") or {}, request)
        except ModelError as garbled:
            return garbled


# A status object in a file has the codes of gRPC (google.rpc.Code), a refused request those of HTTP.
_HTTP = {3: 400, 4: 504, 5: 404, 7: 403, 8: 429, 9: 400, 10: 409, 13: 500, 14: 503, 16: 401}
