"""Whether earlier context helps, and whether it must be the right one.

``matched`` supplies a question's own history, ``mismatched`` another episode's (averaged over its seeds, which are to
be 42, 2026 and 3407), ``none`` no history. Paper: appendix J, tables 4 and 26, figure 12.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.deltas import condition_deltas
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, chosen_runs

CONDITIONS: Final = ("matched", "mismatched", "none")
SEEDS: Final = (42, 2026, 3407)


def history_deltas(material: Material) -> Findings:
    """Scores with the right, a wrong and no history, their differences, and each seed of the wrong one."""
    found = condition_deltas(material, CONDITIONS, "History conditions")
    rows: list[tuple[Cell, ...]] = []
    seeds: dict[str, Any] = {}
    notes = list(found.notes)
    for run in chosen_runs(material):
        if run.condition != "mismatched":
            continue
        for seed, cases in run.by_seed.items():
            raw = [case.grade.credit for case in cases if case.grade.credit is not None]
            verified = [case.grade.verified for case in cases if case.grade.verified is not None]
            means = [sum(values) / len(values) if values else None for values in (raw, verified)]
            rows.append((run.model, seed, len(raw), means[0], len(verified), means[1]))
            seeds.setdefault(run.model, {})[str(seed)] = {"raw": means[0], "verified": means[1], "n": len(raw)}
        if set(run.by_seed) != set(SEEDS):
            there = ", ".join(map(str, run.by_seed))
            notes.append(f"{run.model}: mismatched averages the seeds {there}, the protocol names 42, 2026, 3407")
    heads = ("model", "seed", "n raw", "raw", "n verified", "verified")
    table = Table("Mismatched history by seed (micro, all questions owed)", heads, tuple(rows))
    data = {model: {**one, "mismatched_by_seed": seeds.get(model, {})} for model, one in found.data.items()}
    return Findings(data, (*found.tables, table), found.figures, tuple(notes))


ANALYSIS = Analysis(
    name="history",
    says="memory questions with the right history, another one and none, paired",
    source="appendix J, tables 4 and 26, figure 12",
    run=history_deltas,
    options=RUN_OPTIONS,
)
