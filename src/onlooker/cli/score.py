"""``onlooker score``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.protocol.scoring import Family


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("score", help="compute every metric with its interval")
    parser.add_argument("bundle", type=Path, metavar="BUNDLE")
    add_result_files(parser)
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write scores.json")
    parser.add_argument("--items-out", type=Path, metavar="FILE", help="one row an item, model, condition and seed")
    parser.add_argument("--tables", type=Path, metavar="DIR", help="also write the tables as LaTeX, Markdown and CSV")
    parser.add_argument("--parser", metavar="NAME", help="read replies by another rule that the family offers")
    add_bootstrap_options(parser)
    parser.set_defaults(run=_score)


def add_result_files(parser: argparse.ArgumentParser) -> None:
    """The files of every command that reads what models and judges wrote."""
    parser.add_argument("--predictions", required=True, nargs="+", action="extend", type=Path, metavar="FILE")
    parser.add_argument("--judgements", nargs="+", action="extend", type=Path, default=[], metavar="FILE")
    parser.add_argument("--judge", metavar="NAME", help="which judge counts, where there are several")


def add_bootstrap_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that draws intervals."""
    parser.add_argument("--draws", type=int, default=10_000, metavar="N", help="bootstrap draws (10000)")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the bootstrap (42)")


def _score(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle
    from onlooker.records.jsonl import write_text
    from onlooker.score.score import score_bundle
    from onlooker.score.table import score_tables

    bundle = open_bundle(options.bundle)
    family = load_benchmark(bundle.card.family).scoring.read_by(options.parser)
    inputs = [bundle.path, *options.predictions, *options.judgements]
    keep_files_apart([options.out, options.items_out], inputs, "--out, --items-out")
    result = score_bundle(
        bundle,
        family,
        options.predictions,
        options.judgements,
        draws=options.draws,
        seed=options.seed,
        judge=options.judge,
    )
    write_text(options.out, json.dumps(result.scores, ensure_ascii=False, indent=1) + "\n")
    if options.items_out:
        write_text(options.items_out, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in result.items))
    written = _write_tables(result.scores, family, options.tables) if options.tables else []
    for scored in score_tables(result):
        say(f"{scored.model}, {scored.condition}: {scored.coverage}")
        say(table([("metric", "value", "95 % interval", "n"), *scored.rows], right=(1, 2, 3)))
        for line in scored.notes:
            say(f"  {line}")
        say()
    for line in result.notes:
        note(line)
    for path in (options.out, *written):
        say(str(path))
    return 0


def _write_tables(scores: dict[str, Any], family: Family, folder: Path) -> list[Path]:
    from onlooker.report.tables import score_sheets, write_tables

    aside = "" if family.parser_note is None else f" ({family.parser_note})"
    return write_tables(score_sheets(scores, aside), folder, "scores")
