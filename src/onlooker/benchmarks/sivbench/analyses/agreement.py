"""How far the models of a condition choose the same options: Fleiss' kappa of their answers.

Questions are the units, models the raters, the set of options chosen the category. For the k models of question i, P_i
= (sum_j n_ij^2 - k) / (k (k - 1)); kappa = (mean P_i - sum_j p_j^2) / (1 - sum_j p_j^2) with p_j the share of category
j among all answers. Questions that a model gave no readable answer to are left out and counted; of several seeds the
first one votes. "Being right" has the categories right and wrong. Undefined for fewer than two models, and where all
answers are of one category. Interval: 95 % percentiles over resampled episodes. Paper: appendix B.2 (three models on
the candidate questions). Fleiss (1971), Psychol. Bull. 76 (378).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onlooker.benchmarks.sivbench.analyses.groups import SCOPES, in_scope
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs
from onlooker.stats.cluster import Floats, Sums


def kappa_of_sums(sums: Floats) -> Floats:
    """Kappa from the sums over questions of 1, P_i and the counts of each category; NaN where it is undefined."""
    n, agreed, counts = sums[:, 0], sums[:, 1], sums[:, 2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = ((counts / counts.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
        alike = (counts > 0).sum(axis=1) < 2
        return np.where(alike, np.nan, (agreed / n - expected) / (1 - expected))


def model_agreement(material: Material) -> Findings:
    """Kappa of every condition, overall and by dimension."""
    runs = chosen_runs(material)
    notes = [
        f"{run.model}, {run.condition}: the first of {len(run.by_seed)} seeds votes"
        for run in runs
        if len(run.by_seed) > 1
    ]
    sheet = Sheet(material, material.items)
    models: dict[str, int] = {}
    agreed: list[Series] = []
    for condition in dict.fromkeys(run.condition for run in runs):
        voters = [_cases(run) for run in runs if run.condition == condition]
        models[condition] = len(voters)
        owed = [i for i in material.items if all(i in cases for cases in voters)]
        read = [i for i in owed if all(cases[i].reply.answer is not None for cases in voters)]
        if len(voters) < 2:
            notes.append(f"{condition}: undefined, predictions of one model only")
        elif len(owed) > len(read):
            notes.append(
                f"{condition}: {len(owed) - len(read)} questions left out that a model gave no readable answer to"
            )
        if len(voters) > 1 and read:
            votes = [[_answer(cases[i]) for cases in voters] for i in read]
            agreed.append(Series(condition, tuple(float(p) for p in _sum_columns(votes)[:, 1])))
        for scope in SCOPES:
            inside = in_scope(material, read, scope) if len(voters) > 1 else []
            answers = [[_answer(cases[i]) for cases in voters] for i in inside]
            right = [[str(cases[i].grade.credit == 1) for cases in voters] for i in inside]
            for what, votes in (("answers", answers), ("being right", right)):
                columns = sheet.columns(inside)
                statistic = Sums(columns.clusters, _sum_columns(votes), kappa_of_sums)
                sheet.add((condition, what, scope), statistic, len(inside))
    found = sheet.solve()
    rows: list[tuple[Cell, ...]] = [
        (condition, what, scope, models[condition], one.n, *one.cells)
        for (condition, what, scope), one in found.items()
    ]
    data: dict[str, Any] = {}
    for (condition, what, scope), one in found.items():
        of = data.setdefault(condition, {"models": models[condition]}).setdefault(what.replace(" ", "_"), {})
        of[scope] = one.spell()
    heads = ("condition", "agreement on", "questions of", "models", "n", "kappa", "low", "high")
    title = "Pairs of models that give the same answer, by question"
    figures = (Figure("histogram", title, (), tuple(agreed), "pairs", percent=True),) if agreed else ()
    notes += sheet.notes({key: one for key, one in found.items() if models[key[0]] > 1})
    return Findings(data, (Table("Fleiss' kappa among models", heads, tuple(rows)),), figures, tuple(notes))


def _cases(run: GradedRun) -> dict[str, Case]:
    return {case.item.id: case for case in next(iter(run.by_seed.values()))}


def _answer(case: Case) -> str:
    value = None if case.reply.answer is None else case.reply.answer.value
    return " ".join(sorted(value)) if isinstance(value, tuple) else str(value)


def _sum_columns(votes: Sequence[Sequence[str]]) -> Floats:
    """(questions, 2 + categories): 1, P_i, how many chose each category."""
    names = sorted({vote for one in votes for vote in one})
    counts = np.array([[one.count(name) for name in names] for one in votes], dtype=np.float64)
    counts = counts.reshape(len(votes), len(names))
    k = counts.sum(axis=1)
    agreed = ((counts**2).sum(axis=1) - k) / (k * (k - 1)) if len(votes) else np.zeros(0)
    return np.column_stack([np.ones(len(votes)), agreed, counts])


ANALYSIS = Analysis(
    name="agreement",
    says="Fleiss' kappa among the answers of the models",
    source="appendix B.2",
    run=model_agreement,
    options=RUN_OPTIONS,
)
