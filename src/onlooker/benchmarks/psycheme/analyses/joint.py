"""Rationale quality on the questions that two runs both answer in full.

The verification weight of a fully right answer is its verified credit v (a = 1), so the paired mean difference on
jointly correct questions compares rationales alone. Paper: appendix G.3 and G.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from onlooker.benchmarks.psycheme.analyses.groups import capability_option
from onlooker.benchmarks.psycheme.scoring import capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Findings, GradedRun, Material, Table
from onlooker.protocol.sheet import (
    PAIR_OPTIONS,
    RUN_OPTIONS,
    Sheet,
    by_item,
    chosen_runs,
    listed,
    named_pair,
    run_name,
)


def jointly_correct(material: Material) -> Findings:
    """For every pair of runs (of one condition, or as named): questions right in both, mean weights, difference."""
    pairs = _pairs(material)
    one, formats = capability_option(material, None), listed(material.options.get("format"))
    if not set(formats) <= {"choice", "open"}:
        raise InputError("no such format", where="format", value=material.options["format"], remedy="choice or open")
    kept = {
        item.id
        for item in material.items.values()
        if (one is None or capability_of(item) == one) and (not formats or item.task in formats)
    }
    data: dict[str, Any] = {}
    rows, notes = [], []
    for a, b in pairs:
        names = (run_name(a), run_name(b))
        shared, unjudged = _both_right(material, a, b, kept)
        sheet = Sheet(material, shared)
        columns = sheet.columns(shared)
        sides = []
        for run, name in zip((a, b), ("a", "b"), strict=True):
            weight = by_item(run, lambda case: case.grade.verified)
            sides.append(columns.mean("", [weight[item] for item in shared]))
            sheet.add(name, sides[-1])
        sheet.subtract("difference", *sides)
        found = sheet.solve()
        data[" and ".join(names)] = {
            "a": names[0],
            "b": names[1],
            "questions": len(shared),
            "episodes": len({material.items[item].episode for item in shared}),
            "unjudged": unjudged,
            "weight_a": found["a"].spell(),
            "weight_b": found["b"].spell(),
            "difference": found["difference"].spell(),
        }
        rows.append((*names, len(shared), found["a"].value, found["b"].value, *found["difference"].cells))
        notes += [f"{names[0]} and {names[1]}: {note}" for note in sheet.notes(found)]
        if unjudged:
            notes.append(f"{names[0]} and {names[1]}: {unjudged} jointly correct questions unjudged in one, left out")
    heads = ("a", "b", "n", "weight a", "weight b", "difference", "low", "high")
    return Findings(
        data, (Table("Jointly correct questions: mean verification weight", heads, tuple(rows)),), (), tuple(notes)
    )


def _pairs(material: Material) -> list[tuple[GradedRun, GradedRun]]:
    runs = chosen_runs(material)
    named = named_pair(material, runs)
    pairs = [named] if named else [(a, b) for a, b in combinations(runs, 2) if a.condition == b.condition]
    if not pairs:
        raise InputError("no two runs of one condition", remedy="name them with a and b")
    return pairs


def _both_right(material: Material, a: GradedRun, b: GradedRun, kept: set[str]) -> tuple[list[str], int]:
    """The questions with full credit in every seed of both and a weight in both; and how many lack a weight."""
    given: Sequence[dict[str, float | None]] = [by_item(run, lambda case: case.grade.credit) for run in (a, b)]
    weights = [by_item(run, lambda case: case.grade.verified) for run in (a, b)]
    right = [i for i in material.items if i in kept and all(credit.get(i) == 1 for credit in given)]
    weighed = [item for item in right if all(weight.get(item) is not None for weight in weights)]
    return weighed, len(right) - len(weighed)


ANALYSIS = Analysis(
    name="joint",
    says="mean verification weights of two runs on the questions that both answer in full",
    source="appendix G.3 and G.4",
    run=jointly_correct,
    options={
        **RUN_OPTIONS,
        **PAIR_OPTIONS,
        "capability": "only questions of this capability; all where absent",
        "format": "choice or open; both where absent",
    },
)
