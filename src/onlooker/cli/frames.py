"""``onlooker frames`` and ``onlooker probe``."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser("frames", help="sample frames of a video exactly")
    parser.add_argument("video", type=Path, metavar="VIDEO")
    parser.add_argument("--policy", required=True, help="uniform:64, fps:1, fps:1:64, midpoint")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="gets the JPEG files and frames.json")
    parser.add_argument(
        "--max-side", type=int, default=512, metavar="PX", help="longest side of a frame in pixels (512)"
    )
    parser.set_defaults(run=_frames)
    probe = commands.add_parser("probe", help="what a media file really holds, by its time stamps")
    probe.add_argument("file", type=Path, metavar="FILE")
    probe.set_defaults(run=_probe)


def _frames(options: argparse.Namespace) -> int:
    from onlooker.media.frames import sample, write_frames

    sampled = sample(options.video, options.policy, max_side_px=options.max_side)
    write_frames(sampled, options.out)
    for time_s in sampled.missing:
        note(f"no frame can be decoded for {time_s:.3f} s")
    say(f"{options.out}: {len(sampled.frames)} of {sampled.wanted} frames")
    return 0


def _probe(options: argparse.Namespace) -> int:
    from onlooker.media.card import probe

    say(json.dumps(dataclasses.asdict(probe(options.file)), ensure_ascii=False, indent=2))
    return 0
