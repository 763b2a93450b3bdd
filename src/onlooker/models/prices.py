"""What calls cost: prices by model and endpoint, tokens by a stated rule before a call, a budget that holds.

A price that is not known is unknown (None), never 0. Only models that run on this machine cost nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from onlooker.errors import InputError, QuotaExhausted
from onlooker.models.request import Image, Options, Request, Sound, Text, Video

# Tokens by rule, on the high side so that a budget holds. Words: one token for 3 bytes of UTF-8 (English has about 4
# letters a token; Chinese about one character, of 3 bytes). A picture of at most 512 x 512 px: 350 (width x height
# / 750 at Anthropic; 255 at OpenAI; 258 at Google). Sound: 32 a second. Video: 258 a frame, 32 a second of sound
# (Google), at one frame a second where no rate is asked for.
BYTES_A_TOKEN = 3
TOKENS_A_PICTURE = 350
TOKENS_A_SECOND_OF_SOUND = 32
TOKENS_A_FRAME_OF_VIDEO = 258
RULE = (
    f"tokens by rule: one for {BYTES_A_TOKEN} bytes of text, {TOKENS_A_PICTURE} a picture, "
    f"{TOKENS_A_SECOND_OF_SOUND} a second of sound, {TOKENS_A_FRAME_OF_VIDEO} a frame of video; "
    "replies at their cap"
)
_MILLION = 1_000_000


class Price(BaseModel):
    """USD for a million tokens of input, cached input and output, for the models that fit ``model`` (and ``endpoint``).

    ``model`` and ``endpoint`` are patterns with ``*``, such as ``openai:gpt-5*`` and ``https://api.openai.com/*``;
    without an ``endpoint`` any serves. ``cached`` None: cached tokens cost as much as others. A request of more than
    ``up_to_input_tokens`` has another price, which is not known here. ``batch``: which part of it a call in a
    batch costs (None: not known). ``source`` and ``date`` say where it stands.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    endpoint: str = "*"
    input: float = Field(ge=0, allow_inf_nan=False)
    cached: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)
    up_to_input_tokens: int | None = Field(default=None, ge=1)
    batch: float | None = Field(default=None, ge=0, le=1)
    source: str = ""
    date: Annotated[str, BeforeValidator(str)] = ""  # YAML reads 2026-11-01 as a day

    def cost_usd(self, input_tokens: int | None, output_tokens: int | None, cached_tokens: int | None) -> float | None:
        """The cost of a reply; None where its tokens are not known, or lie beyond ``up_to_input_tokens``.

        ``cached_tokens`` are part of ``input_tokens``; where the provider did not say, none were.
        """
        if input_tokens is None or output_tokens is None:
            return None
        if self.up_to_input_tokens is not None and input_tokens > self.up_to_input_tokens:
            return None
        cached = min(cached_tokens or 0, input_tokens)
        cached_price = self.input if self.cached is None else self.cached
        return ((input_tokens - cached) * self.input + cached * cached_price + output_tokens * self.output) / _MILLION

    @property
    def is_free(self) -> bool:
        """Whether nothing is paid for, whatever the tokens."""
        return self.input == 0 and self.output == 0

    def most_usd(self, request: Request) -> float | None:
        """What a call costs at most, by the rule of tokens; None where that is not known."""
        return self.cost_usd(estimate_input_tokens(request), most_output_tokens(request), None)


_OWN_MACHINE = ("embedded", "embedded:*", "scripted", "scripted:*", "hf:*")
_OPENAI: dict[str, Any] = {
    "batch": 0.5,
    "endpoint": "https://api.openai.com/*",
    "source": "https://platform.openai.com/docs/pricing",
    "date": "2025-12",
}
_ANTHROPIC: dict[str, Any] = {
    "batch": 0.5,
    "endpoint": "https://api.anthropic.com*",
    "source": "https://docs.claude.com/en/docs/about-claude/pricing",
    "date": "2025-12",
}
_GOOGLE: dict[str, Any] = {
    "batch": 0.5,
    "endpoint": "https://generativelanguage.googleapis.com*",
    "source": "https://ai.google.dev/gemini-api/docs/pricing",
    "date": "2025-12",
}
BUILT_IN: tuple[Price, ...] = (
    *(Price(model=m, input=0, output=0, source="runs on this machine") for m in _OWN_MACHINE),
    Price(model="openai:gpt-5", input=1.25, cached=0.125, output=10, **_OPENAI),
    Price(model="openai:gpt-5-20*", input=1.25, cached=0.125, output=10, **_OPENAI),
    Price(model="openai:gpt-5-mini*", input=0.25, cached=0.025, output=2, **_OPENAI),
    Price(model="openai:gpt-4.1", input=2, cached=0.5, output=8, **_OPENAI),
    Price(model="openai:gpt-4.1-20*", input=2, cached=0.5, output=8, **_OPENAI),
    Price(model="openai:gpt-4.1-mini*", input=0.4, cached=0.1, output=1.6, **_OPENAI),
    Price(model="openai:gpt-4o", input=2.5, cached=1.25, output=10, **_OPENAI),
    Price(model="openai:gpt-4o-mini", input=0.15, cached=0.075, output=0.6, **_OPENAI),
    Price(
        model="anthropic:claude-sonnet-4-5*", input=3, cached=0.3, output=15, up_to_input_tokens=200_000, **_ANTHROPIC
    ),
    Price(model="anthropic:claude-haiku-4-5*", input=1, cached=0.1, output=5, **_ANTHROPIC),
    Price(model="anthropic:claude-opus-4-5*", input=5, cached=0.5, output=25, **_ANTHROPIC),
    Price(model="google:gemini-2.5-pro", input=1.25, cached=0.125, output=10, up_to_input_tokens=200_000, **_GOOGLE),
)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in order; the first that fits counts."""

    entries: Sequence[Price] = BUILT_IN

    @classmethod
    def read(cls, path: Path | None) -> Prices:
        """The built-in prices, behind those of a YAML file: a list of mappings with the fields of ``Price``.

        Raises ``InputError`` that names the entry.
        """
        if path is None:
            return cls()
        import yaml  # noqa: PLC0415  only where a file is given

        try:
            listed: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
            raise InputError(f"these prices cannot be read ({error})", where=str(path)) from error
        if not isinstance(listed, list):
            raise InputError(
                "expected a list of prices",
                where=str(path),
                value=listed,
                remedy="- {model: 'openai:gpt-5*', input: 1.25, cached: 0.125, output: 10}",
            )
        own = []
        for number, entry in enumerate(listed, 1):
            try:
                own.append(Price.model_validate(entry))
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                raise InputError(
                    f"{first['msg']} ({'.'.join(map(str, first['loc'])) or 'the whole entry'})",
                    where=f"{path} entry {number}",
                    value=entry,
                ) from error
        return cls((*own, *BUILT_IN))

    def find(self, model: str, path: str) -> Price | None:
        """The price of a model at a serving path; None: unknown."""
        for price in self.entries:
            if fnmatchcase(model, price.model) and fnmatchcase(path, price.endpoint):
                return price
        return None


def estimate_input_tokens(request: Request) -> int:
    """Tokens of a request by the rule above, before it is sent."""
    tokens = 0.0
    if request.system is not None:
        tokens += len(request.system.encode()) / BYTES_A_TOKEN
    for part in request.parts:
        match part:
            case Text() | Options():
                tokens += len(part.text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN
            case Image():
                tokens += TOKENS_A_PICTURE
            case Sound():
                tokens += (part.end_s - part.start_s) * TOKENS_A_SECOND_OF_SOUND
            case Video():
                frames = (part.end_s - part.start_s) * (part.fps or 1.0)
                tokens += frames * TOKENS_A_FRAME_OF_VIDEO
                if part.has_sound:
                    tokens += (part.end_s - part.start_s) * TOKENS_A_SECOND_OF_SOUND
    return int(tokens) + 1


def most_output_tokens(request: Request) -> int:
    """The longest reply that can come, thinking included where it has a budget of its own."""
    return request.max_output_tokens + (request.thinking_tokens or 0)


@dataclass(slots=True)
class Budget:
    """Money that all calls together may cost; shared by the gateways of one command.

    A call reserves the most that it can cost before it is sent. ``spent_usd``: paid before, of the same budget.
    """

    limit_usd: float
    spent_usd: float = 0.0
    reserved_usd: float = 0.0
    _settled: list[asyncio.Future[None]] = field(default_factory=list)

    async def reserve(self, most_usd: float, what: str) -> None:
        """Hold ``most_usd`` back. Waits for calls under way where these may leave enough.

        Raises ``QuotaExhausted`` where the call could exceed the budget: it is not sent (case R15).
        """
        while self.reserved_usd > 0.0 and not self._fits(most_usd):
            future = asyncio.get_running_loop().create_future()
            self._settled.append(future)
            await future
        self.hold(most_usd, what)

    def hold(self, most_usd: float, what: str) -> None:
        """Hold ``most_usd`` back at once, or raise ``QuotaExhausted``."""
        if not self._fits(most_usd):
            held = f" and {self.reserved_usd:.4f} held back for others" if self.reserved_usd > 0.0 else ""
            raise QuotaExhausted(
                f"the next call can cost up to {most_usd:.4f} USD and is not sent: {self.spent_usd:.4f} of the "
                f"budget of {self.limit_usd:g} USD are spent{held}",
                where=what,
                remedy="raise --budget and run again: what is finished is kept",
            )
        self.reserved_usd += most_usd

    def _fits(self, most_usd: float) -> bool:
        return self.spent_usd + self.reserved_usd + most_usd <= self.limit_usd

    def settle(self, most_usd: float, cost_usd: float | None) -> None:
        """The call is over. A cost that is not known counts as the most that it can have been."""
        left = self.reserved_usd - most_usd
        # Sums of floats do not return to nothing by themselves.
        self.reserved_usd = left if left > 1e-12 else 0.0
        self.spent_usd += most_usd if cost_usd is None else cost_usd
        waiting, self._settled = self._settled, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
