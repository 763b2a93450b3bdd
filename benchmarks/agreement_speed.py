"""How long agreement over a million ratings takes, and what of it.

``python benchmarks/agreement_speed.py [RATINGS]``: 20 ratings a unit on a scale of 1 to 5 and on one of 0 to 100, made
in a temporary folder. Prints the seconds of ``rater_agreement`` from file to report, of reading and checking the rows
alone, of ``json.loads`` over the same lines and of a bare JSON reader (the floor), and of every coefficient together.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pydantic_core import from_json

from onlooker.records.jsonl import read_rows
from onlooker.records.private import Rating
from onlooker.score.agreement import rater_agreement
from onlooker.stats.agreement import LEVELS, fleiss_kappa, krippendorff_alpha, step_shares, tabulate

RATINGS, A_UNIT, RATERS = 1_000_000, 20, 300


def measure(ratings: int, top: int) -> None:
    """The times for one scale, from 0 or 1 to ``top``."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "ratings.jsonl"
        units = make(path, ratings, top)
        print(f"{ratings} ratings of {len(units)} units, scale up to {top}")  # noqa: T201
        whole = timed("file to report", lambda: rater_agreement(path, "intensity"))
        reading = timed("reading and checking the rows alone", lambda: [None for _ in read_rows(path, Rating)])
        lines = path.read_bytes().splitlines()
        timed("json.loads over the same lines", lambda: [None for line in lines if not json.loads(line)])
        floor = timed("a bare JSON reader, the floor", lambda: [None for line in lines if not from_json(line)])
    table = tabulate(units)
    sums = timed("every coefficient, once counted", lambda: (
        [krippendorff_alpha(table, level) for level in LEVELS], fleiss_kappa(table), step_shares(table)))  # fmt: skip
    print(f"           reading is {reading / whole:.0%}, the coefficients {sums / whole:.0%} of the whole")  # noqa: T201
    print(f"           all of it takes {whole / floor:.1f} times the floor, {ratings / whole:.0f} ratings/s")  # noqa: T201


def make(path: Path, ratings: int, top: int) -> list[list[int]]:
    """Write the ratings and return them, one list a unit."""
    rng = random.Random(1)  # noqa: S311 - nothing is secret
    units = []
    with path.open("w", encoding="utf-8") as file:
        for unit in range(ratings // A_UNIT):
            centre, spread = rng.randint(1, top), max(1, top // 5)
            units.append([min(top, max(1, centre + rng.randint(-spread, spread))) for _ in range(A_UNIT)])
            for k, value in enumerate(units[-1]):
                row = {"item": f"q{unit // 5}", "unit": f"m{unit % 5}", "rater": f"r{(unit + k) % RATERS}"}
                file.write(json.dumps({**row, "rubric": "intensity", "value": value, "opt_out": None}) + "\n")
    return units


def timed(label: str, work: Callable[[], object]) -> float:
    """The seconds of ``work``, printed."""
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    print(f"{seconds:8.2f} s  {label}")  # noqa: T201
    return seconds


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else RATINGS
    measure(count, 5)
    measure(count, 100)
