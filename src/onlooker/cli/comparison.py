"""``onlooker compare``, ``vote`` and ``agreement``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.score import add_bootstrap_options, add_result_files
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands

LEVELS = ("nominal", "ordinal", "interval")


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    compare = commands.add_parser("compare", help="models and conditions against each other, paired item by item")
    compare.add_argument("bundle", type=Path, metavar="BUNDLE")
    add_result_files(compare)
    compare.add_argument("--a", metavar="MODEL:CONDITION", help="split at the last colon")
    compare.add_argument("--b", metavar="MODEL:CONDITION", help="what is subtracted")
    compare.add_argument("--all", action="store_true", help="every pair of models, in place of --a and --b")
    compare.add_argument("--condition", metavar="C", help="of --all: needed where the predictions hold several")
    compare.add_argument("--conditions", action="store_true", help="of --all: every pair of conditions of each model")
    compare.add_argument(
        "--metric", metavar="NAME", help="of --all: what the leaderboard ranks by (the family's main one)"
    )
    out_help = "where to write compare.json, with --all matrix.json"
    compare.add_argument("--out", required=True, type=Path, metavar="FILE", help=out_help)
    add_bootstrap_options(compare)
    compare.set_defaults(run=_compare, refuse=compare.error)

    vote = commands.add_parser("vote", help="what the models know together: best, oracle, plurality, majority")
    vote.add_argument("bundle", type=Path, metavar="BUNDLE")
    vote.add_argument("--predictions", required=True, nargs="+", action="extend", type=Path, metavar="FILE")
    vote.add_argument("--condition", metavar="C", help="needed where the predictions hold several")
    vote.add_argument("--by", metavar="LABEL", help="the label that groups items (the family's main one)")
    vote.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write vote.json")
    vote.set_defaults(run=_vote)

    agreement = commands.add_parser("agreement", help="how far raters agree")
    agreement.add_argument("ratings", type=Path, metavar="RATINGS", help="a ratings.jsonl")
    agreement.add_argument("--rubric", required=True, metavar="NAME")
    agreement.add_argument("--level", choices=LEVELS, default="ordinal", help="which alpha stands first (ordinal)")
    agreement.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write agreement.json")
    agreement.set_defaults(run=_agreement)


def _compare(options: argparse.Namespace) -> int:
    pair = [options.a, options.b]
    if options.all and any(pair):
        options.refuse("--all compares every pair: leave --a and --b out")
    if options.all:
        if options.conditions and options.condition is not None:
            options.refuse("--conditions compares all of them: leave --condition out")
        return _compare_all(options)
    if None in pair:
        options.refuse("two sides are needed: --a and --b, or --all for every pair")
    if options.condition is not None or options.conditions or options.metric is not None:
        options.refuse("--condition, --conditions and --metric belong to --all")
    return _compare_pair(options)


def _compare_pair(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle
    from onlooker.score.compare import compare_runs

    bundle = open_bundle(options.bundle)
    keep_files_apart([options.out], [bundle.path, *options.predictions, *options.judgements], "--out")
    found = compare_runs(
        bundle,
        load_benchmark(bundle.card.family).scoring,
        options.predictions,
        options.a,
        options.b,
        options.judgements,
        draws=options.draws,
        seed=options.seed,
        judge=options.judge,
    )
    columns = ("a", "b", "difference", "low", "high", "n")
    rows = [[name, *(_number(metric[c]) for c in columns)] for name, metric in found.report["metrics"].items()]
    say(table([("metric", *columns), *rows], right=range(1, 7)))
    for test in ("mcnemar", "wilcoxon"):
        say(f"{test}: " + ", ".join(f"{name} {_number(value)}" for name, value in found.report[test].items()))
    return _finish(found.report, found.notes, options.out)


def _compare_all(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle
    from onlooker.score.matrix import compare_all

    bundle = open_bundle(options.bundle)
    keep_files_apart([options.out], [bundle.path, *options.predictions, *options.judgements], "--out")
    benchmark = load_benchmark(bundle.card.family)
    metric = options.metric or benchmark.main_metric
    found = compare_all(
        bundle,
        benchmark.scoring,
        options.predictions,
        metric,
        options.judgements,
        condition=options.condition,
        across_conditions=options.conditions,
        draws=options.draws,
        seed=options.seed,
        judge=options.judge,
    )
    for board in found.report["leaderboards"]:
        columns = ("value", "low", "high", "rank", "rank_low", "rank_high", "best")
        rows = [[name, *(_number(standing[c]) for c in columns)] for name, standing in board["standings"].items()]
        say(f"{board['within']}: {metric} of {board['items']['paired']} items")
        say(table([("", *columns), *rows], right=range(1, 8)))
        say()
    head = ("a", "b", "items", "metric", "difference", "low", "high", "McNemar", "Holm", "Wilcoxon", "Holm")
    say(table([head, *(_pair_row(pair, metric) for pair in found.report["comparisons"])], right=(2, *range(4, 11))))
    return _finish(found.report, found.notes, options.out)


def _pair_row(pair: dict[str, Any], metric: str) -> list[str]:
    """A comparison as a line: its difference in the metric asked for, else in its first."""
    name = metric if metric in pair["metrics"] else next(iter(pair["metrics"]), "-")
    difference = pair["metrics"].get(name, {})
    numbers = [difference.get(c) for c in ("difference", "low", "high")]
    numbers += [pair[test][p] for test in ("mcnemar", "wilcoxon") for p in ("p", "p_holm")]
    return [pair["a"], pair["b"], str(pair["items"]["paired"]), name, *map(_number, numbers)]


def _vote(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle
    from onlooker.score.vote import vote_models

    bundle = open_bundle(options.bundle)
    keep_files_apart([options.out], [bundle.path, *options.predictions], "--out")
    family = load_benchmark(bundle.card.family).scoring
    found = vote_models(bundle, family, options.predictions, condition=options.condition, by=options.by)
    columns = ("best", "best_model", "oracle", "plurality", "majority", "ties", "n")
    groups = {"overall": found.report["overall"], **found.report["groups"]}
    rows = [[name, *(_number(counts[c]) for c in columns)] for name, counts in groups.items()]
    say(table([("items", *columns), *rows], right=(1, 3, 4, 5, 6, 7)))
    return _finish(found.report, found.notes, options.out)


def _agreement(options: argparse.Namespace) -> int:
    from onlooker.cli.folders import keep_files_apart
    from onlooker.score.agreement import agreement_rows, rater_agreement

    keep_files_apart([options.out], [options.ratings], "--out")
    found = rater_agreement(options.ratings, options.rubric)
    say(table([("agreement", "value"), *agreement_rows(found, options.level)], right=(1,)))
    return _finish(found.report, found.notes, options.out)


def _finish(report: dict[str, Any], notes: Iterable[str], out: Path) -> int:
    from onlooker.records.jsonl import write_text

    for line in notes:
        note(line)
    write_text(out, json.dumps(report, ensure_ascii=False, indent=1) + "\n")
    say(str(out))
    return 0


def _number(value: object) -> str:
    """As a table shows it: four significant digits, a dash where undefined."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
