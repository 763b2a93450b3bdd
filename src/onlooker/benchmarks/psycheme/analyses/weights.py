"""Verified scores under softer and stricter label weights.

Soft is 1.1/1.0/0.9/0.7 and Strict 1.2/1.0/0.6/0.3 for the labels from best to worst, the product over its largest;
insufficient evidence and unevaluable logic stay 0. Ranks are within a condition, 1 the best. Paper: appendix G.4,
table 20.
"""

from __future__ import annotations

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.analyses.rescoring import WEIGHTS, lowest_counts, rescore_runs, spell_rescored
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs, run_name


def weight_sensitivity(material: Material) -> Findings:
    """Verified macro scores, ranks and rank changes of every run under each set of weights."""
    runs = chosen_runs(material)
    found = rescore_runs(material, runs, WEIGHTS)
    rows: list[tuple[Cell, ...]] = []
    data = spell_rescored(found, runs, tuple(WEIGHTS))
    for run in runs:
        own = run_name(run)
        before = found.ranks["current"][own]
        for name in WEIGHTS:
            rank, one = found.ranks[name][own], found.macro[own, name]
            change = None if rank is None or before is None else rank - before
            data[own][name]["rank_change"] = change
            rows.append((own, name, one.n, *one.cells, rank, change))
    names = capabilities(material.items.values())
    heads = ("run", "weights", "n", "verified macro", "low", "high", "rank", "rank change")
    tables = (
        Table("Verified macro scores under other weights", heads, tuple(rows)),
        Table(
            "Runs whose retention is lowest in each capability",
            ("weights", "runs", *names, "no single one"),
            lowest_counts(found, runs, tuple(WEIGHTS), names),
        ),
    )
    return Findings(data, tables, (), tuple(found.notes))


ANALYSIS = Analysis(
    name="weights",
    says="verified scores and ranks under softer and stricter label weights",
    source="appendix G.4, table 20",
    run=weight_sensitivity,
    options=RUN_OPTIONS,
)
