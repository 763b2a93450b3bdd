"""Intensity scores with constant profiles at 0, and without them; how many there are.

rho0 is 0 for a parsed profile that gives every moment the same number, else Spearman's rho against the consensus; what
is missing or did not parse is left out and counted. Paper: section 3.1, appendix D.2, tables 13 and 14.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import runs_of, task_items
from onlooker.benchmarks.reactionbench.scoring import metrics
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, run_name

NAMES: Final = ("rho0", "spearman_nonconstant", "pearson", "constant")


def constant_profiles(material: Material) -> Findings:
    """rho0, Spearman without constants, pooled Pearson, and counts of every intensity run."""
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for run in runs_of(material, "intensity"):
        own = run_name(run)
        items = task_items(run, "intensity")
        sheet = Sheet(material, items)
        for name, metric in sheet.metrics(run, metrics, items).items():
            if name.startswith("ip.") and name.rsplit(".", 1)[1] in NAMES:
                sheet.add(name.rsplit(".", 1)[1], metric)
        found = sheet.solve()
        notes += [f"{own}: {note}" for note in sheet.notes(found)]
        outcomes = Counter(c.outcome for cases in run.by_seed.values() for c in cases if c.item.task == "intensity")
        left = sum(outcomes.values()) - outcomes["scored"]
        data[own] = {name: found[name].spell() for name in NAMES}
        data[own]["outcomes"] = dict(outcomes)
        extended, conditional = found["rho0"], found["spearman_nonconstant"]
        rows.append(
            (
                own,
                extended.n,
                *extended.cells,
                found["constant"].value,
                conditional.n,
                *conditional.cells,
                *found["pearson"].cells,
                left,
            )
        )
    heads = ("rho0", "low", "high", "constant", "n varying", "spearman", "low", "high", "pearson", "low", "high")
    table = Table(
        "Intensity with constant profiles at 0 and without them", ("run", "n", *heads, "left out"), tuple(rows)
    )
    series = tuple(
        Series(
            label,
            tuple(one[name]["value"] for one in data.values()),
            tuple(one[name]["low"] for one in data.values()),
            tuple(one[name]["high"] for one in data.values()),
        )
        for name, label in (("rho0", "constants at 0"), ("spearman_nonconstant", "constants left out"))
    )
    return Findings(data, (table,), (Figure("dots", "Intensity ranking", tuple(data), series, "rho"),), tuple(notes))


ANALYSIS = Analysis(
    name="constants",
    says="intensity ranking with constant profiles at 0 and without them, and their number",
    source="section 3.1, appendix D.2, tables 13 and 14",
    run=constant_profiles,
    options=RUN_OPTIONS,
)
