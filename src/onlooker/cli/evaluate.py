"""``onlooker eval`` and ``onlooker export``."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.asking import add_call_options, add_model_options, model_of, number, whole
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.models.request import Model
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.protocol.condition import Condition
    from onlooker.records.bundle import Bundle
    from onlooker.records.public import Episode, Item
    from onlooker.run.execute import Outcome, Session
    from onlooker.run.shards import Shard


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("eval", help="ask a model the questions of a bundle")
    add_asking_options(parser)
    parser.add_argument(
        "--condition",
        action="append",
        metavar="C",
        help="what the model is given; may be repeated; 'all' for every one that fits the model (the family's first)",
    )
    parser.set_defaults(run=_evaluate, leave_out=False)

    export = commands.add_parser("export", help="write a run's plain files anew from its ledger, without asking")
    export.add_argument("run_dir", type=Path, metavar="RUN")
    export.set_defaults(run=_export)


def add_asking_options(parser: argparse.ArgumentParser) -> None:
    """Bundle, model, run folder, and how it is asked: everything but the conditions."""
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--model",
        required=True,
        help="embedded, openai:MODEL, anthropic:MODEL, google:MODEL, hf:FOLDER, scripted:first or scripted:FILE",
    )
    parser.add_argument(
        "--out", required=True, type=Path, metavar="RUN", help="the run folder; asking goes on where it stopped"
    )
    add_model_options(parser)
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", action="append", type=int, metavar="N", help="send this seed; may be repeated (none)")
    seeds.add_argument("--repeat", type=whole(1), metavar="N", help="ask everything N times, with the seeds 0 to N-1")
    parser.add_argument("--temperature", type=number(0), default=0.0, help="of the sampling (0)")
    parser.add_argument("--top-p", type=number(0, 1), metavar="P", help="of the sampling (the model's own)")
    parser.add_argument(
        "--thinking", type=whole(0), metavar="TOKENS", help="what the model may think before it answers (its own)"
    )
    parser.add_argument("--limit", type=whole(1), metavar="N", help="ask the first N items only; the plan says so")
    parser.add_argument(
        "--shard", type=_shard, metavar="I/N", help="ask part I of N only, in a folder of its own below RUN"
    )
    parser.add_argument(
        "--encoder", metavar="E", help="chooses frames by meaning: hf:FOLDER or package.module:attribute"
    )
    add_call_options(parser)
    parser.add_argument("--estimate", action="store_true", help="say what would be asked and paid, and send nothing")
    parser.add_argument("--batch", action="store_true", help="hand the calls over in batches: for less, within a day")
    parser.add_argument("--poll", type=number(0), default=60.0, metavar="S", help="look at batches so often (60)")


def _shard(text: str) -> Shard:
    from onlooker.errors import InputError
    from onlooker.run.shards import parse_shard

    try:
        return parse_shard(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{error.what}, found {text!r}") from error


def _export(options: argparse.Namespace) -> int:
    from onlooker.run.export import export_folder

    say(f"{options.run_dir}: {export_folder(options.run_dir)} finished calls written")
    return 0


def ask(options: argparse.Namespace) -> int:
    """Ask what the options say, or estimate it; the exit code."""
    session = _session(options)
    return _estimate(session) if options.estimate else _report(session, session.work())


def _evaluate(options: argparse.Namespace) -> int:
    code = ask(options)
    if options.estimate:
        return code
    if code == 0 and options.shard is None:
        predictions, scores = options.out / "predictions.jsonl", options.out / "scores.json"
        words = ("onlooker", "score", options.bundle, "--predictions", predictions, "--out", scores)
        say(f"next: {shlex.join(map(str, words))}")
    elif code == 0:
        out = str(options.out)
        say(f"when all shards are done: {shlex.join(('onlooker', 'merge', out, '--out', out))}")
    return code


def _session(options: argparse.Namespace) -> Session:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import cache_dir, keep_apart
    from onlooker.media.encoders import open_encoder
    from onlooker.models.limits import model_limits
    from onlooker.models.prices import Prices
    from onlooker.records.bundle import open_bundle
    from onlooker.run.delivery import Delivery
    from onlooker.run.execute import Session
    from onlooker.run.merge import shard_folder
    from onlooker.run.plan import Parameters, make_plan

    bundle = open_bundle(options.bundle)
    keep_apart([options.out], [bundle.path], "--out")
    prices = Prices.read(options.prices)
    benchmark = load_benchmark(bundle.card.family)
    episodes, everything, items = _asked(bundle, options.limit)
    model = model_of(options)
    encoder = None if options.encoder is None else open_encoder(options.encoder, cache_dir())
    conditions = _conditions(
        options.condition,
        benchmark,
        model,
        episodes,
        items,
        everything,
        has_encoder=encoder is not None,
        leave_out=options.leave_out,
    )
    parameters = Parameters(options.temperature, top_p=options.top_p, thinking_tokens=options.thinking)
    plan = make_plan(
        bundle,
        benchmark,
        items,
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=conditions,
        seeds=tuple(range(options.repeat)) if options.repeat else tuple(options.seed or (None,)),
        parameters=parameters,
        shard=options.shard,
        episodes=episodes,
    )
    note(
        f"{bundle.card.name}: {len(plan.items)} items, {len({i.episode for i in plan.items})} episodes, "
        f"model {model.name}, conditions {', '.join(c.name for c in conditions)}"
    )
    shard = options.shard
    return Session(
        plan,
        benchmark,
        model,
        Delivery(
            bundle,
            cache_dir(),
            model.accepts,
            parameters,
            encoder=encoder,
            max_video_bytes=model_limits(model).max_video_bytes,
        ),
        episodes,
        options.out if shard is None else shard_folder(options.out, shard.number, shard.count),
        concurrency=options.concurrency,
        deadline_s=options.deadline,
        cache=options.cache,
        prices=prices,
        budget_usd=options.budget,
        poll_s=options.poll if options.batch else None,
    )


def _asked(bundle: Bundle, limit: int | None) -> tuple[dict[str, Episode], list[Item], list[Item]]:
    """The episodes, all items and those to ask. Raises ``InputError`` where an item names no episode."""
    from onlooker.errors import InputError

    episodes = bundle.load_episodes()
    everything = list(bundle.load_items().values())
    items = everything[:limit]
    for item in items:
        if item.episode not in episodes:
            raise InputError(
                f"item {item.id} names an episode that is not there",
                value=item.episode,
                remedy="onlooker validate BUNDLE",
            )
    return episodes, everything, items


def _estimate(session: Session) -> int:
    from onlooker.models.prices import RULE
    from onlooker.run.estimate import estimate

    rows: list[tuple[str, ...]] = [
        ("condition", "calls", "images", "tokens in", "tokens out", "USD at most", "in the cache", "unreadable")
    ]
    found = estimate(session)
    for row in found:
        cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.4f}"
        counts = (row.calls, row.images, row.input_tokens, row.output_tokens)
        rows.append((row.condition, *map(str, counts), cost, str(row.in_cache), str(row.unreadable)))
    say(table(rows, right=range(1, 8)))
    say(RULE)
    for row in found:
        if row.looked_at < row.calls:
            say(f"{row.condition}: from {row.looked_at} of {row.calls} calls, evenly over the plan")
    say("nothing was sent")
    return 0


def _report(session: Session, outcome: Outcome) -> int:
    """Say how a session ended; the exit code."""
    out = session.run_dir
    again = f", {outcome.hits} of them answered from a book" if outcome.hits else ""
    say(f"{out}: {outcome.asked} calls in this session{again}, {outcome.left} of the plan left")
    if outcome.failed_media:
        say(f"{outcome.failed_media} calls could not be given their media: see {out / 'failures.jsonl'}")
    if outcome.failed_calls:
        say(
            f"{outcome.failed_calls} calls were not answered (the last: {outcome.reason}); "
            f"see the error rows of {out / 'predictions.jsonl'}"
        )
    if outcome.left:
        say("the same command asks again for what is left")
    if outcome.stopped:
        note(f"stopped: {outcome.stopped}")
        return 130 if outcome.stopped.startswith("interrupted") else 1
    # A medium that cannot be read is a finding about the bundle; a model that does not answer is a failed command.
    return 1 if outcome.failed_calls else 0


def _conditions(
    names: list[str] | None,
    benchmark: Benchmark,
    model: Model,
    episodes: Mapping[str, Episode],
    items: Sequence[Item],
    pool: Sequence[Item],
    *,
    has_encoder: bool,
    leave_out: bool,
) -> list[Condition]:
    """The conditions to ask; ``leave_out``: those of ``names`` that cannot be had are left out with a notice."""
    from onlooker.errors import InputError
    from onlooker.records.public import MEDIA_KEYS
    from onlooker.run.fitness import check_condition, fitting_conditions

    media = {key for episode in episodes.values() for key in MEDIA_KEYS if getattr(episode.media, key)}
    if leave_out and names is not None:
        fit = []
        for name in names:
            try:
                check_condition(benchmark, benchmark.condition(name), model.accepts, media, has_encoder=has_encoder)
            except InputError as error:
                note(f"condition {name} is left out: {error}")
            else:
                fit.append(benchmark.condition(name))
        return [one for one in fit if not _asks_none(benchmark, one, items, episodes, pool)]
    if names == ["all"]:
        fit, unfit = fitting_conditions(benchmark, model.accepts, media, has_encoder=has_encoder)
        for condition, reason in unfit:
            note(f"condition {condition.name} is left out: {reason}")
        return [one for one in fit if not _asks_none(benchmark, one, items, episodes, pool)]
    chosen = [benchmark.condition(name) for name in names] if names else [benchmark.default]
    for condition in chosen:
        check_condition(benchmark, condition, model.accepts, media, has_encoder=has_encoder)
    return chosen


def _asks_none(
    benchmark: Benchmark,
    condition: Condition,
    items: Sequence[Item],
    episodes: Mapping[str, Episode],
    pool: Sequence[Item],
) -> bool:
    from onlooker.run.plan import reason_to_ask_none

    reason = reason_to_ask_none(benchmark, condition, items, episodes, pool)
    if reason is not None:
        note(f"condition {condition.name} is left out: {reason}")
    return reason is not None
