"""``onlooker eval``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.models.request import Modality, Model
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.protocol.condition import Condition

DEFAULT_CONCURRENCY = 4


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("eval", help="ask a model the questions of a bundle")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--model",
        required=True,
        help="embedded, embedded:qwen-coder-1.5b, openai:MODEL, scripted:first or scripted:FILE",
    )
    parser.add_argument(
        "--condition",
        action="append",
        metavar="C",
        help="what the model is given; may be repeated; 'all' for every one that fits the model (the family's first)",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="RUN", help="the run folder; asking goes on where it stopped"
    )
    parser.add_argument("--base-url", metavar="URL", help="the endpoint of an OpenAI-compatible server")
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="the environment variable that holds the key (OPENAI_API_KEY)"
    )
    parser.add_argument(
        "--accepts", metavar="KINDS", help="what an endpoint takes: text,image,sound in any selection (text,image)"
    )
    parser.add_argument("--seed", action="append", type=int, metavar="N", help="send this seed; may be repeated (none)")
    parser.add_argument("--temperature", type=float, default=0.0, help="of the sampling (0)")
    parser.add_argument("--limit", type=int, metavar="N", help="ask the first N items only; the plan says so")
    parser.add_argument(
        "--concurrency",
        type=int,
        default=DEFAULT_CONCURRENCY,
        metavar="N",
        help=f"calls at a time ({DEFAULT_CONCURRENCY})",
    )
    parser.add_argument(
        "--deadline", type=float, default=600.0, metavar="S", help="seconds a call may take with its retries (600)"
    )
    parser.set_defaults(run=_evaluate)

    export = commands.add_parser("export", help="write a run's plain files anew from its ledger, without asking")
    export.add_argument("run_dir", type=Path, metavar="RUN")
    export.set_defaults(run=_export)


def _export(options: argparse.Namespace) -> int:
    from onlooker.run.export import export_folder

    say(f"{options.run_dir}: {export_folder(options.run_dir)} finished calls written")
    return 0


def _evaluate(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import cache_dir, keep_apart
    from onlooker.errors import InputError
    from onlooker.models.catalog import open_model
    from onlooker.records.bundle import open_bundle
    from onlooker.records.public import MEDIA_KEYS
    from onlooker.run.delivery import Delivery
    from onlooker.run.execute import Session
    from onlooker.run.plan import Parameters, make_plan

    for name, least in (("concurrency", 1), ("deadline", 1), ("limit", 1), ("temperature", 0)):
        value = getattr(options, name)
        if value is not None and not value >= least:
            raise InputError("out of range", where=f"--{name}", value=value, remedy=f"at least {least}")
    bundle = open_bundle(options.bundle)
    keep_apart([options.out], [bundle.path], "--out")
    benchmark = load_benchmark(bundle.card.family)
    episodes = bundle.load_episodes()
    items = list(bundle.load_items().values())[: options.limit]
    for item in items:
        if item.episode not in episodes:
            raise InputError(
                f"item {item.id} names an episode that is not there",
                value=item.episode,
                remedy="onlooker validate BUNDLE",
            )
    model = open_model(
        options.model,
        base_url=options.base_url,
        api_key_env=options.api_key_env,
        accepts=_kinds(options.accepts),
        timeout_s=options.deadline if options.model.startswith("openai:") else None,
        **_senses(options.model),
    )
    media = {key for episode in episodes.values() for key in MEDIA_KEYS if getattr(episode.media, key)}
    conditions = _conditions(options.condition, benchmark, model, media)
    parameters = Parameters(temperature=options.temperature)
    plan = make_plan(
        bundle,
        benchmark,
        items,
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=conditions,
        seeds=tuple(options.seed) if options.seed else (None,),
        parameters=parameters,
    )
    note(
        f"{bundle.card.name}: {len(items)} items, {len({i.episode for i in items})} episodes, "
        f"model {model.name}, conditions {', '.join(c.name for c in conditions)}"
    )
    session = Session(
        plan,
        benchmark,
        model,
        Delivery(bundle, cache_dir(), model.accepts, parameters),
        episodes,
        options.out,
        concurrency=options.concurrency,
        deadline_s=options.deadline,
    )
    outcome = session.work()
    say(f"{options.out}: {outcome.asked} calls in this session, {outcome.left} of the plan left")
    if outcome.failed_media:
        say(f"{outcome.failed_media} calls could not be given their media: see {options.out / 'failures.jsonl'}")
    if outcome.failed_calls:
        say(
            f"{outcome.failed_calls} calls were not answered (the last: {outcome.reason}); "
            f"see the error rows of {options.out / 'predictions.jsonl'}"
        )
    if outcome.left:
        say("the same command asks again for what is left")
    if outcome.stopped:
        note(f"stopped: {outcome.stopped}")
        return 130 if outcome.stopped.startswith("interrupted") else 1
    if outcome.failed_calls:
        # A medium that cannot be read is a finding about the bundle; a model that does not answer is a failed command.
        return 1
    predictions, scores = options.out / "predictions.jsonl", options.out / "scores.json"
    words = ("onlooker", "score", options.bundle, "--predictions", predictions, "--out", scores)
    say(f"next: {shlex.join(map(str, words))}")
    return 0


def _senses(spec: str) -> dict[str, Any]:
    """What the embedded model perceives with; nothing for the others, so that nothing is loaded for them."""
    if spec.partition(":")[0] != "embedded":
        return {}
    from onlooker.cli.folders import cache_dir
    from onlooker.run.senses import make_hear, make_perceive, sense_versions

    return {"perceive": make_perceive(cache_dir()), "hear": make_hear(cache_dir()), "senses": sense_versions()}


def _kinds(listed: str | None) -> frozenset[Modality] | None:
    from onlooker.errors import InputError
    from onlooker.models.request import MODALITIES

    if listed is None:
        return None
    named = {kind.strip() for kind in listed.split(",")}
    if not named <= set(MODALITIES):
        raise InputError("unknown kind of input", where="--accepts", value=listed, remedy="some of text,image,sound")
    return frozenset(kind for kind in MODALITIES if kind in named)


def _conditions(names: list[str] | None, benchmark: Benchmark, model: Model, media: Collection[str]) -> list[Condition]:
    from onlooker.run.fitness import check_condition, fitting_conditions

    if names == ["all"]:
        fit, unfit = fitting_conditions(benchmark, model.accepts, media)
        for condition, reason in unfit:
            note(f"condition {condition.name} is left out: {reason}")
        return fit
    chosen = [benchmark.condition(name) for name in names] if names else [benchmark.default]
    for condition in chosen:
        check_condition(benchmark, condition, model.accepts, media)
    return chosen
