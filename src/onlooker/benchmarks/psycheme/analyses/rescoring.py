"""Verified credit under other weights and other rules than the protocol's product; the judge's labels stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capabilities, covered, labels_given, lowest
from onlooker.benchmarks.psycheme.scoring import EVIDENCE, LARGEST, LOGIC, capability_of
from onlooker.protocol.analysis import Cell, GradedRun, Material
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case, Scope
from onlooker.protocol.sheet import Found, Sheet, run_name

Rule = Callable[[str, str], float]
"""(evidence label, logic label) -> the share of answer credit that is left, 0..1."""

EVIDENCE_ORDER: Final = ("strong", "normal", "weak", "contradicted")
LOGIC_ORDER: Final = ("coherent", "acceptable", "weak", "contradictory")


def product_rule(weights: Sequence[float]) -> Rule:
    """The product of two weights over their largest product; ``weights`` from the best label to the worst. Insufficient
    evidence and unevaluable logic stay 0."""
    evidence = dict(zip(EVIDENCE_ORDER, weights, strict=True))
    logic = dict(zip(LOGIC_ORDER, weights, strict=True))
    largest = max(weights) ** 2
    return lambda e, lo: evidence.get(e, 0.0) * logic.get(lo, 0.0) / largest


def support(label: str) -> float:
    """The evidence weight over its maximum, 0..1."""
    return EVIDENCE[label] / LARGEST


def integrity(label: str) -> float:
    """The logic weight over its maximum, 0..1."""
    return LOGIC[label] / LARGEST


WEIGHTS: Final[Mapping[str, Rule]] = {
    "current": product_rule((1.2, 1.0, 0.8, 0.5)),
    "soft": product_rule((1.1, 1.0, 0.9, 0.7)),
    "strict": product_rule((1.2, 1.0, 0.6, 0.3)),
}
AGGREGATIONS: Final[Mapping[str, Rule]] = {
    "product": product_rule((1.2, 1.0, 0.8, 0.5)),
    "mean": lambda e, lo: (support(e) + integrity(lo)) / 2,
    "min": lambda e, lo: min(support(e), integrity(lo)),
    "support_only": lambda e, _: support(e),
    "logic_only": lambda _, lo: integrity(lo),
    "threshold": lambda e, lo: float(EVIDENCE[e] >= 1 and LOGIC[lo] >= 1),
    "both_strongest": lambda e, lo: float(e == "strong" and lo == "coherent"),
}


def rescore(case: Case, rule: Rule) -> float | None:
    """a c times what ``rule`` leaves; None where the protocol's v is undefined too, 0 where a or c is 0."""
    a = case.grade.credit
    if case.grade.verified is None or a is None:
        return None
    labels = labels_given(case)
    if a == 0 or not covered(case) or labels is None:
        return 0.0
    return a * rule(*labels)


@dataclass(frozen=True, slots=True)
class Rescored:
    """Macro scores by (run, rule), retention by (run, rule, capability or ``pooled``), ranks by rule and run."""

    macro: Mapping[tuple[str, str], Found]
    retention: Mapping[tuple[str, str, str], float | None]
    ranks: Mapping[str, Mapping[str, float | None]]
    lowest: Mapping[tuple[str, str], str | None]
    notes: Sequence[str]


def rescore_runs(material: Material, runs: Sequence[GradedRun], rules: Mapping[str, Rule]) -> Rescored:
    """Every run under every rule. Ranks are from 1 for the highest macro score, within a condition; ties share the mean
    of their places."""
    macro: dict[tuple[str, str], Found] = {}
    retention: dict[tuple[str, str, str], float | None] = {}
    notes: list[str] = []
    there = capabilities(material.items.values())
    for run in runs:
        own = run_name(run)
        sheet = Sheet(material, {c.item.id for cases in run.by_seed.values() for c in cases})
        for name, rule in rules.items():
            for metric in sheet.metrics(run, _metrics_under(sheet, rule, there)).values():
                sheet.add((name, metric.name), metric)
        found = sheet.solve()
        macro |= {(own, name): found[name, "macro"] for name in rules}
        retention |= {(own, name, part): found[name, part].value for name in rules for part in ("pooled", *there)}
        notes += [f"{own}: {note}" for note in sheet.notes({key: found[key] for key in found if key[1] == "macro"})]
    ranks = {name: _ranks(runs, {run_name(run): macro[run_name(run), name].value for run in runs}) for name in rules}
    lows = {
        (run_name(run), name): lowest({c: retention[run_name(run), name, c] for c in there})
        for run in runs
        for name in rules
    }
    return Rescored(macro, retention, ranks, lows, notes)


def _metrics_under(sheet: Sheet, rule: Rule, there: Sequence[str]) -> Callable[[Sequence[Case], Scope], list[Metric]]:
    def metrics(cases: Sequence[Case], _: Scope) -> list[Metric]:
        columns = sheet.columns([case.item.id for case in cases])
        v = [rescore(case, rule) for case in cases]
        a = [case.grade.credit for case in cases]
        groups = [capability_of(case.item) for case in cases]
        return [
            columns.macro("macro", v, groups, there),
            columns.ratio("pooled", v, a),
            *(columns.ratio(one, v, a, [group == one for group in groups]) for one in there),
        ]

    return metrics


def _ranks(runs: Sequence[GradedRun], values: Mapping[str, float | None]) -> dict[str, float | None]:
    ranks: dict[str, float | None] = {}
    for run in runs:
        own = values[run_name(run)]
        others = [values[run_name(other)] for other in runs if other.condition == run.condition]
        known = [value for value in others if value is not None]
        if own is None:
            ranks[run_name(run)] = None
        else:
            above, equal = sum(v > own for v in known), sum(v == own for v in known)
            ranks[run_name(run)] = above + (equal + 1) / 2
    return ranks


def spell_rescored(found: Rescored, runs: Sequence[GradedRun], rules: Sequence[str]) -> dict[str, Any]:
    """{run: {rule: macro, rank, pooled retention, lowest capability}} as JSON."""
    return {
        run_name(run): {
            name: {
                "macro": found.macro[run_name(run), name].spell(),
                "rank": found.ranks[name][run_name(run)],
                "retention": found.retention[run_name(run), name, "pooled"],
                "lowest_retention": found.lowest[run_name(run), name],
            }
            for name in rules
        }
        for run in runs
    }


def lowest_counts(
    found: Rescored, runs: Sequence[GradedRun], rules: Sequence[str], names: Sequence[str]
) -> tuple[tuple[Cell, ...], ...]:
    """A row a rule: in how many runs each capability has the lowest retention, and how many have no single lowest."""
    rows: list[tuple[Cell, ...]] = []
    for rule in rules:
        lows = [found.lowest[run_name(run), rule] for run in runs]
        rows.append(
            (rule, len(lows), *(sum(low == name for low in lows) for name in names), sum(low is None for low in lows))
        )
    return tuple(rows)
