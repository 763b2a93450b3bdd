"""Speech recognition by a server, against a local one that speaks the real wire format."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import lfilter

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.media.speech import transcribe
from onlooker.media.speech_endpoint import pieces
from onlooker.media.transcript import Segment, render_transcript

from .making import counter, write

pytest.importorskip("faster_whisper")
pytest.importorskip("openai")

TOO_MANY = (429, {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}})
BROKEN = (500, {"error": {"message": "oops", "type": "server_error", "code": None}})
NO_MONEY = (429, {"error": {"message": "pay first", "type": "insufficient_quota", "code": "insufficient_quota"}})
WRONG = (400, {"error": {"message": "response_format is not supported", "type": "invalid_request_error", "code": None}})


class FakeServer:
    """Answers one after the other; keeps what it was sent."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.seen: list[dict[str, bytes]] = []
        self.keys: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                boundary = self.headers["content-type"].partition("boundary=")[2].encode()
                parts = re.findall(
                    rb'name="([^"]+)"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(.*?)\r\n--' + boundary, body, re.DOTALL
                )
                outer.seen.append({"path": self.path.encode(), **{name.decode(): value for name, value in parts}})
                outer.keys.append(self.headers["authorization"])
                status, answer = outer.answers.pop(0)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("retry-after-ms", "1")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    fake = FakeServer()
    thread = threading.Thread(target=fake.server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("SPEECH_KEY", "secret")
    yield fake
    fake.server.shutdown()
    fake.server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def voiced(folder: Path) -> Path:
    """Four seconds of vowels, which voice detection takes for speech, then four of silence."""
    vowels = [vowel(name) for name in "aiueaieuaeiuai"]
    spoken = np.concatenate([np.concatenate([v, np.zeros(960)]) for v in vowels])
    samples = np.concatenate([spoken, np.zeros(128_000 - len(spoken))])
    return write(folder / "voiced.mkv", counter(40), rate=5, sounds=[samples.astype(np.int16)], sound_codec="pcm_s16le")


def vowel(name: str) -> NDArray[np.float64]:
    """A vowel of 0.22 s: pulses of a falling voice through the resonances of a mouth (Peterson & Barney 1952)."""
    formants_hz = {"a": (730, 1090, 2440), "i": (270, 2290, 3010), "u": (300, 870, 2240), "e": (530, 1840, 2480)}
    count = 3520
    pitch_hz = 120 * np.linspace(1.1, 0.9, count) * (1 + 0.03 * np.sin(np.arange(count) * 2 * np.pi * 5 / 16_000))
    sound = lfilter([1], [1, -0.95], np.diff(np.floor(np.cumsum(pitch_hz) / 16_000), prepend=0))
    for formant_hz, width_hz in zip(formants_hz[name], (80, 100, 120), strict=True):
        radius = np.exp(-np.pi * width_hz / 16_000)
        turn = 2 * radius * np.cos(2 * np.pi * formant_hz / 16_000)
        sound = lfilter([1 - radius], [1, -turn, radius**2], sound)
    return np.asarray(sound / np.abs(sound).max() * np.hanning(count) ** 0.3 * 9000)


def row(start: float, end: float, text: str, **more: float) -> dict[str, Any]:
    usual = {"avg_logprob": -0.3, "compression_ratio": 1.0, "no_speech_prob": 0.01}
    return {
        "id": 0,
        "seek": 0,
        "start": start,
        "end": end,
        "text": text,
        "tokens": [],
        "temperature": 0.0,
        **usual,
        **more,
    }


def answer(*rows: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    text = "".join(r["text"] for r in rows)
    return 200, {"task": "transcribe", "language": "english", "duration": 8.0, "text": text, "segments": list(rows)}


def ask(server: FakeServer, path: Path) -> Any:
    return transcribe(path, model="openai:whisper-1", base_url=server.url, key_variable="SPEECH_KEY", language="en")


def test_segments_are_clamped_rejected_and_flagged(server: FakeServer, voiced: Path) -> None:
    """Cases A03 and A05: times beyond the sound, an end before the start, words where nobody speaks, a loop."""
    server.answers = [
        TOO_MANY,
        BROKEN,
        answer(
            row(0.2, 1.9, " Hello there."),
            row(2.0, 1.0, " backwards"),
            row(2.0, 3.0, " faint", avg_logprob=-1.5),
            row(3.0, 4.0, " la la la" * 4),
            row(5.5, 9.5, " Thanks for watching!"),
        ),
    ]
    transcript = ask(server, voiced)
    assert transcript.segments[0] == Segment(0.2, 1.9, "Hello there.")
    assert [s.text for s in transcript.segments] == [
        "Hello there.",
        "faint",
        " ".join(["la"] * 12),
        "Thanks for watching!",
    ]
    assert [s.suspect for s in transcript.segments[1:]] == [
        "mean log-probability -1.50",
        "repeats a phrase (11 of 12 words)",
        "no speech was detected there",
    ]
    assert transcript.segments[-1].end_s == 8.0
    assert transcript.notices == (
        "rejected: [2.000, 1.000] is no stretch of the sound, which ends at 8.000 s",
        "cut to the medium, 0 to 8.000 s: [5.500, 9.500]",
    )
    assert (transcript.language, transcript.made_by) == ("english", "openai:whisper-1 at a server")
    assert render_transcript(transcript) == "[0.2-1.9] Hello there."
    sent = server.seen[-1]
    assert sent["path"] == b"/v1/audio/transcriptions"
    assert (sent["model"], sent["response_format"], sent["language"]) == (b"whisper-1", b"verbose_json", b"en")
    assert sent["timestamp_granularities[]"] == b"segment"
    assert sent["file"][:4] == b"RIFF"
    assert len(server.seen) == 3
    assert set(server.keys) == {"Bearer secret"}


def test_silence_is_never_sent(server: FakeServer, silent: Path, base: Path) -> None:
    assert ask(server, silent).status == "no_speech"
    assert ask(server, base).status == "no_audio"
    assert server.seen == []


@pytest.mark.parametrize(
    ("answers", "kind", "message"),
    [
        ([BROKEN] * 5, TransientModelError, "answered 500"),
        ([TOO_MANY] * 5, TransientModelError, "answered 429"),
        ([NO_MONEY] * 5, QuotaExhausted, "out of quota"),
        ([WRONG], ModelError, r"answered 400 .*response_format is not supported"),
        ([(200, {"text": "no times"})], ModelError, "no segments with times"),
        ([(200, {"text": "x", "segments": [{"text": "x", "start": None, "end": 1}]})], ModelError, "finite number"),
    ],
)
def test_what_a_server_does_wrong_is_typed(
    server: FakeServer, voiced: Path, answers: list[tuple[int, Any]], kind: type[Exception], message: str
) -> None:
    server.answers = list(answers)
    with pytest.raises(kind, match=message):
        ask(server, voiced)
    assert server.answers == []


def test_a_server_that_is_not_there(voiced: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onlooker.media.speech_endpoint._RETRIES", 0)
    with pytest.raises(TransientModelError, match="cannot be reached"):
        transcribe(voiced, model="openai:w", base_url="http://127.0.0.1:9/v1")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY: the key of the speech server is not set"):
        transcribe(voiced, model="openai:w")
    with pytest.raises(InputError, match="only a server's model has a base URL"):
        transcribe(voiced, model="whisper-tiny-en", base_url="http://127.0.0.1:9/v1")


def test_long_sound_is_cut_in_pauses() -> None:
    speech = [(10.0, 290.0), (310.0, 500.0), (540.0, 590.0), (1300.0, 1310.0), (2500.0, 2510.0)]
    # The pause 590 - 1300 has its middle at 945, the pause 1310 - 2500 at 1905; pieces without speech are left out.
    assert pieces(0.0, 2520.0, speech) == [(0.0, 600.0), (945.0, 1545.0), (2205.0, 2520.0)]
    assert pieces(0.0, 700.0, [(0.0, 400.0), (420.0, 700.0)]) == [(0.0, 410.0), (410.0, 700.0)]
    assert pieces(-1.0, 599.0, speech) == [(-1.0, 599.0)]
    assert pieces(0.0, 30.0, []) == []
    # Nobody pauses: at ten minutes.
    assert pieces(0.0, 1000.0, [(0.0, 1000.0)]) == [(0.0, 600.0), (600.0, 1000.0)]
