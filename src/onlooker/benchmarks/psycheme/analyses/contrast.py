"""Two runs capability by capability: paired differences, and differences of differences between capabilities.

d(k) = mean of a - mean of b over the capability's questions that both answered; d(k) - d(j) says whether the advantage
of a is larger in k than in j. Paper: appendix F.1.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.scoring import capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Figure, Findings, Material, Series, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.sheet import (
    PAIR_OPTIONS,
    RUN_OPTIONS,
    Sheet,
    answered,
    by_item,
    chosen_runs,
    common_items,
    named_pair,
    run_name,
)
from onlooker.stats.cluster import Difference


def contrast(material: Material) -> Findings:
    """Differences a - b of raw and verified, macro and by capability, and how they differ between capabilities."""
    pair = named_pair(material, chosen_runs(material))
    if pair is None:
        raise InputError("two runs are compared", where="a, b", remedy="name them as MODEL:CONDITION")
    names = [run_name(run) for run in pair]
    shared, left = common_items(material, pair, answered)
    sheet = Sheet(material, shared)
    columns = sheet.columns(shared)
    groups = [capability_of(material.items[item]) for item in shared]
    there = capabilities(material.items.values())
    for score in ("raw", "verified"):
        of = [by_item(run, lambda c, s=score: c.grade.credit if s == "raw" else c.grade.verified) for run in pair]  # type: ignore[misc]
        gap = [None if (x := of[0][item]) is None or (y := of[1][item]) is None else x - y for item in shared]
        sheet.add((score, "macro"), columns.macro("", gap, groups, there))
        parts: dict[str, Metric] = {
            one: columns.mean("", [g if group == one else None for g, group in zip(gap, groups, strict=True)])
            for one in there
        }
        for one, metric in parts.items():
            sheet.add((score, one), metric)
        for one, other in combinations(there, 2):
            behind = len(parts[one].behind) + len(parts[other].behind)
            sheet.add((score, f"{one}-{other}"), Difference(parts[one].statistic, parts[other].statistic), behind)
    found = sheet.solve()
    data: dict[str, Any] = {"a": names[0], "b": names[1], "questions": len(shared), "raw": {}, "verified": {}}
    for (score, part), cell in found.items():
        data[score][part] = cell.spell()
    single = [key for key in found if "-" not in key[1]]
    double = [key for key in found if "-" in key[1]]
    heads = ("n", "difference", "low", "high")
    tables = (
        Table(
            f"{names[0]} minus {names[1]}",
            ("score", "capability", *heads),
            tuple((*key, found[key].n, *found[key].cells) for key in single),
        ),
        Table(
            "Difference of two capabilities' differences",
            ("score", "capabilities", *heads),
            tuple((*key, found[key].n, *found[key].cells) for key in double),
        ),
    )
    places = ("macro", *there)
    series = tuple(
        Series(score, *(tuple(getattr(found[score, p], end) for p in places) for end in ("value", "low", "high")))
        for score in ("raw", "verified")
    )
    figure = Figure("paired-delta", f"{names[0]} minus {names[1]}", places, series, "difference", percent=True)
    notes = sheet.notes(found)
    if left:
        notes.append(f"{left} questions not answered in both left out")
    return Findings(data, tables, (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="contrast",
    says="two runs by capability: paired differences, and whether they differ between capabilities",
    source="appendix F.1",
    run=contrast,
    options={**RUN_OPTIONS, **PAIR_OPTIONS},
)
