"""Google's Files API as the local server plays it: resumable uploads, processing, loss."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_DATA = re.compile(r"/upload-data/(?P<name>files/\w+)")
_LOOK = re.compile(r"/v1(?:beta)?/(?P<name>files/\w+)")
Sent = tuple[int, bytes, Mapping[str, str]]


@dataclass(slots=True)
class LentFile:
    """A file that was uploaded."""

    mime: str
    data: bytes = b""
    looks: int = 0


@dataclass(slots=True)
class LentFiles:
    """``processing``: how many looks find a new file unready; ``fail``: it never gets ready; ``delay_s`` an upload.

    ``told``: all that was heard about files but their bytes.
    """

    processing: int = 0
    fail: bool = False
    delay_s: float = 0.0
    kept_s: float = 48 * 3600.0
    files: dict[str, LentFile] = field(default_factory=dict)
    uploads: int = 0
    lost: set[str] = field(default_factory=set)
    told: list[str] = field(default_factory=list)

    def lose(self) -> None:
        """From now on the server knows nothing of the files it has."""
        self.lost |= set(self.files)

    def unknown(self, body: Mapping[str, Any]) -> str | None:
        """The first file that a request speaks of and the server does not know."""
        for uri in re.findall(r"https://files\.example/(files/\w+)", json.dumps(body)):
            if uri in self.lost or uri not in self.files:
                return str(uri)
        return None

    def serve(self, port: int, path: str, headers: Mapping[str, str], raw: bytes) -> Sent | None:
        """The answer to an exchange about files; None where it is about something else."""
        self.told.append(f"{path} {dict(headers)}")
        if path.startswith("/upload/"):
            self.uploads += 1
            name = f"files/f{self.uploads}"
            self.files[name] = LentFile(headers["x-goog-upload-header-content-type"])
            return 200, b"{}", {"X-Goog-Upload-URL": f"http://127.0.0.1:{port}/upload-data/{name}"}
        if found := _DATA.fullmatch(path):
            time.sleep(self.delay_s)
            name = found["name"]
            file = self.files[name]
            assert int(headers["x-goog-upload-offset"]) == len(file.data)
            file.data += raw
            final = "finalize" in headers["x-goog-upload-command"]
            body = json.dumps({"file": self._described(name)}).encode() if final else b""
            return 200, body, {"X-Goog-Upload-Status": "final" if final else "active"}
        if found := _LOOK.fullmatch(path):
            name = found["name"]
            if name in self.lost or name not in self.files:
                error = {"code": 404, "message": f"{name} is not here", "status": "NOT_FOUND"}
                return 404, json.dumps({"error": error}).encode(), {}
            self.files[name].looks += 1
            return 200, json.dumps(self._described(name)).encode(), {}
        return None

    def _described(self, name: str) -> dict[str, Any]:
        file = self.files[name]
        ready = file.looks >= self.processing
        state = "PROCESSING" if not ready else "FAILED" if self.fail else "ACTIVE"
        until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.kept_s))
        described: dict[str, Any] = {
            "name": name,
            "uri": f"https://files.example/{name}",
            "mimeType": file.mime,
            "sizeBytes": str(len(file.data)),
            "state": state,
            "expirationTime": until,
        }
        if state == "FAILED":
            described["error"] = {"code": 13, "message": "the codec is not known"}
        return described
