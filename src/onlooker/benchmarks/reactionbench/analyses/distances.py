"""How far wrong choices of the stimulus are from the right one, beside what chance gives.

Seconds between the starts of the chosen and the right candidate, over wrong choices that parsed; chance is over all
distractors of all items, as a random wrong choice takes each of an item's equally. Candidates of other clips have no
distance. Paper: appendix D.1 and D.10, table 26.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import runs_of, task_items
from onlooker.benchmarks.reactionbench.scoring import metrics
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, run_name
from onlooker.stats.cluster import Difference

NAMES: Final = ("error_mean_s", "chance_error_mean_s", "error_median_s", "chance_error_median_s")


def error_distances(material: Material) -> Findings:
    """Accuracy, mean and median distance of wrong choices and of distractors, and their difference."""
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for run in runs_of(material, "matching"):
        own = run_name(run)
        items = task_items(run, "matching")
        sheet = Sheet(material, items)
        of = {name.removeprefix("srm."): metric for name, metric in sheet.metrics(run, metrics, items).items()}
        for name in ("accuracy", *NAMES):
            sheet.add(name, of[name])
        for part in ("mean", "median"):
            wrong, chance = of[f"error_{part}_s"], of[f"chance_error_{part}_s"]
            sheet.add(f"{part}_minus_chance_s", Difference(wrong.statistic, chance.statistic), len(wrong.behind))
        found = sheet.solve()
        unread = sum(c.reply.answer is None for cases in run.by_seed.values() for c in cases if c.item.id in set(items))
        data[own] = {name: one.spell() for name, one in found.items()} | {"without_choice": unread}
        parts = [
            (
                found[f"error_{part}_s"].value,
                found[f"chance_error_{part}_s"].value,
                *found[f"{part}_minus_chance_s"].cells,
            )
            for part in ("mean", "median")
        ]
        accuracy = found["accuracy"]
        rows.append((own, accuracy.n, *accuracy.cells, unread, found["error_mean_s"].n, *parts[0], *parts[1]))
        notes += [f"{own}: {note}" for note in sheet.notes(found)]
    heads = ("accuracy", "low", "high", "no choice", "wrong choices")
    ends = ("minus chance", "low", "high")
    table = Table(
        "Wrong choices of the stimulus: seconds from the right one",
        ("run", "n", *heads, "mean", "chance mean", *ends, "median", "chance median", *ends),
        tuple(rows),
    )
    return Findings(data, (table,), (), tuple(notes))


ANALYSIS = Analysis(
    name="distances",
    says="seconds between wrong choices and the right stimulus, beside what chance gives",
    source="appendices D.1 and D.10, table 26",
    run=error_distances,
    options=RUN_OPTIONS,
)
