"""The three batch APIs as the local server plays them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.models.wire import Answer, Call, completion, error_body

Sent = tuple[int, bytes, Mapping[str, str]]
_GOOGLE_MAKE = re.compile(r"/v1(?:beta)?/models/(?P<model>[^:]+):batchGenerateContent")
_OPENAI_BATCH = re.compile(r"/v1/batches/(?P<id>batch_\d+)")
_OPENAI_FILE = re.compile(r"/v1/files/(?P<id>[a-z]+-\d+)/content")
_ANTHROPIC_BATCH = re.compile(r"/v1/messages/batches/(?P<id>msgbatch_\d+)(?P<results>/results)?")
_GOOGLE_BATCH = re.compile(r"/v1(?:beta)?/(?P<id>batches/b\d+)")
_GOOGLE_RESULTS = re.compile(r"/v1(?:beta)?/(?P<id>files/out\d+):download")
_COUNTS = ("processing", "succeeded", "errored", "canceled", "expired")


@dataclass(slots=True)
class Job:
    """A batch: its rows as ``(id, body)``, its name, how often it was looked at."""

    format: str
    model: str
    rows: list[tuple[str, dict[str, Any]]]
    name: str = ""
    looks: int = 0


@dataclass(slots=True)
class Batches:
    """``running``: how many looks find a batch under way. ``unasked``: so many rows are never carried out.

    ``failed``: the batch fails as a whole. Results come in the reverse order of the requests.
    """

    answer: Callable[[Call], Answer]
    read_file: Callable[[str], bytes]
    running: int = 1
    unasked: int = 0
    failed: bool = False
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def serve(self, port: int, method: str, path: str, raw: bytes) -> Sent | None:
        """The answer to an exchange about batches; None where it is about something else."""
        for serve in (self._openai, self._anthropic, self._google):
            body = serve(port, method, path, raw)
            if body is not None:
                return 200, body if isinstance(body, bytes) else json.dumps(body).encode(), {}
        return None

    def _made(self, job: Job) -> str:
        number = len(self.jobs) + 1
        handle = {"openai": "batch_{}", "anthropic": "msgbatch_{}", "google": "batches/b{}"}[job.format].format(number)
        self.jobs[handle] = job
        return handle

    def _answered(self, job: Job, path: str) -> list[tuple[str, Call, Answer]]:
        carried = job.rows[: len(job.rows) - self.unasked]
        answered = []
        for order, (row, body) in enumerate(carried):
            call = Call(order, path, {}, body, json.dumps(body).encode())
            answered.append((row, call, self.answer(call)))
        return answered[::-1]

    def _openai(self, port: int, method: str, path: str, raw: bytes) -> Any:
        if (method, path) == ("POST", "/v1/files"):
            name = f"file-{len(self.files) + 1}"
            self.files[name] = raw.split(b"\r\n\r\n", 2)[2].rsplit(b"\r\n--", 1)[0] if b"calls.jsonl" in raw else raw
            return {"id": name, "object": "file", "bytes": 1, "created_at": 0, "filename": "f", "purpose": "batch"}
        if (method, path) == ("POST", "/v1/batches"):
            asked = json.loads(raw)
            rows = [json.loads(line) for line in self.files[asked["input_file_id"]].decode().split("\n") if line]
            assert {(row["method"], row["url"]) for row in rows} == {("POST", "/v1/chat/completions")}
            job = Job("openai", "", [(row["custom_id"], row["body"]) for row in rows], asked["metadata"]["onlooker"])
            return self._openai_batch(self._made(job))
        if (method, path) == ("GET", "/v1/batches") and any(job.format == "openai" for job in self.jobs.values()):
            data = [self._openai_batch(handle) for handle, job in self.jobs.items() if job.format == "openai"]
            return {"object": "list", "data": data, "has_more": False}
        if found := _OPENAI_BATCH.fullmatch(path):
            self.jobs[found["id"]].looks += 1
            return self._openai_batch(found["id"])
        if (found := _OPENAI_FILE.fullmatch(path)) and "-" in found["id"]:
            kind, number = found["id"].split("-")
            return self._openai_lines(self.jobs[f"batch_{number}"], kind)
        return None

    def _openai_lines(self, job: Job, kind: str) -> bytes:
        lines: list[dict[str, Any]] = []
        for row, call, answer in self._answered(job, "/v1/chat/completions"):
            if (answer.status == 200) == (kind == "output"):
                body = completion(call, answer) if answer.status == 200 else error_body("openai", answer)
                lines.append(
                    {"custom_id": row, "response": {"status_code": answer.status, "body": body}, "error": None}
                )
        if kind == "errors":
            for row, _ in job.rows[len(job.rows) - self.unasked :]:
                lines.append(
                    {"custom_id": row, "response": None, "error": {"code": "batch_expired", "message": "late"}}
                )
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def _openai_batch(self, handle: str) -> dict[str, Any]:
        job, number = self.jobs[handle], handle.split("_")[1]
        batch: dict[str, Any] = {
            "id": handle,
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "input_file_id": "file-1",
            "completion_window": "24h",
            "created_at": 0,
            "status": "in_progress",
            "metadata": {"onlooker": job.name},
        }
        if self.failed:
            batch |= {"status": "failed", "errors": {"object": "list", "data": [{"message": "line 1 is no JSON"}]}}
        elif job.looks > self.running:
            batch |= {"status": "expired" if self.unasked else "completed"}
            batch |= {"output_file_id": f"output-{number}", "error_file_id": f"errors-{number}"}
        return batch

    def _anthropic(self, port: int, method: str, path: str, raw: bytes) -> Any:
        if (method, path) == ("POST", "/v1/messages/batches"):
            rows = [(row["custom_id"], row["params"]) for row in json.loads(raw)["requests"]]
            return self._anthropic_batch(self._made(Job("anthropic", "", rows)), port)
        if (method, path) == ("GET", "/v1/messages/batches"):
            handles = [handle for handle, job in self.jobs.items() if job.format == "anthropic"]
            return {"data": [self._anthropic_batch(h, port) for h in handles], "has_more": False}
        found = _ANTHROPIC_BATCH.fullmatch(path)
        if not found:
            return None
        job = self.jobs[found["id"]]
        if not found["results"]:
            job.looks += 1
            return self._anthropic_batch(found["id"], port)
        lines = []
        for row, call, answer in self._answered(job, "/v1/messages"):
            result: dict[str, Any] = {"type": "succeeded", "message": completion(call, answer)}
            if answer.status != 200:
                result = {"type": "errored", "error": error_body("anthropic", answer)}
            lines.append({"custom_id": row, "result": result})
        lines += [
            {"custom_id": row, "result": {"type": "expired"}} for row, _ in job.rows[len(job.rows) - self.unasked :]
        ]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def _anthropic_batch(self, handle: str, port: int) -> dict[str, Any]:
        job = self.jobs[handle]
        ended = job.looks > self.running
        counts = dict.fromkeys(_COUNTS, 0) | {"succeeded" if ended else "processing": len(job.rows)}
        return {
            "id": handle,
            "type": "message_batch",
            "processing_status": "ended" if ended else "in_progress",
            "request_counts": counts,
            "created_at": "2026-11-01T00:00:00Z",
            "expires_at": "2026-11-02T00:00:00Z",
            "results_url": f"http://127.0.0.1:{port}/v1/messages/batches/{handle}/results" if ended else None,
        }

    def _google(self, port: int, method: str, path: str, raw: bytes) -> Any:
        if found := _GOOGLE_MAKE.fullmatch(path):
            asked = json.loads(raw)["batch"]
            lines = self.read_file(asked["inputConfig"]["fileName"]).decode().split("\n")
            rows = [(row["key"], row["request"]) for row in (json.loads(line) for line in lines if line)]
            return self._google_batch(self._made(Job("google", found["model"], rows, asked["displayName"])))
        if (method, path) in {("GET", "/v1/batches"), ("GET", "/v1beta/batches")}:
            handles = [handle for handle, job in self.jobs.items() if job.format == "google"]
            return {"operations": [self._google_batch(handle) for handle in handles]}
        if found := _GOOGLE_BATCH.fullmatch(path):
            self.jobs[found["id"]].looks += 1
            return self._google_batch(found["id"])
        found = _GOOGLE_RESULTS.fullmatch(path)
        if not found:
            return None
        job = self.jobs[found["id"].replace("files/out", "batches/b")]
        results: list[dict[str, Any]] = []
        for row, call, answer in self._answered(job, f"/v1/models/{job.model}:generateContent"):
            if answer.status == 200:
                results.append({"key": row, "response": completion(call, answer)})
            else:
                results.append({"key": row, **error_body("google", answer)})
        return "".join(json.dumps(line) + "\n" for line in results).encode()

    def _google_batch(self, handle: str) -> dict[str, Any]:
        job = self.jobs[handle]
        metadata: dict[str, Any] = {"name": handle, "displayName": job.name, "state": "BATCH_STATE_RUNNING"}
        if self.failed:
            metadata["state"] = "BATCH_STATE_FAILED"
        elif job.looks > self.running:
            metadata["state"] = "BATCH_STATE_SUCCEEDED"
            metadata["output"] = {"responsesFile": handle.replace("batches/b", "files/out")}
        return {"name": handle, "metadata": metadata}
