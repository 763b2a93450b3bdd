"""``onlooker prepare``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.asking import kinds, whole
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.models.request import Modality
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Episode, Item


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("prepare", help="read the media of a bundle into the cache before asking")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    parser.add_argument(
        "--for",
        dest="conditions",
        required=True,
        nargs="+",
        metavar="CONDITION",
        help="the conditions that will be asked; 'all' for every one that can be had",
    )
    parser.add_argument("--jobs", type=whole(1), metavar="N", help="processes (one for each processor)")
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="part I of N of the episodes, from 1/N to N/N")
    parser.add_argument(
        "--encoder", metavar="E", help="chooses frames by meaning: hf:FOLDER or package.module:attribute"
    )
    parser.add_argument(
        "--model-accepts",
        type=kinds,
        default=kinds("text,image,sound"),
        metavar="KINDS",
        help="what the models that will be asked take (text,image,sound)",
    )
    parser.set_defaults(run=_prepare)


def _prepare(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import cache_dir
    from onlooker.media.encoders import open_encoder
    from onlooker.records.bundle import open_bundle
    from onlooker.run.plan import Parameters, make_plan
    from onlooker.run.prepare import Means, loads, prepare
    from onlooker.run.shards import parse_shard

    shard = parse_shard(options.shard)
    accepts = options.model_accepts
    if options.encoder is not None:
        open_encoder(options.encoder, cache_dir())  # what is wrong with it is said before any process starts
    bundle = open_bundle(options.bundle)
    benchmark = load_benchmark(bundle.card.family)
    episodes, items = bundle.load_episodes(), list(bundle.load_items().values())
    conditions = _conditions(options.conditions, benchmark, episodes.values(), items, accepts, options.encoder)
    plan = make_plan(bundle, benchmark, items, model_name="", fingerprint={}, conditions=conditions, shard=shard)
    work = loads(plan, benchmark, episodes)
    means = Means(bundle, cache_dir(), accepts, Parameters(), options.encoder)
    processes = options.jobs or os.cpu_count() or 1
    done = prepare(work, means, min(processes, max(1, len(work))))
    if done.failures:
        rows = [("episode", "conditions", "kind", "reason")]
        say(table(rows + [(f.episode, ", ".join(f.conditions), f.kind, f.message) for f in done.failures]))
    failed = len({failure.episode for failure in done.failures})
    say(
        f"{bundle.card.name}: {done.episodes - failed} of {done.episodes} episodes prepared for "
        f"{', '.join(c.name for c in conditions)}"
    )
    return 1 if failed else 0


def _conditions(
    names: list[str],
    benchmark: Benchmark,
    episodes: Collection[Episode],
    items: Collection[Item],
    accepts: frozenset[Modality],
    encoder: str | None,
) -> list[Condition]:
    from onlooker.errors import InputError
    from onlooker.records.public import MEDIA_KEYS
    from onlooker.run.fitness import check_available

    media = {key for e in episodes for key in MEDIA_KEYS if getattr(e.media, key)}
    everything = names == ["all"]
    chosen: list[Condition] = []
    for condition in benchmark.conditions if everything else [benchmark.condition(name) for name in names]:
        try:
            check_available(condition, accepts, media, has_encoder=encoder is not None)
        except InputError as error:
            if not everything:
                raise
            note(f"condition {condition.name} is left out: {error}")
        else:
            if not everything or any(benchmark.scoring.owes(condition.name, item) for item in items):
                chosen.append(condition)
    return chosen
