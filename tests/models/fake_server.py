"""A server that speaks the wire format of OpenAI's chat completions, and can misbehave in every way of a real one.

In a test: ``with FakeServer(answer) as server: OpenAIModel("m", base_url=server.url)``. As a
process of its own, for tests that kill the client:

    python -m tests.models.fake_server --port 0 --log FILE [--delay-s S] [--fail-every N]

prints its port on the first line and appends one JSON line for every request it answers. A reply
is a pure function of the request's body, so that two runs over the same requests compare equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

_OPTION_LINE = re.compile(r"^(\S{1,8})\. ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
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
    def text(self) -> str:
        """All words of all messages, in order."""
        words = []
        for message in self.body["messages"]:
            content = message["content"]
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
            words += [part["text"] for part in parts if part["type"] == "text"]
        return "".join(words)


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. ``body`` replaces the completion; ``cut_after_bytes`` resets the connection in the body."""

    text: str = ""
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_after_bytes: int | None = None


def failure(status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None) -> Answer:
    """An error in the format of the API."""
    body = {"error": {"message": message, "type": code or "error", "code": code, "param": None}}
    return Answer(status=status, body=json.dumps(body).encode(), headers=headers or {})


def plausible(call: Call) -> Answer:
    """Chooses one of the lettered options by the digest of the body; without options, a sentence with the digest."""
    ids = _OPTION_LINE.findall(call.text)
    drawn = int(call.sha256[:8], 16)
    text = f"Answer: {ids[drawn % len(ids)]}" if ids else f"The digest of this request is {call.sha256[:12]}."
    return Answer(text)


class FakeServer:
    """Listens on a free port of the loop-back interface while entered; ``calls`` in order of arrival."""

    def __init__(
        self,
        answer: Callable[[Call], Answer] = plausible,
        *,
        port: int = 0,
        answered: Callable[[Call, Answer], None] | None = None,
    ) -> None:
        self.calls: list[Call] = []
        self.in_flight_max = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._answer = answer
        self._answered = answered
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server._serve(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep the test's output clean."""

        self._http = _Http(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        """The base URL as a client wants it."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def serve_forever(self) -> None:
        """Serve in this thread until the process is killed."""
        self._http.serve_forever()

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers["content-length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            call = Call(len(self.calls), handler.path, headers, json.loads(raw), raw)
            self.calls.append(call)
            self._in_flight += 1
            self.in_flight_max = max(self.in_flight_max, self._in_flight)
        try:
            answer = self._answer(call)
            time.sleep(answer.delay_s)
            if self._answered is not None:
                with self._lock:
                    self._answered(call, answer)
        finally:
            with self._lock:
                self._in_flight -= 1
        _send(handler, call, answer)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests are about."""


def _send(handler: BaseHTTPRequestHandler, call: Call, answer: Answer) -> None:
    body = _completion(call, answer) if answer.body is None else answer.body
    handler.send_response(answer.status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if answer.cut_after_bytes is None:
        handler.wfile.write(body)
        return
    handler.wfile.write(body[: answer.cut_after_bytes])
    handler.wfile.flush()
    # Zero linger: the client sees a reset, not an orderly end.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True


def _completion(call: Call, answer: Answer) -> bytes:
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if answer.refusal is not None:
        message["content"] = None
    read, written = len(call.text.split()), len(answer.text.split())
    body = {
        "id": f"chatcmpl-{call.sha256[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": f"{call.body['model']}-2026-01-01",
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish_reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
        },
    }
    return json.dumps(body).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake chat-completions server.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--delay-s", type=float, default=0.0)
    parser.add_argument("--fail-every", type=int, default=0, help="answer every Nth request with status 500")
    options = parser.parse_args()

    def answer(call: Call) -> Answer:
        if options.fail_every and (call.order + 1) % options.fail_every == 0:
            return failure(500, "a failure on purpose")
        said = plausible(call)
        return Answer(said.text, delay_s=options.delay_s)

    def note(call: Call, said: Answer) -> None:
        row = {
            "order": call.order,
            "sha256": call.sha256,
            "status": said.status,
            "model": call.body["model"],
            "text": said.text,
        }
        with options.log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")

    server = FakeServer(answer, port=options.port, answered=note)
    sys.stdout.write(f"{server.port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
