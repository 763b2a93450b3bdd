"""What the way of asking for intensity changes: the same model on the videos that two conditions both have.

Difference of rho0, the later protocol (joint, grouped, independent) minus the earlier, with constants at 0 and on the
videos where neither profile is constant; interval of the paired mean, Wilcoxon's signed ranks. Paper: section 4.4,
appendices D.3 and D.6, tables 15 and 21, figure 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import in_order, parsed, point, runs_of, varying
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Found, Sheet, by_item, common_items
from onlooker.stats.paired import wilcoxon_signed_rank

RULES: Final = {"extended": "constants at 0", "nonconstant": "constants in either left out"}


def protocol_comparison(material: Material) -> Findings:
    """Every pair of a model's intensity conditions, and all of them on the videos that all have."""
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    whole: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    runs = runs_of(material, "intensity")
    for model in dict.fromkeys(run.model for run in runs):
        own = in_order([run for run in runs if run.model == model])
        if len(own) < 2:
            continue
        pairs: dict[str, Any] = {}
        for earlier, later in combinations(own, 2):
            name = f"{later.condition} minus {earlier.condition}"
            pairs[name] = {}
            for rule in RULES:
                one, more = compare_profiles(material, later, earlier, rule)
                pairs[name][rule] = one
                gap = one["difference"]
                cells = (one["a"], one["b"], gap["value"], gap["low"], gap["high"], one["wilcoxon_p"])
                rows.append((model, later.condition, earlier.condition, RULES[rule], gap["n"], *cells))
                notes += [f"{model}, {name}, {rule}: {note}" for note in more]
        together, lines = _together(material, own)
        whole += [(model, *line) for line in lines]
        data[model] = {"pairs": pairs, "common": together}
    if not data:
        raise InputError("no model has predictions of two intensity conditions")
    ends = ("low", "high")
    tables = (
        Table(
            "Paired change in rho0",
            ("model", "condition", "minus", "constants", "n", "mean", "minus mean", "difference", *ends, "wilcoxon p"),
            tuple(rows),
        ),
        Table(
            "All conditions on common videos",
            ("model", "condition", "n", "constant", "rho0", *ends, "minus first", *ends),
            tuple(whole),
        ),
    )
    return Findings(data, tables, (_figure(data),), tuple(notes))


def compare_profiles(
    material: Material, a: GradedRun, b: GradedRun, rule: str, inside: set[str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Means of rho0 of two runs on common videos (of those ``inside``), their paired difference and Wilcoxon's p; and
    notes. ``rule``: ``extended`` or ``nonconstant``."""
    shared, _ = common_items(material, (a, b), parsed if rule == "extended" else _parsed_and_varying)
    if rule == "nonconstant":
        # Over several seeds a video counts where no seed's profile is constant.
        flat = [by_item(run, point("constant")) for run in (a, b)]
        shared = [item for item in shared if not any(of[item] for of in flat)]
    if inside is not None:
        shared = [item for item in shared if item in inside]
    sheet = Sheet(material, shared)
    sides = [_rho0(sheet, run, shared) for run in (a, b)]
    for name, metric in zip(("a", "b"), sides, strict=True):
        sheet.add(name, metric)
    sheet.subtract("difference", *sides)
    found: dict[str, Found] = sheet.solve()
    of_a, of_b = (by_item(run, point("rho0")) for run in (a, b))
    test = wilcoxon_signed_rank([(of_a[item] or 0.0) - (of_b[item] or 0.0) for item in shared])
    return {
        "a": found["a"].value,
        "b": found["b"].value,
        "difference": found["difference"].spell(),
        "wilcoxon_n": test.n,
        "wilcoxon_p": test.p,
    }, sheet.notes(found)


def _parsed_and_varying(case: Case) -> bool:
    return parsed(case) and varying(case)


def _rho0(sheet: Sheet, run: GradedRun, shared: Sequence[str]) -> Metric:
    of = by_item(run, point("rho0"))
    return sheet.columns(shared).mean("", [of[item] for item in shared])


def _together(material: Material, runs: Sequence[GradedRun]) -> tuple[dict[str, Any], list[tuple[Cell, ...]]]:
    shared, left = common_items(material, runs, parsed)
    sheet = Sheet(material, shared)
    sides = {run.condition: _rho0(sheet, run, shared) for run in runs}
    first = runs[0].condition
    for condition, metric in sides.items():
        sheet.add((condition, "rho0"), metric)
        sheet.subtract((condition, "minus"), metric, sides[first])
    found = sheet.solve()
    data: dict[str, Any] = {"videos": len(shared), "left_out": left, "conditions": {}}
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        flat = by_item(run, point("constant"))
        constant = sum(bool(flat[item]) for item in shared)
        own, gap = found[run.condition, "rho0"], found[run.condition, "minus"]
        against = (None, None, None) if run.condition == first else gap.cells
        rows.append((run.condition, own.n, constant, *own.cells, *against))
        data["conditions"][run.condition] = {"rho0": own.spell(), "constant": constant}
        if run.condition != first:
            data["conditions"][run.condition][f"minus {first}"] = gap.spell()
    return data, rows


def _figure(data: dict[str, Any]) -> Figure:
    names = dict.fromkeys(name for one in data.values() for name in one["pairs"])
    series = []
    for name in names:
        gaps = [one["pairs"].get(name, {}).get("extended", {}).get("difference", {}) for one in data.values()]
        series.append(Series(name, *(tuple(gap.get(end) for gap in gaps) for end in ("value", "low", "high"))))
    return Figure("paired-delta", "Paired change in rho0", tuple(data), tuple(series), "difference of rho0")


ANALYSIS = Analysis(
    name="protocols",
    says="joint, grouped and independent scoring of intensity by the same model, paired by video",
    source="section 4.4, appendices D.3 and D.6, tables 15 and 21, figure 4",
    run=protocol_comparison,
    options=RUN_OPTIONS,
)
