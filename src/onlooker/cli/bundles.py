"""``onlooker validate``, ``new`` and ``show``."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    validate = commands.add_parser("validate", help="check every rule of a bundle and list every problem")
    validate.add_argument("bundle", type=Path, metavar="BUNDLE")
    validate.set_defaults(run=_validate)

    new = commands.add_parser("new", help="make a bundle from a folder of videos")
    new.add_argument("bundle", type=Path, metavar="BUNDLE", help="the folder to make")
    new.add_argument("--family", required=True, help="the benchmark family, such as sivbench")
    new.add_argument("--videos", required=True, type=Path, metavar="DIR", help="the folder of media files")
    new.add_argument("--name", help="the bundle's name (the folder's)")
    new.add_argument("--copy", action="store_true", help="copy the media into the bundle (they are linked)")
    new.set_defaults(run=_new)

    show = commands.add_parser("show", help="show a bundle, or one of its items, in the terminal")
    show.add_argument("bundle", type=Path, metavar="BUNDLE")
    show.add_argument("item", nargs="?", metavar="ITEM", help="an item's id")
    show.add_argument("--answers", action="store_true", help="show what only scorers may see")
    show.set_defaults(run=_show)


def _validate(options: argparse.Namespace) -> int:
    from onlooker.catalog import InstalledLabels
    from onlooker.records.validate import validate_bundle

    rules = InstalledLabels()
    errors = warnings = 0
    for problem in validate_bundle(options.bundle, families=rules):
        errors += problem.severity == "error"
        warnings += problem.severity == "warning"
        say(str(problem))
    say(f"{options.bundle}: {errors} errors, {warnings} warnings")
    return 1 if errors else 0


def _new(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.construct.intake import new_bundle

    load_benchmark(options.family)  # an unknown family is named before anything is written
    intake = new_bundle(
        options.bundle,
        options.family,
        options.videos,
        name=options.name,
        copy=options.copy,
        seen=lambda path: note(f"probed {path.name}"),
    )
    for path, reason in intake.unreadable:
        say(f"not readable: {path}: {reason}")
    with_words = sum(episode.media.transcript is not None for episode in intake.episodes)
    say(
        f"{options.bundle}: {len(intake.episodes)} episodes, {with_words} with a transcript beside the file, "
        f"{len(intake.unreadable)} files not readable"
        + (f" (listed in {options.bundle / 'unreadable.jsonl'})" if intake.unreadable else "")
    )
    validate = shlex.join(("onlooker", "validate", str(options.bundle)))
    say(f"next: write items.jsonl and references.jsonl, then: {validate}")
    return 0


def _show(options: argparse.Namespace) -> int:
    from onlooker.cli.showing import show_bundle, show_item
    from onlooker.records.bundle import open_bundle

    bundle = open_bundle(options.bundle)
    if options.item is None:
        show_bundle(bundle, sys.stdout)
    else:
        show_item(bundle, options.item, sys.stdout, answers=options.answers)
    return 0
