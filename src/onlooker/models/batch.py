"""Many calls handed over at once and answered within a day, for half the price: the batch APIs as one protocol.

A batch is paid for from the moment it is submitted. So the caller stores the handle before it does anything else with
it; whoever is killed between submitting and storing asks ``find`` for the batch of the same calls before submitting
again. Results come in any order and are matched by the key of a call. A call that has no result (the batch expired or
was cancelled before its turn) stays owed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from onlooker.errors import InputError, ModelError, TransientModelError
from onlooker.models.anthropic_messages import AnthropicModel
from onlooker.models.google_genai import GoogleModel
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.request import Model, Reply, Request


@dataclass(frozen=True, slots=True)
class BatchState:
    """``running``; ``ended``: there are results of all calls or of some; ``failed``: not one call was carried out."""

    status: Literal["running", "ended", "failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """How much one batch holds; the bytes are those of all bodies together."""

    max_calls: int
    max_bytes: int


class BatchModel(Protocol):
    """One model behind a batch API. Every method may raise what ``Model.ask`` raises."""

    @property
    def limits(self) -> BatchLimits:
        """What one batch holds; ``submit`` refuses more."""
        ...

    async def submit(self, calls: Sequence[tuple[str, Request]]) -> str:
        """Hand the calls over, each with a key of its own, and return the handle. From here on it is paid for."""
        ...

    async def find(self, keys: Sequence[str]) -> str | None:
        """The handle of a batch of exactly these calls that was submitted earlier, None where there is none."""
        ...

    async def poll(self, handle: str) -> BatchState:
        """How far the provider has come."""
        ...

    async def fetch(self, handle: str, calls: Mapping[str, Request]) -> dict[str, Reply | ModelError]:
        """Replies and errors by key, once the batch has ended; calls without a result are not in it.

        Of the requests only the parameters are looked at: their parts may be left out.
        """
        ...


def open_batch(model: Model) -> BatchModel:
    """The batch API of a model that was opened; InputError where it has none. The model is closed by its owner."""
    if isinstance(model, OpenAIModel):
        from onlooker.models.batch_openai import OpenAIBatch  # noqa: PLC0415  it imports this module

        return OpenAIBatch(model)
    if isinstance(model, AnthropicModel):
        from onlooker.models.batch_anthropic import AnthropicBatch  # noqa: PLC0415  it imports this module

        return AnthropicBatch(model)
    if isinstance(model, GoogleModel):
        from onlooker.models.batch_google import GoogleBatch  # noqa: PLC0415  it imports this module

        return GoogleBatch(model)
    raise InputError(
        "this kind of model has no batch API",
        value=model.name,
        remedy="ask it call by call, or use openai:, anthropic: or google:",
    )


def call_id(key: str) -> str:
    """A key as all three providers take one: 40 hex digits."""
    return hashlib.sha256(key.encode()).hexdigest()[:40]


def batch_name(model: Model, keys: Iterable[str]) -> str:
    """The name of a batch: the same for the same calls to the same model, in any order."""
    content = json.dumps([sorted(model.fingerprint.items()), sorted(keys)])
    return f"onlooker-{hashlib.sha256(content.encode()).hexdigest()[:40]}"


def check_batch(keys: Sequence[str], limits: BatchLimits, where: str) -> None:
    """Raise InputError where a batch is empty or too long, or two calls have one key."""
    if not 1 <= len(keys) <= limits.max_calls:
        raise InputError(
            f"a batch holds 1 to {limits.max_calls:,} calls",
            where=where,
            value=len(keys),
            remedy="make several batches",
        )
    if len(set(keys)) != len(keys):
        raise InputError("two calls of a batch have the same key", where=where)


def check_batch_bytes(count: int, limits: BatchLimits, where: str) -> None:
    """Raise InputError where the bodies of a batch are too many bytes."""
    if count > limits.max_bytes:
        raise InputError(
            f"a batch holds at most {limits.max_bytes:,} bytes",
            where=where,
            value=count,
            remedy="make several batches, or give fewer or smaller frames",
        )


def read_rows(text: str, where: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of results. Raises TransientModelError where a line is none: the file was cut off."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise TransientModelError(
                f"line {number} of the batch's results is no JSON object",
                where=where,
                value=line,
                remedy="run again: the batch is fetched once more, not paid once more",
            )
        yield row
