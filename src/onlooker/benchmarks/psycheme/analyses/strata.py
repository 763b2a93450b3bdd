"""Raw and verified micro scores by question format, source, video duration and capability.

Means over the questions of a stratum; durations are up to 30, over 30 to 60, and over 60 seconds. Paper: tables 14, 15,
21, 22, 23, figure 10.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.scoring import metrics
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Found, Sheet, chosen_runs, run_name

SCORES: Final = ("raw", "verified")
STRATA: Final = ("format", "source", "duration", "capability")


def strata(material: Material) -> Findings:
    """Every run's raw and verified means in every stratum, with intervals."""
    data: dict[str, Any] = {}
    rows: dict[str, list[tuple[Cell, ...]]] = {stratum: [] for stratum in STRATA}
    names = capabilities(material.items.values())
    profiles = []
    notes: list[str] = []
    for run in chosen_runs(material):
        own = run_name(run)
        sheet = Sheet(material, {c.item.id for cases in run.by_seed.values() for c in cases})
        for name, metric in sheet.metrics(run, metrics).items():
            if name.split(".")[0] in SCORES and name.split(".")[1] in STRATA:
                sheet.add(name, metric)
        found: dict[str, Found] = sheet.solve()
        notes += [f"{own}: {note}" for note in sheet.notes(found)]
        data[own] = {name: one.spell() for name, one in found.items()}
        for name, raw in found.items():
            score, stratum, group = name.split(".", 2)
            if score == "raw":
                rows[stratum].append((own, group, raw.n, *raw.cells, *found[f"verified.{stratum}.{group}"].cells))
        shown = [found.get(f"verified.capability.{name}") for name in names]
        ends = [tuple(None if one is None else getattr(one, end) for one in shown) for end in ("value", "low", "high")]
        profiles.append(Series(own, *ends))
    heads = ("raw", "low", "high", "verified", "low", "high")
    tables = tuple(
        Table(f"By {stratum}", ("run", stratum, "n", *heads), tuple(found)) for stratum, found in rows.items() if found
    )
    figure = Figure("heatmap", "Verified by capability", tuple(names), tuple(profiles), "verified", percent=True)
    return Findings(data, tables, (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="strata",
    says="raw and verified scores by format, source, duration and capability",
    source="tables 14, 15, 21, 22, 23, figure 10",
    run=strata,
    options=RUN_OPTIONS,
)
