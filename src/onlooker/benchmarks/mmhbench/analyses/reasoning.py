"""How a judge rates the explanations of every run, 0 to 5: key event, mechanism, options, hallucination, their mean.

Options is the sum of the four options' points (0 to 1.25 each); more points in hallucination mean fewer inventions.
Means over the questions with a valid judgement; intervals resample episodes. Paper: section 4.2, table 3; appendix E.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.mmhbench.scoring import PARTS, REASONING, metrics
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name

NAMES = (*PARTS, "mean")


def reasoning_quality(material: Material) -> Findings:
    """The five means of every judged run."""
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
    for run in runs:
        found = sheet.metrics(run, metrics)
        for name in NAMES:
            sheet.add((run_name(run), name), found[f"reasoning.{name}"])
    solved = sheet.solve()
    rows: list[tuple[Cell, ...]] = [(*key, one.n, *one.cells) for key, one in solved.items()]
    notes = sheet.notes(solved)
    for run in runs:
        unjudged = sum(c.outcome == "unjudged" for cases in run.by_seed.values() for c in cases)
        if unjudged:
            notes.append(f"{run_name(run)}: {unjudged} read replies without a valid judgement left out")
    data: dict[str, Any] = {
        run_name(run): {name: solved[run_name(run), name].spell() for name in NAMES} for run in runs
    }
    figure = Figure(
        "dots",
        "Judged explanations",
        NAMES,
        tuple(
            Series(
                run_name(run),
                *(
                    tuple(getattr(solved[run_name(run), name], end) for name in NAMES)
                    for end in ("value", "low", "high")
                ),
            )
            for run in runs
        ),
        "points (0 to 5)",
    )
    heads = ("run", "part", "n", "mean", "low", "high")
    return Findings(data, (Table("Judged explanations", heads, tuple(rows)),), (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="reasoning",
    says="judged explanations: key event, mechanism, options, hallucination and their mean",
    source="section 4.2, table 3",
    run=reasoning_quality,
    options=RUN_OPTIONS,
)
