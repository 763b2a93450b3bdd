"""How much of the bundle a list of ids (the training rows of an adapted model) touches, and the scores without.

An item overlaps at a level where its own id (item), the clips it shows (clip), or what these come from (parent,
recording, channel) is listed; a listed item or clip that the bundle knows also lists what it comes from, and a clip
that is itself listed as a parent overlaps there. Each level includes the finer ones. Ids come through options,
comma-separated (the command reads no manifest): ``ids`` are looked up at every level, ``items`` ... ``channels`` at
theirs alone. Paper: appendix E.9, tables 43 and 44.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import Number, credit, point
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.sheet import (
    PAIR_OPTIONS,
    RUN_OPTIONS,
    Sheet,
    by_item,
    chosen_runs,
    lineage_of,
    listed,
    named_pair,
    run_name,
)
from onlooker.records.public import Episode, Item, MatchingItem, Task

LEVELS: Final = ("item", "clip", "parent", "recording", "channel")
SCORES: Final[dict[Task, Number]] = {"intensity": point("rho0"), "matching": credit, "rationale": point("total")}


def lineage_audit(material: Material) -> Findings:
    """Overlap by level and task, and scores of runs (and a - b) on what is left after each exclusion."""
    touched = overlap(material)
    excluded: set[str] = set()
    data: dict[str, Any] = {}
    counts: list[tuple[Cell, ...]] = []
    scores: list[tuple[Cell, ...]] = []
    gaps: list[tuple[Cell, ...]] = []
    runs = chosen_runs(material) if material.runs else []
    pair = named_pair(material, runs) if {"a", "b"} & set(material.options) else None
    notes: list[str] = []
    tasks = [task for task in SCORES if any(item.task == task for item in material.items.values())]
    for level in (None, *LEVELS):
        if level is not None:
            excluded |= touched[level]
        name = level or "nothing"
        data[name] = {"tasks": {}, "scores": {}}
        for task in tasks:
            own = [item for item in material.items.values() if item.task == task]
            kept = [item.id for item in own if item.id not in excluded]
            here = 0 if level is None else sum(item.id in touched[level] for item in own)
            data[name]["tasks"][task] = {"overlap": here, "excluded": len(own) - len(kept), "left": len(kept)}
            counts.append((name, task, here, len(own) - len(kept), len(kept)))
            sheet = Sheet(material, kept)
            sides = {run_name(run): _score(sheet, run, task, kept) for run in runs}
            for run, metric in sides.items():
                if metric is not None:
                    sheet.add(run, metric)
            if pair is not None:
                a, b = (_score(sheet, run, task, kept, both=pair) for run in pair)
                if a is not None and b is not None:
                    sheet.subtract("a minus b", a, b)
            found = sheet.solve()
            notes += [f"without {name}, {task}: {note}" for note in sheet.notes(found)]
            for key, one in found.items():
                data[name]["scores"].setdefault(key, {})[task] = one.spell()
                (gaps if key == "a minus b" else scores).append((name, task, key, one.n, *one.cells))
    heads = ("excluded at", "task", "run", "n", "score", "low", "high")
    tables = [
        Table("Overlap with the list", ("level", "task", "overlap", "excluded up to here", "left"), tuple(counts)),
        Table("Scores on what is left", heads, tuple(scores)),
    ]
    if gaps:
        tables.append(Table("Paired differences on what is left", heads, tuple(gaps)))
    notes.append("levels are cumulative; a listed clip whose lineage the bundle does not hold overlaps by its id alone")
    return Findings(data, tuple(tables), (), tuple(notes))


def overlap(material: Material) -> dict[str, set[str]]:
    """{level: ids of the items that the listed ids touch there}. InputError where nothing is listed."""
    every = set(listed(material.options.get("ids")))
    at = {level: every | set(listed(material.options.get(f"{level}s"))) for level in LEVELS}
    if not any(at.values()):
        raise InputError(
            "no ids to look for", remedy="ids=A,B,... or clips=..., parents=..., recordings=..., channels=..."
        )
    shown = {item.id: _clips(material, item) for item in material.items.values()}
    at["clip"] |= {clip.id for item in at["item"] for clip in shown.get(item, ())}
    # A listed clip may be the one that others were cut from.
    at["parent"] |= at["clip"]
    for clip in (material.episodes[name] for name in at["clip"] if name in material.episodes):
        for level in LEVELS[2:]:
            at[level] |= {value for value in (lineage_of(clip, level),) if value is not None}

    def touches(item: str, level: str) -> bool:
        if level == "item":
            return item in at["item"]
        names = {clip.id if level == "clip" else lineage_of(clip, level) for clip in shown[item]}
        # The whole clip that others were cut from is its own parent.
        names |= {clip.id for clip in shown[item]} if level == "parent" else set()
        return bool(names & at[level])

    return {level: {item for item in material.items if touches(item, level)} for level in LEVELS}


def _clips(material: Material, item: Item) -> list[Episode]:
    """The clips that an item shows: its own, and those of its candidates."""
    names = [item.episode]
    if isinstance(item, MatchingItem):
        names += [candidate.episode for candidate in item.candidates]
    return [material.episodes[name] for name in dict.fromkeys(names) if name in material.episodes]


def _score(
    sheet: Sheet, run: GradedRun, task: Task, kept: Sequence[str], both: Sequence[GradedRun] = ()
) -> Metric | None:
    """The mean of the task's score over the kept items (that all of ``both`` have); None where the run owes none."""
    values = by_item(run, SCORES[task])
    others = [by_item(other, SCORES[task]) for other in both]
    inside = [i for i in kept if i in values and all(other.get(i) is not None for other in others)]
    if not any(item in values for item in kept):
        return None
    return sheet.columns(inside).mean("", [values[item] for item in inside])


ANALYSIS = Analysis(
    name="lineage",
    says="overlap of the bundle with a list of training ids, and scores on what is left",
    source="appendix E.9, tables 43 and 44",
    run=lineage_audit,
    options={
        **RUN_OPTIONS,
        **PAIR_OPTIONS,
        "ids": "ids looked up at every level, comma-separated",
        **{f"{level}s": f"ids of {level}s, comma-separated" for level in LEVELS},
    },
)
