"""A server that speaks three wire formats, and can misbehave in every way of a real one.

OpenAI's chat completions, Anthropic's messages and Google's generateContent, with Google's Files API (``lent_files``)
and the three batch APIs (``batches``). In a test: ``with FakeServer(answer) as server:`` and the base URL
``server.url`` (for OpenAI) or ``server.root`` (for the others). As a process of its own, for tests that
kill the client:

    python -m tests.models.fake_server --port 0 --log FILE [--delay-s S] [--fail-every N]

prints its port on the first line and appends one JSON line for every request it answers. A reply
is a pure function of the request's body, so that two runs over the same requests compare equal.
"""

from __future__ import annotations

import argparse
import json
import re
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from tests.models.batches import Batches
from tests.models.lent_files import LentFiles
from tests.models.wire import Answer, Call, failure, format_of, rendered

__all__ = ["Answer", "Call", "FakeServer", "failure", "plausible"]

_OPTION_LINE = re.compile(r"^(\S{1,8})\. ", re.MULTILINE)


def plausible(call: Call) -> Answer:
    """Chooses one of the lettered options by the digest of the body; without options, a sentence with the digest."""
    ids = _OPTION_LINE.findall(call.text)
    drawn = int(call.sha256[:8], 16)
    text = f"Answer: {ids[drawn % len(ids)]}" if ids else f"The digest of this request is {call.sha256[:12]}."
    return Answer(text)


class FakeServer:
    """Listens on a free port of the loop-back interface while entered.

    ``calls``: what was asked, in order of arrival. ``traffic``: method and path of everything else. ``files`` and
    ``batches`` say how those behave.
    """

    def __init__(
        self,
        answer: Callable[[Call], Answer] = plausible,
        *,
        port: int = 0,
        answered: Callable[[Call, Answer], None] | None = None,
    ) -> None:
        self.calls: list[Call] = []
        self.traffic: list[tuple[str, str]] = []
        self.files = LentFiles()
        self.batches = Batches(answer, lambda name: self.files.files[name].data)
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

            def do_GET(self) -> None:
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
        """The base URL as OpenAI's client wants it."""
        return f"{self.root}/v1"

    @property
    def root(self) -> str:
        """The base URL as the clients of Anthropic and Google want it."""
        return f"http://127.0.0.1:{self.port}"

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
        raw = handler.rfile.read(int(handler.headers["content-length"] or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        path = urlsplit(handler.path).path
        if format_of(path) is None:
            self._serve_aside(handler, path, headers, raw)
            return
        with self._lock:
            call = Call(len(self.calls), path, headers, json.loads(raw), raw)
            self.calls.append(call)
            self._in_flight += 1
            self.in_flight_max = max(self.in_flight_max, self._in_flight)
        try:
            unknown = self.files.unknown(call.body) if call.format == "google" else None
            answer = failure(403, f"no permission for {unknown}") if unknown else self._answer(call)
            time.sleep(answer.delay_s)
            if self._answered is not None:
                with self._lock:
                    self._answered(call, answer)
        finally:
            with self._lock:
                self._in_flight -= 1
        _send(handler, rendered(call, answer), answer)

    def _serve_aside(self, handler: BaseHTTPRequestHandler, path: str, headers: dict[str, str], raw: bytes) -> None:
        with self._lock:
            self.traffic.append((handler.command, path))
        sent = self.files.serve(self.port, path, headers, raw)
        sent = sent or self.batches.serve(self.port, handler.command, path, raw)
        status, body, more = sent or (404, b"{}", {})
        _send(handler, body, Answer(status=status, headers=more))


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is what some tests are about."""


def _send(handler: BaseHTTPRequestHandler, body: bytes, answer: Answer) -> None:
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


def main() -> None:
    parser = argparse.ArgumentParser(description="A fake server of three APIs.")
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
            "model": call.model,
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
