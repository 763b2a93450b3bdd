"""Whether the questions that a run gets right are longer than those it gets wrong.

Length in characters and in words (white space between them), of the question alone and of the question with its
options. Welch's t, two-sided (the paper's table closes with it and not with the pooled one); Cohen's d with the pooled
deviation. Right is full credit in every seed, wrong none in any; questions in between are left out and counted. The
test takes questions as independent, as the paper does: those of one clip are not, so p is too small where a clip has
several. Paper: appendix B.4.1, table 5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onlooker.benchmarks.sivbench.analyses.groups import questions_of, whole_text, words
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, by_item, chosen_runs, run_name
from onlooker.records.public import ChoiceItem
from onlooker.stats.two_samples import cohen_d, t_test

MEASURES: dict[str, Callable[[ChoiceItem], float]] = {
    "characters, with options": lambda item: len(whole_text(item)),
    "words, with options": lambda item: len(words(whole_text(item))),
    "characters, question": lambda item: len(item.question),
    "words, question": lambda item: len(words(item.question)),
}
HEADS = ("run", "length", "right", "mean", "SD", "wrong", "mean", "SD", "t", "p", "Cohen's d")


def right_and_wrong_lengths(material: Material) -> Findings:
    """The lengths of right and wrong questions of every run."""
    questions = {item.id: item for item in questions_of(material)}
    rows: list[tuple[Cell, ...]] = []
    notes = []
    data: dict[str, Any] = {}
    for run in chosen_runs(material):
        credit = by_item(run, lambda c: c.grade.credit)
        right = [questions[i] for i, a in credit.items() if a == 1]
        wrong = [questions[i] for i, a in credit.items() if a == 0]
        between = len(credit) - len(right) - len(wrong)
        if between:
            notes.append(f"{run_name(run)}: {between} questions right in some seeds only left out")
        for measure, of in MEASURES.items():
            a, b = [float(of(item)) for item in right], [float(of(item)) for item in wrong]
            test, effect = t_test(a, b), cohen_d(a, b)
            sides = {"right": _describe(a), "wrong": _describe(b)}
            found = {"t": test.value, "df": test.df, "p": test.p, "cohen_d": effect.value}
            data.setdefault(run_name(run), {})[measure] = {**sides, **found}
            flat = [value for side in sides.values() for value in side.values()]
            rows.append((run_name(run), measure, *flat, test.value, test.p, effect.value))
            if test.reason is not None:
                notes.append(f"{run_name(run)}, {measure}: t, p and d {test.reason}")
    return Findings(data, (Table("Length of right and wrong questions", HEADS, tuple(rows)),), (), tuple(notes))


def _describe(values: list[float]) -> dict[str, float | int | None]:
    return {
        "n": len(values),
        "mean": float(np.mean(values)) if values else None,
        "sd": float(np.std(values, ddof=1)) if len(values) > 1 else None,
    }


ANALYSIS = Analysis(
    name="lengths",
    says="length of the questions a run gets right and wrong: t, p, Cohen's d",
    source="appendix B.4.1, table 5",
    run=right_and_wrong_lengths,
    options={name: RUN_OPTIONS[name] for name in ("models", "conditions")},
)
