"""``onlooker cut`` and ``onlooker compose``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import counting, note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.media.clip import Clip
    from onlooker.media.grid import Window


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    cut = commands.add_parser("cut", help="a stretch of a video as an mp4 file of its own")
    cut.add_argument("video", type=Path, metavar="VIDEO")
    cut.add_argument("--out", required=True, type=Path, metavar="FILE", help="the mp4 file to write")
    cut.add_argument("--window", metavar="A:B", help="seconds from the first frame; the whole if absent")
    cut.add_argument("--max-side", type=int, metavar="PX", help="longest side in pixels")
    cut.add_argument("--max-bytes", type=int, metavar="N", help="size of the file at most")
    cut.add_argument("--no-sound", action="store_true", help="leave the sound out")
    cut.add_argument("--fps", type=float, metavar="N", help="frames a second at most")
    cut.set_defaults(run=_cut)
    compose = commands.add_parser("compose", help="two videos in one picture, on one clock")
    compose.add_argument("left", type=Path, metavar="LEFT")
    compose.add_argument("right", type=Path, metavar="RIGHT")
    compose.add_argument("--out", required=True, type=Path, metavar="FILE", help="the mp4 file to write")
    compose.add_argument("--inset", type=_rectangle, metavar="L,T,R,B", help="put RIGHT into this rectangle of LEFT")
    compose.add_argument("--left-window", metavar="A:B", help="seconds of LEFT; the whole if absent")
    compose.add_argument("--right-window", metavar="A:B", help="seconds of RIGHT; the whole if absent")
    compose.add_argument("--offset", type=float, default=0.0, metavar="S", help="seconds RIGHT begins later (0)")
    compose.add_argument("--height", type=int, metavar="PX", help="height of both, side by side")
    compose.add_argument("--sound", choices=["left", "right", "none"], default="left", help="whose sound (left)")
    compose.add_argument("--fps", type=float, metavar="N", help="a fixed rate; where either changes if absent")
    compose.set_defaults(run=_compose)


def _cut(options: argparse.Namespace) -> int:
    from onlooker.media.cut import cut_clip

    clip = cut_clip(
        options.video,
        options.out,
        window=_window(options.window),
        max_side_px=options.max_side,
        max_bytes=options.max_bytes,
        keep_sound=not options.no_sound,
        max_fps=options.fps,
        advance=counting("frames encoded"),
    )
    _tell(clip)
    return 0


def _compose(options: argparse.Namespace) -> int:
    from onlooker.media.compose import compose_inset, compose_side_by_side

    if options.inset is None:
        clip = compose_side_by_side(
            options.left,
            options.right,
            options.out,
            left_window=_window(options.left_window),
            right_window=_window(options.right_window),
            offset_s=options.offset,
            height_px=options.height,
            sound=options.sound,
            fps=options.fps,
            advance=counting("pictures encoded"),
        )
    else:
        from onlooker.media.pictures import Rect

        clip = compose_inset(
            options.left,
            options.right,
            options.out,
            rectangle=Rect(*options.inset),
            background_window=_window(options.left_window),
            inset_window=_window(options.right_window),
            offset_s=options.offset,
            sound=options.sound,
            fps=options.fps,
            advance=counting("pictures encoded"),
        )
    _tell(clip)
    return 0


def _tell(clip: Clip) -> None:
    if clip.lost_s:
        note(f"{clip.lost_s:.3f} s of the window are lost from the file")
    if clip.missing:
        note(f"{clip.missing} frames could not be decoded; the one before each stays on screen")
    if clip.corrupt:
        note(f"{clip.corrupt} frames may show damage")
    why = f" ({clip.why})" if clip.why else ""
    say(
        f"{clip.path}: {clip.start_s:.3f} to {clip.end_s:.3f} s, {clip.frames} frames, "
        f"{clip.width_px} x {clip.height_px}, {clip.size_bytes} bytes, picture {clip.picture}{why}, sound {clip.sound}"
    )


def _window(text: str | None) -> Window | None:
    from onlooker.media.grid import parse_window

    return None if text is None else parse_window(text)


def _rectangle(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(number) for number in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != 4:
        raise argparse.ArgumentTypeError(f"{text!r} is no rectangle such as 20,20,180,140 (left, top, right, bottom)")
    return numbers
