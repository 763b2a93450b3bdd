"""``onlooker describe`` and ``onlooker diff``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from onlooker.cli.terminal import note, say

if TYPE_CHECKING:
    from onlooker.cli.types import Commands


def add_commands(commands: Commands) -> None:
    """Add the commands to the parser."""
    parser = commands.add_parser(
        "describe", help="print the effective protocol of a family: prompts, samplers, caps, hash"
    )
    parser.add_argument("family", metavar="FAMILY")
    parser.add_argument("--condition", metavar="C", help="one condition only (all)")
    parser.set_defaults(run=_describe)

    diff = commands.add_parser("diff", help="print what two conditions of a family differ in")
    diff.add_argument("family", metavar="FAMILY")
    diff.add_argument("one", metavar="C1")
    diff.add_argument("other", metavar="C2")
    diff.set_defaults(run=_diff)


def _describe(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.protocol.checks import check_benchmark
    from onlooker.protocol.description import describe_text

    benchmark = load_benchmark(options.family)
    conditions = [benchmark.condition(options.condition)] if options.condition else benchmark.conditions
    problems = check_benchmark(benchmark)
    for problem in problems:
        note(problem)
    say(describe_text(benchmark, conditions).rstrip("\n"))
    return 1 if problems else 0


def _diff(options: argparse.Namespace) -> int:
    from onlooker.catalog import load_benchmark
    from onlooker.protocol.description import describe_difference

    benchmark = load_benchmark(options.family)
    one, other = benchmark.condition(options.one), benchmark.condition(options.other)
    for what, here, there in describe_difference(benchmark, one, other):
        for sign, value in (("-", here), ("+", there)):
            if value is not None:
                say(f"{sign} {what}: {value}")
    return 0
