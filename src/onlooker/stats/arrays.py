"""Checked arguments: a wrong shape or a number that is none stops with a message that names the argument."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Numbers = Sequence[float] | Floats
Labels = Sequence[Hashable] | NDArray[Any]


def finite(name: str, values: Numbers) -> Floats:
    """``values`` as an array of one dimension; InputError where it has another, or a value is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError("expected one dimension", where=name, value=array.shape)
    if not np.isfinite(array).all():
        raise InputError(
            "expected finite numbers",
            where=name,
            value=float(array[~np.isfinite(array)][0]),
            remedy="leave out the rows without a value, and report how many",
        )
    return array


def check_lengths(**lengths: int) -> None:
    """InputError where the named lengths differ."""
    if len(set(lengths.values())) > 1:
        raise InputError("expected arguments of the same length", where=", ".join(lengths), value=lengths)


def number_labels(labels: Labels) -> tuple[list[Hashable], Ints]:
    """The distinct labels in order of first appearance, and the place of each label among them: shape (rows,)."""
    places: dict[Hashable, int] = {}
    plain = labels.tolist() if isinstance(labels, np.ndarray) else labels
    numbers = [places.setdefault(label, len(places)) for label in plain]
    return list(places), np.array(numbers, dtype=np.int64)
