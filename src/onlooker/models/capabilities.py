"""Which model takes what: a table by provider and name, so that nothing is sent that would be refused or ignored.

The first row that fits a model's name holds. What the table does not know of, or knows wrongly, the user can state
(``ModelOptions.accepts``, ``ModelOptions.sampling``). Looked up in the providers' documentation in November 2026; the
page stands beside each row.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from onlooker.errors import InputError, ModelError
from onlooker.models.request import Image, Modality, Request, Sound, Video

Provider = Literal["openai", "compatible", "anthropic", "google"]
# How a model is told to think: a budget in tokens, a word for the effort, either of them, or not at all.
Thinking = Literal["none", "budget", "effort", "both"]

_TEXT: frozenset[Modality] = frozenset(("text",))
_IMAGES: frozenset[Modality] = frozenset(("text", "image"))
_SOUND: frozenset[Modality] = frozenset(("text", "sound"))
_VIDEOS: frozenset[Modality] = frozenset(("text", "image", "video"))
_ALL: frozenset[Modality] = frozenset(("text", "image", "sound", "video"))

# What the wire format of a provider has a part for, whatever the model. OpenAI's own endpoint has no part for video;
# the part ``video_url`` is an extension of compatible servers (vLLM, SGLang, DashScope).
_EXPRESSIBLE: dict[Provider, frozenset[Modality]] = {
    "openai": frozenset(("text", "image", "sound")),
    "compatible": _ALL,
    "anthropic": _IMAGES,
    "google": _ALL,
}


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model takes.

    ``accepts``: kinds of parts; ``video`` there means that it watches a file natively, ``sound`` that it hears one.
    ``sampling``: temperature and top_p. ``seed``, ``json_object``: has such a parameter. ``thinking``: how it is told
    how much to think.
    """

    accepts: frozenset[Modality]
    sampling: bool = True
    seed: bool = True
    json_object: bool = True
    thinking: Thinking = "none"


_Row = tuple[Provider, str, Capabilities]
_TABLE: tuple[_Row, ...] = (
    # developers.openai.com/api/docs/guides/audio: models that hear through chat completions see no images.
    ("openai", r"gpt-(4o(-mini)?-)?audio.*", Capabilities(_SOUND)),
    # developers.openai.com/api/docs/guides/reasoning and .../latest-model: the o series and the first GPT-5 refuse
    # temperature and top_p; GPT-5.1 and later take them while they do not think.
    ("openai", r"o\d.*|gpt-5(-mini|-nano|-pro)?(-\d{4}-.*)?", Capabilities(_IMAGES, sampling=False, thinking="effort")),
    ("openai", r"gpt-(5\.|[6-9]).*", Capabilities(_IMAGES, thinking="effort")),
    ("openai", r".*", Capabilities(_IMAGES)),
    # docs.vllm.ai, supported models (text + image + video + audio), and Alibaba's page on Qwen-Omni: by the name of
    # the weights, wherever they are served.
    ("compatible", r".*qwen[\d.]*-omni.*", Capabilities(_ALL, thinking="effort")),
    ("compatible", r".*qwen[\d.]*-?vl.*", Capabilities(_VIDEOS, thinking="effort")),
    ("compatible", r".*", Capabilities(_IMAGES, thinking="effort")),
    # platform.claude.com/docs/en/about-claude/models/migration-guide: from Opus 4.7 on, temperature and top_p are
    # refused and thinking has an effort instead of a budget; 4.6 takes both; before, a budget only. No seed; no JSON
    # mode without a schema.
    (
        "anthropic",
        r"claude-(2|3|instant)[-.].*|claude-[a-z]+-4(-[0-5])?(-\d{8})?(-latest)?",
        Capabilities(_IMAGES, seed=False, json_object=False, thinking="budget"),
    ),
    ("anthropic", r"claude-[a-z]+-4-6.*", Capabilities(_IMAGES, seed=False, json_object=False, thinking="both")),
    ("anthropic", r".*", Capabilities(_IMAGES, sampling=False, seed=False, json_object=False, thinking="effort")),
    # ai.google.dev/gemini-api/docs/thinking: Gemini 2.5 has a budget, Gemini 3 a level and, for old programs, a budget.
    ("google", r"gemma.*", Capabilities(_IMAGES, json_object=False)),
    ("google", r"gemini-(1|2\.0).*", Capabilities(_ALL)),
    ("google", r"gemini-2\.5.*", Capabilities(_ALL, thinking="budget")),
    ("google", r".*", Capabilities(_ALL, thinking="both")),
)


def capabilities_of(provider: Provider, model: str) -> Capabilities:
    """The row of the table for a model, by its name in lower case."""
    for row_provider, pattern, capabilities in _TABLE:
        if row_provider == provider and re.fullmatch(pattern, model.lower()):
            return capabilities
    raise AssertionError(f"the table has no row for {provider}")


def accepted_kinds(provider: Provider, model: str, stated: frozenset[Modality] | None) -> frozenset[Modality]:
    """What the user states, else what the table says; text always. InputError where there is no part for a kind."""
    if stated is None:
        return capabilities_of(provider, model).accepts
    unknown = stated - _EXPRESSIBLE[provider]
    if unknown:
        raise InputError(
            f"the API has no part for {', '.join(sorted(unknown))}",
            where=f"what {model} accepts",
            value=", ".join(sorted(stated)),
            remedy=f"state some of {', '.join(sorted(_EXPRESSIBLE[provider]))}",
        )
    return stated | _TEXT


def refuse_unaccepted(request: Request, accepts: Collection[Modality], where: str) -> None:
    """Raise ModelError where a request holds a kind of part that the model is not said to take: nothing is dropped."""
    for part in request.parts:
        kind: Modality
        match part:
            case Image():
                kind = "image"
            case Sound():
                kind = "sound"
            case Video():
                kind = "video"
            case _:
                continue
        if kind not in accepts:
            raise ModelError(
                f"the request holds {kind}, which this model is not said to take",
                where=where,
                value=sorted(accepts),
                remedy="choose a condition without it, or state what the model takes (--accepts)",
            )


def refuse_sampling(request: Request, where: str, *, why: str) -> None:
    """Raise ModelError where a request asks for a sampling that cannot be sent.

    Temperature 0 is this program's default and 1 is the providers': both may be left out, and the reply says so.
    """
    if request.top_p is not None or request.temperature not in (0.0, 1.0):
        raise ModelError(
            f"{why}, so temperature and top_p cannot be sent",
            where=where,
            value={"temperature": request.temperature, "top_p": request.top_p},
            remedy="leave them at their defaults",
        )
