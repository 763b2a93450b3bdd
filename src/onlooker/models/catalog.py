"""From the word on the command line to a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from onlooker.errors import InputError
from onlooker.models.anthropic_messages import AnthropicModel
from onlooker.models.embedded import WEIGHTS, EmbeddedModel
from onlooker.models.evidence import Hear, Perceive
from onlooker.models.google_genai import GoogleModel
from onlooker.models.openai_compatible import OpenAIModel
from onlooker.models.options import ModelOptions
from onlooker.models.request import Model
from onlooker.models.scripted import RULES, ScriptedModel

KINDS: Mapping[str, str] = {
    "embedded": "a small text model on this machine, fed by detectors",
    "embedded:WEIGHTS": f"the same with other weights: {', '.join(WEIGHTS)}, or a .gguf file",
    "openai:MODEL": "MODEL at OpenAI, or at any compatible endpoint with a base URL",
    "anthropic:MODEL": "MODEL of Anthropic",
    "google:MODEL": "MODEL of Google",
    "hf:FOLDER[+ADAPTER]": "a transformers model in a folder of this machine, with a LoRA adapter or without",
    "scripted:RULE": f"no model: {', '.join(RULES)}",
    "scripted:FILE": "no model: replies from a file of JSON lines",
}
# Those with an address.
ENDPOINT_KINDS = ("openai", "anthropic", "google")


def open_model(
    spec: str,
    options: ModelOptions | None = None,
    *,
    perceive: Perceive | None = None,
    hear: Hear | None = None,
    senses: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Model:
    """The model that ``spec`` names (see ``KINDS``); nothing is loaded or sent before an ask.

    ``perceive``, ``hear``, ``senses`` and ``threads`` serve the embedded model and are ignored by
    the others. Raises InputError for an unknown spec and for options that this kind of model has no use for, and
    MissingExtra.
    """
    kind, _, rest = spec.partition(":")
    options = options or ModelOptions()
    if kind in _OPEN and rest:
        return _OPEN[kind](rest, options)
    if kind == "embedded":
        options.refuse_others((), spec)
        return EmbeddedModel(rest or "smollm2", perceive=perceive, hear=hear, senses=senses, threads=threads)
    if kind == "scripted" and rest:
        options.refuse_others(("accepts",), spec)
        given = options.given()
        if rest in RULES:
            return ScriptedModel.by_rule(rest, **given)
        return ScriptedModel.from_file(Path(rest), **given)
    kinds = "; ".join(f"{name} ({what})" for name, what in KINDS.items())
    raise InputError("unknown kind of model", value=spec, remedy=f"one of {kinds}")


def _open_local(rest: str, options: ModelOptions) -> Model:
    """``FOLDER`` or ``FOLDER+ADAPTER``. The module needs torch, so that it is imported only when asked for."""
    folder, joint, adapter = rest.partition("+")
    if joint and not adapter:
        raise InputError(
            "no adapter is named behind the +", where="--model", value=f"hf:{rest}", remedy=f"hf:{folder}, or name one"
        )
    module = import_module("onlooker.models.local_hf")
    model: Model = module.HFModel(Path(folder), adapter=Path(adapter) if adapter else None, options=options)
    return model


# What each can be told, it checks itself.
_OPEN: Mapping[str, Callable[[str, ModelOptions], Model]] = {
    "openai": OpenAIModel,
    "anthropic": AnthropicModel,
    "google": GoogleModel,
    "hf": _open_local,
}
