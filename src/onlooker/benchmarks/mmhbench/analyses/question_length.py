"""Accuracy by the length of the question in words, in four intervals.

The bounds are the quartiles of the lengths of the questions that are owed (linear interpolation); a question on a bound
is in the shorter interval. Words stand between white space, without the options. "Longest less shortest" is the
difference of the fourth and the first interval on the same draws of episodes. Paper: section 4.4, figure 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlooker.benchmarks.mmhbench.analyses.groups import credit_of, owed
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name
from onlooker.records.public import ChoiceItem


def question_length(material: Material) -> Findings:
    """Accuracy of every run in every interval."""
    runs = chosen_runs(material)
    items = owed(material, runs)
    lengths = {i: len(item.question.split()) for i in items if isinstance(item := material.items[i], ChoiceItem)}
    bounds = [float(q) for q in np.quantile(list(lengths.values()), [0.25, 0.5, 0.75])]
    interval = {i: sum(length > bound for bound in bounds) for i, length in lengths.items()}
    names = [
        f"up to {bounds[0]:g}",
        f"over {bounds[0]:g} to {bounds[1]:g}",
        f"over {bounds[1]:g} to {bounds[2]:g}",
        f"over {bounds[2]:g}",
    ]
    sheet = Sheet(material, items)
    for run in runs:
        credit = credit_of(run)
        means = []
        for k in range(4):
            inside = [i for i in credit if interval[i] == k]
            means.append(sheet.columns(inside).mean("", [credit[i] for i in inside]))
            sheet.add((run_name(run), k), means[k])
        sheet.subtract((run_name(run), "longest - shortest"), means[3], means[0])
    found = sheet.solve()
    rows: list[tuple[Cell, ...]] = [
        (run, names[k] if isinstance(k, int) else k, one.n, *one.cells) for (run, k), one in found.items()
    ]
    data: dict[str, Any] = {
        "bounds": bounds,
        "runs": {
            run_name(run): {
                "intervals": [found[run_name(run), k].spell() for k in range(4)],
                "longest_less_shortest": found[run_name(run), "longest - shortest"].spell(),
            }
            for run in runs
        },
    }
    series = tuple(
        Series(
            run_name(run),
            tuple(found[run_name(run), k].value for k in range(4)),
            tuple(found[run_name(run), k].low for k in range(4)),
            tuple(found[run_name(run), k].high for k in range(4)),
        )
        for run in runs
    )
    figure = Figure("lines", "Accuracy by words of the question", tuple(names), series, "accuracy", percent=True)
    heads = ("run", "words of the question", "n", "accuracy", "low", "high")
    table = Table("Accuracy by length of the question", heads, tuple(rows))
    return Findings(data, (table,), (figure,), tuple(sheet.notes(found)))


ANALYSIS = Analysis(
    name="question_length",
    says="accuracy by quartile of the question's length",
    source="section 4.4, figure 5",
    run=question_length,
    options=RUN_OPTIONS,
)
