"""Replies of servers that promise numbers and characters and send something else."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.models.request import Reply
from onlooker.models.soundness import sound_reply, token_count


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (0, 0),
        (7, 7),
        (7.0, 7),
        (2**53, 2**53),
        (2**53 + 1, None),
        (2**70, None),
        (-1, None),
        (5.5, None),
        (True, None),
        ("7", None),
        (None, None),
        (math.nan, None),
        (math.inf, None),
        ([7], None),
    ],
)
def test_a_count_is_a_whole_number_of_nothing_or_more(value: object, count: int | None) -> None:
    assert token_count(value) == count
    assert not isinstance(token_count(value), bool | float)


def test_what_is_no_count_is_unknown_and_the_details_say_so() -> None:
    sent: Any = {"input_tokens": -5, "output_tokens": "many", "cached_tokens": 3.0}
    reply = sound_reply(Reply("A", "ok", **sent))
    assert (reply.input_tokens, reply.output_tokens, reply.cached_tokens) == (None, None, 3)
    assert reply.details == {"no_token_count": {"input_tokens": "-5", "output_tokens": "'many'"}}


def test_half_a_surrogate_pair_has_no_bytes_wherever_it_stands() -> None:
    reply = sound_reply(
        Reply("a\ud800b", "ok", served_model="m\udfff", details={"x": ["\ud800", {"\ud801": math.nan}]})
    )
    assert (reply.text, reply.served_model) == ("a\ufffdb", "m\ufffd")
    assert reply.details == {"x": ["\ufffd", {"\ufffd": "nan"}], "lone_surrogates": "written as U+FFFD"}


@given(st.text(st.characters(codec=None)), st.recursive(st.text(st.characters()) | st.floats() | st.none(), st.lists))
def test_every_reply_can_be_written_and_a_sound_one_stays_as_it_is(text: str, detail: object) -> None:
    reply = sound_reply(Reply(text, "ok", 1, 2, details={"x": detail}))
    json.dumps([reply.text, dict(reply.details)], ensure_ascii=False, allow_nan=False).encode()
    assert sound_reply(reply) == reply
    if text.isascii():
        assert reply.text == text
