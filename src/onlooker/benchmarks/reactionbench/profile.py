"""Intensity profiles: what raters agreed on, and how a predicted profile compares with it and with
single raters.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onlooker.benchmarks.reactionbench.taxonomy import INTENSITY_RUBRIC
from onlooker.errors import InputError
from onlooker.protocol.scoring import Private
from onlooker.records.public import IntensityItem
from onlooker.stats.ranks import extended_spearman, pair_order_accuracy

Ratings = Mapping[str, Mapping[str, float]]
"""{rater: {moment id: rating}}."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A predicted profile beside the human one, moments in the order of the item.

    target    the consensus, None where a moment has none
    constant  whether every moment got the same number
    rho0      None without a target that varies
    model     pairwise accuracy against raters left out one at a time; None where no rater is
              eligible
    human     the same of the raters left out
    """

    predicted: tuple[float, ...]
    target: tuple[float, ...] | None
    constant: bool
    rho0: float | None
    model: float | None
    human: float | None


def compare_profile(item: IntensityItem, private: Private, predicted: Mapping[str, float]) -> Profile:
    """The predicted profile {moment id: number} of an item against its consensus and its raters."""
    moments = [moment.id for moment in item.moments]
    numbers = tuple(predicted[moment] for moment in moments)
    ratings = ratings_of(private)
    target = consensus_of(moments, private, ratings)
    model, human = leave_one_out(moments, ratings, numbers)
    return Profile(
        numbers,
        target,
        constant=len(set(numbers)) < 2,
        rho0=None if target is None else extended_spearman(numbers, target),
        model=model,
        human=human,
    )


def ratings_of(private: Private) -> Ratings:
    """The intensity ratings of an item; opt-outs and null values do not count.

    InputError where a rater rated a moment twice.
    """
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for rating in private.ratings:
        if rating.rubric != INTENSITY_RUBRIC or rating.opt_out is not None or rating.value is None:
            continue
        where = f"ratings.jsonl, item {rating.item}, unit {rating.unit}, rater {rating.rater}"
        if isinstance(rating.value, str | bool):
            raise InputError("an intensity is a number", where=where, value=rating.value)
        if rating.unit in found[rating.rater]:
            raise InputError("a second rating of the same moment by the same rater", where=where)
        found[rating.rater][rating.unit] = float(rating.value)
    return found


def consensus_of(moments: Sequence[str], private: Private, ratings: Ratings) -> tuple[float, ...] | None:
    """The reference's consensus, else the raw mean of all ratings of each moment; None where a
    moment has neither.
    """
    reference = private.reference
    if reference is not None and reference.consensus is not None:
        given = [reference.consensus.get(moment) for moment in moments]
    else:
        given = [_mean_of(ratings, moment, without=None) for moment in moments]
    known = tuple(value for value in given if value is not None)
    return known if len(known) == len(given) else None


def leave_one_out(
    moments: Sequence[str], ratings: Ratings, predicted: Sequence[float]
) -> tuple[float | None, float | None]:
    """Pairwise accuracy of the prediction and of the raters, both against the mean of the other
    raters.

    Each rater who rated all moments is left out in turn. A pair of moments counts where the others'
    means differ; right order 1, a tie 1/2, else 0; mean over pairs, then over raters. A rater
    without a pair that counts is not eligible.
    """
    model, human = [], []
    for rater, own in ratings.items():
        if any(moment not in own for moment in moments):
            continue
        others = [_mean_of(ratings, moment, without=rater) for moment in moments]
        rated = [i for i, mean in enumerate(others) if mean is not None]
        target = [mean for mean in others if mean is not None]
        score = pair_order_accuracy([predicted[i] for i in rated], target)
        own_score = pair_order_accuracy([own[moments[i]] for i in rated], target)
        if score is not None and own_score is not None:
            model.append(score)
            human.append(own_score)
    if not model:
        return None, None
    return sum(model) / len(model), sum(human) / len(human)


def _mean_of(ratings: Ratings, moment: str, without: str | None) -> float | None:
    values = [own[moment] for rater, own in ratings.items() if rater != without and moment in own]
    # Correctly rounded, so that equal means of different ratings are equal numbers.
    return math.fsum(values) / len(values) if values else None
