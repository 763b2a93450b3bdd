"""Accuracy by the number of frames shown, without words, and what the most frames gain over the fewest.

Points are the conditions ``frames_N``. ``frames_0`` is declared the same setting as ``question_only`` and
``frames_64`` the same as ``video_only``: a model without the one has the other's point. The gain is the mean over
questions of (credit under the most frames - credit under the fewest) of those that both answered; intervals resample
episodes. Paper: section 4.3, figure 3.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.mmhbench.analyses.groups import (
    SCOPES,
    credit_of,
    in_scope,
    labels_by_item,
    owed,
    standing_for,
)
from onlooker.benchmarks.mmhbench.conditions import CONDITIONS
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, answered, chosen_runs, common_items

PREFIX = "frames_"
EQUALS = {c.name: c.same_as for c in CONDITIONS if c.name.startswith(PREFIX) and c.same_as}
CHANCE = 0.25


def frame_density(material: Material) -> Findings:
    """The curve of every model that has two points or more, and its gain."""
    runs = chosen_runs(material)
    curves = {model: _curve(runs, model) for model in dict.fromkeys(run.model for run in runs)}
    notes = [f"{model}: one number of frames only, no curve" for model, curve in curves.items() if len(curve) == 1]
    curves = {model: curve for model, curve in curves.items() if len(curve) > 1}
    if not curves:
        raise InputError(
            "no model has predictions under two numbers of frames",
            value=sorted({run.condition for run in runs}),
            remedy="run conditions frames_0 to frames_64",
        )
    shown = [run for curve in curves.values() for run in curve.values()]
    perspectives = labels_by_item(shown, "perspective")
    sheet = Sheet(material, owed(material, shown))
    for model, curve in curves.items():
        for count, run in curve.items():
            credit = credit_of(run)
            for scope in SCOPES:
                inside = in_scope(perspectives, credit, scope)
                sheet.add((model, scope, count), sheet.columns(inside).mean("", [credit[i] for i in inside]))
            if run.condition != f"{PREFIX}{count}":
                notes.append(f"{model}: {run.condition} stands for {PREFIX}{count}, the same setting")
        few, most = curve[min(curve)], curve[max(curve)]
        shared, left = common_items(material, (few, most), answered)
        if left:
            notes.append(f"{model}: {left} questions not answered under both ends of the curve left out of the gain")
        a, b = credit_of(most), credit_of(few)
        for scope in SCOPES:
            inside = in_scope(perspectives, shared, scope)
            sheet.add((model, scope, "gain"), sheet.columns(inside).mean("", [a[i] - b[i] for i in inside]))
    found = sheet.solve()
    rows: list[tuple[Cell, ...]] = []
    for (model, scope, what), one in found.items():
        ends = curves[model]
        spelled = f"gain {min(ends)} to {max(ends)}" if what == "gain" else str(what)
        rows.append((model, scope, spelled, one.n, *one.cells))
    counts = sorted({count for curve in curves.values() for count in curve})
    data: dict[str, Any] = {
        "frames": counts,
        "models": {
            model: {
                scope: {
                    "accuracy": {str(count): found[model, scope, count].spell() for count in curve},
                    "gain": found[model, scope, "gain"].spell(),
                }
                for scope in SCOPES
            }
            for model, curve in curves.items()
        },
    }
    figures = tuple(
        Figure(
            "lines",
            f"Accuracy by frames, {scope}",
            tuple(map(str, counts)),
            tuple(
                Series(
                    model,
                    *(
                        tuple(getattr(found[model, scope, count], end) if count in curve else None for count in counts)
                        for end in ("value", "low", "high")
                    ),
                )
                for model, curve in curves.items()
            ),
            "accuracy",
            percent=True,
            chance=CHANCE,
        )
        for scope in SCOPES
    )
    heads = ("model", "questions of", "frames", "n", "accuracy", "low", "high")
    return Findings(
        data, (Table("Accuracy by number of frames", heads, tuple(rows)),), figures, (*notes, *sheet.notes(found))
    )


def _curve(runs: list[GradedRun], model: str) -> dict[int, GradedRun]:
    """{frames: run} of a model, in ascending order."""
    own = {run.condition for run in runs if run.model == model}
    named = {name for name in own if name.startswith(PREFIX) and name.removeprefix(PREFIX).isdigit()}
    named |= {name for name, same in EQUALS.items() if same in own}
    found = {}
    for name in sorted(named, key=lambda n: int(n.removeprefix(PREFIX))):
        run = standing_for(runs, model, (name, EQUALS.get(name) or name))
        if run is not None:
            found[int(name.removeprefix(PREFIX))] = run
    return found


ANALYSIS = Analysis(
    name="frames",
    says="accuracy by number of frames, and the gain from the fewest to the most",
    source="section 4.3, figure 3",
    run=frame_density,
    options=RUN_OPTIONS,
)
