"""Models on the same items: only those that every model of a condition has a score for.

Removes denominators that differ by model; differences are paired and on the same draws. Paper: appendix D.7, tables 22
and 23.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import parsed, runs_of
from onlooker.benchmarks.reactionbench.scoring import metrics, task_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, common_items
from onlooker.records.public import Task

INTENSITY: Final = ("rho0", "spearman_nonconstant", "pearson", "constant")
RATIONALE: Final = ("total", "cue", "link", "faithful")


def common_coverage(material: Material) -> Findings:
    """Scores on common items, one group a condition, and every pair's difference in the main score."""
    reference = material.options.get("reference")
    chosen = chosen_runs(material)
    if reference is not None and reference not in {run.model for run in chosen}:
        raise InputError("no predictions of this model", where="reference", value=reference)
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    gaps: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for condition in dict.fromkeys(run.condition for run in chosen):
        task: Task = "intensity" if task_of(condition) == "intensity" else "rationale"
        if task != task_of(condition):
            continue
        runs = [run for run in runs_of(material, task) if run.condition == condition]
        names = INTENSITY if task == "intensity" else RATIONALE
        shared, left = common_items(material, runs, parsed if task == "intensity" else _judged)
        sheet = Sheet(material, shared)
        of = {run.model: _metrics(sheet, run, shared) for run in runs}
        for model, own in of.items():
            for name in names:
                sheet.add((model, name), own[name])
        pairs = [(a, b) if a != reference else (b, a) for a, b in combinations(of, 2)]
        pairs = [pair for pair in pairs if reference in {None, pair[1]}]
        for a, b in pairs:
            sheet.subtract((a, "minus", b), of[a][names[0]], of[b][names[0]])
        found = sheet.solve()
        notes += [f"{condition}: {note}" for note in sheet.notes(found)]
        if left:
            notes.append(f"{condition}: {left} items without a score for every model left out")
        data[condition] = {
            "items": len(shared),
            "left_out": left,
            "models": {model: {name: found[model, name].spell() for name in names} for model in of},
            "differences": {f"{a} minus {b}": found[a, "minus", b].spell() for a, b in pairs},
        }
        for model in of:
            rows += [(condition, model, name, found[model, name].n, *found[model, name].cells) for name in names]
        gaps += [(condition, a, b, names[0], len(shared), *found[a, "minus", b].cells) for a, b in pairs]
    if not data:
        raise InputError("no intensity or rationale predictions among the runs that are looked at")
    ends = ("low", "high")
    tables = (
        Table("Scores on common items", ("condition", "model", "score", "n", "value", *ends), tuple(rows)),
        Table(
            "Paired differences on common items",
            ("condition", "model", "minus", "score", "n", "difference", *ends),
            tuple(gaps),
        ),
    )
    return Findings(data, tables, (), tuple(notes))


def _judged(case: Case) -> bool:
    return "total" in case.grade.points


def _metrics(sheet: Sheet, run: GradedRun, shared: list[str]) -> dict[str, Metric]:
    if not shared:
        empty = sheet.columns(()).mean("", ())
        return dict.fromkeys((*INTENSITY, *RATIONALE), empty)
    return {name.rsplit(".", 1)[1]: metric for name, metric in sheet.metrics(run, metrics, shared).items()}


ANALYSIS = Analysis(
    name="common",
    says="models on the items that all of them have a score for, with paired differences",
    source="appendix D.7, tables 22 and 23",
    run=common_coverage,
    options={**RUN_OPTIONS, "reference": "the model that others are compared with; every pair where absent"},
)
