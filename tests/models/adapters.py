"""The three adapters for tests that hold for all of them, and a request with every kind of part they take."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from onlooker.models.anthropic_messages import AnthropicModel
from onlooker.models.google_genai import GoogleModel
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.options import ModelOptions
from onlooker.models.request import Image, Options, Part, Reply, Request, Sound, Text, Video
from onlooker.models.retry import ask_with_retry
from tests.models.fake_server import FakeServer

Kind = Literal["openai", "anthropic", "google"]
Adapter = OpenAIModel | AnthropicModel | GoogleModel
KINDS: tuple[Kind, ...] = ("openai", "anthropic", "google")
KEYS: Mapping[Kind, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}
NAMES: Mapping[Kind, str] = {"openai": "m", "anthropic": "claude-test-4-5", "google": "gemini-2.5-flash"}
WORDS = Request((Text("Who smiles?\n"), Options(("A", "B"), ("Ann", "Bob"))), max_output_tokens=7)


def address(kind: Kind, server: FakeServer) -> str:
    """The base URL as the SDK of a kind wants it."""
    return server.url if kind == "openai" else server.root


def open_adapter(kind: Kind, server: FakeServer, *, model: str | None = None, **options: Any) -> Adapter:
    """A model at the server, with the key of its kind unless another variable is named."""
    given = ModelOptions(**{"base_url": address(kind, server), "api_key_env": KEYS[kind], "timeout_s": 20.0, **options})
    name = model or NAMES[kind]
    if kind == "openai":
        return OpenAIModel(name, given)
    return AnthropicModel(name, given) if kind == "anthropic" else GoogleModel(name, given, sleep=no_wait)


async def no_wait(seconds: float) -> None:
    """Waits are what other tests are about."""
    assert seconds > 0


def ask(
    model: Adapter, request: Request = WORDS, *, times: int = 1, sleep: Callable[[float], Awaitable[None]] | None = None
) -> Reply:
    """Ask so many times in one event loop and close; with ``sleep``, as often as the policy of waiting allows."""

    async def run() -> Reply:
        try:
            for _ in range(times):
                reply = await (model.ask(request) if sleep is None else ask_with_retry(model, request, sleep=sleep))
            return reply
        finally:
            await model.close()
            await model.close()

    return asyncio.run(run())


def video(folder: Path, data: bytes = b"a video", **fields: Any) -> Video:
    """A video part over a new file."""
    path = folder / f"Käthe {hashlib.sha256(data).hexdigest()[:6]}.mp4"
    path.write_bytes(data)
    part = Video(
        path=path,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        start_s=0.0,
        end_s=4.0,
        source_sha256="00",
        has_sound=True,
        width_px=64,
        height_px=48,
    )
    return replace(part, **fields)


def everything(kind: Kind, folder: Path) -> Request:
    """Every kind of part and every parameter that the adapter of a kind sends."""
    parts: list[Part] = [Text("Frames:\n"), Text("[0.00 s]"), Image(b"\xff\xd8one>>??", 0.0, "00")]
    parts += [Text("[1.50 s]"), Image(b"\xff\xd8two", 1.5, "00")]
    if kind != "anthropic":
        parts += [Text("Sound:"), Sound(b"RIFFwav", 0.0, 1.0, "00")]
        parts += [video(folder, fps=2.0, watch_s=(0.5, 3.0) if kind == "google" else None)]
    parts += [Text("Who?\n"), Options(("A", "B"), ("Änn", "Bob"))]
    return Request(
        tuple(parts),
        max_output_tokens=9,
        temperature=0.0 if kind == "anthropic" else 0.5,
        seed=3,
        top_p=None if kind == "anthropic" else 0.9,
        thinking_tokens=None if kind == "openai" else 2048,
        json_object=True,
        system="You watch people.",
    )


def everything_options(kind: Kind) -> dict[str, Any]:
    """What goes with ``everything``."""
    if kind == "openai":
        accepts = frozenset(("text", "image", "sound", "video"))
        return {
            "accepts": accepts,
            "image_detail": "low",
            "effort": "low",
            "video_fps": "part",
            "settings": {"top_k": 20},
        }
    if kind == "anthropic":
        return {"settings": {"service_tier": "standard_only"}}
    return {"media_resolution": "low", "settings": {"generationConfig": {"topK": 20}, "safetySettings": []}}
