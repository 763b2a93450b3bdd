"""``onlooker ledger`` and ``onlooker merge``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.models.book import Spending


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    ledger = commands.add_parser("ledger", help="what runs asked and paid, by serving path, model and role")
    ledger.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    ledger.add_argument("--out", type=Path, metavar="FILE", help="write it as JSON, too")
    ledger.set_defaults(run=_ledger)

    merge = commands.add_parser("merge", help="put runs of one plan together, such as its shards")
    merge.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run folder, or one with shards in it")
    merge.add_argument("--out", required=True, type=Path, metavar="RUN", help="the run folder that holds everything")
    merge.set_defaults(run=_merge)


def _ledger(options: argparse.Namespace) -> int:
    import json

    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.jsonl import write_text
    from onlooker.run.spending import collect, document, total

    keep_files_apart([options.out], options.runs, "--out")
    found = collect(options.runs)
    head = ("serving path", "model", "role", "calls", "attempts", "failed", "hits", "in", "out", "cached", "USD")
    whole = total(found)
    rows = [head, *(_cells(row) for row in found), *([_cells(whole)] if whole is not None and len(found) > 1 else [])]
    say(table(rows, right=range(3, 11)))
    unpriced = sum(row.unpriced for row in found)
    if unpriced:
        say(f"{unpriced} replies have an unknown cost, which is in no sum: name prices (--prices) when asking")
    if options.out is not None:
        write_text(options.out, json.dumps(document(found), ensure_ascii=False, indent=2) + "\n")
    return 0


def _cells(row: Spending) -> tuple[str, ...]:
    counts = (row.calls, row.attempts, row.failed, row.hits)
    tokens = ("unknown" if n is None else str(n) for n in (row.input_tokens, row.output_tokens, row.cached_tokens))
    cost = "unknown" if row.cost_usd is None else f"{row.cost_usd:.4f}"
    if row.cost_usd is not None and row.unpriced:
        cost += " + unknown"
    return (row.path, row.model, row.role, *map(str, counts), *tokens, cost)


def _merge(options: argparse.Namespace) -> int:
    from onlooker.run.merge import merge

    merged = merge(options.runs, options.out)
    say(f"{options.out}: {merged.there} of {merged.owed} answers that the plan owes, {merged.left} of them left to ask")
    for shard in merged.absent:
        note(f"shard {shard} is not among them")
    return 0
