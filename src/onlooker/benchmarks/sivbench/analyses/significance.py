"""Which differences hold: McNemar's test between models and between conditions, and the gaps between dimensions.

Models are tested under the same condition, conditions of the same model; on the questions that both answered, exact and
two-sided, on full credit in every seed. Holm's adjustment is over all tests of a table. Dimensions hold different
questions, which no McNemar test can pair: their gap is a difference of accuracies with an interval over resampled
episodes. Paper: appendix C.5.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import in_scope, right_items
from onlooker.benchmarks.sivbench.taxonomy import DIMENSIONS
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, answered, by_item, chosen_runs, common_items, run_name
from onlooker.stats.multiplicity import holm
from onlooker.stats.paired import mcnemar

HEADS = ("within", "a", "b", "n", "only a right", "only b right", "p", "Holm p")


def significance(material: Material) -> Findings:
    """All pairs of models, all pairs of conditions, all pairs of dimensions."""
    runs = chosen_runs(material)
    models = _tests(material, [(a, b, a.condition) for a, b in combinations(runs, 2) if a.condition == b.condition])
    conditions = _tests(material, [(a, b, a.model) for a, b in combinations(runs, 2) if a.model == b.model])
    sheet = Sheet(material, material.items)
    gaps = list(combinations(DIMENSIONS, 2))
    for run in runs:
        found = by_item(run, lambda c: c.grade.credit)
        means = {}
        for one in DIMENSIONS:
            inside = in_scope(material, found, one)
            means[one] = sheet.columns(inside).mean("", [found[i] for i in inside])
        for a, b in gaps:
            sheet.subtract((run_name(run), a, b), means[a], means[b])
    solved = sheet.solve()
    gap_rows: list[tuple[Cell, ...]] = [(*key, one.n, *one.cells) for key, one in solved.items()]
    tables = (
        Table("Models under one condition, McNemar", HEADS, tuple(models)),
        Table("Conditions of one model, McNemar", HEADS, tuple(conditions)),
        Table("Gaps between dimensions", ("run", "a", "b", "n", "a - b", "low", "high"), tuple(gap_rows)),
    )
    notes = sheet.notes(solved)
    for rows, what in ((models, "two models under one condition"), (conditions, "two conditions of one model")):
        if not rows:
            notes.append(f"no test between {what}: there are no predictions of both")
    data: dict[str, Any] = {
        "models": [dict(zip(HEADS, row, strict=True)) for row in models],
        "conditions": [dict(zip(HEADS, row, strict=True)) for row in conditions],
        "gaps": [{"run": r, "a": a, "b": b, "difference": one.spell()} for (r, a, b), one in solved.items()],
    }
    return Findings(data, tables, (), tuple(notes))


def _tests(material: Material, pairs: list[tuple[GradedRun, GradedRun, str]]) -> list[tuple[Cell, ...]]:
    rows = []
    for a, b, within in pairs:
        shared, _ = common_items(material, (a, b), answered)
        right_a, right_b = right_items(a), right_items(b)
        test = mcnemar(
            sum(right_a[i] and not right_b[i] for i in shared), sum(right_b[i] and not right_a[i] for i in shared)
        )
        names = (a.model, b.model) if within == a.condition and a.model != b.model else (a.condition, b.condition)
        rows.append((within, *names, len(shared), test.a_only, test.b_only, test.p))
    adjusted = holm([row[-1] for row in rows]).values
    return [(*row, p) for row, p in zip(rows, adjusted, strict=True)]


ANALYSIS = Analysis(
    name="significance",
    says="McNemar's tests between models and between conditions with Holm's adjustment, and gaps between dimensions",
    source="appendix C.5",
    run=significance,
    options=RUN_OPTIONS,
)
