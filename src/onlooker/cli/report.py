"""``onlooker report``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.cli.score import add_bootstrap_options
from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.report.content import Section
    from onlooker.report.gather import RunFiles


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("report", help="write one self-contained page about runs")
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders, of one bundle or several")
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the HTML page to write")
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write the figures as SVG and PDF too")
    parser.add_argument("--title", default="Evaluation report", help="the heading")
    add_bootstrap_options(parser)
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    make_report(
        options.runs,
        options.out,
        title=options.title,
        figures=options.figures,
        draws=options.draws,
        seed=options.seed,
    )
    say(str(options.out))
    return 0


def make_report(folders: Sequence[Path], out: Path, *, title: str, figures: Path | None, draws: int, seed: int) -> None:
    """Score the runs bundle by bundle and write the page."""
    from datetime import UTC, datetime

    import onlooker
    from onlooker.report.content import ReportContent
    from onlooker.report.figures import write_figures
    from onlooker.report.gather import read_run
    from onlooker.report.page import write_report

    runs = [read_run(folder) for folder in folders]
    by_bundle: dict[str, list[RunFiles]] = {}
    for run in runs:
        by_bundle.setdefault(run.plan["bundle"]["path"], []).append(run)
    sections = tuple(_section(Path(path), group, draws, seed) for path, group in by_bundle.items())
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    content = ReportContent(title, made_at, onlooker.__version__, sections)
    write_report(content, out)
    if figures is not None:
        for problem in write_figures(content, figures).problems:
            note(f"figures: {problem}")


def _section(path: Path, runs: Sequence[RunFiles], draws: int, seed: int) -> Section:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import cache_dir
    from onlooker.errors import InputError
    from onlooker.records.bundle import open_bundle
    from onlooker.records.digest import bundle_sha256
    from onlooker.report.gather import gather_section
    from onlooker.score.baseline import baselines
    from onlooker.score.score import score_bundle

    bundle = open_bundle(path)
    digest = bundle_sha256(path)
    for run in runs:
        if run.plan["bundle"]["sha256"] != digest:
            raise InputError(
                "the bundle has changed since this run was made: its scores would not be those of what was asked",
                where=str(run.folder),
                value=run.plan["bundle"]["sha256"],
                remedy=f"bring {path} back to that state, or run onlooker eval into a new folder",
            )
    benchmark = load_benchmark(bundle.card.family)
    result = score_bundle(
        bundle, benchmark.scoring, [run.folder / "predictions.jsonl" for run in runs], draws=draws, seed=seed
    )
    if len({tuple(run.plan["items"]) for run in runs}) > 1:
        result.notes.append(
            "the runs asked different items: chance and majority are over all items that any of them asked"
        )
    per_run = [
        f"{model}, {condition}: {line}"
        for model, conditions in result.scores["models"].items()
        for condition, scored in conditions.items()
        for line in scored.get("notes", ())
    ]
    return gather_section(
        bundle,
        benchmark,
        runs,
        scores=result.scores,
        graded=result.items,
        baselines=baselines(
            bundle,
            benchmark.scoring,
            items={item for run in runs for item in run.plan["items"]},
            draws=draws,
            seed=seed,
        ),
        notes=[*result.notes, *per_run],
        about={run.plan["model"]["name"]: run.plan["model"]["fingerprint"].get("kind", "") for run in runs},
        cache_dir=cache_dir(),
    )
