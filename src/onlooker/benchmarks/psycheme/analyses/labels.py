"""How often correct single-choice answers get each evidence and logic label, one capability against the rest.

A row is one correct reply (a = 1) to a single-choice question, pooled over runs and seeds. Its labels are those of the
judge; without an informative rationale it has the label ``no rationale`` in both. Adverse are weak and contradicted
evidence, weak and contradictory logic. Unjudged replies are left out and counted. Paper: appendix G.1, table 17.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import (
    capabilities,
    capability_option,
    labels_given,
    lowest,
)
from onlooker.benchmarks.psycheme.scoring import EVIDENCE, LOGIC, capability_of
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.metric import Columns
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Found, Sheet, chosen_runs, run_name
from onlooker.records.public import ChoiceItem

NONE: Final = "no rationale"
ADVERSE: Final = {"evidence": ("weak", "contradicted"), "logic": ("weak", "contradictory")}
WORDS: Final = {"evidence": (*EVIDENCE, NONE), "logic": (*LOGIC, NONE)}
SIDES: Final = ("evidence", "logic")


def label_rates(material: Material) -> Findings:
    """Shares of every label among correct single-choice answers, of one capability, of the rest, and their difference;
    the overlap of adverse labels; and the capabilities of lowest verified score and retention by run."""
    one = capability_option(material, "T") or "T"
    runs = chosen_runs(material)
    rows = [case for run in runs for cases in run.by_seed.values() for case in cases if _single_and_right(case)]
    judged = [case for case in rows if case.grade.verified is not None]
    sheet = Sheet(material, {c.item.id for run in runs for cases in run.by_seed.values() for c in cases})
    columns = sheet.columns([case.item.id for case in judged])
    inside = [capability_of(case.item) == one for case in judged]
    for name, value in _quantities():
        values = [value(case) for case in judged]
        sides = [_mean(columns, values, inside, keep=keep) for keep in (True, False)]
        for part, metric in zip(("inside", "rest"), sides, strict=True):
            sheet.add((part, name), metric)
        sheet.subtract(("difference", name), *sides)
    found = sheet.solve()
    notes = sheet.notes(found)
    if len(judged) < len(rows):
        notes.append(f"{len(rows) - len(judged)} unjudged correct answers left out")
    conditions = sorted({run.condition for run in runs})
    if len(conditions) > 1:
        notes.append(f"pooled over the conditions {', '.join(conditions)}: option conditions narrows them")
    if not any(inside):
        notes.append(f"no correct single-choice answer of capability {one}: option capability names another")
    overlap = {
        part: _overlap([case for case, within in zip(judged, inside, strict=True) if within == keep])
        for part, keep in (("inside", True), ("rest", False))
    }
    ranks = {run_name(run): _lowest_of(run) for run in runs}
    data = {
        "capability": one,
        **{
            part: {name: found[part, name].spell() for name, _ in _quantities()}
            for part in ("inside", "rest", "difference")
        },
        "overlap": overlap,
        "lowest": ranks,
    }
    return Findings(
        data,
        (_rate_table(found, one), _overlap_table(overlap, one), _run_table(ranks)),
        (_figure(found, one),),
        tuple(notes),
    )


def _single_and_right(case: Case) -> bool:
    return isinstance(case.item, ChoiceItem) and case.item.select == "one" and case.grade.credit == 1


def _label(case: Case, side: str) -> str:
    labels = labels_given(case)
    return NONE if labels is None else labels[SIDES.index(side)]


def _quantities() -> list[tuple[str, Callable[[Case], float | None]]]:
    """(name, value of a case): retention, adverse shares, then the share of each label."""
    found: list[tuple[str, Callable[[Case], float | None]]] = [("retention", lambda case: case.grade.verified)]
    found += [(f"{side}.adverse", _is(side, ADVERSE[side])) for side in SIDES]
    found += [(f"{side}.{word}", _is(side, (word,))) for side in SIDES for word in WORDS[side]]
    return found


def _is(side: str, words: Sequence[str]) -> Callable[[Case], float | None]:
    return lambda case: float(_label(case, side) in words)


def _mean(columns: Columns, values: Sequence[float | None], inside: Sequence[bool], *, keep: bool) -> Any:
    return columns.mean("", [v if within == keep else None for v, within in zip(values, inside, strict=True)])


def _overlap(cases: Sequence[Case]) -> dict[str, int]:
    """How many replies have adverse evidence, adverse logic, both or neither."""
    counts = Counter(tuple(_label(case, side) in ADVERSE[side] for side in SIDES) for case in cases)
    return {
        "both": counts[True, True],
        "evidence_only": counts[True, False],
        "logic_only": counts[False, True],
        "neither": counts[False, False],
    }


def _lowest_of(run: GradedRun) -> dict[str, str | None]:
    """The capability of lowest verified mean, and of lowest retention, among the single-choice questions of a run."""
    cases = [
        case
        for cases in run.by_seed.values()
        for case in cases
        if isinstance(case.item, ChoiceItem) and case.item.select == "one" and case.grade.verified is not None
    ]
    verified: dict[str, float | None] = {}
    kept: dict[str, float | None] = {}
    for name in capabilities(case.item for case in cases):
        own = [case.grade for case in cases if capability_of(case.item) == name]
        v, a = sum(g.verified or 0.0 for g in own), sum(g.credit or 0.0 for g in own)
        verified[name], kept[name] = v / len(own), v / a if a else None
    return {"verified": lowest(verified), "retention": lowest(kept)}


def _rate_table(found: Mapping[Any, Found], one: str) -> Table:
    rows = []
    for name, _ in _quantities():
        inside, rest, gap = (found[part, name] for part in ("inside", "rest", "difference"))
        rows.append((name, inside.n, inside.value, rest.n, rest.value, *gap.cells))
    heads = ("share", f"n {one}", one, "n rest", "rest", "difference", "low", "high")
    return Table(f"Correct single-choice answers: {one} and the rest", heads, tuple(rows))


def _overlap_table(overlap: Mapping[str, Mapping[str, int]], one: str) -> Table:
    names = ("both", "evidence_only", "logic_only", "neither")
    rows: list[tuple[Cell, ...]] = [
        (one if part == "inside" else "rest", *(counts[n] for n in names)) for part, counts in overlap.items()
    ]
    return Table("Adverse labels together", ("replies", *names), tuple(rows))


def _run_table(ranks: Mapping[str, Mapping[str, str | None]]) -> Table:
    rows: list[tuple[Cell, ...]] = [(run, low["verified"], low["retention"]) for run, low in ranks.items()]
    return Table("Lowest capability of single-choice questions", ("run", "verified", "retention"), tuple(rows))


def _figure(found: Mapping[Any, Found], one: str) -> Figure:
    names = [name for name, _ in _quantities()]
    series = tuple(
        Series(
            label,
            tuple(found[part, name].value for name in names),
            tuple(found[part, name].low for name in names),
            tuple(found[part, name].high for name in names),
        )
        for part, label in (("inside", one), ("rest", "rest"))
    )
    return Figure("dots", "Labels of correct single-choice answers", tuple(names), series, "share", percent=True)


ANALYSIS = Analysis(
    name="labels",
    says="evidence and logic labels of correct single-choice answers, one capability against the rest",
    source="appendix G.1, table 17",
    run=label_rates,
    options={**RUN_OPTIONS, "capability": "the capability set against the rest (G W N T S A M R); T where absent"},
)
