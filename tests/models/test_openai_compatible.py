"""What only chat completions have; what holds for all adapters alike stands in ``test_endpoints``."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError, ModelError, QuotaExhausted
from onlooker.models.endpoint import retry_after_s
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.options import ModelOptions
from onlooker.models.request import Image, Modality, Options, Reply, Request, Sound, Text
from tests.models import adapters
from tests.models.adapters import video
from tests.models.fake_server import Answer, FakeServer, failure

KEY = "sk-a-key-that-must-never-be-seen"
EVERYTHING: frozenset[Modality] = frozenset(("text", "image", "sound"))
WORDS = Request((Text("Who smiles?\n"), Options(("A", "B"), ("Ann", "Bob"))), max_output_tokens=7)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def ask(server: FakeServer, request: Request = WORDS, **options: Any) -> Reply:
    return adapters.ask(adapters.open_adapter("openai", server, **{"accepts": EVERYTHING, **options}), request)


def ask_for(answer: Answer) -> Reply:
    with FakeServer(lambda call: answer) as server:
        return ask(server)


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


def test_a_local_endpoint_needs_no_key_and_any_other_says_so_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with FakeServer() as server:
        assert ask(server, api_key_env=None).status == "ok"
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        OpenAIModel("gpt-5.5")
    with pytest.raises(InputError, match=r"no key for example\.org: .* MY_KEY is not set"):
        OpenAIModel("m", ModelOptions(base_url="https://example.org/v1", api_key_env="MY_KEY"))


def test_credentials_in_a_base_url_are_refused_and_not_repeated() -> None:
    with pytest.raises(InputError) as caught:
        OpenAIModel("m", ModelOptions(base_url="https://me:hunter2@example.org/v1"))
    assert "hunter2" not in str(caught.value)


def test_the_budget_has_the_name_that_each_kind_of_server_knows() -> None:
    bodies: dict[str, Callable[[], OpenAIModel]] = {
        "max_completion_tokens": lambda: OpenAIModel("m"),
        "max_tokens": lambda: OpenAIModel("m", ModelOptions(base_url="http://localhost:1/v1")),
    }
    for name, model in bodies.items():
        assert asyncio.run(model().body(WORDS))[name] == 7


def body(model: str, request: Request, options: ModelOptions) -> dict[str, Any]:
    """What would be sent, without its words."""
    made = asyncio.run(OpenAIModel(model, options).body(request))
    return {name: value for name, value in made.items() if name not in ("messages", "model")}


def test_models_that_think_take_no_temperature_and_the_reply_says_so() -> None:
    asked = Request((Text("?"),), max_output_tokens=5, seed=3, json_object=True)
    assert body("o3", asked, ModelOptions(effort="low")) == {
        "max_completion_tokens": 5,
        "seed": 3,
        "response_format": {"type": "json_object"},
        "reasoning_effort": "low",
    }
    for wanted in (Request((Text("?"),), temperature=0.5), Request((Text("?"),), top_p=0.5)):
        with pytest.raises(ModelError, match="takes no sampling parameters"):
            body("o3", wanted, ModelOptions())
    with FakeServer() as server:
        reply = ask(server, sampling=False)
    assert reply.details["not_sent"] == ["temperature"]


def test_there_is_no_thinking_budget_in_this_format() -> None:
    with pytest.raises(ModelError, match="no parameter for a thinking budget, found 0"):
        body("m", Request((Text("?"),), thinking_tokens=0), ModelOptions(base_url="http://localhost:1/v1"))


def test_a_video_travels_inside_or_as_a_file_that_the_server_reads(tmp_path: Path) -> None:
    watched = Request((video(tmp_path), Text("Who?")))
    own: dict[str, Any] = {"base_url": "http://localhost:1/v1", "accepts": EVERYTHING | {"video"}}

    def part(request: Request, **options: Any) -> dict[str, Any]:
        made = asyncio.run(OpenAIModel("m", ModelOptions(**own, **options)).body(request))
        found: dict[str, Any] = made["messages"][0]["content"][0]
        return found

    inside = base64.b64encode(b"a video").decode()
    assert part(watched) == {"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{inside}"}}
    url = part(watched, video_as="file")["video_url"]["url"]
    assert url.startswith("file:///")
    assert "K%C3%A4the%20" in url
    # A server is told a frame rate in its own way, or not at all: never dropped in silence.
    fast = Request((video(tmp_path, fps=2.0), Text("Who?")))
    with pytest.raises(ModelError, match="state video_fps"):
        part(fast)
    assert part(fast, video_fps="part")["fps"] == 2.0
    settings = {"mm_processor_kwargs": {"do_sample_frames": True}}
    made = body("m", fast, ModelOptions(**own, video_fps="processor", settings=settings))
    assert made["mm_processor_kwargs"] == {"do_sample_frames": True, "fps": 2.0}
    with pytest.raises(ModelError, match="no parameter for a stretch"):
        part(Request((video(tmp_path, watch_s=(0.0, 1.0)), Text("Who?"))))


def test_settings_reach_the_wire_as_they_are() -> None:
    settings = {"top_k": 20, "chat_template_kwargs": {"enable_thinking": False}}
    with FakeServer() as server:
        ask(server, settings=settings)
    assert server.calls[0].body["top_k"] == 20
    assert server.calls[0].body["chat_template_kwargs"] == {"enable_thinking": False}
