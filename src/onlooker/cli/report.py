"""``onlooker report``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
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
    parser.add_argument(
        "--bundle", action="append", type=Path, default=[], metavar="DIR", help="where a bundle is now, if it was moved"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write the figures as SVG, PDF and PNG too")
    parser.add_argument("--title", default="Evaluation report", help="the heading")
    parser.add_argument("--judge", metavar="NAME", help="which judge counts, where there are several")
    add_bootstrap_options(parser)
    parser.set_defaults(run=_report)


def _report(options: argparse.Namespace) -> int:
    from datetime import UTC, datetime

    import onlooker
    from onlooker.cli.folders import keep_files_apart
    from onlooker.records.bundle import open_bundle
    from onlooker.report.content import ReportContent
    from onlooker.report.figures import write_figures
    from onlooker.report.gather import read_run
    from onlooker.report.page import write_report

    runs = [read_run(folder) for folder in options.runs]
    moved = {open_bundle(path).card.name: path for path in options.bundle}
    by_bundle: dict[Path, list[RunFiles]] = {}
    for run in runs:
        by_bundle.setdefault(_bundle_of(run, moved), []).append(run)
    keep_files_apart([options.out], [*options.runs, *by_bundle], "--out")
    sections = tuple(
        _section(path, group, options.draws, options.seed, options.judge) for path, group in by_bundle.items()
    )
    made_at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    content = ReportContent(options.title, made_at, onlooker.__version__, sections)
    write_report(content, options.out)
    if options.figures is not None:
        for problem in write_figures(content, options.figures).problems:
            note(f"figures: {problem}")
    say(str(options.out))
    return 0


def _bundle_of(run: RunFiles, moved: Mapping[str, Path]) -> Path:
    """Where the run's bundle is: as told by --bundle, else where it was when the run was made."""
    from onlooker.errors import InputError

    card = run.plan["bundle"]
    path = moved.get(card["name"], Path(card["path"]))
    if not path.is_dir():
        raise InputError(
            f"the bundle {card['name']} of this run is not where it was",
            where=str(run.folder),
            value=str(path),
            remedy="say where it is now with --bundle DIR",
        )
    return path


def _section(path: Path, runs: Sequence[RunFiles], draws: int, seed: int, judge: str | None) -> Section:
    from onlooker.catalog import load_benchmark
    from onlooker.cli.folders import cache_dir
    from onlooker.records.bundle import open_bundle
    from onlooker.report.gather import gather_section
    from onlooker.score.baseline import baselines
    from onlooker.score.score import score_bundle

    bundle = open_bundle(path)
    benchmark = load_benchmark(bundle.card.family)
    result = score_bundle(
        bundle,
        benchmark.scoring,
        [run.folder / "predictions.jsonl" for run in runs],
        [run.judgements_file for run in runs if run.judgements_file is not None],
        draws=draws,
        seed=seed,
        judge=judge,
    )
    if len({tuple(run.plan["items"]) for run in runs}) > 1:
        result.notes.append(
            "the runs asked different items: chance and majority are over all items that any of them asked"
        )
    if judge is not None:
        result.notes.append(f"of the judges {judge} counts")
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
