"""``onlooker analyze``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onlooker.cli.score import add_bootstrap_options
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onlooker.cli.types import Commands
    from onlooker.protocol.analysis import Analysis, Findings
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.records.bundle import Bundle


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("analyze", help="run an analysis of a family, or list those there are")
    parser.add_argument("subject", metavar="BUNDLE", help="a bundle; a family's name lists its analyses")
    parser.add_argument("name", nargs="?", metavar="NAME", help="the analysis; none: list those there are")
    parser.add_argument("--predictions", nargs="+", action="extend", type=Path, default=[], metavar="FILE")
    parser.add_argument("--judgements", nargs="+", action="extend", type=Path, default=[], metavar="FILE")
    parser.add_argument("--judge", metavar="NAME", help="whose labels count in the grades, where there are several")
    parser.add_argument(
        "--option", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help="an option of the analysis"
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder for NAME.json, tables and figures")
    parser.add_argument("--no-figures", action="store_true", help="draw nothing (drawing needs the extra report)")
    add_bootstrap_options(parser)
    parser.set_defaults(run=_analyze)


def _analyze(options: argparse.Namespace) -> int:
    from onlooker.errors import InputError
    from onlooker.records.bundle import open_bundle
    from onlooker.score.analyze import analyze, find_analysis

    if options.name is None:
        benchmark = _named(options.subject)
        _list(benchmark.title, benchmark.analyses)
        return 0
    from onlooker.catalog import families, load_benchmark

    if options.subject in families() and not Path(options.subject).is_dir():
        raise InputError(
            "an analysis needs the bundle whose answers it looks at, not its family's name",
            where="BUNDLE",
            value=options.subject,
            remedy=f"onlooker analyze BUNDLE {options.name} --predictions FILE... --out DIR",
        )
    if options.out is None:
        raise InputError("nowhere to write what the analysis finds", where="--out", remedy="name a folder with --out")
    bundle = open_bundle(Path(options.subject))
    benchmark = load_benchmark(bundle.card.family)
    analysis = find_analysis(benchmark.analyses, benchmark.family, options.name)
    found = analyze(
        bundle,
        benchmark.scoring,
        analysis,
        options.predictions,
        options.judgements,
        draws=options.draws,
        seed=options.seed,
        options=_pairs(options.option),
        judge=options.judge,
    )
    _print(found)
    return _write(found, analysis, bundle, options)


def _named(subject: str) -> Benchmark:
    """The family of that name, else that of the bundle in that folder."""
    from onlooker.catalog import families, load_benchmark
    from onlooker.records.bundle import open_bundle

    if subject in families() or not Path(subject).exists():
        return load_benchmark(subject)
    return load_benchmark(open_bundle(Path(subject)).card.family)


def _list(title: str, analyses: Sequence[Analysis]) -> None:
    if not analyses:
        say(f"{title}: no analyses yet")
    for analysis in analyses:
        say(f"{analysis.name}: {analysis.says} ({analysis.source})")
        for name, meaning in analysis.options.items():
            say(f"    --option {name}=...  {meaning}")


def _pairs(words: Sequence[str]) -> dict[str, str]:
    """{name: value} of ``name=value`` words. InputError at any other word and at a name said twice."""
    from onlooker.errors import InputError

    found: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or name in found:
            wrong = "an option said twice" if name in found else "an option without a value"
            raise InputError(wrong, where="--option", value=word, remedy="write each once as NAME=VALUE")
        found[name] = value
    return found


def _print(found: Findings) -> None:
    from onlooker.report.tables import numeric_columns, shown

    for one in found.tables:
        say(one.title)
        say(table([one.columns, *([shown(cell) for cell in row] for row in one.rows)], right=numeric_columns(one)))
        say()
    for line in found.notes:
        say(f"  {line}")


def _write(found: Findings, analysis: Analysis, bundle: Bundle, options: argparse.Namespace) -> int:
    from onlooker.records.digest import bundle_sha256
    from onlooker.records.jsonl import write_text
    from onlooker.report.figures import make_folder
    from onlooker.report.tables import write_tables

    card = bundle.card
    report: dict[str, Any] = {
        "analysis": analysis.name,
        "source": analysis.source,
        "bundle": {
            "name": card.name,
            "family": card.family,
            "version": card.version,
            "sha256": bundle_sha256(bundle.path),
        },
        "settings": {
            "draws": options.draws,
            "seed": options.seed,
            "judge": options.judge,
            "options": _pairs(options.option),
        },
        "data": found.data,
        "tables": [{"title": t.title, "columns": t.columns, "rows": t.rows} for t in found.tables],
        "notes": found.notes,
    }
    make_folder(options.out)
    path = options.out / f"{analysis.name}.json"
    write_text(path, json.dumps(report, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
    for one in (path, *write_tables(found.tables, options.out, analysis.name)):
        say(str(one))
    if found.figures and not options.no_figures:
        from onlooker.report.analysis_figures import write_analysis_figures

        written = write_analysis_figures(found.figures, options.out, analysis.name)
        for drawn in written.paths:
            say(str(drawn))
        for problem in written.problems:
            note(f"figures: {problem}")
    return 0
