"""Models and single raters against the same target: the mean of the other raters.

A unit is a video and a rater who rated all its moments. Pairwise accuracy is averaged over pairs within a unit, units
within a video, then videos; rho0 likewise. Conditional Spearman, and pairwise accuracy beside it, use only the units
where rater, model and target all vary: their videos differ by model, so they rank nothing. Paper: section 4.2, appendix
D.4, tables 16 and 17.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from onlooker.benchmarks.reactionbench.analyses.runs import Number, profile_of, runs_of, task_items, units_of
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, by_item, run_name
from onlooker.stats.ranks import extended_spearman, pair_order_accuracy, spearman

Score = Callable[[Sequence[float], Sequence[float]], float | None]
SCORES: Final[dict[str, tuple[Score, bool]]] = {
    "pairwise": (pair_order_accuracy, False),
    "rho0": (extended_spearman, False),
    "spearman_conditional": (spearman, True),
    "pairwise_conditional": (pair_order_accuracy, True),
}
"""{name: (the score of a profile against a target, whether only units count where everything varies)}."""


def human_comparison(material: Material) -> Findings:
    """Human and model scores of every intensity run on the same units, and model minus human."""
    data: dict[str, Any] = {}
    rows: list[tuple[Cell, ...]] = []
    notes: list[str] = []
    for run in runs_of(material, "intensity"):
        own = run_name(run)
        items = task_items(run, "intensity")
        sheet = Sheet(material, items)
        columns = sheet.columns(items)
        for name in SCORES:
            human, model = (by_item(run, _score(name, side)) for side in (0, 1))
            sides = [columns.mean("", [of[item] for item in items]) for of in (human, model)]
            sheet.add((name, "human"), sides[0])
            sheet.add((name, "model"), sides[1])
            sheet.subtract((name, "difference"), sides[1], sides[0])
        found = sheet.solve()
        data[own] = {}
        for name in SCORES:
            units = _count(run, conditional=SCORES[name][1])
            human_found, model_found, gap = (found[name, part] for part in ("human", "model", "difference"))
            data[own][name] = {
                "units": units,
                "human": human_found.spell(),
                "model": model_found.spell(),
                "difference": gap.spell(),
            }
            rows.append((own, name, units, gap.n, human_found.value, model_found.value, *gap.cells))
        notes += [f"{own}: {note}" for note in sheet.notes(found)]
    heads = ("run", "score", "units", "videos", "human", "model", "difference", "low", "high")
    gaps = [one["pairwise"]["difference"] for one in data.values()]
    series = Series("model minus human", *(tuple(gap[end] for gap in gaps) for end in ("value", "low", "high")))
    title = "Pairwise accuracy, model minus human"
    figure = Figure("paired-delta", title, tuple(data), (series,), "difference", percent=True)
    notes.append("the human value is agreement with this pool of raters, no upper bound")
    return Findings(data, (Table("Models and raters left out", heads, tuple(rows)),), (figure,), tuple(notes))


def unit_scores(case: Case, name: str) -> list[tuple[float, float]]:
    """(the rater's score, the model's score) of every unit of a case that counts for ``name``."""
    predicted = profile_of(case)
    if predicted is None:
        return []
    score, conditional = SCORES[name]
    found = []
    for own, guess, target in units_of(case, predicted):
        if conditional and (len(set(own)) < 2 or len(set(guess)) < 2):
            continue
        human, model = score(own, target), score(guess, target)
        if human is not None and model is not None:
            found.append((human, model))
    return found


def _score(name: str, side: int) -> Number:
    """The mean over a video's units; ``side`` 0 is the rater, 1 the model."""

    def value(case: Case) -> float | None:
        scores = [unit[side] for unit in unit_scores(case, name)]
        return sum(scores) / len(scores) if scores else None

    return value


def _count(run: GradedRun, *, conditional: bool) -> int:
    """Units that count, over all seeds."""
    name = "spearman_conditional" if conditional else "pairwise"
    return sum(len(unit_scores(case, name)) for cases in run.by_seed.values() for case in cases)


ANALYSIS = Analysis(
    name="human",
    says="models and single raters, both against the mean of the other raters",
    source="section 4.2, appendix D.4, tables 16 and 17",
    run=human_comparison,
    options=RUN_OPTIONS,
)
