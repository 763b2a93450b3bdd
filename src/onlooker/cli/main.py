"""The ``onlooker`` command.

Exit codes: 0; 1 for bad input, with the problems on standard error (``validate``: on standard output); 2 for wrong
usage.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence

import onlooker
from onlooker.cli import (
    analyze,
    annotate,
    assets,
    battery,
    bundles,
    cache,
    comparison,
    cut,
    demo,
    describe,
    detect,
    evaluate,
    frames,
    imports,
    judge,
    ledger,
    prepare,
    probe,
    report,
    score,
    words,
)
from onlooker.cli.terminal import note
from onlooker.errors import OnlookerError

NOUNS = (
    bundles,
    evaluate,
    battery,
    imports,
    judge,
    annotate,
    ledger,
    score,
    comparison,
    analyze,
    report,
    describe,
    frames,
    cut,
    probe,
    detect,
    words,
    prepare,
    cache,
    assets,
    demo,
)


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands. The test of the documentation reads it too."""
    parser = argparse.ArgumentParser(
        prog="onlooker", description="Benchmarks of social understanding in video: build, run, score, report."
    )
    parser.add_argument("--version", action="version", version=f"onlooker {onlooker.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for noun in NOUNS:
        noun.add_commands(commands)
    return parser


def _run(options: argparse.Namespace) -> int:
    code = int(options.run(options))
    # A full disk behind standard output shows here, and not after the exit code is settled.
    sys.stdout.flush()
    return code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or a pipe of another encoding gets escapes for what it cannot spell, not a traceback.
            stream.reconfigure(errors="backslashreplace")
    options = make_parser().parse_args(arguments)
    try:
        return _run(options)
    except OnlookerError as error:
        note(f"onlooker {options.command}: {error}")
        return 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader (head, less) has seen enough. Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        # The system's refusal, such as a full disk or a missing permission: its own words say what and where.
        note(f"onlooker {options.command}: {error}")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
