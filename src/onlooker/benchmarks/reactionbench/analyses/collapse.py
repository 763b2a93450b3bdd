"""Whether a gain comes with poorer outputs.

Per intensity run: constant profiles, mean standard deviation within a profile, standard deviation and number of
distinct values over all predicted numbers (population formula), and replies that did not parse. Between two runs (a
adapted, b base): the gain on all common videos, on those where neither is constant and where a is not, and what
constant profiles of a contribute; for matching the gain on the items that b parsed and the share that comes from those
it did not. Paper: section 4.5, appendices E.4 to E.7, tables 36, 39 and 41.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onlooker.benchmarks.reactionbench.analyses.protocols import compare_profiles
from onlooker.benchmarks.reactionbench.analyses.runs import credit, parsed, point, profile_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, GradedRun, Material, Table
from onlooker.protocol.scoring import Case
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
from onlooker.stats.paired import mcnemar


def output_collapse(material: Material) -> Findings:
    """Spread of every run's outputs, and the gain between two runs by what their outputs are."""
    runs = chosen_runs(material)
    data: dict[str, Any] = {"runs": {}}
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        for task in ("intensity", "matching"):
            cases = [c for cases in run.by_seed.values() for c in cases if c.item.task == task]
            if not cases:
                continue
            one = _spread(cases)
            data["runs"].setdefault(run_name(run), {})[task] = one
            rows.append((run_name(run), task, *one.values()))
    heads = ("n", "unparsed", "constant", "share constant", "sd within", "sd of all", "distinct values")
    tables = [Table("Outputs", ("run", "task", *heads), tuple(rows))]
    notes: list[str] = []
    pair = named_pair(material, runs)
    if pair is None:
        notes.append("no gain: options a (adapted) and b (base) name the two runs")
    else:
        data["gain"] = {"a": run_name(pair[0]), "b": run_name(pair[1])}
        gains, more = _gains(material, pair, notes)
        data["gain"] |= gains
        tables += more
    return Findings(data, tuple(tables), (), tuple(notes))


def _spread(cases: Sequence[Case]) -> dict[str, Any]:
    profiles = [profile for case in cases if (profile := profile_of(case)) is not None]
    constant = sum(len(set(profile)) < 2 for profile in profiles)
    numbers = np.array([number for profile in profiles for number in profile], dtype=np.float64)
    return {
        "n": len(cases),
        "unparsed": sum(case.reply.answer is None for case in cases),
        "constant": constant if profiles else None,
        "share_constant": constant / len(profiles) if profiles else None,
        "sd_within": float(np.mean([np.std(profile) for profile in profiles])) if profiles else None,
        "sd_all": float(numbers.std()) if profiles else None,
        "distinct": len(set(numbers.tolist())) if profiles else None,
    }


def _gains(
    material: Material, pair: tuple[GradedRun, GradedRun], notes: list[str]
) -> tuple[dict[str, Any], list[Table]]:
    found: dict[str, Any] = {}
    tables = []
    videos, _ = common_items(material, pair, parsed)
    if videos:
        found["intensity"], table = _intensity_gain(material, pair, videos, notes)
        tables.append(table)
    items, _ = common_items(material, pair, lambda c: c.item.task == "matching" and answered(c))
    if items:
        found["matching"], table = _matching_gain(material, pair, items, notes)
        tables.append(table)
    if not found:
        raise InputError(
            "the two runs have no parsed video and no matching item in common",
            where="a, b",
            value=[run_name(run) for run in pair],
        )
    return found, tables


def _intensity_gain(
    material: Material, pair: tuple[GradedRun, GradedRun], videos: Sequence[str], notes: list[str]
) -> tuple[dict[str, Any], Table]:
    a, b = pair
    flat = by_item(a, point("constant"))
    varying = {item for item in videos if not flat[item]}
    subsets = {
        "all": compare_profiles(material, a, b, "extended"),
        "nonconstant_in_both": compare_profiles(material, a, b, "nonconstant"),
        "nonconstant_in_a": compare_profiles(material, a, b, "extended", varying),
        "constant_in_a": compare_profiles(material, a, b, "extended", set(videos) - varying),
    }
    found: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    for name, (one, more) in subsets.items():
        gap = one["difference"]
        # The share of the gain over all videos that these contribute; those of constant and nonconstant a add up to it.
        one["contribution"] = 0.0 if gap["value"] is None else gap["value"] * gap["n"] / len(videos)
        found[name] = one
        notes += [f"gain, {name}: {note}" for note in more]
        ends = (gap["value"], gap["low"], gap["high"], one["contribution"], one["wilcoxon_p"])
        rows.append((name, gap["n"], one["a"], one["b"], *ends))
    heads = ("videos", "n", "a", "b", "gain", "low", "high", "part of the whole gain", "wilcoxon p")
    return found, Table("Gain in rho0, a minus b", heads, tuple(rows))


def _matching_gain(
    material: Material, pair: tuple[GradedRun, GradedRun], items: Sequence[str], notes: list[str]
) -> tuple[dict[str, Any], Table]:
    one, other = (by_item(run, credit) for run in pair)
    read = by_item(pair[1], lambda case: float(case.reply.answer is not None))
    subsets = {
        "all": list(items),
        "parsed_by_b": [item for item in items if read[item] == 1],
        "not_parsed_by_b": [item for item in items if read[item] != 1],
    }
    found: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    total = sum((one[item] or 0.0) - (other[item] or 0.0) for item in items)
    for name, inside in subsets.items():
        sheet = Sheet(material, inside)
        columns = sheet.columns(inside)
        sides = [columns.mean("", [of[item] for item in inside]) for of in (one, other)]
        sheet.add("a", sides[0])
        sheet.add("b", sides[1])
        sheet.subtract("difference", *sides)
        solved = sheet.solve()
        notes += [f"matching gain, {name}: {note}" for note in sheet.notes(solved)]
        test = mcnemar(
            sum(one[i] == 1 and other[i] != 1 for i in inside), sum(one[i] != 1 and other[i] == 1 for i in inside)
        )
        gain = sum((one[item] or 0.0) - (other[item] or 0.0) for item in inside)
        share = gain / total if total else None
        found[name] = {key: cell.spell() for key, cell in solved.items()} | {
            "share_of_gain": share,
            "mcnemar": {"a_only": test.a_only, "b_only": test.b_only, "p": test.p},
        }
        cells = (solved["a"].value, solved["b"].value, *solved["difference"].cells, share, test.p)
        rows.append((name, len(inside), *cells))
    heads = ("items", "n", "a", "b", "gain", "low", "high", "share of the whole gain", "mcnemar p")
    return found, Table("Gain in matching accuracy, a minus b", heads, tuple(rows))


ANALYSIS = Analysis(
    name="collapse",
    says="spread of outputs, and whether a gain between two runs survives without constant or unparsed ones",
    source="section 4.5, appendices E.4 to E.7, tables 36, 39 and 41",
    run=output_collapse,
    options={**RUN_OPTIONS, **PAIR_OPTIONS},
)
