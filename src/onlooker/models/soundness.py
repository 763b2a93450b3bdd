"""What a server said, as it can be counted and written: providers promise whole numbers and text, and some break it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from onlooker.models.request import Reply

# Beyond this a number of tokens is a fault, and a float (as which JSON readers may take it) is not exact.
_MOST_TOKENS = 2**53


def token_count(value: object) -> int | None:
    """A number of tokens (0 .. 2**53); None, which is unknown, where ``value`` is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 <= value <= _MOST_TOKENS or value != int(value):
        return None
    return int(value)


def sound_reply(reply: Reply) -> Reply:
    """The reply with numbers of tokens that are such, and with characters that have bytes in UTF-8.

    A count that is none (negative, text, a fraction) becomes unknown: with it a cost would be wrong, even negative.
    Half a surrogate pair is no character: it becomes U+FFFD. ``details`` tell both.
    """
    details = dict(reply.details)
    counts = {name: getattr(reply, name) for name in ("input_tokens", "output_tokens", "cached_tokens")}
    sound = {name: token_count(value) for name, value in counts.items()}
    unsound = {name: repr(value)[:50] for name, value in counts.items() if value is not None and sound[name] is None}
    if unsound:
        details["no_token_count"] = unsound
    text = _whole_characters(reply.text)
    if text != reply.text:
        details["lone_surrogates"] = "written as U+FFFD"
    served = reply.served_model
    return replace(
        reply,
        text=text,
        served_model=None if served is None else _whole_characters(str(served)),
        details={str(name): _json_value(value) for name, value in details.items()},
        input_tokens=sound["input_tokens"],
        output_tokens=sound["output_tokens"],
        cached_tokens=sound["cached_tokens"],
    )


def _whole_characters(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _json_value(value: object) -> object:
    if isinstance(value, str):
        return _whole_characters(value)
    if isinstance(value, Mapping):
        return {_whole_characters(str(name)): _json_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
