"""From the word on the command line to a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.models.embedded import WEIGHTS, EmbeddedModel
from onlooker.models.evidence import Hear, Perceive
from onlooker.models.openai_compatible import ImageDetail, OpenAIModel
from onlooker.models.request import Modality, Model
from onlooker.models.scripted import RULES, ScriptedModel

KINDS: Mapping[str, str] = {
    "embedded": "a small text model on this machine, fed by detectors",
    "embedded:WEIGHTS": f"the same with other weights: {', '.join(WEIGHTS)}, or a .gguf file",
    "openai:MODEL": "MODEL at OpenAI, or at any compatible endpoint with a base URL",
    "scripted:RULE": f"no model: {', '.join(RULES)}",
    "scripted:FILE": "no model: replies from a file of JSON lines",
}


def open_model(
    spec: str,
    *,
    base_url: str | None = None,
    api_key_env: str | None = None,
    accepts: frozenset[Modality] | None = None,
    timeout_s: float | None = None,
    image_detail: ImageDetail | None = None,
    perceive: Perceive | None = None,
    hear: Hear | None = None,
    senses: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Model:
    """The model that ``spec`` names (see ``KINDS``); nothing is loaded or sent before an ask.

    ``perceive``, ``hear``, ``senses`` and ``threads`` serve the embedded model and are ignored by
    the others; endpoint options given to a model without an endpoint are an InputError, as is an
    unknown spec.
    """
    kind, _, rest = spec.partition(":")
    if kind == "openai" and rest:
        return OpenAIModel(
            rest,
            base_url=base_url,
            **_given(
                api_key_env=api_key_env,
                accepts=accepts,
                timeout_s=timeout_s,
                image_detail=image_detail,
            ),
        )
    endpoint = _given(base_url=base_url, api_key_env=api_key_env, timeout_s=timeout_s, image_detail=image_detail)
    known = kind == "embedded" or (kind == "scripted" and rest)
    if known and endpoint:
        raise InputError(
            f"{kind} models have no endpoint",
            where=spec,
            value=", ".join(endpoint),
            remedy="leave it out",
        )
    if kind == "embedded":
        return EmbeddedModel(rest or "smollm2", perceive=perceive, hear=hear, senses=senses, threads=threads)
    if kind == "scripted" and rest:
        given = _given(accepts=accepts)
        if rest in RULES:
            return ScriptedModel.by_rule(rest, **given)
        return ScriptedModel.from_file(Path(rest), **given)
    kinds = "; ".join(f"{name} ({what})" for name, what in KINDS.items())
    raise InputError("unknown kind of model", value=spec, remedy=f"one of {kinds}")


def _given(**options: Any) -> dict[str, Any]:
    """Those that are not None: what was not asked for keeps the default of the model."""
    return {name: value for name, value in options.items() if value is not None}
