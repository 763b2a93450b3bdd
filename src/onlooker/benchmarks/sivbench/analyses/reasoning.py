"""How a judge rates the reasoning of every run, 1 to 5, beside its accuracy.

Means over the questions with a valid judgement, seeds averaged as in ``onlooker score``; intervals resample episodes.
Accuracy is over all questions that the run owes. Paper: section 3.5, table 4.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.scoring import QUALITIES, REASONING, metrics
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name


def judged_reasoning(material: Material) -> Findings:
    """The six qualities of every judged run."""
    runs = [
        run for run in chosen_runs(material) if any(c.grade.points for cases in run.by_seed.values() for c in cases)
    ]
    if not runs:
        judges = sorted({row.judge for row in material.judgements if row.rubric == REASONING.name})
        raise InputError(
            f"no reply has a valid judgement under the rubric {REASONING.name} that counts",
            value=judges,
            remedy="name the judge that counts with --judge" if len(judges) > 1 else "name the file with --judgements",
        )
    sheet = Sheet(material, dict.fromkeys(c.item.id for run in runs for cases in run.by_seed.values() for c in cases))
    names = ("accuracy", *(f"reasoning.{quality}" for quality in QUALITIES))
    for run in runs:
        found = sheet.metrics(run, metrics)
        for name in names:
            sheet.add((run_name(run), name), found[name])
    solved = sheet.solve()
    rows: list[tuple[Cell, ...]] = [
        (
            run_name(run),
            name.removeprefix("reasoning."),
            solved[run_name(run), name].n,
            *solved[run_name(run), name].cells,
        )
        for run in runs
        for name in names
    ]
    notes = sheet.notes(solved)
    for run in runs:
        unjudged = sum(c.outcome == "unjudged" for cases in run.by_seed.values() for c in cases)
        if unjudged:
            notes.append(
                f"{run_name(run)}: {unjudged} read replies without a valid judgement left out of the qualities"
            )
    figure = Figure(
        "dots",
        "Judged reasoning",
        QUALITIES,
        tuple(
            Series(
                run_name(run),
                tuple(solved[run_name(run), name].value for name in names[1:]),
                tuple(solved[run_name(run), name].low for name in names[1:]),
                tuple(solved[run_name(run), name].high for name in names[1:]),
            )
            for run in runs
        ),
        "points (1 to 5)",
    )
    data: dict[str, Any] = {
        run_name(run): {name: solved[run_name(run), name].spell() for name in names} for run in runs
    }
    heads = ("run", "measure", "n", "mean", "low", "high")
    return Findings(data, (Table("Accuracy and judged reasoning", heads, tuple(rows)),), (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="reasoning",
    says="judged reasoning (relevance, alignment, coherence, depth, conciseness, overall) beside accuracy",
    source="section 3.5, table 4",
    run=judged_reasoning,
    options=RUN_OPTIONS,
)
