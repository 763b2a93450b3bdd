"""Texts as TF-IDF vectors, and what a set of vectors is like.

Words are runs of two or more letters, digits or underscores in lower case. Weight: (times in the text) x (ln((1 + N) /
(1 + texts with the word)) + 1) over the N texts that the vocabulary is taken from, each vector then divided by its
length: the rule of scikit-learn's ``TfidfVectorizer`` as it comes. A text without a known word is the zero vector.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError

Floats = NDArray[np.float64]
Vector = Mapping[int, float]
Encoder = Callable[[Sequence[str]], Floats]
"""Texts -> embeddings (texts, dimensions), of any length: they are divided by it."""

NO_ENCODER = (
    "sentence embeddings are undefined: the command line has no encoder; call the analysis function from Python with "
    "encode=, a function from texts to an array (texts, dimensions)"
)
_WORD = re.compile(r"\w\w+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of some texts with their inverse document frequencies."""

    places: Mapping[str, int]
    idf: Sequence[float]

    def vector(self, text: str) -> Vector:
        """{place of a word: weight}, of length 1 (empty for a text without a known word)."""
        counts = Counter(self.places[w] for w in _WORD.findall(text.lower()) if w in self.places)
        weights = {place: times * self.idf[place] for place, times in counts.items()}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        return {place: weight / length for place, weight in weights.items()}


def vocabulary_of(texts: Sequence[str]) -> Vocabulary:
    """The vocabulary of these texts, words in alphabetical order."""
    found = Counter(word for text in texts for word in set(_WORD.findall(text.lower())))
    ordered = sorted(found)
    idf = [math.log((1 + len(texts)) / (1 + found[word])) + 1 for word in ordered]
    return Vocabulary({word: place for place, word in enumerate(ordered)}, idf)


def cosine(a: Vector, b: Vector) -> float | None:
    """The cosine of two vectors of length 1; None where one of them is zero."""
    if not a or not b:
        return None
    return math.fsum(weight * b[place] for place, weight in a.items() if place in b)


@dataclass(frozen=True, slots=True)
class Cloud:
    """A set of n vectors by their sum ``total`` (dimensions,) and the sum of their squared lengths ``squares``."""

    n: int
    total: Floats
    squares: float

    @property
    def mean_cosine(self) -> float | None:
        """The mean cosine over all pairs of vectors of length 1: (|total|^2 - squares) / (n (n - 1))."""
        if self.n < 2:
            return None
        return (float(self.total @ self.total) - self.squares) / (self.n * (self.n - 1))

    @property
    def variance(self) -> float | None:
        """The mean over dimensions of the variance (divided by n): (squares / n - |total / n|^2) / dimensions."""
        if self.n < 1 or not self.total.size:
            return None
        middle = self.total / self.n
        return (self.squares / self.n - float(middle @ middle)) / self.total.size


def cloud_of(vectors: Sequence[Vector], dimensions: int) -> Cloud:
    """The cloud of sparse vectors."""
    total = np.zeros(dimensions)
    for vector in vectors:
        for place, weight in vector.items():
            total[place] += weight
    squares = math.fsum(weight * weight for vector in vectors for weight in vector.values())
    return Cloud(len(vectors), total, squares)


def encoded(texts: Sequence[str], encode: Encoder) -> Floats:
    """Embeddings of length 1. InputError where the encoder gives another shape, or a vector of length 0."""
    rows = np.asarray(encode(texts), dtype=np.float64)
    lengths = np.linalg.norm(rows, axis=1) if rows.ndim == 2 else np.zeros(0)
    if lengths.shape != (len(texts),) or not np.isfinite(rows).all() or not (lengths > 0).all():
        raise InputError("the encoder gave no array (texts, dimensions) of finite vectors", value=rows.shape)
    return np.asarray(rows / lengths[:, None], dtype=np.float64)


def embedded_cloud(rows: Floats) -> Cloud:
    """The cloud of embeddings (texts, dimensions)."""
    return Cloud(rows.shape[0], rows.sum(axis=0), float((rows * rows).sum()))


def cosine_of_means(a: Cloud, b: Cloud) -> float | None:
    """The cosine of the two mean vectors; None where one of them is zero or a set is empty."""
    lengths = float(np.linalg.norm(a.total)) * float(np.linalg.norm(b.total))
    return float(a.total @ b.total) / lengths if lengths else None
