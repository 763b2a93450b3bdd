"""Speech to text by a server that speaks OpenAI's ``/audio/transcriptions``, such as OpenAI, vLLM or speaches.

The sound is sent as WAV, in pieces of at most ten minutes that are cut where nobody speaks: servers refuse files of
more than 25 MB, which 13 minutes are.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from onlooker.errors import InputError, MissingExtra, ModelError, QuotaExhausted, TransientModelError
from onlooker.media.sound import SoundClip, wav_bytes
from onlooker.media.suspicion import Stretch, decoder_doubt
from onlooker.media.transcript import Segment

PREFIX = "openai:"
DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
_LONGEST_PIECE_S = 600.0
_RETRIES = 4
_TIMEOUT_S = 300.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Which model of which server. ``base_url``: up to ``/v1``; None for OpenAI's own or $OPENAI_BASE_URL.
    ``key_variable``: the environment variable that holds the key; a server that wants none takes any."""

    model: str
    base_url: str | None = None
    key_variable: str = DEFAULT_KEY_VARIABLE

    def __post_init__(self) -> None:
        if not self.model:
            raise InputError("a speech endpoint needs the name of its model", remedy=f"write {PREFIX}whisper-1")


def recognise(
    endpoint: Endpoint, clip: SoundClip, speech: Sequence[Stretch], language: str | None
) -> tuple[list[Segment], str | None]:
    """Segments on the clock of ``clip``, not yet clamped, and the language as the server names it.

    ``speech``: where voice detection hears somebody; nothing is sent where it hears nobody. A request is repeated up to
    four times on a time-out, a cut connection, 408, 409, 429 and 5xx, after the wait that the server asks for. Raises
    ``TransientModelError`` where that did not help, ``QuotaExhausted``, ``ModelError`` for what the server refuses or
    an answer without times, ``MissingExtra``, ``InputError`` without a key.
    """
    segments: list[Segment] = []
    spoken: str | None = None
    for start_s, end_s in pieces(clip.start_s, clip.end_s, speech):
        first, last = (round((t - clip.start_s) * clip.rate_hz) for t in (start_s, end_s))
        piece = replace(clip, samples=clip.samples[first:last], start_s=start_s)
        answer = _ask(endpoint, wav_bytes(piece), language)
        spoken = spoken or (answer.get("language") if isinstance(answer.get("language"), str) else None)
        segments += _segments(answer, start_s, endpoint)
    return segments, spoken


def pieces(start_s: float, end_s: float, speech: Sequence[Stretch]) -> list[Stretch]:
    """The sound from ``start_s`` to ``end_s`` in pieces of at most ten minutes, those without speech left out.

    A piece ends in the last pause that reaches into its second half, as far from speech as may be; without one, at ten
    minutes.
    """
    cut: list[Stretch] = []
    at_s = start_s
    while at_s < end_s:
        stop_s = end_s
        if end_s - at_s > _LONGEST_PIECE_S:
            least_s, most_s = at_s + _LONGEST_PIECE_S / 2, at_s + _LONGEST_PIECE_S
            pauses = [(before[1], after[0]) for before, after in pairwise(speech)]
            fitting = [(p, q) for p, q in pauses if p < most_s and q > least_s]
            stop_s = max((min(max((p + q) / 2, least_s), most_s) for p, q in fitting), default=most_s)
        if any(begin < stop_s and end > at_s for begin, end in speech):
            cut.append((at_s, stop_s))
        at_s = stop_s
    return cut


def _ask(endpoint: Endpoint, wav: bytes, language: str | None) -> dict[str, Any]:
    try:
        import openai  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("openai", "speech recognition by a server") from error
    key = os.environ.get(endpoint.key_variable)
    if not key and endpoint.base_url is None:
        raise InputError(
            "the key of the speech server is not set",
            where=endpoint.key_variable,
            remedy=f"set {endpoint.key_variable}",
        )
    where = f"speech model {endpoint.model}"
    options: dict[str, Any] = {} if language is None else {"language": language}
    try:
        with openai.OpenAI(
            api_key=key or "none", base_url=endpoint.base_url, max_retries=_RETRIES, timeout=_TIMEOUT_S
        ) as client:
            answer = client.audio.transcriptions.create(
                file=("sound.wav", wav, "audio/wav"),
                model=endpoint.model,
                response_format="verbose_json",
                timestamp_granularities=["segment"],
                temperature=0.0,
                **options,
            )
    except openai.APIStatusError as error:
        if error.code == "insufficient_quota":
            raise QuotaExhausted("the account is out of quota", where=where) from error
        what = f"the server answered {error.status_code} ({error.message})"
        if error.status_code in {408, 409, 429} or error.status_code >= 500:
            raise TransientModelError(what, where=where, remedy="try again later") from error
        raise ModelError(what, where=where) from error
    except openai.APIConnectionError as error:
        raise TransientModelError(f"the server cannot be reached ({error})", where=where) from error
    # A server that knows no verbose_json answers with plain text, or with JSON without segments.
    return answer.model_dump() if isinstance(answer, openai.BaseModel) else {}


def _segments(answer: dict[str, Any], offset_s: float, endpoint: Endpoint) -> list[Segment]:
    rows = answer.get("segments")
    where = f"speech model {endpoint.model}"
    if not isinstance(rows, list):
        raise ModelError(
            "the server gave no segments with times", where=where, remedy="use a model that answers verbose_json"
        )
    return [_segment(row, offset_s, f"{where}, segment {number}") for number, row in enumerate(rows)]


def _segment(row: Any, offset_s: float, where: str) -> Segment:
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        raise ModelError("a segment without a text", where=where, value=row)
    start_s, end_s = _number(row, "start"), _number(row, "end")
    if start_s is None or end_s is None:
        raise ModelError("a segment's time must be a finite number of seconds", where=where, value=row)
    text = row["text"].strip()
    reported = (_number(row, name) for name in ("avg_logprob", "compression_ratio", "no_speech_prob"))
    return Segment(offset_s + start_s, offset_s + end_s, text, suspect=decoder_doubt(text, *reported))


def _number(row: dict[str, Any], name: str) -> float | None:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
