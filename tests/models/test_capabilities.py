"""Which model takes what, and what the user can say about it."""

from __future__ import annotations

import pytest

from onlooker.errors import InputError
from onlooker.models.capabilities import Provider, accepted_kinds, capabilities_of
from onlooker.models.request import Modality


@pytest.mark.parametrize(
    ("provider", "model", "kinds", "sampling", "thinking"),
    [
        ("openai", "gpt-4o", "image text", True, "none"),
        ("openai", "gpt-4o-audio-preview", "sound text", True, "none"),
        ("openai", "gpt-audio", "sound text", True, "none"),
        ("openai", "o3", "image text", False, "effort"),
        ("openai", "o4-mini-2025-04-16", "image text", False, "effort"),
        ("openai", "gpt-5", "image text", False, "effort"),
        ("openai", "gpt-5-mini-2025-08-07", "image text", False, "effort"),
        ("openai", "gpt-5.5", "image text", True, "effort"),
        ("compatible", "Qwen/Qwen3-VL-8B-Instruct", "image text video", True, "effort"),
        ("compatible", "qwen2.5-vl-72b-instruct", "image text video", True, "effort"),
        ("compatible", "Qwen2.5-Omni-7B", "image sound text video", True, "effort"),
        ("compatible", "qwen3-omni-flash", "image sound text video", True, "effort"),
        ("compatible", "anything/else", "image text", True, "effort"),
        ("anthropic", "claude-sonnet-4-5", "image text", True, "budget"),
        ("anthropic", "claude-sonnet-4-6", "image text", True, "both"),
        ("anthropic", "claude-opus-4-7", "image text", False, "effort"),
        ("google", "gemini-2.5-flash", "image sound text video", True, "budget"),
        ("google", "gemini-3-pro-preview", "image sound text video", True, "both"),
        ("google", "gemma-3-27b-it", "image text", True, "none"),
    ],
)
def test_the_table(provider: Provider, model: str, kinds: str, sampling: bool, thinking: str) -> None:
    found = capabilities_of(provider, model)
    assert (" ".join(sorted(found.accepts)), found.sampling, found.thinking) == (kinds, sampling, thinking)


def test_the_user_knows_better_but_not_what_the_api_has_no_part_for() -> None:
    stated: frozenset[Modality] = frozenset(("sound",))
    assert accepted_kinds("compatible", "m", stated) == {"text", "sound"}
    assert accepted_kinds("compatible", "m", None) == {"text", "image"}
    assert accepted_kinds("google", "gemma-3", frozenset(("video",))) == {"text", "video"}
    with pytest.raises(InputError, match=r"the API has no part for sound.*state some of image, text"):
        accepted_kinds("anthropic", "claude-opus-5", stated)
    with pytest.raises(InputError, match="no part for video"):
        accepted_kinds("openai", "gpt-5.5", frozenset(("video", "image")))
