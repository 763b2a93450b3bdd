"""How the analyses group questions: by perspective, role, topic and length of the video."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from onlooker.benchmarks.mmhbench.taxonomy import PERSPECTIVES, ROLES, TOPICS
from onlooker.protocol.analysis import GradedRun, Material
from onlooker.protocol.scoring import Case, labels_of
from onlooker.protocol.sheet import by_item

SCOPES = ("overall", *PERSPECTIVES)
DURATIONS = ("0to10", "10to20", "20plus")
"""Minutes: [0, 10), [10, 20), 20 or more (paper, table 5)."""
GROUPS: Mapping[str, Sequence[str]] = {
    "perspective": tuple(PERSPECTIVES),
    "questioner": tuple(ROLES),
    "responder": tuple(ROLES),
    "topic": TOPICS,
    "duration": DURATIONS,
}


def values_of(case: Case, label: str) -> tuple[str, ...]:
    """The values of a grouping label, the rules being those of the scores."""
    if label == "duration":
        seconds = case.episode.duration_s
        return () if seconds is None else (DURATIONS[0 if seconds < 600 else 1 if seconds < 1200 else 2],)
    found = labels_of(case, label)
    return (case.item.perspective,) if not found and label == "perspective" and case.item.perspective else found


def labels_by_item(runs: Iterable[GradedRun], label: str) -> dict[str, tuple[str, ...]]:
    """{item id: its values of the label}, for every item that a run owes."""
    return {c.item.id: values_of(c, label) for run in runs for cases in run.by_seed.values() for c in cases}


def in_scope(perspectives: Mapping[str, tuple[str, ...]], items: Iterable[str], scope: str) -> list[str]:
    """Those of the items that are of a perspective; all for ``overall``."""
    return [i for i in items if scope == "overall" or scope in perspectives[i]]


def credit_of(run: GradedRun) -> dict[str, float]:
    """{item id: credit, averaged over seeds}. Every question has one: what is not read is wrong."""
    return {item: credit for item, credit in by_item(run, lambda c: c.grade.credit).items() if credit is not None}


def owed(material: Material, runs: Iterable[GradedRun]) -> list[str]:
    """The items that a run owes, in the bundle's order."""
    found = {c.item.id for run in runs for cases in run.by_seed.values() for c in cases}
    return [item for item in material.items if item in found]


def standing_for(runs: Sequence[GradedRun], model: str, names: Sequence[str]) -> GradedRun | None:
    """The run of a model under the first of these names that it has: several conditions are declared one setting."""
    by_name: Callable[[str], GradedRun | None] = {r.condition: r for r in runs if r.model == model}.get
    return next((run for name in names if (run := by_name(name)) is not None), None)
