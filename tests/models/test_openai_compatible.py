"""The official SDK against a server that speaks the real wire format, and misbehaves in every way of a real one."""

from __future__ import annotations

import asyncio
import base64
import json
import random
import time
import traceback
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.openai_compatible import ImageDetail, OpenAIModel, retry_after_s
from onlooker.models.request import Image, Modality, Options, Reply, Request, Sound, Text
from onlooker.models.retry import ask_with_retry
from tests.models.fake_server import Answer, Call, FakeServer, failure, plausible

KEY = "sk-a-key-that-must-never-be-seen"
EVERYTHING: frozenset[Modality] = frozenset(("text", "image", "sound"))
WORDS = Request((Text("Who smiles?\n"), Options(("A", "B"), ("Ann", "Bob"))), max_output_tokens=7)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(
    server: FakeServer,
    request: Request = WORDS,
    *,
    accepts: frozenset[Modality] = EVERYTHING,
    timeout_s: float = 20.0,
    image_detail: ImageDetail | None = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> Reply:
    """One ask; with ``sleep``, as many as the policy of waiting allows."""

    async def once() -> Reply:
        model = OpenAIModel(
            "m",
            base_url=server.url,
            accepts=accepts,
            timeout_s=timeout_s,
            image_detail=image_detail,
        )
        try:
            if sleep is None:
                return await model.ask(request)
            return await ask_with_retry(model, request, sleep=sleep)
        finally:
            await model.close()
            await model.close()

    return asyncio.run(once())


def ask_for(answer: Answer, *, timeout_s: float = 20.0) -> Reply:
    with FakeServer(lambda call: answer) as server:
        return ask(server, timeout_s=timeout_s)


async def never(seconds: float) -> None:
    raise AssertionError(f"waited {seconds} s")


def test_parts_reach_the_wire_in_order() -> None:
    request = Request(
        (
            Text("Frames:"),
            Text("[0.00 s]"),
            Image(b"\xff\xd8jpeg", 0.0, "00"),
            Text("Sound:"),
            Sound(b"RIFFwav", 0.0, 1.0, "00"),
            Text("Who?\n"),
            Options(("A", "B"), ("Ann", "Bob")),
        ),
        max_output_tokens=9,
        temperature=0.5,
        seed=3,
    )
    with FakeServer() as server:
        ask(server, request, image_detail="low")
    [call] = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert {k: v for k, v in call.body.items() if k != "messages"} == {
        "model": "m",
        "max_tokens": 9,
        "temperature": 0.5,
        "seed": 3,
    }
    jpeg = base64.b64encode(b"\xff\xd8jpeg").decode()
    assert call.body["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Frames:[0.00 s]"},
                {
                    "type": "image_url",
                    "image_url": {"url": f"data:image/jpeg;base64,{jpeg}", "detail": "low"},
                },
                {"type": "text", "text": "Sound:"},
                {
                    "type": "input_audio",
                    "input_audio": {"data": base64.b64encode(b"RIFFwav").decode(), "format": "wav"},
                },
                {"type": "text", "text": "Who?\nA. Ann\nB. Bob"},
            ],
        }
    ]


def test_words_alone_travel_as_a_plain_string() -> None:
    with FakeServer() as server:
        ask(server)
    assert server.calls[0].body["messages"] == [{"role": "user", "content": "Who smiles?\nA. Ann\nB. Bob"}]


def test_a_part_that_the_model_does_not_take_is_never_dropped_in_silence() -> None:
    request = Request((Text("?"), Sound(b"wav", 0.0, 1.0, "00")))
    with FakeServer() as server, pytest.raises(ModelError, match="holds sound"):
        ask(server, request, accepts=frozenset(("text", "image")))
    assert server.calls == []


def test_a_reply_says_what_the_server_said() -> None:
    reply = ask_for(Answer("Answer: B"))
    assert (reply.text, reply.status) == ("Answer: B", "ok")
    assert (reply.input_tokens, reply.output_tokens) == (6, 2)
    assert (reply.cost_usd, reply.served_model) == (None, "m-2026-01-01")


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        (Answer("Answer: B, beca", finish_reason="length"), "Answer: B, beca", "truncated"),
        (Answer("", finish_reason="length"), "", "truncated"),
        (Answer("", finish_reason="content_filter"), "", "refused"),
        (Answer(refusal="I cannot help."), "I cannot help.", "refused"),
        (Answer(" \n"), " \n", "empty"),
        (Answer(""), "", "empty"),
    ],
)
def test_every_way_not_to_answer_has_its_status(answer: Answer, text: str, status: str) -> None:
    reply = ask_for(answer)
    assert (reply.text, reply.status) == (text, status)


@pytest.mark.parametrize(
    "answer",
    [
        failure(429, "slow down"),
        failure(500, "oops"),
        failure(503, "overloaded"),
        failure(408, "late"),
        Answer("a long reply", cut_after_bytes=40),
        Answer(body=b'{"choices": [{"mess'),
        Answer(body=b"<html>gateway</html>"),
        Answer(body=b"null"),
        Answer(body=b'{"error": {"message": "upstream broke"}}'),
        Answer(body=b'{"choices": []}'),
        Answer(body=b'{"choices": [{"index": 0}]}'),
    ],
    ids=lambda answer: f"{answer.status}-{(answer.body or b'cut')[:12]!r}",
)
def test_what_may_pass_is_transient_and_asked_once_on_the_wire(answer: Answer) -> None:
    with FakeServer(lambda call: answer) as server, pytest.raises(TransientModelError):
        ask(server)
    assert len(server.calls) == 1


def test_a_refused_connection_is_transient() -> None:
    with FakeServer() as server:
        pass
    with pytest.raises(TransientModelError, match="connection failed"):
        ask(server)


def test_the_deadline_bounds_the_whole_call() -> None:
    started = time.monotonic()
    with pytest.raises(TransientModelError, match=r"no answer within 0\.3 s"):
        ask_for(Answer("late", delay_s=2.0), timeout_s=0.3)
    assert time.monotonic() - started < 5.0


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
def test_what_stays_wrong_is_no_transient_error_and_quotes_the_server(status: int) -> None:
    with (
        FakeServer(lambda call: failure(status, "at most 100 images, please")) as server,
        pytest.raises(ModelError, match="at most 100 images") as caught,
    ):
        ask(server, sleep=never)
    assert not isinstance(caught.value, TransientModelError)
    assert len(server.calls) == 1


@pytest.mark.parametrize(
    "answer",
    [
        failure(429, "You exceeded your current quota", code="insufficient_quota"),
        failure(402, "payment required"),
        failure(403, "stop", code="billing_hard_limit_reached"),
    ],
)
def test_the_end_of_the_quota_is_told_from_a_busy_server(answer: Answer) -> None:
    with pytest.raises(QuotaExhausted, match="out of quota"):
        ask_for(answer)


def test_retry_after_in_seconds_and_as_a_date() -> None:
    with pytest.raises(TransientModelError) as caught:
        ask_for(failure(429, "busy", headers={"Retry-After": "2"}))
    assert caught.value.retry_after_s == 2.0
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with pytest.raises(TransientModelError) as caught:
        ask_for(failure(503, "busy", headers={"Retry-After": at}))
    assert caught.value.retry_after_s == pytest.approx(90, abs=5)


@pytest.mark.parametrize(
    ("headers", "expected_s"),
    [
        ({}, None),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:03:00 GMT"}, 80.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after_by_hand(headers: dict[str, str], expected_s: float | None) -> None:
    assert retry_after_s(headers, now_s=100.0) == expected_s


def test_retry_waits_as_the_server_asks_then_gets_the_answer() -> None:
    def answer(call: Call) -> Answer:
        busy = failure(429, "busy", headers={"Retry-After": "2"})
        return busy if call.order == 0 else plausible(call)

    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    with FakeServer(answer) as server:
        assert ask(server, sleep=note).status == "ok"
    assert waits == [2.0]
    assert server.calls[0].raw == server.calls[1].raw


def test_ten_calls_are_under_way_at_once_and_replies_find_their_requests() -> None:
    lags = random.Random(0)
    delays = [0.3 + lags.random() * 0.2 for _ in range(20)]

    def answer(call: Call) -> Answer:
        return Answer(f"reply to {call.text}", delay_s=delays[call.order])

    with FakeServer(answer) as server:
        model = OpenAIModel("m", base_url=server.url)

        async def run() -> list[Reply]:
            gate = asyncio.Semaphore(10)

            async def one(number: int) -> Reply:
                async with gate:
                    return await model.ask(Request((Text(f"item {number}"),)))

            try:
                return await asyncio.gather(*(one(n) for n in range(20)))
            finally:
                await model.close()

        started = time.monotonic()
        replies = asyncio.run(run())
        spent_s = time.monotonic() - started
    assert [reply.text for reply in replies] == [f"reply to item {n}" for n in range(20)]
    assert server.in_flight_max == 10
    assert spent_s < sum(delays) / 2


@pytest.mark.parametrize(
    "answer",
    [
        failure(401, f"Incorrect API key provided: {KEY}"),
        failure(500, f"proxy dump: authorization: Bearer {KEY}"),
        failure(429, f"quota of {KEY}", code="insufficient_quota"),
        Answer(body=json.dumps({"error": KEY}).encode()),
        Answer(body=KEY.encode()),
    ],
)
def test_the_key_is_in_no_message_even_if_the_server_repeats_it(answer: Answer) -> None:
    with FakeServer(lambda call: answer) as server, pytest.raises(ModelError) as caught:
        ask(server)
    assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in "".join(traceback.format_exception(caught.value))
    model = OpenAIModel("m", base_url="http://localhost:1/v1")
    assert KEY not in repr(model) + repr(dict(model.fingerprint)) + model.name


def test_a_local_endpoint_needs_no_key_and_any_other_says_so_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with FakeServer() as server:
        assert ask(server).status == "ok"
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        OpenAIModel("gpt-5.5")
    with pytest.raises(InputError, match=r"no key for example\.org: .* MY_KEY is not set"):
        OpenAIModel("m", base_url="https://example.org/v1", api_key_env="MY_KEY")


@pytest.mark.parametrize("url", ["example.org/v1", "ftp://example.org", "http://"])
def test_a_base_url_is_an_http_url(url: str) -> None:
    with pytest.raises(InputError, match="not an http"):
        OpenAIModel("m", base_url=url)


def test_credentials_in_a_base_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        OpenAIModel("m", base_url="https://me:hunter2@example.org/v1")
    assert "hunter2" not in str(caught.value)


def test_a_hidden_endpoint_of_the_environment_has_no_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert OpenAIModel("m").fingerprint["endpoint"] == "https://api.openai.com/v1"


def test_the_budget_has_the_name_that_each_kind_of_server_knows() -> None:
    bodies: dict[str, Callable[[], OpenAIModel]] = {
        "max_completion_tokens": lambda: OpenAIModel("m"),
        "max_tokens": lambda: OpenAIModel("m", base_url="http://localhost:1/v1"),
    }
    for name, model in bodies.items():
        assert model()._body(WORDS)[name] == 7


def test_fingerprints_tell_apart_what_could_answer_differently() -> None:
    models = [
        OpenAIModel("a"),
        OpenAIModel("b"),
        OpenAIModel("a", base_url="http://localhost:1/v1"),
        OpenAIModel("a", base_url="http://localhost:2/v1"),
        OpenAIModel("a", accepts=EVERYTHING),
        OpenAIModel("a", image_detail="low"),
    ]
    assert len({json.dumps(dict(m.fingerprint)) for m in models}) == len(models)
    assert OpenAIModel("a").fingerprint == OpenAIModel("a").fingerprint
