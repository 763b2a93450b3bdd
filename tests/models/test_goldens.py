"""The exact bytes that each SDK sends for a request with every kind of part: a change shows as a diff in review.

Written anew with ``python -m tests.models.test_goldens`` (look at what changed before committing it).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import tests
from tests.models.adapters import KEYS, KINDS, NAMES, Kind, ask, everything, everything_options, open_adapter
from tests.models.fake_server import FakeServer

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(tests.__path__[0]).parent


def body(kind: Kind, *, uploaded: bool = False) -> bytes:
    """What arrives at the server."""
    options = everything_options(kind) | ({"limits": {"inline_bytes": 1}} if uploaded else {})
    with FakeServer() as server, tempfile.TemporaryDirectory() as folder:
        ask(open_adapter(kind, server, **options), everything(kind, Path(folder)))
    return server.calls[0].raw + b"\n"


def bodies() -> dict[str, bytes]:
    """All of them by the name of their file."""
    made = {f"{kind}.json": body(kind) for kind in KINDS}
    return made | {"google_uploaded.json": body("google", uploaded=True)}


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS.values():
        monkeypatch.setenv(name, "key")


def test_the_bytes_on_the_wire_are_the_committed_ones() -> None:
    for name, made in bodies().items():
        assert made == (GOLDEN / name).read_bytes(), (
            f"{name}: python -m tests.models.test_goldens, then look at the diff"
        )


def test_two_processes_send_the_same_bytes(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        env = {**os.environ, "PYTHONHASHSEED": seed, **dict.fromkeys(KEYS.values(), "key")}
        command = [sys.executable, "-m", "tests.models.test_goldens", str(tmp_path / seed)]
        subprocess.run(command, cwd=ROOT, env=env, check=True)
    for path in (tmp_path / "1").iterdir():
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes() == (GOLDEN / path.name).read_bytes()


def test_the_goldens_hold_every_kind_of_part() -> None:
    assert set(NAMES) == set(KINDS)
    words = {path.name: path.read_text(encoding="utf-8") for path in GOLDEN.iterdir()}
    assert [word in words["openai.json"] for word in ("image_url", "input_audio", "video_url")] == [True] * 3
    assert "media_type" in words["anthropic.json"]
    assert [word in words["google.json"] for word in ("image/jpeg", "audio/wav", "video/mp4")] == [True] * 3
    assert words["google_uploaded.json"].count("https://files.example/files/") == 2


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else GOLDEN
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEYS.values():
        os.environ.setdefault(name, "key")
    for name, made in bodies().items():
        (folder / name).write_bytes(made)


if __name__ == "__main__":
    main()
