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
    compare = commands.add_parser("compare", help="one model and condition against another, paired item by item")
    compare.add_argument("bundle", type=Path, metavar="BUNDLE")
    add_result_files(compare)
    compare.add_argument("--a", required=True, metavar="MODEL:CONDITION", help="split at the last colon")
    compare.add_argument("--b", required=True, metavar="MODEL:CONDITION", help="what is subtracted")
    compare.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write compare.json")
    add_bootstrap_options(compare)
    compare.set_defaults(run=_compare)

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
