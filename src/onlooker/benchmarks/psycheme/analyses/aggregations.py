"""Verified scores under other rules than the product of the two label weights.

With e' = e/1.2 and l' = l/1.2: product e'l' (the protocol), mean (e' + l')/2, min, support only e', logic only l',
threshold (evidence normal or better and logic acceptable or better: 1, else 0), both strongest (strong and coherent: 1,
else 0). An answer without credit or without an informative rationale is 0 under each. Paper: appendix G.4, table 20,
second panel.
"""

from __future__ import annotations

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.analyses.rescoring import AGGREGATIONS, lowest_counts, rescore_runs, spell_rescored
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs, run_name


def alternative_aggregations(material: Material) -> Findings:
    """Macro score, rank, pooled retention and capability of lowest retention of every run under each rule."""
    runs = chosen_runs(material)
    found = rescore_runs(material, runs, AGGREGATIONS)
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        own = run_name(run)
        for name in AGGREGATIONS:
            one = found.macro[own, name]
            kept = found.retention[own, name, "pooled"]
            rows.append((own, name, one.n, *one.cells, found.ranks[name][own], kept, found.lowest[own, name]))
    names = capabilities(material.items.values())
    heads = ("run", "rule", "n", "macro", "low", "high", "rank", "retention", "lowest retention")
    tables = (
        Table("Macro scores under other rules", heads, tuple(rows)),
        Table(
            "Runs whose retention is lowest in each capability",
            ("rule", "runs", *names, "no single one"),
            lowest_counts(found, runs, tuple(AGGREGATIONS), names),
        ),
    )
    notes = (*found.notes, "mean and the one-sided rules keep part of the credit where one label is of weight 0")
    return Findings(spell_rescored(found, runs, tuple(AGGREGATIONS)), tables, (), notes)


ANALYSIS = Analysis(
    name="aggregations",
    says="verified scores under mean, minimum, one-sided and threshold rules instead of the product",
    source="appendix G.4, table 20 (second panel)",
    run=alternative_aggregations,
    options=RUN_OPTIONS,
)
