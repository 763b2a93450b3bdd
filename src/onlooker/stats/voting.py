"""What several voters reach together on questions with a right answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vote:
    """Shares of ``n`` questions.

    best        of the best single voter, ``best_model`` its name (the first of equals by name)
    oracle      where at least one voter is right
    plurality   expected credit of the most frequent vote, r tied votes sharing it by 1/r
    majority    where more than half of all voters give the right answer
    ties        questions whose most frequent vote is not the only one
    All None where there is no question.
    """

    best: float | None
    best_model: str | None
    oracle: float | None
    plurality: float | None
    majority: float | None
    ties: int
    n: int


def count_votes(votes: Mapping[str, Sequence[Hashable | None]], right: Sequence[Hashable]) -> Vote:
    """``votes``: {voter: its vote on each question, None where it gave none}; ``right``: the right
    answers.

    A voter without a vote is no vote, but stays in the electorate of the majority.
    """
    n = len(right)
    if n == 0 or not votes:
        return Vote(None, None, None, None, None, 0, n)
    names = sorted(votes)
    hits = {name: sum(v == r for v, r in zip(votes[name], right, strict=True)) for name in names}
    best = max(names, key=lambda name: hits[name])
    oracle = majority = ties = 0
    plurality = 0.0
    for i, answer in enumerate(right):
        cast = Counter(vote for name in names if (vote := votes[name][i]) is not None)
        if not cast:
            continue
        top = max(cast.values())
        leaders = [vote for vote, count in cast.items() if count == top]
        oracle += answer in cast
        ties += len(leaders) > 1
        plurality += (answer in leaders) / len(leaders)
        majority += 2 * cast[answer] > len(names)
    return Vote(hits[best] / n, best, oracle / n, plurality / n, majority / n, ties, n)
