"""Options that all commands share that ask models, and what they open."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlooker.models.options import ModelOptions
    from onlooker.models.request import Modality, Model

DEFAULT_CONCURRENCY = 4


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """How a model is reached and what is said about it."""
    parser.add_argument("--base-url", metavar="URL", help="another endpoint than the provider's")
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="the environment variable that holds the key (the provider's usual one)"
    )
    parser.add_argument(
        "--accepts",
        type=kinds,
        metavar="KINDS",
        help="what the model takes: text,image,sound,video in any selection (what is known of it)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how it is asked: image_detail, media_resolution, effort, sampling, video_as, video_fps, limits.NAME; "
        "may be repeated",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a further parameter in the body of every request, such as top_k=40; may be repeated",
    )


def add_call_options(parser: argparse.ArgumentParser) -> None:
    """How calls are made, remembered and paid for."""
    parser.add_argument(
        "--concurrency",
        type=whole(1),
        default=DEFAULT_CONCURRENCY,
        metavar="N",
        help=f"calls at a time at most ({DEFAULT_CONCURRENCY}); fewer while the server says that it is too busy",
    )
    parser.add_argument(
        "--deadline",
        type=number(1),
        default=600.0,
        metavar="S",
        help="seconds a call may take with its retries (600)",
    )
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="answers that runs share: the same call is asked once for all of them"
    )
    parser.add_argument(
        "--prices", type=Path, metavar="FILE", help="what tokens cost (YAML), before the prices that are built in"
    )
    parser.add_argument(
        "--budget", type=number(0), metavar="USD", help="stop before the call that could exceed it (no limit)"
    )


def model_of(options: argparse.Namespace) -> Model:
    """The model that ``--model`` names, with all that was said about it."""
    from onlooker.models.catalog import open_model

    return open_model(options.model, model_options(options), **senses(options.model))


def model_options(options: argparse.Namespace) -> ModelOptions:
    """What was said about the model. Raises ``InputError`` for an option of no such name or value."""
    from pydantic import TypeAdapter, ValidationError

    from onlooker.errors import InputError
    from onlooker.models.catalog import ENDPOINT_KINDS
    from onlooker.models.options import ModelOptions, parse_settings

    said: dict[str, Any] = parse_settings(options.option)
    known = {"image_detail", "media_resolution", "effort", "sampling", "video_as", "video_fps", "limits"}
    known.add("upload_timeout_s")
    unknown = sorted(set(said) - known)
    if unknown:
        remedy = f"one of {', '.join(sorted(known))}"
        raise InputError("unknown option of a model", where="--option", value=unknown[0], remedy=remedy)
    is_remote = options.model.partition(":")[0] in ENDPOINT_KINDS
    try:
        return TypeAdapter(ModelOptions).validate_python(
            {
                **said,
                "base_url": options.base_url,
                "api_key_env": options.api_key_env,
                "accepts": options.accepts,
                "timeout_s": options.deadline if is_remote else None,
                "settings": parse_settings(options.set),
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(map(str, first["loc"]))
        raise InputError(f"{first['msg']} ({name})", where="--option", value=first["input"]) from error


def senses(spec: str) -> dict[str, Any]:
    """What the embedded model perceives with; nothing for the others, so that nothing is loaded for them."""
    if spec.partition(":")[0] != "embedded":
        return {}
    from onlooker.cli.folders import cache_dir
    from onlooker.run.senses import make_hear, make_perceive, sense_versions

    return {"perceive": make_perceive(cache_dir()), "hear": make_hear(cache_dir()), "senses": sense_versions()}


def whole(least: int) -> Callable[[str], int]:
    """The type of an option: a whole number of at least ``least``; anything else is wrong usage (exit code 2)."""

    def read(text: str) -> int:
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"out of range: {value} (at least {least})")
        return value

    read.__name__ = "whole number"
    return read


def number(least: float, most: float = float("inf")) -> Callable[[str], float]:
    """The type of an option: a number from ``least`` to ``most``; anything else is wrong usage (exit code 2)."""

    def read(text: str) -> float:
        value = float(text)
        if not (least <= value <= most) or value == float("inf"):
            wanted = f"at least {least:g}" if most == float("inf") else f"{least:g} to {most:g}"
            raise argparse.ArgumentTypeError(f"out of range: {value:g} ({wanted})")
        return value

    read.__name__ = "number"
    return read


def kinds(listed: str) -> frozenset[Modality]:
    """The type of ``--accepts``."""
    from onlooker.models.request import MODALITIES

    named = {kind.strip() for kind in listed.split(",")}
    if not named <= set(MODALITIES):
        raise argparse.ArgumentTypeError(f"unknown kind of input: {listed!r} (some of {','.join(MODALITIES)})")
    return frozenset(kind for kind in MODALITIES if kind in named)
