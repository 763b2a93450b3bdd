"""What the command line calls a model, and what it answers to a name that is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.errors import InputError, MissingAsset
from onlooker.models.catalog import open_model
from onlooker.models.options import ModelOptions


def test_names_open_what_they_say(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"reply": "Answer: A"}\n', encoding="utf-8")
    assert open_model("scripted:first").name == "scripted:first"
    assert open_model(f"scripted:{path}").name == "scripted:replies.jsonl"
    model = open_model("openai:org/model:7b", ModelOptions(base_url="http://localhost:1/v1"))
    assert model.name == "openai:org/model:7b"
    assert model.accepts == {"text", "image"}


def test_other_weights_stand_in_the_name(tmp_path: Path, smollm2: Path) -> None:
    path = tmp_path / "mine-7b.gguf"
    path.write_bytes(b"not loaded before the first ask")
    mine, own = open_model(f"embedded:{path}"), open_model("embedded")
    assert (mine.name, own.name) == ("embedded:mine-7b", "embedded")
    assert mine.fingerprint["weights_sha256"] != own.fingerprint["weights_sha256"]
    assert own.accepts == {"text"}


def test_accepts_is_passed_on() -> None:
    model = open_model("openai:m", ModelOptions(base_url="http://localhost:1/v1", accepts=frozenset(("sound",))))
    assert model.accepts == {"text", "sound"}
    assert open_model("scripted:first", ModelOptions(accepts=frozenset(("text",)))).accepts == {"text"}


@pytest.mark.parametrize("spec", ["", "gpt-5.5", "openai", "openai:", "scripted", "anthropic", "google:", "hf"])
def test_an_unknown_name_lists_the_kinds(spec: str) -> None:
    with pytest.raises(InputError, match=r"embedded .*openai:MODEL .*scripted:FILE"):
        open_model(spec)


def test_options_without_effect_are_refused() -> None:
    with pytest.raises(InputError, match="no use for the option, found 'base_url'"):
        open_model("scripted:first", ModelOptions(base_url="http://localhost:1/v1"))
    with pytest.raises(InputError, match="no use for the option, found 'timeout_s'"):
        open_model("embedded", ModelOptions(timeout_s=3.0))


def test_embedded_without_its_weights_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path))
    with pytest.raises(MissingAsset, match="onlooker assets get smollm2"):
        open_model("embedded")
    with pytest.raises(InputError, match=r"smollm2, qwen-coder-1\.5b, or a \.gguf file"):
        open_model("embedded:gpt-2")
    with pytest.raises(InputError, match="no such file"):
        open_model(f"embedded:{tmp_path / 'x.gguf'}")
