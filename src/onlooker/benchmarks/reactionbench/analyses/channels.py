"""Whether the comparison with people hangs on one channel.

For every channel (option ``level``: another part of the lineage) the pairwise accuracy of raters and model on its
videos, and model minus human over all other videos. Few channels describe the sources, not a population. Paper:
appendix D.4, table 18.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import point, runs_of, task_items
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RESAMPLED, RUN_OPTIONS, Sheet, by_item, lineage_of, run_name

UNKNOWN: Final = "(unknown)"


def channel_sensitivity(material: Material) -> Findings:
    """Per run and channel: videos, human, model, difference; and the difference with the channel left out."""
    level = material.options.get("level", "channel")
    if level not in RESAMPLED[1:]:
        raise InputError("no such level", where="level", value=level, remedy=f"one of {', '.join(RESAMPLED[1:])}")
    data: dict[str, Any] = {"level": level, "runs": {}}
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for run in runs_of(material, "intensity"):
        own = run_name(run)
        items = task_items(run, "intensity")
        model, human = by_item(run, point("model")), by_item(run, point("human"))
        sheet = Sheet(material, items)
        columns = sheet.columns(items)
        where = [lineage_of(material.episodes[material.items[i].episode], level) or UNKNOWN for i in items]
        groups = sorted({g for g, item in zip(where, items, strict=True) if model[item] is not None})
        for group in (None, *groups):
            within = [group is None or at == group for at in where]
            for name, keep in (("inside", True), ("left out", False)):
                kept = [item if inside == keep else None for item, inside in zip(items, within, strict=True)]
                sides = [columns.mean("", [None if i is None else of[i] for i in kept]) for of in (human, model)]
                if name == "inside":
                    sheet.add((group, "human"), sides[0])
                    sheet.add((group, "model"), sides[1])
                    sheet.subtract((group, "difference"), sides[1], sides[0])
                elif group is not None:
                    sheet.subtract((group, "left out"), sides[1], sides[0])
        found = sheet.solve()
        total = found[None, "difference"]
        rows.append(
            (own, "all", total.n, found[None, "human"].value, found[None, "model"].value, total.value, *total.cells)
        )
        data["runs"][own] = {"all": {part: found[None, part].spell() for part in ("human", "model", "difference")}}
        data["runs"][own]["groups"] = {
            group: {part: found[group, part].spell() for part in ("human", "model", "difference", "left out")}
            for group in groups
        }
        for group in groups:
            gap, rest = found[group, "difference"], found[group, "left out"]
            means = (found[group, "human"].value, found[group, "model"].value)
            rows.append((own, group, gap.n, *means, gap.value, *rest.cells))
        notes += [f"{own}: {note}" for note in sheet.notes(found)]
    heads = ("run", level, "n", "human", "model", "difference", "difference without it", "low", "high")
    return Findings(data, (Table(f"Pairwise accuracy by {level}", heads, tuple(rows)),), (), tuple(notes))


ANALYSIS = Analysis(
    name="channels",
    says="model against raters by channel, and with each channel left out",
    source="appendix D.4, table 18",
    run=channel_sensitivity,
    options={**RUN_OPTIONS, "level": "channel, creator, recording, parent or source; channel where absent"},
)
