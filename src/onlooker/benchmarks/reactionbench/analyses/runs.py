"""Runs by task, and what a case holds: profiles, raters left out, points of a rationale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from onlooker.benchmarks.reactionbench.profile import ratings_of
from onlooker.benchmarks.reactionbench.scoring import protocol_of, task_of
from onlooker.benchmarks.reactionbench.taxonomy import PROTOCOLS
from onlooker.errors import InputError
from onlooker.protocol.analysis import GradedRun, Material
from onlooker.protocol.scoring import Case
from onlooker.protocol.sheet import chosen_runs
from onlooker.records.public import IntensityItem, Task

Number = Callable[[Case], float | None]
"""What a case says, as one number."""


def runs_of(material: Material, task: Task) -> list[GradedRun]:
    """The chosen runs whose condition is for ``task``, or for all; InputError where there is none."""
    runs = [
        run
        for run in chosen_runs(material)
        if task_of(run.condition) in {None, task} and any(c.item.task == task for c in _all(run))
    ]
    if not runs:
        raise InputError(f"no predictions for {task} items among the runs that are looked at")
    return runs


def task_items(run: GradedRun, task: Task) -> list[str]:
    """The ids of the items of that task that the run owes."""
    return list(dict.fromkeys(case.item.id for case in _all(run) if case.item.task == task))


def in_order(runs: Sequence[GradedRun]) -> list[GradedRun]:
    """Runs in the order of their protocols: joint, grouped, independent; then by name."""
    order = ("joint", "grouped", "independent")
    assert set(order) == set(PROTOCOLS)

    def place(run: GradedRun) -> tuple[int, str]:
        protocol = protocol_of(run.condition)
        return (len(order) if protocol is None else order.index(protocol), run.condition)

    return sorted(runs, key=place)


def point(name: str) -> Number:
    """The number of that name among a grade's points."""
    return lambda case: case.grade.points.get(name)


def credit(case: Case) -> float | None:
    """The answer credit."""
    return case.grade.credit


def parsed(case: Case) -> bool:
    """Whether an intensity profile was understood and has a consensus that varies."""
    return "rho0" in case.grade.points


def varying(case: Case) -> bool:
    """Whether the profile is parsed and not constant."""
    return case.grade.points.get("constant") == 0


def profile_of(case: Case) -> tuple[float, ...] | None:
    """The predicted numbers in the order of the moments; None where nothing was understood."""
    answer = case.reply.answer
    if answer is None or not isinstance(case.item, IntensityItem) or not isinstance(answer.value, Mapping):
        return None
    return tuple(answer.value[moment.id] for moment in case.item.moments)


def units_of(case: Case, predicted: Sequence[float]) -> Iterator[tuple[tuple[float, ...], ...]]:
    """(rater's own scores, predicted scores, mean of the other raters) of each rater who rated all moments of the video
    and whose others' means vary; over the moments that others rated."""
    if not isinstance(case.item, IntensityItem):
        return
    moments = [moment.id for moment in case.item.moments]
    ratings = ratings_of(case.private)
    for rater, own in ratings.items():
        if any(moment not in own for moment in moments):
            continue
        rows = []
        for moment, number in zip(moments, predicted, strict=True):
            others = [given[moment] for other, given in ratings.items() if other != rater and moment in given]
            if others:
                # Correctly rounded, so that equal means of different ratings are equal numbers.
                rows.append((own[moment], number, math.fsum(others) / len(others)))
        if len({target for _, _, target in rows}) > 1:
            yield tuple(zip(*rows, strict=True))


def _all(run: GradedRun) -> Iterator[Case]:
    for cases in run.by_seed.values():
        yield from cases
