"""Intraclass correlations of a full table of units and raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from onlooker.errors import InputError
from onlooker.stats.arrays import Floats

Form = Literal["1", "2,1", "3,1", "1,k", "2,k", "3,k"]
FORMS: tuple[Form, ...] = get_args(Form)


@dataclass(frozen=True, slots=True)
class Intraclass:
    """``value`` is the coefficient of ``form``, at most 1; below 0 where units differ less than raters on one unit."""

    value: float | None
    form: Form
    units: int
    raters: int
    reason: str | None = None


def intraclass(ratings: Sequence[Sequence[float | None]], form: Form) -> Intraclass:
    """The intraclass correlation of ``ratings``: one row a unit, one column a rater, None for a gap.

    With the mean squares B between units, W within units, J between raters and E of the rest, n units and k raters:

    ICC(1)    (B - W) / (B + (k - 1) W)                      each unit has raters of its own
    ICC(2,1)  (B - E) / (B + (k - 1) E + k (J - E) / n)      the raters are a sample: absolute agreement
    ICC(3,1)  (B - E) / (B + (k - 1) E)                      these raters only: consistency
    ICC(1,k)  (B - W) / B        ICC(2,k)  (B - E) / (B + (J - E) / n)        ICC(3,k)  (B - E) / B
    the last three for the mean of the k ratings.

    Undefined for fewer than two units or two raters, with gaps (leave out those units and say so), without variation,
    and where the denominator is not above 0. Shrout and Fleiss (1979), Psychol. Bull. 86 (420).

    >>> round(intraclass([[9, 2], [6, 1], [8, 4]], "3,1").value, 3)
    0.5
    """
    if form not in FORMS:
        raise InputError(f"expected one of {FORMS}", where="form", value=form)
    n = len(ratings)
    widths = {len(row) for row in ratings}
    if len(widths) > 1:
        raise InputError("expected one column a rater in every row", where="ratings", value=sorted(widths))
    k = widths.pop() if widths else 0
    if n < 2:
        return Intraclass(None, form, n, k, "undefined (fewer than two units)")
    if k < 2:
        return Intraclass(None, form, n, k, "undefined (fewer than two raters)")
    gaps = sum(any(value is None for value in row) for row in ratings)
    if gaps:
        return Intraclass(None, form, n, k, f"undefined ({gaps} of {n} units lack a rating)")
    table = np.array(ratings, dtype=np.float64)
    if not np.isfinite(table).all():
        raise InputError("expected finite numbers", where="ratings", value=float(table[~np.isfinite(table)][0]))
    if table.min() == table.max():
        return Intraclass(None, form, n, k, "undefined (no variation)")
    above, below = _ratio(table, form)
    # Mean squares of equal means are rounding errors of this size.
    if below <= 1e-12 * float(table.var()):
        why = "the units' means do not differ" if form in {"1,k", "3,k"} else "the denominator is not above 0"
        return Intraclass(None, form, n, k, f"undefined ({why})")
    return Intraclass(above / below, form, n, k)


def _ratio(table: Floats, form: Form) -> tuple[float, float]:
    n, k = table.shape
    # Centred, so that large numbers with small differences keep their digits.
    table = table - table.mean()
    units, raters = table.mean(axis=1, keepdims=True), table.mean(axis=0, keepdims=True)
    between = k * float((units**2).sum()) / (n - 1)
    within = float(((table - units) ** 2).sum()) / (n * (k - 1))
    judges = n * float((raters**2).sum()) / (k - 1)
    rest = float(((table - units - raters) ** 2).sum()) / ((n - 1) * (k - 1))
    match form:
        case "1":
            return between - within, between + (k - 1) * within
        case "2,1":
            return between - rest, between + (k - 1) * rest + k * (judges - rest) / n
        case "3,1":
            return between - rest, between + (k - 1) * rest
        case "1,k":
            return between - within, between
        case "2,k":
            return between - rest, between + (judges - rest) / n
        case "3,k":
            return between - rest, between
