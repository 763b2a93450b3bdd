"""How long a bundle of 100,000 items takes to validate.

``python benchmarks/validate_speed.py [ITEMS]`` prints the seconds and rows a second of
``validate_bundle``, the peak memory of the process, and the ratio to what ``json.loads`` alone
takes over the same lines. The bundle is made in a temporary folder.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from onlooker.records.jsonl import write_rows, write_text
from onlooker.records.labels import LabelRules
from onlooker.records.validate import validate_bundle

_ITEMS_PER_EPISODE = 10
_RULES = {"made": LabelRules(closed={"capability": "GWNTSAMR"}, required=["capability"])}


def _make(folder: Path, items: int) -> None:
    draw = random.Random(7)  # noqa: S311  the rows are made up, nothing is secret
    write_text(folder / "bundle.yaml", 'name: made\nfamily: made\nversion: "1"\nlicense: CC0-1.0\n')
    write_rows(
        folder / "episodes.jsonl",
        (
            {"id": f"e{number}", "media": {}, "duration_s": 60.0, "lineage": {}, "labels": {}}
            for number in range(items // _ITEMS_PER_EPISODE + 1)
        ),
    )
    write_rows(folder / "items.jsonl", (_item(number, draw) for number in range(items)))
    write_rows(
        folder / "references.jsonl",
        (
            {"item": f"q{number}", "answer": [draw.choice("ABCD")], "cues": ["she looks away"]}
            for number in range(items)
        ),
    )


def _item(number: int, draw: random.Random) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "episode": f"e{number // _ITEMS_PER_EPISODE}",
        "task": "choice",
        "labels": {"capability": draw.choice("GWNTSAMR"), "scene": "kitchen"},
        "question": "What does the person on the left most likely want the other one to do next?",
        "options": [
            {"id": one, "text": f"An option of everyday length, number {draw.randrange(10**6)}"} for one in "ABCD"
        ],
        "select": "one",
        "window": {"start_s": 1.5, "end_s": 9.25},
    }


def main() -> None:
    """Make the bundle, time both, print one line each."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _make(folder, items)
        begin_mb = _peak_mb()
        start = time.process_time()
        problems = validate_bundle(folder, _RULES)
        took_s = time.process_time() - start
        peak_mb = _peak_mb()
        start = time.process_time()
        rows = 0
        for path in sorted(folder.glob("*.jsonl")):
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)
                    rows += 1
        loads_s = time.process_time() - start
    print(f"items {items}, rows {rows}, problems {len(problems)}")  # noqa: T201  a script's output
    for problem in problems:
        print(problem)  # noqa: T201
    print(f"validate {took_s:.2f} CPU-s, {rows / took_s:,.0f} rows/s")  # noqa: T201
    print(f"json.loads alone {loads_s:.2f} CPU-s, ratio {took_s / loads_s:.1f}")  # noqa: T201
    print(f"peak memory {peak_mb:.0f} MB, {begin_mb:.0f} MB before")  # noqa: T201


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
