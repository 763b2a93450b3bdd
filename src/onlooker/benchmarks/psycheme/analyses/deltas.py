"""One model under several conditions on the questions that all of them answered: scores, and paired differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.scoring import capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.metric import Metric
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import Found, Sheet, answered, by_item, chosen_runs, common_items

SCORES = ("raw", "verified")


@dataclass(frozen=True, slots=True)
class _Model:
    """What was found for one model: conditions in order, questions in common, estimates by key."""

    name: str
    conditions: tuple[str, ...]
    questions: int
    left: int
    found: Mapping[Any, Found]
    capabilities: tuple[str, ...]


def condition_deltas(material: Material, conditions: Sequence[str], title: str) -> Findings:
    """Scores of every model under ``conditions``, and every pair's difference (the earlier one minus the later one).

    Only questions that all of a model's conditions answered count; seeds are averaged question by question. Macro is
    over the capabilities of the bundle, and is left out where these questions do not have them all. InputError where no
    model has two of the conditions.
    """
    runs = [run for run in chosen_runs(material) if run.condition in conditions]
    models = []
    notes: list[str] = []
    for name in dict.fromkeys(run.model for run in runs):
        own = sorted((r for r in runs if r.model == name), key=lambda r: conditions.index(r.condition))
        if len(own) > 1:
            found, more = _compare(material, name, own)
            models.append(found)
            notes += more
    if not models:
        raise InputError(
            "no model has predictions of two of the conditions",
            value=sorted({run.condition for run in runs}),
            remedy=f"two or more of {', '.join(conditions)}",
        )
    data = {model.name: _spell(model) for model in models}
    return Findings(data, _tables(models, title), tuple(_figure(model, title) for model in models), tuple(notes))


def _compare(material: Material, name: str, runs: Sequence[GradedRun]) -> tuple[_Model, list[str]]:
    shared, left = common_items(material, runs, answered)
    sheet = Sheet(material, shared)
    columns = sheet.columns(shared)
    groups = [capability_of(material.items[item]) for item in shared]
    there = capabilities(material.items.values())
    inside = capabilities(material.items[item] for item in shared)
    means = ("micro", "macro") if inside == there else ("micro",)
    for score in SCORES:
        values = {run.condition: by_item(run, _credit if score == "raw" else _verified) for run in runs}
        # A question counts where it has a value under every condition: all means are over the same questions.
        kept = [all(of[item] is not None for of in values.values()) for item in shared]
        metrics: dict[tuple[str, str], Metric] = {}
        for condition, of in values.items():
            column = [of[item] if keep else None for item, keep in zip(shared, kept, strict=True)]
            metrics[condition, "micro"] = columns.mean("", column)
            if "macro" in means:
                metrics[condition, "macro"] = columns.macro("", column, groups, there)
            for one in inside:
                own = [v if group == one else None for v, group in zip(column, groups, strict=True)]
                metrics[condition, one] = columns.mean("", own)
        for (condition, part), metric in metrics.items():
            sheet.add((score, part, condition), metric)
        for a, b in combinations(values, 2):
            for part in (*means, *inside):
                sheet.subtract((score, part, a, b), metrics[a, part], metrics[b, part])
    found = sheet.solve()
    notes = [f"{name}: {note}" for note in sheet.notes(found)]
    if left:
        notes.append(f"{name}: {left} questions not answered under every condition left out")
    if "macro" not in means:
        lacking = ", ".join(one for one in there if one not in inside)
        notes.append(f"{name}: no macro mean, the questions answered under every condition have none of {lacking}")
    return _Model(name, tuple(run.condition for run in runs), len(shared), left, found, tuple(inside)), notes


def _credit(case: Case) -> float | None:
    return case.grade.credit


def _verified(case: Case) -> float | None:
    return case.grade.verified


def _spell(model: _Model) -> dict[str, Any]:
    scores: dict[str, Any] = {condition: {} for condition in model.conditions}
    gaps: dict[str, Any] = {f"{a} minus {b}": {} for a, b in combinations(model.conditions, 2)}
    for (score, part, *names), one in model.found.items():
        into = scores[names[0]] if len(names) == 1 else gaps[f"{names[0]} minus {names[1]}"]
        into[f"{score}.{part}"] = one.spell()
    return {"questions": model.questions, "left_out": model.left, "scores": scores, "differences": gaps}


def _tables(models: Sequence[_Model], title: str) -> tuple[Table, ...]:
    scores: list[tuple[Cell, ...]] = []
    gaps: list[tuple[Cell, ...]] = []
    for model in models:
        for (score, part, *names), one in model.found.items():
            if len(names) == 1:
                scores.append((model.name, names[0], score, part, one.n, *one.cells))
            else:
                gaps.append((model.name, names[0], names[1], score, part, one.n, *one.cells))
    ends = ("low", "high")
    return (
        Table(title, ("model", "condition", "score", "over", "n", "value", *ends), tuple(scores)),
        Table(
            f"{title}: paired differences",
            ("model", "condition", "minus", "score", "over", "n", "difference", *ends),
            tuple(gaps),
        ),
    )


def _figure(model: _Model, title: str) -> Figure:
    part = "macro" if ("raw", "macro", model.conditions[0]) in model.found else "micro"
    series = []
    for score in SCORES:
        own = [model.found[score, part, condition] for condition in model.conditions]
        series.append(Series(score, *(tuple(getattr(one, end) for one in own) for end in ("value", "low", "high"))))
    return Figure("bars", f"{title}: {model.name}", model.conditions, tuple(series), part, percent=True)
