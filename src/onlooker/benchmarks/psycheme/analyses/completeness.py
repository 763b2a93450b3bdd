"""Completeness of open answers, whose credit a is 0, 1/2 or 1.

E[a] = P(a > 0)/2 + P(a = 1)/2 splits the mean credit into answering at all and answering fully; so does a difference of
two runs. Transitions count the questions by their credit in both. Words are those of the final answer. Paper: appendix
G.2 and G.3, eq. 7, tables 18 and 19.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capability_option
from onlooker.benchmarks.psycheme.scoring import capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import (
    PAIR_OPTIONS,
    RUN_OPTIONS,
    Found,
    Sheet,
    answered,
    by_item,
    chosen_runs,
    common_items,
    named_pair,
    run_name,
)
from onlooker.records.public import OpenItem

STEPS: Final = (0.0, 0.5, 1.0)
NAMES: Final = ("raw", "nonzero", "full", "verified", "words")


def completeness(material: Material) -> Findings:
    """Credit steps, mean credit and words of every run's open answers; of a pair also differences and transitions."""
    one = capability_option(material, None)
    runs = chosen_runs(material)
    questions = [
        i.id for i in material.items.values() if isinstance(i, OpenItem) and (one is None or capability_of(i) == one)
    ]
    if not questions:
        raise InputError("the bundle has no open questions of this kind", where="capability", value=one)
    sheet = Sheet(material, questions)
    for run in runs:
        for name in NAMES:
            sheet.add((run_name(run), name), sheet.columns(questions).mean("", _values(run, name, questions)))
    pair = named_pair(material, runs)
    shared: list[str] = []
    if pair is not None:
        shared, left = common_items(material, pair, lambda c: answered(c) and c.grade.credit is not None)
        shared = [item for item in shared if item in set(questions)]
        for name in NAMES:
            a, b = (sheet.columns(shared).mean("", _values(run, name, shared)) for run in pair)
            sheet.subtract(("difference", name), a, b)
    found = sheet.solve()
    notes = sheet.notes(found)
    data: dict[str, Any] = {"capability": one, "questions": len(questions), "runs": {}}
    rows = []
    for run in runs:
        own = run_name(run)
        steps = _steps(run, questions)
        data["runs"][own] = {"steps": steps} | {name: found[own, name].spell() for name in NAMES}
        rows.append((own, found[own, "raw"].n, *steps.values(), *(found[own, name].value for name in NAMES)))
    heads = ("run", "n", "none", "partial", "full credit", *NAMES)
    tables = [Table("Open answers: credit given, mean credit, share above zero and in full, words", heads, tuple(rows))]
    if pair is not None:
        data["pair"], more = _pair_findings(pair, shared, found)
        tables += more
        if left:
            notes.append(
                f"{len(questions) - len(shared)} open questions not answered and judged in both left out of the pair"
            )
    else:
        notes.append("no transitions: options a and b name the two runs")
    return Findings(data, tuple(tables), (_figure(runs, found),), tuple(notes))


def _values(run: GradedRun, name: str, questions: Sequence[str]) -> list[float | None]:
    def value(case: Case) -> float | None:
        a = case.grade.credit
        match name:
            case "verified":
                return case.grade.verified
            case "words":
                return _words(case)
            case "raw":
                return a
            case _:
                return None if a is None else float(a > 0 if name == "nonzero" else a == 1)

    found = by_item(run, value)
    return [found.get(item) for item in questions]


def _words(case: Case) -> float | None:
    value = None if case.reply.answer is None else case.reply.answer.value
    return float(len(value.split())) if isinstance(value, str) else None


def _steps(run: GradedRun, questions: Sequence[str]) -> dict[str, int]:
    """Replies by credit, over all seeds."""
    inside = set(questions)
    counts = Counter(c.grade.credit for cases in run.by_seed.values() for c in cases if c.item.id in inside)
    return {str(step): counts[step] for step in STEPS}


def _pair_findings(
    pair: tuple[GradedRun, GradedRun], shared: Sequence[str], found: Mapping[Any, Found]
) -> tuple[dict[str, Any], list[Table]]:
    names = [run_name(run) for run in pair]
    gaps = {name: found["difference", name] for name in NAMES}
    half = {part: None if gaps[part].value is None else (gaps[part].value or 0.0) / 2 for part in ("nonzero", "full")}
    given = [dict(zip(shared, _values(run, "raw", shared), strict=True)) for run in pair]
    # Over several seeds the mean credit may lie between the steps; such questions are in no cell.
    counts = Counter((given[0][item], given[1][item]) for item in shared)
    moves = {str(x): {str(y): counts[x, y] for y in STEPS} for x in STEPS}
    data = {
        "a": names[0],
        "b": names[1],
        "questions": len(shared),
        "difference": {name: gap.spell() for name, gap in gaps.items()},
        "raw_from_nonzero": half["nonzero"],
        "raw_from_full": half["full"],
        "transitions": moves,
        "between_steps": len(shared) - sum(n for row in moves.values() for n in row.values()),
    }
    tables = [
        Table(
            f"Open answers: {names[0]} minus {names[1]}",
            ("quantity", "n", "difference", "low", "high"),
            tuple((name, gap.n, *gap.cells) for name, gap in gaps.items()),
        ),
        Table(
            f"Questions by credit: rows {names[0]}, columns {names[1]}",
            ("credit", *map(str, STEPS)),
            tuple((x, *row.values()) for x, row in moves.items()),
        ),
    ]
    return data, tables


def _figure(runs: Sequence[GradedRun], found: Mapping[Any, Found]) -> Figure:
    names = [run_name(run) for run in runs]
    series = []
    for part in ("nonzero", "full"):
        own = [found[name, part] for name in names]
        series.append(Series(part, *(tuple(getattr(f, end) for f in own) for end in ("value", "low", "high"))))
    return Figure("bars", "Open answers above zero and in full", tuple(names), tuple(series), "share", percent=True)


ANALYSIS = Analysis(
    name="completeness",
    says="open answers: none, partial and full credit, and how two runs' credits differ question by question",
    source="appendix G.2 and G.3, eq. 7, tables 18 and 19",
    run=completeness,
    options={**RUN_OPTIONS, **PAIR_OPTIONS, "capability": "only questions of this capability; all where absent"},
)
