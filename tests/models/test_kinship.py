"""Which models count as kin."""

from __future__ import annotations

import pytest

from onlooker.models.kinship import are_kin, model_family


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("openai:gpt-5.5", "openai"),
        ("openai:o3-mini", "openai"),
        ("openai:Qwen3.5-9B", "qwen"),  # an OpenAI-compatible server: the kind says how it is reached, not what it is
        ("openai:Qwen/Qwen2.5-VL-7B-Instruct", "qwen"),
        ("anthropic:claude-opus-5", "anthropic"),
        ("google:gemini-3.6-flash", "google"),
        ("hf:models/gemma-4-12b-it", "google"),
        ("openai:deepseek-v3.1", "deepseek"),
        ("openai:InternVL3_5-8B", "internlm"),
        ("openai:graphite-2", None),  # phi inside a word is no Phi
        ("openai:foo3", None),  # nor is o3
        ("embedded", None),
    ],
)
def test_family(name: str, family: str | None) -> None:
    assert model_family(name) == family


def test_kin() -> None:
    assert are_kin("openai:qwen3-max", "hf:Qwen3.5-9B")
    assert are_kin("embedded", "embedded")
    assert not are_kin("openai:gpt-5", "anthropic:claude-opus-5")
    assert not are_kin("openai:nova-1", "openai:lumen-2"), "two unknown names are not known to be kin"
