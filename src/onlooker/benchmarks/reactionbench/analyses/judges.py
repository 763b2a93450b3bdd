"""How far the scores of rationales depend on the judge.

For every pair of judges (models) and every generator, on the replies that both judged: mean totals, Pearson's r of the
totals, and the mean absolute difference. Paper: appendix D.15, table 31.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from onlooker.benchmarks.reactionbench.analyses.grades import grades_of, people_and_judges
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet
from onlooker.stats.cluster import pooled_pearson


def judge_sensitivity(material: Material) -> Findings:
    """Agreement of every pair of judges by generator, and over all generators."""
    grades, invalid = grades_of(material)
    _, judges = people_and_judges(grades)
    if len(judges) < 2:
        raise InputError("two judges are compared", value=judges, remedy="pass the judgements of both")
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    notes = [f"{invalid} judgements without valid labels left out"] if invalid else []
    for a, b in combinations(judges, 2):
        shared = [reply for reply in grades[a] if reply in grades[b]]
        pair = data[f"{a} and {b}"] = {}
        for generator in (None, *sorted({reply[1:3] for reply in shared})):
            replies = [reply for reply in shared if generator in {None, reply[1:3]}]
            name = "all" if generator is None else ":".join(generator)
            x, y = ([grades[judge][reply]["total"] for reply in replies] for judge in (a, b))
            sheet = Sheet(material, {reply[0] for reply in replies})
            columns = sheet.columns([reply[0] for reply in replies])
            sheet.add("a", columns.mean("", x))
            sheet.add("b", columns.mean("", y))
            sheet.add("difference", columns.mean("", [p - q for p, q in zip(x, y, strict=True)]))
            sheet.add("mean_abs_difference", columns.mean("", [abs(p - q) for p, q in zip(x, y, strict=True)]))
            sheet.add("pearson", pooled_pearson(columns.clusters, np.array(x), np.array(y)), len(replies))
            found = sheet.solve()
            pair[name] = {key: one.spell() for key, one in found.items()}
            cells = (*found["pearson"].cells, *found["mean_abs_difference"].cells)
            rows.append((a, b, name, len(replies), found["a"].value, found["b"].value, *cells))
            notes += [f"{a} and {b}, {name}: {note}" for note in sheet.notes(found)]
    ends = ("low", "high")
    heads = ("a", "b", "generator", "n", "total a", "total b", "pearson", *ends, "mean |difference|", *ends)
    return Findings(data, (Table("Totals of two judges on the same replies", heads, tuple(rows)),), (), tuple(notes))


ANALYSIS = Analysis(
    name="judges",
    says="two judges on the same rationales: correlation and mean absolute difference of totals",
    source="appendix D.15, table 31",
    run=judge_sensitivity,
    options=RUN_OPTIONS,
)
