"""How varied the questions of the bundle are: mean distance (1 - cosine) over all pairs, and the variance of vectors.

The texts are the questions without their options. Vectors: TF-IDF over all questions, and sentence embeddings where an
encoder is passed to :func:`question_diversity`; without one they are undefined. The paper's numbers are of sentence
embeddings: TF-IDF distances are larger, compare them among bundles only. Paper: appendix B.4.2, table 7.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import SCOPES, in_scope, questions_of
from onlooker.benchmarks.sivbench.analyses.vectors import (
    NO_ENCODER,
    Cloud,
    Encoder,
    cloud_of,
    embedded_cloud,
    encoded,
    vocabulary_of,
)
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table


def question_diversity(material: Material, encode: Encoder | None = None) -> Findings:
    """Mean distance and variance, overall and by dimension."""
    texts = {item.id: item.question for item in questions_of(material)}
    vocabulary = vocabulary_of(list(texts.values()))
    vectors = {item: vocabulary.vector(text) for item, text in texts.items()}
    rows_of = None if encode is None else encoded(list(texts.values()), encode)
    place = {item: k for k, item in enumerate(texts)}
    rows: list[tuple[Cell, ...]] = []
    data: dict[str, Any] = {"tfidf": {}, "embedding": {}}
    notes = [] if rows_of is not None else [NO_ENCODER]
    for scope in SCOPES:
        inside = in_scope(material, texts, scope)
        if len(inside) < 2:
            notes.append(f"{scope}: undefined, fewer than two questions")
        clouds: dict[str, Cloud | None] = {
            "tfidf": cloud_of([vectors[i] for i in inside], len(vocabulary.places)),
            "embedding": None if rows_of is None else embedded_cloud(rows_of[[place[i] for i in inside]]),
        }
        for kind, cloud in clouds.items():
            alike = None if cloud is None else cloud.mean_cosine
            distance = None if alike is None else 1 - alike
            variance = None if cloud is None or cloud.n < 2 else cloud.variance
            data[kind][scope] = {"n": len(inside), "mean_distance": distance, "variance": variance}
            rows.append((kind, scope, len(inside), distance, variance))
    heads = ("vectors", "questions of", "n", "mean distance", "variance")
    return Findings(data, (Table("Variety of the questions", heads, tuple(rows)),), (), tuple(notes))


ANALYSIS = Analysis(
    name="diversity",
    says="how varied the questions are, by TF-IDF distance and variance (no predictions needed)",
    source="appendix B.4.2, table 7",
    run=question_diversity,
)
