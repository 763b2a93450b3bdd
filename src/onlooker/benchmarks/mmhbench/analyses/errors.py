"""Kinds of errors among the wrong answers of every run, as a person or a judge labelled them.

Labels come as judgements under the rubric ``error_type`` (option ``rubric``) with the label ``type``: role, emotion,
mechanism, evidence or other. Shares are of the wrong replies with a valid label; intervals resample episodes. A label
on a right answer and a label of another name are left out and counted. Paper: section 5, figure 6.
"""

from __future__ import annotations

from typing import Any

from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name

TYPES = ("role", "emotion", "mechanism", "evidence", "other")
RUBRIC = "error_type"
LABEL = "type"


def error_types(material: Material) -> Findings:
    """The share of each kind among the labelled errors of every run."""
    rubric = material.options.get("rubric", RUBRIC)
    labels = _labels(material, rubric)
    sheet = Sheet(material, material.items)
    notes = []
    labelled: dict[str, tuple[int, int]] = {}
    for run in chosen_runs(material):
        name = run_name(run)
        of_wrong: list[tuple[str, str]] = []
        wrong = of_right = unknown = 0
        for seed, cases in run.by_seed.items():
            for case in cases:
                label = labels.get((case.item.id, run.model, run.condition, seed))
                wrong += case.grade.credit == 0
                if label is None:
                    continue
                if case.grade.credit != 0:
                    of_right += 1
                elif label not in TYPES:
                    unknown += 1
                else:
                    of_wrong.append((case.item.id, str(label)))
        if of_right:
            notes.append(f"{name}: {of_right} labels of right answers left out")
        if unknown:
            notes.append(f"{name}: {unknown} labels that are none of {', '.join(TYPES)} left out")
        labelled[name] = (len(of_wrong), wrong)
        columns = sheet.columns([item for item, _ in of_wrong])
        for kind in TYPES:
            sheet.add((name, kind), columns.mean("", [float(label == kind) for _, label in of_wrong]))
    found = sheet.solve()
    rows: list[tuple[Cell, ...]] = [
        (name, kind, round(one.value * one.n) if one.value is not None else 0, one.n, *one.cells)
        for (name, kind), one in found.items()
    ]
    data: dict[str, Any] = {
        name: {"wrong": wrong, "labelled": n, "types": {kind: found[name, kind].spell() for kind in TYPES}}
        for name, (n, wrong) in labelled.items()
    }
    notes += [
        f"{name}: {n} of {wrong} wrong replies have a label" for name, (n, wrong) in labelled.items() if n < wrong
    ]
    figure = Figure(
        "bars",
        "Kinds of errors",
        TYPES,
        tuple(
            Series(
                name, *(tuple(getattr(found[name, kind], end) for kind in TYPES) for end in ("value", "low", "high"))
            )
            for name in labelled
        ),
        "share of the labelled errors",
        percent=True,
    )
    table = Table("Kinds of errors", ("run", "type", "errors", "n", "share", "low", "high"), tuple(rows))
    return Findings(data, (table,), (figure,), (*notes, *sheet.notes(found)))


def _labels(material: Material, rubric: str) -> dict[tuple[str, str, str, int | None], Any]:
    judge = material.options.get("judge")
    rows = [row for row in material.judgements if row.rubric == rubric and row.status == "ok"]
    judges = sorted({row.judge for row in rows})
    if not rows:
        raise InputError(
            f"no labels of kinds of errors: no judgements under the rubric {rubric}",
            remedy=f"name a file with --judgements whose rows have rubric {rubric} and labels {{{LABEL}: one of "
            f"{', '.join(TYPES)}}}",
        )
    if judge is None and len(judges) > 1:
        raise InputError(f"several people labelled under {rubric}", value=judges, remedy="name one: option judge")
    if judge is not None and judge not in judges:
        raise InputError("no labels by this name", where="judge", value=judge, remedy=f"one of {', '.join(judges)}")
    return {
        (row.item, row.model, row.condition, row.seed): (row.labels or {}).get(LABEL, "")
        for row in rows
        if judge in {None, row.judge}
    }


ANALYSIS = Analysis(
    name="errors",
    says="kinds of errors among wrong answers: role, emotion, mechanism, evidence, other",
    source="section 5, figure 6",
    run=error_types,
    options={
        **RUN_OPTIONS,
        "rubric": f"the rubric of the labels; {RUBRIC} where absent",
        "judge": "whose labels count where several labelled",
    },
)
