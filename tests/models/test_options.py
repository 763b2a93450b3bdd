"""Settings from the command line, and which option is whose."""

from __future__ import annotations

import pytest

from onlooker.errors import InputError
from onlooker.models.options import ModelOptions, parse_settings


def test_settings_are_json_or_words_and_nest_by_dots() -> None:
    words = ["top_k=40", "a.b=true", "a.c.d=null", "name=plain words", "list=[1,2]", "url=x=y", 's="5"', "empty="]
    assert parse_settings(words) == {
        "top_k": 40,
        "a": {"b": True, "c": {"d": None}},
        "name": "plain words",
        "list": [1, 2],
        "url": "x=y",
        "s": "5",
        "empty": "",
    }
    assert parse_settings([]) == {}


@pytest.mark.parametrize("words", [["a"], ["=1"], ["a..b=1"], ["a=1", "a=2"], ["a=1", "a.b=2"], ["a.b=1", "a=2"]])
def test_settings_that_are_none_or_contradict_each_other(words: list[str]) -> None:
    with pytest.raises(InputError, match=r"not of the form|contradict"):
        parse_settings(words)


def test_options_know_what_was_said() -> None:
    options = ModelOptions(timeout_s=3.0, sampling=False, settings={"b": 1, "a": 2})
    assert options.given() == {"timeout_s": 3.0, "sampling": False, "settings": {"b": 1, "a": 2}}
    assert options.settings_text() == '{"a": 2, "b": 1}'
    assert ModelOptions().given() == {}
    assert ModelOptions().settings_text() == "none"
    with pytest.raises(InputError, match="no use for the option, found 'sampling, settings'"):
        options.refuse_others(("timeout_s",), "x")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "1e999", "[1, -Infinity]"])
def test_what_is_no_json_is_words(text: str) -> None:
    """A body with NaN in it cannot be sent: every call would fail on the way out."""
    assert parse_settings([f"a={text}"]) == {"a": text}


def test_what_the_run_writes_is_refused_inside_an_object_too() -> None:
    with pytest.raises(InputError, match=r"writes this part .*found 'temperature'"):
        ModelOptions(settings={"outer": {"temperature": 1, "top_k": 2}}).refuse_settings(
            ("temperature",), "x", inside="outer"
        )
    ModelOptions(settings={"temperature": 1}).refuse_settings(("temperature",), "x", inside="outer")
    with pytest.raises(InputError, match="outer is an object"):
        ModelOptions(settings={"outer": 3}).refuse_settings((), "x", inside="outer")
