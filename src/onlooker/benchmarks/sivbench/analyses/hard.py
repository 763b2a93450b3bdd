"""The questions that the models get wrong together: a hard subset.

Joint error of a question: the mean over models of 1 - credit, seeds averaged first. The N questions of highest joint
error, ties by id (as text), among those that every model owes. The models' accuracy on the subset is printed for use
with models that had no part in the choice: for those that had, it is low by construction. Paper: section 3.5 and
appendix D.1 (200 questions, human-written ones only: option ``where``).
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import (
    SCOPES,
    in_scope,
    label_filter,
    label_values,
    named_condition,
    whole_number,
)
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, by_item, chosen_runs

SIZE = 200
SHOWN = 20


def hard_subset(material: Material) -> Findings:
    """The subset by id and joint error, and the accuracy of every model on it."""
    runs = named_condition(material, chosen_runs(material), "origin")
    size = whole_number(material.options, "size", SIZE)
    wanted = label_filter(material)
    credit = {run.model: by_item(run, lambda c: c.grade.credit) for run in runs}
    error: dict[str, float] = {}
    for item in material.items.values():
        values = [found[item.id] for found in credit.values() if found.get(item.id) is not None]
        inside = wanted is None or wanted[1] in label_values(material, item, wanted[0])
        if inside and len(values) == len(runs):
            error[item.id] = sum(1 - value for value in values if value is not None) / len(values)
    if not error:
        raise InputError("no question is owed by all models and has the label asked for", where="where", value=wanted)
    ranked = sorted(error, key=lambda item: (-error[item], item))
    hard = ranked[:size]
    sheet = Sheet(material, hard)
    for model, found in credit.items():
        for scope in SCOPES:
            inside_scope = in_scope(material, hard, scope)
            sheet.add((model, scope), sheet.columns(inside_scope).mean("", [found[i] for i in inside_scope]))
    solved = sheet.solve()
    notes = sheet.notes(solved)
    if len(error) < size:
        notes.append(f"{size} questions asked for, {len(error)} there are")
    last = error[hard[-1]]
    tied = sum(value == last for value in error.values())
    cut = sum(error[item] == last for item in hard)
    if tied > cut:
        notes.append(f"{cut} of {tied} questions with the joint error {last:.4g} are in the subset: the first by id")
    notes.append("accuracy on the subset is low by construction for the models that chose it")
    rows: list[tuple[Cell, ...]] = [
        (
            model,
            solved[model, "overall"].n,
            *solved[model, "overall"].cells,
            *(solved[model, s].value for s in SCOPES[1:]),
        )
        for model in credit
    ]
    data: dict[str, Any] = {
        "condition": runs[0].condition,
        "where": None if wanted is None else list(wanted),
        "size": len(hard),
        "items": [{"item": item, "joint_error": error[item]} for item in hard],
        "models": {model: {scope: solved[model, scope].spell() for scope in SCOPES} for model in credit},
    }
    tables = (
        Table("Accuracy on the hard subset", ("model", "n", "accuracy", "low", "high", *SCOPES[1:]), tuple(rows)),
        Table(
            f"Its first {min(SHOWN, len(hard))} questions; the file has all",
            ("question", "joint error"),
            tuple((item, error[item]) for item in hard[:SHOWN]),
        ),
    )
    return Findings(data, tables, (), tuple(notes))


ANALYSIS = Analysis(
    name="hard",
    says="the questions of highest joint error",
    source="section 3.5, appendix D.1",
    run=hard_subset,
    options={
        **RUN_OPTIONS,
        "condition": "the condition whose errors count; origin where absent",
        "size": f"how many questions; {SIZE} where absent",
        "where": "only questions with this label, as LABEL:VALUE; all where absent",
    },
)
