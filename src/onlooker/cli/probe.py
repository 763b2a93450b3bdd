"""``onlooker probe``."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.media.card import MediaCard
    from onlooker.media.survey import Surveyed


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("probe", help="what a media file, or every one of a bundle, really holds")
    parser.add_argument("medium", type=Path, metavar="FILE|BUNDLE")
    parser.add_argument("--json", action="store_true", help="print JSON: a card, or a line a medium of a bundle")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON into a file, too")
    parser.add_argument("--decode", action="store_true", help="decode every frame, too, and count the damaged ones")
    parser.set_defaults(run=_probe)


def _probe(options: argparse.Namespace) -> int:
    if options.medium.is_dir():
        return _probe_bundle(options)
    from onlooker.media.card import probe
    from onlooker.media.checkup import check_frames
    from onlooker.media.remarks import describe
    from onlooker.records.jsonl import write_text

    card = probe(options.medium)
    checkup = check_frames(options.medium) if options.decode and card.video is not None else None
    row = dataclasses.asdict(card) | ({} if checkup is None else {"checkup": dataclasses.asdict(checkup)})
    text = json.dumps(row, ensure_ascii=False, indent=2)
    if options.out is not None:
        write_text(options.out, f"{text}\n")
    for line in [text] if options.json else describe(card, checkup):
        say(line)
    return 0


def _probe_bundle(options: argparse.Namespace) -> int:
    from onlooker.media.survey import declared_media, survey
    from onlooker.records.bundle import open_bundle
    from onlooker.records.jsonl import write_text
    from onlooker.run.progress import Progress

    bundle = open_bundle(options.medium)
    found: list[Surveyed] = []
    with Progress("probed", len(declared_media(bundle))) as progress:
        for medium in survey(bundle, decode=options.decode):
            found.append(medium)
            progress.advance(failed=medium.fault is not None)
    lines = [json.dumps(medium.row(), ensure_ascii=False) for medium in found]
    if options.out is not None:
        write_text(options.out, "".join(f"{line}\n" for line in lines))
    if options.json:
        for line in lines:
            say(line)
    else:
        say(table([_HEAD, *(_row(m, m.card) for m in found if m.card is not None)], right=(3, 5, 6)))
    faults = [medium for medium in found if medium.fault is not None]
    if faults:
        rows = [[m.episode, m.medium, m.file, m.fault or ""] for m in faults]
        note(table([["episode", "medium", "file", "cannot be read"], *rows]))
    note(f"{len(found) - len(faults)} of {len(found)} media read")
    return 1 if faults else 0


_HEAD = ("episode", "medium", "container", "seconds", "size", "frames", "rate", "codec", "notes")


def _row(medium: Surveyed, card: MediaCard) -> list[str]:
    video = card.video
    sound = next((t.codec for t in card.sound if t.index == card.default_sound), "")
    return [
        medium.episode,
        medium.medium,
        card.container.split(",")[0],
        f"{card.duration_s:.3f}",
        "" if video is None else f"{video.width_px}x{video.height_px}",
        "" if video is None else str(video.frames),
        "" if video is None or video.average_fps is None else f"{video.average_fps:.2f}",
        sound if video is None else f"{video.codec}{sound and '+'}{sound}",
        "; ".join(medium.notes),
    ]
