"""``onlooker battery``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from onlooker.cli import evaluate
from onlooker.cli.asking import whole
from onlooker.cli.terminal import note, say, table

if TYPE_CHECKING:
    from onlooker.cli.types import Commands
    from onlooker.protocol.benchmark import Benchmark

# What is varied where nothing is chosen: each as far as the condition and the model have it.
VARIATIONS = (
    "wrong_video",
    "frames_blank",
    "frames_shuffled",
    "frames_reversed",
    "no_sound",
    "options_rotated_1",
    "options_reversed",
    "paraphrase_1",
    "again_1",
)


def add_commands(commands: Commands) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("battery", help="how much of a score needs the video, its order, its sound ...")
    evaluate.add_asking_options(parser)
    parser.add_argument("--condition", metavar="C", help="the base condition (the family's first)")
    parser.add_argument(
        "--variation", action="append", default=[], metavar="V", help="one variation; may be repeated (all that fit)"
    )
    parser.add_argument("--metric", metavar="NAME", help="the metric (the main one that needs no judge)")
    parser.add_argument("--draws", type=whole(1), default=10_000, metavar="N", help="bootstrap draws (10000)")
    parser.set_defaults(run=_battery)


def _battery(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.records.bundle import open_bundle

    bundle = open_bundle(options.bundle)
    benchmark = load_benchmark(bundle.card.family)
    base = options.condition or benchmark.default.name
    metric = options.metric or _plain_metric(benchmark, base)
    wanted = options.variation or VARIATIONS
    options.condition = [base, *_fitting(benchmark, base, wanted, chosen=bool(options.variation))]
    without = [benchmark.baseline] if benchmark.baseline and benchmark.baseline != base else []
    options.condition += without
    options.leave_out = not options.variation
    code = evaluate.ask(options)
    if options.estimate or code:
        return code
    return _compare(options, benchmark, base, metric, without)


def _compare(options: argparse.Namespace, benchmark: Benchmark, base: str, metric: str, without: list[str]) -> int:
    import json

    from onlooker.records.bundle import open_bundle
    from onlooker.records.jsonl import write_text
    from onlooker.run.export import PREDICTIONS_NAME
    from onlooker.run.plan import PLAN_NAME, read_plan_document
    from onlooker.score.battery import shortcut_battery

    found = shortcut_battery(
        open_bundle(options.bundle),
        benchmark.scoring,
        [options.out / PREDICTIONS_NAME],
        read_plan_document(options.out / PLAN_NAME)["model"]["name"],
        base,
        metric,
        without=without,
        draws=options.draws,
    )
    rows = [["what is taken away", "condition", metric, "loss", "95 %", "n", "answers changed"]]
    for row in found.report["variations"]:
        ends = "-" if row["low"] is None else f"[{row['low']:.3f}, {row['high']:.3f}]"
        changed = "-" if row["changed"] is None else f"{100 * row['changed']:.0f} % of {row['compared']}"
        rows.append(
            [
                row["takes_away"],
                row["condition"],
                _shown(row["value"]),
                _shown(row["loss"]),
                ends,
                str(row["n"]),
                changed,
            ]
        )
    say(table(rows, right=range(2, 6)))
    for line in found.notes:
        note(line)
    target = options.out / "battery.json"
    write_text(target, json.dumps(found.report, ensure_ascii=False, indent=1) + "\n")
    say(str(target))
    return 0


def _fitting(benchmark: Benchmark, base: str, names: Any, *, chosen: bool) -> list[str]:
    """The variations that the base condition can have; what was asked for by name and cannot be had is an error."""
    from onlooker.errors import InputError

    found = []
    for name in names:
        try:
            found.append(benchmark.condition(f"{base}+{name}").name)
        except InputError as error:
            if chosen:
                raise
            note(f"{base}+{name} is left out: {error}")
    return found


def _plain_metric(benchmark: Benchmark, base: str) -> str:
    """The main metric where a reply alone decides it, else the first metric that does."""
    from onlooker.protocol.scoring import Case, Grade, Private, Reply, Scope
    from onlooker.protocol.specimen import specimen_items
    from onlooker.records.public import Episode

    items = [item for _, item in specimen_items(benchmark) if benchmark.scoring.owes(base, item)]
    reply = Reply("missing", None, {}, judged=False)
    cases = [Case(item, Episode(id="specimen"), 0, Private(None), reply, Grade(None)) for item in items]
    scope = Scope(base, tuple(items), judged=False)
    plain = [metric.name for metric in benchmark.scoring.answer_metrics(cases, scope)]
    every = [metric.name for metric in benchmark.scoring.metrics(cases, scope)]
    return benchmark.main_metric if benchmark.main_metric in plain else (plain or every)[0]


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
