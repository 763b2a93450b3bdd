"""Reasoning before the answer against the answer alone, with the replies that could not be read under each.

Difference, intervals and tests as in :mod:`onlooker.benchmarks.sivbench.analyses.pairs`. Unreadable replies count as
wrong; their number says whether a loss is one of reasoning or of form. Paper: appendix C.4, table 9.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onlooker.benchmarks.sivbench.analyses.pairs import compare_conditions
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs

if TYPE_CHECKING:
    from onlooker.records.results import Outcome

UNREAD: tuple[Outcome, ...] = ("unparsed", "empty", "truncated", "refused", "error", "missing")


def reasoning_first(material: Material) -> Findings:
    """Accuracy with and without reasoning first, and what became of the replies."""
    base = material.options.get("base", "origin")
    there = material.options.get("condition", "cot")
    runs = chosen_runs(material)
    found = compare_conditions(material, runs, base, (there,), everyone=False)
    models = list(dict.fromkeys(change.model for change in found.changes))
    outcomes = {
        (model, run.condition): Counter(c.reply.outcome for cases in run.by_seed.values() for c in cases)
        for model in models
        for run in runs
        if run.model == model and run.condition in {base, there}
    }
    rows: list[tuple[Cell, ...]] = [
        (model, condition, sum(counts.values()), counts["scored"], *(counts[o] for o in UNREAD))
        for (model, condition), counts in outcomes.items()
    ]
    data = {
        "base": base,
        "condition": there,
        "changes": [change.spell() for change in found.changes],
        "outcomes": {
            model: {
                condition: {"scored": counts["scored"], **{o: counts[o] for o in UNREAD}}
                for (name, condition), counts in outcomes.items()
                if name == model
            }
            for model in models
        },
    }
    overall = {model: found.of(there, model)[0] for model in models}
    figure = Figure(
        "paired-delta",
        f"Accuracy under {there} less that under {base}",
        tuple(models),
        (
            Series(
                "difference",
                tuple(overall[m].difference.value for m in models),
                tuple(overall[m].difference.low for m in models),
                tuple(overall[m].difference.high for m in models),
            ),
        ),
        "difference of accuracy",
        percent=True,
    )
    tables = (
        found.table(f"Accuracy under {there} against {base}"),
        Table("What became of the replies", ("model", "condition", "replies", "read", *UNREAD), tuple(rows)),
    )
    return Findings(data, tables, (figure,), tuple(found.notes))


ANALYSIS = Analysis(
    name="cot",
    says="accuracy with and without reasoning first, and the replies that could not be read",
    source="appendix C.4, table 9",
    run=reasoning_first,
    options={
        **RUN_OPTIONS,
        "base": "the condition that is subtracted; origin where absent",
        "condition": "the condition with reasoning; cot where absent",
    },
)
