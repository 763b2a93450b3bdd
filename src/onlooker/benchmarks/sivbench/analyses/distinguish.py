"""Whether a classifier can tell a model's reasoning from a person's.

Every question gives one text of each kind, so that guessing is right half the time. Questions are dealt into folds (5,
or as many as there are questions) by a generator named for the purpose; a fold's texts are classified from the other
folds' texts alone, vocabulary included, so that no question stands on both sides. Accuracy: the share of texts that get
their own kind; its interval resamples episodes.

``method=centroid`` (default): the kind whose mean TF-IDF vector has the larger cosine, a tie counting 1/2. It is a
plain method in numpy and not the paper's. ``method=forest``: a random forest of 100 trees on the TF-IDF vectors, the
paper's classifier on other vectors than its sentence embeddings; needs scikit-learn, which onlooker does not bring.
Paper: appendix D.2.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onlooker.benchmarks.sivbench.analyses.explanations import Pair, explained
from onlooker.benchmarks.sivbench.analyses.vectors import Vector, cloud_of, vocabulary_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name
from onlooker.stats.cluster import Floats
from onlooker.stats.seeds import generator

FOLDS = 5
METHODS = ("centroid", "forest")
Classify = Callable[[Sequence[Vector], Sequence[Vector], Sequence[Vector], int], list[float]]
"""Vectors of models, of people, those to tell, dimensions -> how far each of the last is a model's: 1, 0 or 1/2."""


def distinguishability(material: Material) -> Findings:
    """How often the texts of every run and of people are told apart."""
    method = material.options.get("method", METHODS[0])
    if method not in METHODS:
        raise InputError("no such method", where="method", value=method, remedy=f"one of {', '.join(METHODS)}")
    classify = _centroid if method == "centroid" else _forest(material.seed)
    runs = chosen_runs(material)
    found = explained(material, runs)
    sheet = Sheet(material, dict.fromkeys(p.item for pairs, _ in found.values() for p in pairs))
    notes = [f"classifier: {method}"]
    for run in runs:
        # Of several seeds the first reply stands for the model: each question gives one text of each kind.
        pairs = list({p.item: p for p in reversed(found[run.model, run.condition][0])}.values())[::-1]
        told = _told_apart(pairs, classify, material.seed) if len(pairs) > 1 else {}
        if len(pairs) < 2:
            notes.append(f"{run_name(run)}: undefined, fewer than two questions with both texts")
        sheet.add(run_name(run), sheet.columns(list(told)).mean("", list(told.values())))
    solved = sheet.solve()
    rows: list[tuple[Cell, ...]] = [(name, method, one.n, *one.cells, 0.5) for name, one in solved.items()]
    data: dict[str, Any] = {
        "method": method,
        "chance": 0.5,
        "runs": {name: one.spell() for name, one in solved.items()},
    }
    heads = ("run", "classifier", "questions", "accuracy", "low", "high", "chance")
    table = Table("Models' and people's reasoning told apart", heads, tuple(rows))
    return Findings(data, (table,), (), (*notes, *sheet.notes(solved)))


def _told_apart(pairs: Sequence[Pair], classify: Classify, seed: int) -> dict[str, float]:
    """{question: share of its two texts that are given their own kind}."""
    folds = min(FOLDS, len(pairs))
    order = generator("sivbench/distinguish/folds", seed).permutation(len(pairs))
    told: dict[str, float] = {}
    for fold in range(folds):
        inside = set(order[fold::folds].tolist())
        held = [p for k, p in enumerate(pairs) if k in inside]
        known = [p for k, p in enumerate(pairs) if k not in inside]
        vocabulary = vocabulary_of([text for p in known for text in (p.model_text, p.human_text)])
        of_models = [vocabulary.vector(p.model_text) for p in known]
        of_people = [vocabulary.vector(p.human_text) for p in known]
        asked = [vocabulary.vector(text) for p in held for text in (p.model_text, p.human_text)]
        called = classify(of_models, of_people, asked, len(vocabulary.places))
        for k, pair in enumerate(held):
            told[pair.item] = (called[2 * k] + 1 - called[2 * k + 1]) / 2
    return told


def _centroid(models: Sequence[Vector], people: Sequence[Vector], asked: Sequence[Vector], size: int) -> list[float]:
    middles = [_unit(cloud_of(side, size).total) for side in (models, people)]
    called = []
    for vector in asked:
        a, b = (sum(weight * float(middle[place]) for place, weight in vector.items()) for middle in middles)
        called.append(0.5 if abs(a - b) < 1e-12 else float(a > b))
    return called


def _unit(total: Floats) -> Floats:
    length = float(np.linalg.norm(total))
    return total / length if length else total


def _forest(seed: int) -> Classify:
    try:
        ensemble = importlib.import_module("sklearn.ensemble")
    except ImportError as error:
        raise InputError(
            "a random forest needs scikit-learn, which is not installed",
            where="method",
            value="forest",
            remedy="pip install scikit-learn, or method=centroid, which needs nothing",
        ) from error
    state = int(generator("sivbench/distinguish/forest", seed).integers(2**31))

    def classify(models: Sequence[Vector], people: Sequence[Vector], asked: Sequence[Vector], size: int) -> list[float]:
        forest = ensemble.RandomForestClassifier(n_estimators=100, random_state=state)
        forest.fit(_dense([*models, *people], size), [1] * len(models) + [0] * len(people))
        return [float(kind) for kind in forest.predict(_dense(asked, size))]

    return classify


def _dense(vectors: Sequence[Vector], size: int) -> Floats:
    rows = np.zeros((len(vectors), size))
    for row, vector in zip(rows, vectors, strict=True):
        row[list(vector)] = list(vector.values())
    return rows


ANALYSIS = Analysis(
    name="distinguish",
    says="how often a classifier tells models' reasoning from people's",
    source="appendix D.2",
    run=distinguishability,
    options={**RUN_OPTIONS, "method": "centroid (default, numpy only) or forest (needs scikit-learn)"},
)
