"""``onlooker import``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.interop.rows import Matching
    from onlooker.records.bundle import Bundle
    from onlooker.records.results import Prediction


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("import", help="turn what another harness wrote into predictions")
    sources = parser.add_subparsers(dest="source", required=True, metavar="SOURCE")

    inspect = sources.add_parser("inspect", help=".eval logs of Inspect")
    _add_shared(inspect, "LOG")
    inspect.add_argument("--model", metavar="M", help="the name in the predictions (the log's)")
    inspect.add_argument("--condition", metavar="C", help="for logs of other tasks than ours, which do not say it")
    inspect.add_argument("--id-field", metavar="NAME", help="id, or a field of the samples' metadata (id)")
    inspect.set_defaults(run=_inspect)

    for source, default, helped in (
        ("vlmevalkit", "index", "prediction tables of VLMEvalKit: .xlsx, .tsv, .csv or .json"),
        ("lmms-eval", "doc_id", "sample files of lmms-eval: *_samples_TASK.jsonl"),
    ):
        table = sources.add_parser(source, help=helped)
        _add_shared(table, "FILE")
        table.add_argument("--model", required=True, metavar="M", help="the name in the predictions")
        table.add_argument("--condition", required=True, metavar="C", help="what the model was given")
        table.add_argument("--seed", type=int, metavar="N", help="in the predictions (none)")
        table.add_argument("--id-field", metavar="NAME", help=f"holds the item's id ({default})")
        table.set_defaults(run=_table, source=source, default_id=default)


def _add_shared(parser: argparse.ArgumentParser, files: str) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar=files)
    parser.add_argument("--bundle", required=True, type=Path, metavar="BUNDLE", help="whose items were asked")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write predictions.jsonl")
    parser.add_argument("--question-field", metavar="NAME", help="match by the question that this field holds instead")
    parser.add_argument("--video-field", metavar="NAME", help="with it: holds the episode's id")
    parser.add_argument("--ids", type=Path, metavar="FILE", help="JSON object {their id: item id}")


def _inspect(options: argparse.Namespace) -> int:
    from onlooker.interop.inspect_logs import import_logs

    bundle = _opened(options)
    found = import_logs(
        options.files, bundle, _matching(options, "id"), model=options.model, condition=options.condition
    )
    for line in found.notes:
        note(line)
    return _write(options, bundle, found.rows, found.owed)


def _table(options: argparse.Namespace) -> int:
    from onlooker.interop.lmms_eval import read_samples
    from onlooker.interop.rows import match
    from onlooker.interop.vlmevalkit import read_table

    bundle = _opened(options)
    read = read_table if options.source == "vlmevalkit" else read_samples
    replies = (reply for file in options.files for reply in read(file, seed=options.seed))
    matching = _matching(options, options.default_id)
    rows = match(replies, bundle, matching, model=options.model, condition=options.condition)
    return _write(options, bundle, rows, None)


def _opened(options: argparse.Namespace) -> Bundle:
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle

    bundle = open_bundle(options.bundle)
    keep_files_apart([options.out], [bundle.path, *options.files], "--out")
    return bundle


def _matching(options: argparse.Namespace, default: str) -> Matching:
    from onlooker.interop.rows import Matching, read_ids

    named = options.id_field or (None if options.question_field else default)
    return Matching(named, options.question_field, options.video_field, read_ids(options.ids))


def _write(options: argparse.Namespace, bundle: Bundle, rows: list[Prediction], owed: list[str] | None) -> int:
    from onlooker.interop.rows import write_predictions

    write_predictions(options.out, rows, owed)
    answered = len({row.item for row in rows})
    asked = len(bundle.load_items()) if owed is None else len(owed)
    say(f"{options.out}: {len(rows)} predictions of {answered} of {asked} items")
    return 0
