"""Whether a score needs the reaction, and whether it needs the right one.

The normal condition against the others of its task (stimulus only, shuffled reaction, distractors of other videos,
native video), paired on the items that the model answered under all of them. Where items carry a further field
``donor`` (the item or clip whose reaction replaces their own, fixed before scoring), those without a donor leave the
comparison and the donors are counted. McNemar's exact test for matching. Paper: appendices C.7, D.8, D.9, D.11, D.13,
tables 24, 25, 27 and 29.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import Number, credit, point, runs_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, answered, by_item, common_items
from onlooker.records.public import Task
from onlooker.stats.paired import mcnemar

SCORES: Final[dict[Task, dict[str, Number]]] = {
    "matching": {"accuracy": credit},
    "rationale": {name: point(name) for name in ("total", "cue", "link", "faithful")},
}


def input_controls(material: Material) -> Findings:
    """Normal and control scores on common items, and normal minus control, by task and model."""
    data: dict[str, Any] = {}
    scores: list[tuple[Cell, ...]] = []
    gaps: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for task in SCORES:
        normal = material.options.get("normal", task)
        if not any(run.condition == normal for run in material.runs):
            continue
        runs = [run for run in runs_of(material, task) if run.condition.startswith(task)]
        for model in dict.fromkeys(run.model for run in runs):
            own = sorted((r for r in runs if r.model == model), key=lambda r: (r.condition != normal, r.condition))
            if len(own) < 2 or own[0].condition != normal:
                continue
            found = _compare(material, task, own, notes)
            data.setdefault(task, {})[model] = found
            for condition, one in found["conditions"].items():
                scores += [(task, model, condition, name, *_cells(cell)) for name, cell in one.items()]
            for condition, one in found["normal_minus"].items():
                p = one.get("mcnemar", {}).get("p")
                gaps += [
                    (task, model, condition, name, *_cells(cell), p) for name, cell in one.items() if name != "mcnemar"
                ]
    if not data:
        raise InputError(
            "no model has predictions of a normal condition and of a control",
            value=sorted({run.condition for run in material.runs}),
            remedy="matching with matching_stimulus_only, or name the normal condition with normal",
        )
    heads = ("task", "model", "condition", "score", "n")
    ends = ("low", "high")
    tables = (
        Table("Normal and control inputs on common items", (*heads, "value", *ends), tuple(scores)),
        Table("Normal minus control", (*heads, "difference", *ends, "mcnemar p"), tuple(gaps)),
    )
    return Findings(data, tables, (), tuple(notes))


def _compare(material: Material, task: Task, runs: Sequence[GradedRun], notes: list[str]) -> dict[str, Any]:
    def counts(case: Case) -> bool:
        return case.item.task == task and answered(case) and (task == "matching" or "total" in case.grade.points)

    model, normal = runs[0].model, runs[0].condition
    shared, left = common_items(material, runs, counts)
    donors = {item: material.items[item].extra.get("donor") for item in shared}
    if any(donors.values()):
        before = len(shared)
        shared = [item for item in shared if donors[item]]
        left += before - len(shared)
    if left:
        notes.append(
            f"{model}, {task}: {left} items left out (not answered and judged under every condition, or no donor)"
        )
    sheet = Sheet(material, shared)
    sides: dict[str, dict[str, Metric]] = {}
    for run in runs:
        sides[run.condition] = {}
        for name, number in SCORES[task].items():
            of = by_item(run, number)
            metric = sheet.columns(shared).mean("", [of[item] for item in shared])
            sides[run.condition][name] = metric
            sheet.add((run.condition, name), metric)
            if run.condition != normal:
                sheet.subtract((run.condition, name, "minus"), sides[normal][name], metric)
    found = sheet.solve()
    notes += [f"{model}, {task}: {note}" for note in sheet.notes(found)]
    minus: dict[str, Any] = {}
    for run in runs[1:]:
        minus[run.condition] = {name: found[run.condition, name, "minus"].spell() for name in SCORES[task]}
        if task == "matching":
            one, other = by_item(runs[0], credit), by_item(run, credit)
            test = mcnemar(
                sum(one[i] == 1 and other[i] != 1 for i in shared), sum(one[i] != 1 and other[i] == 1 for i in shared)
            )
            minus[run.condition]["mcnemar"] = {"normal_only": test.a_only, "control_only": test.b_only, "p": test.p}
    return {
        "items": len(shared),
        "left_out": left,
        "donors": _donors(material, {item: donors[item] for item in shared}),
        "conditions": {c: {name: found[c, name].spell() for name in SCORES[task]} for c in sides},
        "normal_minus": minus,
    }


def _donors(material: Material, donors: dict[str, Any]) -> dict[str, int] | None:
    """How many items have a donor, and how many of these donors are of the same recording; None where none has."""
    if not any(donors.values()):
        return None
    same = 0
    for item, donor in donors.items():
        clip = material.items[donor].episode if donor in material.items else donor
        here = material.episodes[material.items[item].episode].lineage.recording
        there = material.episodes[clip].lineage.recording if clip in material.episodes else None
        same += here is not None and here == there
    return {"items": len(donors), "same_recording": same}


def _cells(cell: dict[str, Any]) -> tuple[Cell, ...]:
    return cell["n"], cell["value"], cell["low"], cell["high"]


ANALYSIS = Analysis(
    name="controls",
    says="what is lost without the reaction, or with another one, paired by item",
    source="appendices C.7, D.8, D.9, D.11, D.13, tables 24, 25, 27 and 29",
    run=input_controls,
    options={**RUN_OPTIONS, "normal": "the normal condition; matching and rationale where absent"},
)
