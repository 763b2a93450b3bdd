"""``onlooker frames``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.media.grid import Policy, Window


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("frames", help="sample frames of a video exactly")
    parser.add_argument("video", type=Path, metavar="VIDEO")
    parser.add_argument(
        "--policy", required=True, help="uniform:64, fps:1, fps:1:64, midpoint, vlmeval:8, lmms-eval:8, qwen-vl, ..."
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="gets the JPEG files and frames.json")
    parser.add_argument("--window", metavar="A:B", help="seconds from the first frame (the whole video)")
    parser.add_argument(
        "--damage",
        choices=["skip", "use", "fail"],
        default="skip",
        help="leave missing frames out, put the nearest earlier one in, marked, or stop at any damage (skip)",
    )
    parser.add_argument(
        "--max-side", type=int, default=512, metavar="PX", help="longest side of a frame in pixels (512)"
    )
    parser.add_argument("--quality", type=int, default=90, metavar="Q", help="of the JPEG files, 1 to 100 (90)")
    parser.add_argument("--sequential", action="store_true", help="decode from the start: slower, the same bytes")
    parser.add_argument("--query", metavar="TEXT", help="of bolt:N: the text that frames are chosen for")
    parser.add_argument("--encoder", metavar="E", help="of bolt:N: hf:FOLDER or package.module:attribute")
    parser.set_defaults(run=_frames)


def _frames(options: argparse.Namespace) -> int:
    from onlooker.media.frame_files import write_frames
    from onlooker.media.frames import sample
    from onlooker.media.grid import parse_window

    window = None if options.window is None else parse_window(options.window)
    sampled = sample(
        options.video,
        _policy(options, window),
        window=window,
        max_side_px=options.max_side,
        jpeg_quality=options.quality,
        seek=not options.sequential,
        damage=options.damage,
    )
    write_frames(sampled, options.out)
    for time_s in sampled.missing:
        note(f"no frame can be decoded for {time_s:.3f} s")
    for frame in sampled.frames:
        if frame.status == "substituted":
            note(f"the frame for {frame.time_s:.3f} s is missing: the one of {frame.pts_s:.3f} s stands in for it")
        elif frame.status == "corrupt":
            note(f"the frame for {frame.time_s:.3f} s may show damage")
    among = "" if sampled.counted is None else f", chosen by number among {sampled.counted}"
    say(f"{options.out}: {len(sampled.frames)} of {sampled.wanted} frames{among}")
    say(f"longest side at most {options.max_side} px, JPEG quality {options.quality}")
    return 0


def _policy(options: argparse.Namespace, window: Window | None) -> Policy:
    """The policy; that of ``bolt`` with its times, where both things that choose them are given."""
    from onlooker.cli.folders import cache_dir
    from onlooker.media.cache import cached_keyframes
    from onlooker.media.encoders import open_encoder
    from onlooker.media.grid import parse_policy

    policy = parse_policy(options.policy)
    if policy.kind != "bolt" or policy.count is None or options.query is None or options.encoder is None:
        return policy
    encoder = open_encoder(options.encoder, cache_dir())
    found = cached_keyframes(cache_dir(), options.video, policy.count, options.query, encoder, window=window)
    return found.policy(policy.count)
