"""Accuracy by subtask: mean credit of the questions of each of the ten, unparsed replies counted as wrong.

Interval: 95 % percentiles over resampled episodes, all subtasks and runs on the same draws. Chance: the mean of the
guess 1/k over the questions. Paper: section 3.3, figure 6.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import chance_of, label_values, questions_of
from onlooker.benchmarks.sivbench.taxonomy import SUBTASKS
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, by_item, chosen_runs, run_name


def subtask_radar(material: Material) -> Findings:
    """Accuracy of every run on every subtask."""
    runs = chosen_runs(material)
    subtask = {i.id: label_values(material, i, "subtask") for i in questions_of(material)}
    credits_by_run = {run_name(run): by_item(run, lambda c: c.grade.credit) for run in runs}
    owed = list(dict.fromkeys(item for found in credits_by_run.values() for item in found))
    sheet = Sheet(material, owed)
    for name, found in credits_by_run.items():
        for one in SUBTASKS:
            inside = [item for item in found if one in subtask[item]]
            sheet.add((name, one), sheet.columns(inside).mean("", [found[item] for item in inside]))
    solved = sheet.solve()
    rows: list[tuple[Cell, ...]] = [
        (name, one, solved[name, one].n, *solved[name, one].cells) for name in credits_by_run for one in SUBTASKS
    ]
    chance = sum(chance_of(i) for i in questions_of(material)) / len(questions_of(material))
    unlabelled = sum(not subtask[item] for item in owed)
    notes = sheet.notes(solved)
    if unlabelled:
        notes.append(f"{unlabelled} questions without a subtask left out")
    data: dict[str, Any] = {
        "chance": chance,
        "runs": {name: {one: solved[name, one].spell() for one in SUBTASKS} for name in credits_by_run},
    }
    figure = Figure(
        "radar",
        "Accuracy by subtask",
        tuple(SUBTASKS),
        tuple(
            Series(
                name,
                tuple(solved[name, one].value for one in SUBTASKS),
                tuple(solved[name, one].low for one in SUBTASKS),
                tuple(solved[name, one].high for one in SUBTASKS),
            )
            for name in credits_by_run
        ),
        "accuracy",
        percent=True,
        chance=chance,
    )
    table = Table("Accuracy by subtask", ("run", "subtask", "n", "accuracy", "low", "high"), tuple(rows))
    return Findings(data, (table,), (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="subtasks",
    says="accuracy on the ten subtasks as a radar",
    source="section 3.3, figure 6",
    run=subtask_radar,
    options=RUN_OPTIONS,
)
