"""What of the files did not count, and why: empty files, and judgements that leave an answer ``unjudged``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from onlooker.protocol.answered import Run
from onlooker.protocol.scoring import Family, Rubric
from onlooker.records.jsonl import read_rows
from onlooker.records.public import Item
from onlooker.records.results import Judgement, Prediction


def empty_files(prediction_files: Sequence[Path], judgement_files: Sequence[Path]) -> list[str]:
    """A note for each file without a row."""
    notes = [
        f"no predictions in {file}" for file in prediction_files if next(read_rows(file, Prediction), None) is None
    ]
    return notes + [
        f"no judgements in {file}" for file in judgement_files if next(read_rows(file, Judgement), None) is None
    ]


def rejected_judgements(
    files: Sequence[Path], family: Family, items: Mapping[str, Item], runs: Sequence[Run], judge: str | None
) -> dict[tuple[str, str], Counter[str]]:
    """{(model, condition): {reason: judgements}} of the judgements about these runs that do not count.

    Only those of ``judge`` where one is named, and only under the family's rubrics; ``files`` as ``read_judged`` has
    checked them.
    """
    known = {(run.model, run.condition): (run, frozenset(run.owed)) for run in runs}
    found: dict[tuple[str, str], Counter[str]] = {}
    for file in files:
        for row in read_rows(file, Judgement):
            judgement = row.record
            rubric, about = family.rubric(judgement.rubric), (judgement.model, judgement.condition)
            if rubric is None or about not in known or judge not in {None, judgement.judge}:
                continue
            reason = _fault(judgement, rubric, items[judgement.item], *known[about])
            if reason is not None:
                found.setdefault(about, Counter())[reason] += 1
    return found


def _fault(judgement: Judgement, rubric: Rubric, item: Item, run: Run, owed: frozenset[str]) -> str | None:
    if judgement.seed not in run.seeds:
        seed = "without a seed" if judgement.seed is None else f"of seed {judgement.seed}"
        return f"there are no predictions {seed}"
    if item.id not in owed:
        return "this condition does not owe the item"
    if judgement.status != "ok":
        return f"the judge's status is {judgement.status}"
    labels = judgement.labels or {}
    for name, scale in rubric.scales.items():
        if name not in labels or not scale.holds(labels[name], item):
            return f"under the rubric {rubric.name}, {name} is missing or off its scale"
    return None
