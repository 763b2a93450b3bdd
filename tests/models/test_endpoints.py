"""What holds for every adapter alike: outcomes, failures, waits, keys, order. Official SDKs, a local server."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted, TransientModelError
from onlooker.models.catalog import open_model
from onlooker.models.endpoint import retry_after_s
from onlooker.models.options import ModelOptions
from onlooker.models.request import Image, Reply, Request, Sound, Text
from tests.models.adapters import KEYS, KINDS, NAMES, Kind, ask, open_adapter, video
from tests.models.fake_server import Answer, Call, FakeServer, failure, plausible

KEY = "sk-a-key-that-must-never-be-seen"

pytestmark = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind in KINDS:
        monkeypatch.setenv(KEYS[kind], f"{KEY}-{kind}")
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)


def ask_for(kind: Kind, answer: Answer) -> Reply:
    with FakeServer(lambda call: answer) as server:
        return ask(open_adapter(kind, server))


async def never(seconds: float) -> None:
    raise AssertionError(f"waited {seconds} s")


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        (Answer("Answer: B"), "Answer: B", "ok"),
        (Answer("Answer: B, beca", finish_reason="length"), "Answer: B, beca", "truncated"),
        (Answer("", finish_reason="length"), "", "truncated"),
        (Answer("", finish_reason="content_filter"), "", "refused"),
        (Answer(" \n"), " \n", "empty"),
        (Answer(""), "", "empty"),
    ],
)
def test_every_way_to_answer_has_its_status(kind: Kind, answer: Answer, text: str, status: str) -> None:
    reply = ask_for(kind, answer)
    assert (reply.text, reply.status) == (text, status)
    assert reply.served_model == f"{NAMES[kind]}-2026-01-01"


def test_a_refusal_before_any_word_is_one(kind: Kind) -> None:
    assert ask_for(kind, Answer(refusal="I cannot help.")).status == "refused"


def test_tokens_are_counted_alike(kind: Kind) -> None:
    # The server counts words: 6 read, 4 of them from a cache; 3 written, 2 of them while thinking.
    reply = ask_for(kind, Answer("one two three", cached_tokens=4, reasoning_tokens=2))
    assert (reply.input_tokens, reply.cached_tokens, reply.output_tokens) == (6, 4, 3)
    assert reply.details["reasoning_tokens"] == 2
    plain = ask_for(kind, Answer("one two three"))
    assert (plain.input_tokens, plain.cached_tokens, plain.output_tokens) == (6, None, 3)
    assert plain.cost_usd is None


@pytest.mark.parametrize(
    "answer",
    [
        failure(429, "slow down"),
        failure(500, "oops"),
        failure(503, "overloaded"),
        failure(529, "overloaded"),
        failure(408, "late"),
        Answer(status=502, body=b"<html>gateway</html>"),
        Answer("a long reply", cut_after_bytes=40),
        Answer(body=b'{"choices": [{"mess'),
        Answer(body=b"<html>gateway</html>"),
        Answer(body=b"null"),
        Answer(body=b"[]"),
        Answer(body=b'"words"'),
        Answer(body=b'{"error": {"message": "upstream broke"}}'),
        Answer(body=b'{"choices": [], "content": null, "candidates": []}'),
    ],
    ids=lambda answer: f"{answer.status}-{(answer.body or b'cut')[:12]!r}",
)
def test_what_may_pass_is_transient_and_asked_once_on_the_wire(kind: Kind, answer: Answer) -> None:
    with FakeServer(lambda call: answer) as server, pytest.raises(TransientModelError):
        ask(open_adapter(kind, server))
    assert len(server.calls) == 1


def test_a_refused_connection_is_transient(kind: Kind) -> None:
    with FakeServer() as server:
        pass
    with pytest.raises(TransientModelError, match="connection failed"):
        ask(open_adapter(kind, server))


def test_the_deadline_bounds_the_whole_call(kind: Kind) -> None:
    with FakeServer(lambda call: Answer("late", delay_s=1.5)) as server:
        model = open_adapter(kind, server, timeout_s=0.3)
        started = time.monotonic()
        with pytest.raises(TransientModelError, match=r"no answer within 0\.3 s"):
            ask(model)
        assert time.monotonic() - started < 1.4


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
def test_what_stays_wrong_is_final_and_quotes_the_server(kind: Kind, status: int) -> None:
    # V25: a request that is too large (413) is not retried unchanged.
    with (
        FakeServer(lambda call: failure(status, "at most 100 images, please")) as server,
        pytest.raises(ModelError, match="at most 100 images") as caught,
    ):
        ask(open_adapter(kind, server), sleep=never)
    assert not isinstance(caught.value, TransientModelError)
    assert len(server.calls) == 1
    assert ("fewer or smaller frames" in str(caught.value)) == (status == 413)


def test_r13_the_wait_that_a_server_asks_for_is_kept(kind: Kind) -> None:
    waits: list[float] = []

    async def note(seconds: float) -> None:
        waits.append(seconds)

    def answer(call: Call) -> Answer:
        at = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
        busy = [failure(429, "busy", headers={"Retry-After": "2"}), failure(503, "busy", headers={"Retry-After": at})]
        return busy[call.order] if call.order < 2 else plausible(call)

    with FakeServer(answer) as server:
        assert ask(open_adapter(kind, server), sleep=note).status == "ok"
    assert waits[0] == 2.0
    assert waits[1] == pytest.approx(50, abs=3)
    assert len({call.raw for call in server.calls}) == 1


@pytest.mark.parametrize(
    "answer",
    [
        failure(429, "busy", headers={"Retry-After": "7200"}),
        failure(429, "quota", code="insufficient_quota"),
        failure(402, "payment required"),
    ],
    ids=lambda answer: f"{answer.status}-{answer.error[1]}",
)
def test_r13_a_long_wait_or_the_end_of_the_quota_stops_the_run(kind: Kind, answer: Answer) -> None:
    with FakeServer(lambda call: answer) as server, pytest.raises(QuotaExhausted):
        ask(open_adapter(kind, server), sleep=never)
    assert len(server.calls) == 1


@pytest.mark.parametrize("words", ["busy", "You exceeded your current quota"])
def test_the_words_of_one_provider_say_nothing_about_another(kind: Kind, words: str) -> None:
    """Google says "current quota" of every limit, also of one that is over in a minute; OpenAI of an empty one."""
    expected = QuotaExhausted if kind == "openai" and words != "busy" else TransientModelError
    with pytest.raises(expected) as caught:
        ask_for(kind, failure(429, words))
    assert type(caught.value) is expected


def test_the_key_is_in_no_log(kind: Kind, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeServer() as server:
        ask(open_adapter(kind, server))
    assert server.calls[0].key == f"{KEY}-{kind}"
    assert KEY not in caplog.text


@pytest.mark.parametrize("repeat", ["error", "answer", "garbage"])
def test_the_key_is_in_no_message_even_if_the_server_repeats_it(kind: Kind, repeat: str) -> None:
    own = f"{KEY}-{kind}"
    answers = {
        "error": failure(401, f"Incorrect API key provided: {own}"),
        "answer": Answer(body=f'{{"error": "{own}"}}'.encode()),
        "garbage": Answer(body=own.encode()),
    }
    with FakeServer(lambda call: answers[repeat]) as server:
        model = open_adapter(kind, server)
        assert KEY not in repr(model) + repr(dict(model.fingerprint)) + model.name
        with pytest.raises(ModelError) as caught:
            ask(model)
    assert KEY not in "".join(traceback.format_exception(caught.value))


def test_r19_a_key_is_sent_to_the_endpoint_it_was_made_for_only(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "key-of-the-judge")
    with FakeServer() as evaluated, FakeServer() as judge:
        ask(open_adapter(kind, evaluated))
        ask(open_adapter(kind, judge, api_key_env="JUDGE_KEY"))
    assert [call.key for call in evaluated.calls] == [f"{KEY}-{kind}"]
    assert [call.key for call in judge.calls] == ["key-of-the-judge"]
    with FakeServer() as own_machine:
        ask(open_adapter(kind, own_machine, api_key_env=None))
    assert KEY not in repr(own_machine.calls[0].headers)
    # The provider's own key, though it is set, goes to no other address.
    with pytest.raises(
        InputError, match=rf"no key for example\.org: the key of {KEYS[kind]} is for .* not sent elsewhere"
    ):
        open_model(f"{kind}:{NAMES[kind]}", ModelOptions(base_url="https://example.org/v1"))
    monkeypatch.delenv(KEYS[kind])
    with pytest.raises(InputError, match=KEYS[kind]):
        open_model(f"{kind}:{NAMES[kind]}")


def test_variables_of_the_sdks_have_no_effect(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GENAI_API_VERSION", "v9")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another token")
    monkeypatch.setenv("OPENAI_ORG_ID", "the name of an account")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "the name of an account")
    with FakeServer() as server:
        assert ask(open_adapter(kind, server)).status == "ok"
    assert server.calls[0].key == f"{KEY}-{kind}"
    assert "the name of an account" not in server.calls[0].headers.values()
    hosts = {
        "openai": "api.openai.com",
        "anthropic": "api.anthropic.com",
        "google": "generativelanguage.googleapis.com",
    }
    assert hosts[kind] in open_model(f"{kind}:{NAMES[kind]}").fingerprint["endpoint"]


def test_v16_time_labels_stand_beside_their_frames_in_order(kind: Kind) -> None:
    times_s = (0.0, 0.48, 1.72, 3.04)
    parts = [part for t in times_s for part in (Text(f"[{t:.2f} s]"), Image(b"\xff\xd8" + bytes([round(t)]), t, "00"))]
    with FakeServer() as server:
        ask(open_adapter(kind, server), Request((Text("Frames:"), *parts, Text("Who?"))))
    sent = [part.get("text", "image") for part in server.calls[0].parts]
    assert sent == ["Frames:[0.00 s]", "image", "[0.48 s]", "image", "[1.72 s]", "image", "[3.04 s]", "image", "Who?"]


def test_a_kind_of_part_that_is_not_taken_is_refused_before_anything_is_sent(kind: Kind, tmp_path: Path) -> None:
    for part, name in ((Sound(b"wav", 0.0, 1.0, "00"), "sound"), (video(tmp_path), "video")):
        with FakeServer() as server, pytest.raises(ModelError, match=rf"holds {name}.*Remedy: choose a condition"):
            ask(open_adapter(kind, server, accepts=frozenset(("text", "image"))), Request((Text("?"), part)))
        assert server.calls == []


def test_twenty_calls_ten_at_a_time_find_their_replies(kind: Kind) -> None:
    with FakeServer(lambda call: Answer(f"reply to {call.text}", delay_s=0.1 + call.order % 3 * 0.05)) as server:
        model = open_adapter(kind, server)

        async def run() -> list[Reply]:
            gate = asyncio.Semaphore(10)

            async def one(number: int) -> Reply:
                async with gate:
                    return await model.ask(Request((Text(f"item {number}"),)))

            try:
                return await asyncio.gather(*(one(n) for n in range(20)))
            finally:
                await model.close()

        replies = asyncio.run(run())
    assert [reply.text for reply in replies] == [f"reply to item {n}" for n in range(20)]
    assert server.in_flight_max == 10


def test_options_without_effect_and_settings_of_the_run_are_refused(kind: Kind) -> None:
    with FakeServer() as server:
        other = "media_resolution" if kind != "google" else "image_detail"
        with pytest.raises(InputError, match=f"no use for the option, found '{other}'"):
            open_adapter(kind, server, **{other: "low"})
        written = "contents" if kind == "google" else "messages"
        with pytest.raises(InputError, match=f"writes this part of the request itself, found '{written}'"):
            open_adapter(kind, server, settings={written: []})


def test_fingerprints_tell_apart_what_could_answer_differently(kind: Kind) -> None:
    with FakeServer() as server, FakeServer() as other:
        models = [
            open_adapter(kind, server),
            open_adapter(kind, other),
            open_adapter(kind, server, model=f"{NAMES[kind]}-1"),
            open_adapter(kind, server, accepts=frozenset(("text",))),
            open_adapter(kind, server, effort="low"),
            open_adapter(kind, server, sampling=False),
            open_adapter(kind, server, settings={"a": 1}),
            open_adapter(kind, server, settings={"a": 2}),
        ]
        again = open_adapter(kind, server)
    assert len({tuple(sorted(model.fingerprint.items())) for model in models}) == len(models)
    assert again.fingerprint == models[0].fingerprint


def test_the_address_is_checked(kind: Kind) -> None:
    for url in ("example.org/v1", "ftp://example.org", "http://"):
        with pytest.raises(InputError, match="not an http"):
            open_model(f"{kind}:m", ModelOptions(base_url=url))


@pytest.mark.parametrize(
    ("said", "wait_s"),
    [
        ({"retry-after": "Wed, 21 Oct 99999999999 07:28:00 GMT"}, None),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 -99999999999999"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "5, 7"}, None),
        ({"retry-after-ms": "nan", "retry-after": "7"}, 7.0),
        ({"retry-after-ms": "garbage", "retry-after": "7"}, 7.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:09 GMT"}, 4.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
    ],
)
def test_a_wait_that_is_none_is_not_kept_and_harms_nothing(
    kind: Kind, said: dict[str, str], wait_s: float | None
) -> None:
    assert retry_after_s(said, now_s=5.0) == wait_s
    with (
        FakeServer(lambda call: failure(429, "busy", headers=said)) as server,
        pytest.raises(TransientModelError) as raised,
    ):
        ask(open_adapter(kind, server))
    assert raised.value.retry_after_s is None or raised.value.retry_after_s >= 0


def test_what_may_have_been_billed_says_so(kind: Kind) -> None:
    """Sent and not refused: late, cut off. Not: refused with a status, or never connected."""

    def failed(answer: Answer, timeout_s: float = 20.0) -> TransientModelError:
        with FakeServer(lambda call: answer) as server, pytest.raises(TransientModelError) as raised:
            ask(open_adapter(kind, server, timeout_s=timeout_s))
        return raised.value

    assert failed(Answer("late", delay_s=0.6), timeout_s=0.2).may_be_billed
    assert failed(Answer("cut off", cut_after_bytes=5)).may_be_billed
    assert not failed(failure(429, "busy")).may_be_billed
    assert not failed(failure(500, "fault")).may_be_billed
    with FakeServer() as server:
        gone = open_adapter(kind, server)
    with pytest.raises(TransientModelError) as raised:
        ask(gone)
    assert not raised.value.may_be_billed
