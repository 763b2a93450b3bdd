"""Whether the questions that a run gets right and wrong are of the same kind: similarity of the two sets of texts.

A text is a question with its options. Between the sets: the cosine of their mean vectors. Within a set: the mean cosine
over all pairs, and the variance (mean over dimensions). Vectors: TF-IDF over all texts of the bundle, and sentence
embeddings where an encoder is passed to :func:`compare_sets`; without one they are undefined. Right is full credit in
every seed, wrong none in any. Paper: appendix B.4.1, table 6.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlooker.benchmarks.sivbench.analyses.groups import questions_of, whole_text
from onlooker.benchmarks.sivbench.analyses.vectors import (
    NO_ENCODER,
    Cloud,
    Encoder,
    cloud_of,
    cosine_of_means,
    embedded_cloud,
    encoded,
    vocabulary_of,
)
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, by_item, chosen_runs, run_name

MEASURES = ("cosine between", "within right", "within wrong", "variance right", "variance wrong")


def compare_sets(material: Material, encode: Encoder | None = None) -> Findings:
    """The measures of every run under both kinds of vectors."""
    texts = {item.id: whole_text(item) for item in questions_of(material)}
    vocabulary = vocabulary_of(list(texts.values()))
    vectors = {item: vocabulary.vector(text) for item, text in texts.items()}
    rows_of = None if encode is None else dict(zip(texts, encoded(list(texts.values()), encode), strict=True))
    rows: list[tuple[Cell, ...]] = []
    notes = [] if rows_of is not None else [NO_ENCODER]
    data: dict[str, Any] = {}
    for run in chosen_runs(material):
        credit = by_item(run, lambda c: c.grade.credit)
        sets = [[i for i, a in credit.items() if a == full] for full in (1, 0)]
        if between := len(credit) - len(sets[0]) - len(sets[1]):
            notes.append(f"{run_name(run)}: {between} questions right in some seeds only left out")
        if min(map(len, sets)) < 2:
            notes.append(
                f"{run_name(run)}: undefined where a set has fewer than two questions, none between where one is empty"
            )
        right, wrong = (cloud_of([vectors[i] for i in inside], len(vocabulary.places)) for inside in sets)
        found = {"tfidf": _measure(right, wrong)}
        if rows_of is not None:
            pair = [embedded_cloud(np.array([rows_of[i] for i in s]).reshape(len(s), -1)) for s in sets]
            found["embedding"] = _measure(*pair)
        else:
            found["embedding"] = dict.fromkeys(MEASURES)
        data[run_name(run)] = {"right": len(sets[0]), "wrong": len(sets[1]), **found}
        rows += [
            (run_name(run), kind, len(sets[0]), len(sets[1]), *measures.values()) for kind, measures in found.items()
        ]
    heads = ("run", "vectors", "right", "wrong", *MEASURES)
    return Findings(data, (Table("Right and wrong questions as texts", heads, tuple(rows)),), (), tuple(notes))


def _measure(right: Cloud, wrong: Cloud) -> dict[str, float | None]:
    between = cosine_of_means(right, wrong) if right.n and wrong.n else None
    values = (between, right.mean_cosine, wrong.mean_cosine, right.variance, wrong.variance)
    return dict(zip(MEASURES, values, strict=True))


ANALYSIS = Analysis(
    name="similarity",
    says="how alike the questions are that a run gets right and wrong, as texts",
    source="appendix B.4.1, table 6",
    run=compare_sets,
    options={name: RUN_OPTIONS[name] for name in ("models", "conditions")},
)
