"""Judgements of rationales as rows: who gave which reply how many points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onlooker.benchmarks.reactionbench.scoring import RATIONALE
from onlooker.protocol.analysis import Material
from onlooker.protocol.sheet import listed

DIMENSIONS: Final = ("total", *RATIONALE.scales)
HUMAN: Final = "human"
"""A judge whose name begins so is a person: one name a person."""

Reply = tuple[str, str, str, int | None]
"""(item, model, condition, seed)."""
Points = Mapping[str, float]
"""{dimension: points}, with the total 0..5."""


def grades_of(material: Material) -> tuple[dict[str, dict[Reply, Points]], int]:
    """{judge: {reply: points}} of the valid judgements under the rubric, of the models and conditions chosen; and how
    many are not valid."""
    models, conditions = (listed(material.options.get(name)) for name in ("models", "conditions"))
    found: dict[str, dict[Reply, Points]] = {}
    invalid = 0
    for row in material.judgements:
        if row.rubric != RATIONALE.name or row.item not in material.items:
            continue
        if (models and row.model not in models) or (conditions and row.condition not in conditions):
            continue
        own = found.setdefault(row.judge, {})
        if row.status != "ok" or row.labels is None or not RATIONALE.accepts(row.labels, material.items[row.item]):
            invalid += 1
            continue
        points = {name: float(row.labels[name]) for name in RATIONALE.scales}
        own[row.item, row.model, row.condition, row.seed] = {"total": sum(points.values()), **points}
    return found, invalid


def people_and_judges(grades: Mapping[str, object]) -> tuple[list[str], list[str]]:
    """The names of the people, and of the judges that are models; each sorted."""
    people = sorted(name for name in grades if name.startswith(HUMAN))
    return people, sorted(name for name in grades if not name.startswith(HUMAN))
