"""What only Google's API has: uploads that take their time and go (V24), quotas of a minute, thinking levels."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.google_genai import GoogleModel
from onlooker.models.google_wire import merged, read_status
from onlooker.models.options import ModelOptions
from onlooker.models.request import Reply, Request, Sound, Text
from onlooker.models.uploads import Stored, Uploads
from tests.models.adapters import ask, no_wait, open_adapter, video
from tests.models.fake_server import Answer, FakeServer

PLAIN = (Text("Who?"),)
# Above this many bytes media are uploaded: all of them, here.
ALWAYS: dict[str, Any] = {"limits": {"inline_bytes": 1}}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "key")


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as running:
        yield running


def watched(folder: Path, **fields: Any) -> Request:
    return Request((Text("Watch: "), video(folder, **fields), Text("Who?")))


def test_an_upload_is_polled_until_it_is_ready_and_used_again(server: FakeServer, tmp_path: Path) -> None:
    """V24: three times PROCESSING, then ACTIVE."""
    server.files.processing = 3
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    model = GoogleModel("gemini-2.5-flash", ModelOptions(base_url=server.root, **ALWAYS), sleep=note)
    ask(model, watched(tmp_path), times=2)
    assert waits == [1.0, 2.0, 4.0]
    assert server.files.uploads == 1
    stored = server.files.files["files/f1"]
    assert (stored.data, stored.mime, stored.looks) == (b"a video", "video/mp4", 3)
    for call in server.calls:
        part = {"fileUri": "https://files.example/files/f1", "mimeType": "video/mp4"}
        given = {key.replace("_u", "U").replace("_t", "T"): v for key, v in call.parts[1]["fileData"].items()}
        assert given == part


def test_a_file_that_cannot_be_processed_is_an_error_of_the_item(server: FakeServer, tmp_path: Path) -> None:
    """V24: FAILED."""
    server.files.fail = True
    with pytest.raises(
        ModelError, match="could not process the uploaded file, found 'the codec is not known'"
    ) as caught:
        ask(open_adapter("google", server, **ALWAYS), watched(tmp_path))
    assert not isinstance(caught.value, TransientModelError)
    assert server.calls == []


def test_a_remembered_file_that_is_gone_is_uploaded_once_more(server: FakeServer, tmp_path: Path) -> None:
    """V24: refused for a remembered handle; one new upload, and the reply of the second request."""
    model = open_adapter("google", server, **ALWAYS)

    async def run() -> tuple[Reply, Reply]:
        try:
            first = await model.ask(watched(tmp_path))
            server.files.lose()
            return first, await model.ask(watched(tmp_path))
        finally:
            await model.close()

    first, second = asyncio.run(run())
    assert (first.status, second.status) == ("ok", "ok")
    assert server.files.uploads == 2
    assert len(server.calls) == 3


def test_a_server_that_never_knows_the_file_is_asked_twice_at_most(tmp_path: Path) -> None:
    with FakeServer() as server:
        model = open_adapter("google", server, **ALWAYS)

        async def run() -> None:
            try:
                await model.ask(watched(tmp_path))
                server.files.lost = {f"files/f{n}" for n in range(9)}
                await model.ask(watched(tmp_path))
            finally:
                await model.close()

        with pytest.raises(ModelError, match="no permission for files/f2"):
            asyncio.run(run())
        assert (server.files.uploads, len(server.calls)) == (2, 3)


def test_many_calls_wait_for_one_upload_and_the_loop_goes_on(server: FakeServer, tmp_path: Path) -> None:
    server.files.delay_s = 0.4
    model = open_adapter("google", server, **ALWAYS)
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            ticks.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def run() -> None:
        beside = asyncio.create_task(tick())
        try:
            await asyncio.gather(*(model.ask(watched(tmp_path)) for _ in range(5)))
        finally:
            beside.cancel()
            await model.close()

    asyncio.run(run())
    assert (server.files.uploads, len(server.calls)) == (1, 5)
    # Sending takes 0.4 s, in which nothing else could happen if it blocked; two busy cores leave time for a few ticks.
    assert sum(b - a < 0.1 for a, b in pairwise(ticks)) > 5


def test_an_upload_has_a_deadline(server: FakeServer, tmp_path: Path) -> None:
    server.files.processing = 10**6

    async def short(seconds: float) -> None:
        await asyncio.sleep(0.02)

    options = ModelOptions(base_url=server.root, upload_timeout_s=0.3, limits={"inline_bytes": 1})
    with pytest.raises(TransientModelError, match=r"not ready within 0\.3 s"):
        ask(GoogleModel("gemini-2.5-flash", options, sleep=short), watched(tmp_path))


def test_handles_are_never_kept_past_their_time(tmp_path: Path) -> None:
    part, sends, now = video(tmp_path), list[str](), [1000.0]

    class Service:
        async def send(self, part: object) -> Stored:
            sends.append("sent")
            return Stored(f"files/{len(sends)}", "uri", "ready", now[0] + 48 * 3600)

        async def look(self, name: str) -> Stored:
            raise AssertionError("the file was ready at once")

    uploads = Uploads(Service(), "test", timeout_s=1.0, sleep=no_wait, clock=lambda: now[0])

    async def names(times_h: list[float]) -> list[tuple[str, bool]]:
        found = []
        for at_h in times_h:
            now[0] = 1000.0 + at_h * 3600
            stored, remembered = await uploads.handle(part, part.sha256)
            found.append((stored.name, remembered))
        return found

    expected = [("files/1", False), ("files/1", True), ("files/2", False), ("files/2", True)]
    assert asyncio.run(names([0.0, 47.0, 47.8, 90.0])) == expected


def test_small_media_travel_inside_and_large_ones_beside(server: FakeServer, tmp_path: Path) -> None:
    sound = Sound(b"RIFF" * 100, 0.0, 1.0, "00")
    request = replace(watched(tmp_path), parts=(*watched(tmp_path).parts, sound))
    ask(open_adapter("google", server), request)
    assert server.files.uploads == 0
    ask(open_adapter("google", server, limits={"inline_bytes": 900}), request)
    assert server.files.uploads == 2
    mimes = sorted(file.mime for file in server.files.files.values())
    assert mimes == ["audio/wav", "video/mp4"]


def test_a_large_file_goes_in_pieces(server: FakeServer, tmp_path: Path) -> None:
    data = bytes(range(256)) * 40_000  # 10 MB; the SDK's pieces are 8 MiB
    ask(open_adapter("google", server, **ALWAYS), Request((video(tmp_path, data), Text("Who?"))))
    assert server.files.files["files/f1"].data == data
    assert [path for method, path in server.traffic if "upload-data" in path] == ["/upload-data/files/f1"] * 2


def test_the_name_that_a_person_gave_a_video_stays_here(server: FakeServer, tmp_path: Path) -> None:
    ask(open_adapter("google", server, **ALWAYS), watched(tmp_path))
    told = "".join(server.files.told)
    assert hashlib.sha256(b"a video").hexdigest()[:16] in told
    assert "the 3dbe" not in told


def test_a_video_that_changed_after_it_was_prepared_is_not_sent(server: FakeServer, tmp_path: Path) -> None:
    request = watched(tmp_path)
    for file in tmp_path.iterdir():
        file.write_bytes(b"another")
    ways: list[dict[str, Any]] = [{}, ALWAYS]
    for options in ways:
        with pytest.raises(ModelError, match="changed after it was prepared"):
            ask(open_adapter("google", server, **options), request)
    for file in tmp_path.iterdir():
        file.unlink()
    with pytest.raises(ModelError, match="cannot read the video file"):
        ask(open_adapter("google", server, **ALWAYS), request)
    assert server.calls == []


def quota(*quota_ids: str, delay: str | None = None) -> Answer:
    """A 429 as the API gives it (google.rpc.Status)."""
    violations = [{"quotaMetric": "generate_requests", "quotaId": quota_id} for quota_id in quota_ids]
    details: list[dict[str, Any]] = [
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
    ]
    if delay:
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    words = "You exceeded your current quota, please check your plan and billing details."
    error = {"code": 429, "message": words, "status": "RESOURCE_EXHAUSTED", "details": details}
    return Answer(status=429, body=json.dumps({"error": error}).encode())


def test_a_quota_of_a_minute_is_waited_for_and_one_of_a_day_is_not() -> None:
    minute = quota("GenerateRequestsPerMinutePerProjectPerModel", delay="34.07s")
    with FakeServer(lambda call: minute) as server, pytest.raises(TransientModelError) as caught:
        ask(open_adapter("google", server))
    assert caught.value.retry_after_s == 34.07
    day = quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier", delay="34s")
    with FakeServer(lambda call: day) as server, pytest.raises(QuotaExhausted, match="PerDay"):
        ask(open_adapter("google", server))


def config(model: str, request: Request, **options: Any) -> dict[str, Any]:
    """The generationConfig that arrives."""
    with FakeServer() as server:
        ask(open_adapter("google", server, model=model, **options), request)
    found: dict[str, Any] = server.calls[0].body["generationConfig"]
    return found


def test_thinking_has_a_budget_or_a_level() -> None:
    budget = config("gemini-2.5-flash", Request(PLAIN, max_output_tokens=5, thinking_tokens=512))
    assert budget["maxOutputTokens"] == 517
    assert set(budget["thinkingConfig"].values()) == {512}
    off = config("gemini-2.5-flash", Request(PLAIN, thinking_tokens=0))
    assert set(off["thinkingConfig"].values()) == {0}
    level = config("gemini-3-flash", Request(PLAIN, max_output_tokens=5), effort="low")
    assert (level["maxOutputTokens"], set(level["thinkingConfig"].values())) == (5, {"LOW"})
    with pytest.raises(ModelError, match="a thinking budget or an effort, not both"):
        config("gemini-3-flash", Request(PLAIN, thinking_tokens=5), effort="low")
    with pytest.raises(InputError, match="no such effort, found 'much'"):
        config("gemini-3-flash", Request(PLAIN), effort="much")


@pytest.mark.parametrize(
    ("start_s", "end_s", "words"), [(0.5, 3.0, ["0.5s", "3s"]), (0.0, 1234567.125, ["0s", "1234567.125s"])]
)
def test_a_stretch_and_a_frame_rate_are_told(
    server: FakeServer, tmp_path: Path, start_s: float, end_s: float, words: list[str]
) -> None:
    ask(
        open_adapter("google", server, limits={"max_video_s": 10**9}),
        watched(tmp_path, fps=0.5, watch_s=(start_s, end_s)),
    )
    told = server.calls[0].parts[1]["videoMetadata"]
    assert sorted(value for value in told.values() if isinstance(value, str)) == words
    assert told["fps"] == 0.5


Parse = Callable[[dict[str, Any]], Reply]


@pytest.fixture
def parse() -> Parse:
    model = GoogleModel("gemini-2.5-flash", ModelOptions())
    return lambda answer: model.reply(answer, Request(PLAIN))


def test_thoughts_are_not_the_answer_and_unknown_ends_stay_visible(parse: Parse) -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "A"}, {"text": "nn"}]
    reply = parse({"candidates": [{"content": {"parts": parts}, "finishReason": "OTHER"}]})
    assert (reply.text, reply.status, reply.details["finish_reason"]) == ("Ann", "ok", "OTHER")
    assert parse({"candidates": [{"finishReason": "RECITATION"}]}).status == "refused"
    assert parse({"candidates": [{"finishReason": "MALFORMED_RESPONSE"}]}).status == "empty"
    assert parse({"promptFeedback": {"blockReason": "SAFETY"}}).details["finish_reason"] == "SAFETY"
    usage = {"promptTokenCount": 9, "thoughtsTokenCount": 4}
    counted = parse({"candidates": [{"finishReason": "MAX_TOKENS"}], "usageMetadata": usage})
    assert (counted.status, counted.output_tokens) == ("truncated", 4)


def test_settings_are_merged_level_by_level() -> None:
    body = {"generationConfig": {"seed": 1, "thinkingConfig": {"thinkingBudget": 0}}, "contents": []}
    further = {"generationConfig": {"topK": 2, "thinkingConfig": {"includeThoughts": True}}, "labels": {"a": "b"}}
    assert merged(body, further) == {
        "generationConfig": {"seed": 1, "topK": 2, "thinkingConfig": {"thinkingBudget": 0, "includeThoughts": True}},
        "contents": [],
        "labels": {"a": "b"},
    }
    assert body["generationConfig"] == {"seed": 1, "thinkingConfig": {"thinkingBudget": 0}}


@pytest.mark.parametrize(
    ("body", "words", "wait_s"),
    [
        ({"error": {"message": "no", "status": "NOT_FOUND"}}, "NOT_FOUND no", None),
        ({"message": "gateway", "status": "Bad Gateway"}, "Bad Gateway gateway", None),
        ({"error": "words"}, "words", None),
        (None, "None", None),
        (
            {"error": {"message": "m", "details": ["x", {"@type": "t/google.rpc.RetryInfo", "retryDelay": "soon"}]}},
            "m",
            None,
        ),
        ({"error": {"message": "m", "details": [{"@type": "t/google.rpc.RetryInfo", "retryDelay": "1.5s"}]}}, "m", 1.5),
    ],
)
def test_error_bodies_of_every_shape_are_read(body: Any, words: str, wait_s: float | None) -> None:
    assert read_status(body) == (words, wait_s)


@pytest.mark.parametrize("name", ["temperature", "seed", "maxOutputTokens", "responseMimeType"])
def test_what_the_run_writes_cannot_be_set_behind_its_back(name: str) -> None:
    """The body's generationConfig is where temperature and seed stand: a setting in it would win unseen."""
    with pytest.raises(InputError, match=f"writes this part of the request itself, found '{name}'"):
        GoogleModel("gemini-2.5-flash", ModelOptions(settings={"generationConfig": {name: 1, "topK": 20}}))
    with pytest.raises(InputError, match="generation_config"):
        GoogleModel("gemini-2.5-flash", ModelOptions(settings={"generation_config": {"topK": 20}}))
