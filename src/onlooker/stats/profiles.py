"""A predicted profile of numbers against raters who are left out one at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.stats.ranks import pair_order_accuracy


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """``value`` is the prediction's pairwise accuracy, ``human`` that of the raters left out; both 0..1.

    ``raters`` is the number of raters who were eligible; both values are None where nobody was.
    """

    value: float | None
    human: float | None
    raters: int
    reason: str | None = None


def leave_one_rater_out(ratings: Sequence[Sequence[float | None]], predicted: Sequence[float]) -> LeaveOneOut:
    """Pairwise accuracy of a prediction and of each rater, both against the mean of the other raters.

    ``ratings``: one row a rater, one column a moment, None for a gap; ``predicted``: one number a moment. Each rater
    who rated all moments is left out in turn. A pair of moments counts where the others' means differ: right order 1, a
    tie 1/2, else 0; mean over pairs, then over raters. A rater without a pair that counts is not eligible.
    ReactionBench, section 3 (leave-one-rater-out comparison).

    >>> found = leave_one_rater_out([[0, 1, 2], [0, 2, 2]], [5, 1, 9])
    >>> round(found.value, 4), round(found.human, 4)
    (0.5833, 0.9167)
    """
    if any(len(own) != len(predicted) for own in ratings):
        raise InputError(
            "expected one column a moment in every row", where="ratings", value=sorted({len(own) for own in ratings})
        )
    model, human = [], []
    for left_out, row in enumerate(ratings):
        own = [value for value in row if value is not None]
        if len(own) < len(row):
            continue
        others = [_mean_of(ratings, moment, left_out) for moment in range(len(predicted))]
        rated = [i for i, mean in enumerate(others) if mean is not None]
        target = [mean for mean in others if mean is not None]
        score = pair_order_accuracy([predicted[i] for i in rated], target)
        own_score = pair_order_accuracy([own[i] for i in rated], target)
        if score is not None and own_score is not None:
            model.append(score)
            human.append(own_score)
    if not model:
        return LeaveOneOut(None, None, 0, "undefined (no rater rated every moment and has others who tell two apart)")
    return LeaveOneOut(sum(model) / len(model), sum(human) / len(human), len(model))


def _mean_of(ratings: Sequence[Sequence[float | None]], moment: int, left_out: int) -> float | None:
    given = [row[moment] for rater, row in enumerate(ratings) if rater != left_out]
    values = [value for value in given if value is not None]
    # Correctly rounded, so that equal means of different ratings are equal numbers.
    return math.fsum(values) / len(values) if values else None
