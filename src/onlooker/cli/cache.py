"""``onlooker cache``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker.cli.terminal import say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("cache", help="what was read of media and is kept: show, bound, check, clear")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--status", action="store_true", help="what is kept, by kind, and the limit (the default)")
    what.add_argument(
        "--limit", metavar="BYTES", help="remove what was unused for longest, now, down to this (20G, 500M)"
    )
    what.add_argument("--clear", action="store_true", help="remove all of it; assets stay")
    what.add_argument("--verify", action="store_true", help="read all of it and remove what is damaged")
    parser.set_defaults(run=_cache)


def _cache(options: argparse.Namespace) -> int:
    from onlooker.cli.folders import cache_dir
    from onlooker.media.store import clear, parse_bytes, shrink, verify

    folder = cache_dir()
    if options.clear:
        say(f"{folder}: {clear(folder)} entries removed")
    elif options.limit is not None:
        say(f"{folder}: {shrink(folder, parse_bytes(options.limit, '--limit'))} entries removed")
    elif options.verify:
        found = verify(folder)
        say(
            f"{folder}: {found.sound} entries are sound, {found.damaged} were damaged and are removed, "
            f"{found.unchecked} carry no digest"
        )
        return 0
    _show()
    return 0


def _show() -> None:
    from onlooker.cli.folders import cache_dir
    from onlooker.media.store import LIMIT_VARIABLE, holdings, limit_bytes

    folder = cache_dir()
    found = holdings(folder)
    rows = [("kind", "entries", "MB")]
    rows += [(h.kind, str(h.entries), f"{h.used_bytes / 1e6:.1f}") for h in found]
    rows.append(("all", str(sum(h.entries for h in found)), f"{sum(h.used_bytes for h in found) / 1e6:.1f}"))
    say(table(rows, right=(1, 2)))
    say(f"{folder}: limit {limit_bytes() / 1e9:g} GB ({LIMIT_VARIABLE})")
