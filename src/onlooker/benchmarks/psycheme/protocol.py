"""PsycheMME on one page. Its replies are read and scored; asking models under its conditions is not built yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.psycheme.analyses import ANALYSES
from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES, LABELS
from onlooker.errors import InputError
from onlooker.protocol.benchmark import Benchmark, Given, ScoreTable

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """There is no condition to render yet, so this cannot be reached by a run."""
    raise InputError("psycheme has no prompts yet", where=f"item {item.id}", value=(condition.name, given.transcript))


BENCHMARK = Benchmark(
    family="psycheme",
    title="PsycheMME",
    claims="Psychological perception, response and modulation in video; answers count as far as their rationales hold",
    citation="PsycheMME: a psychology-informed benchmark of eight capabilities",
    labels=LABELS,
    conditions=(),
    baseline=None,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("Raw by capability", "raw.capability.", CAPABILITIES),
        ScoreTable("Verified by capability", "verified.capability.", CAPABILITIES),
        ScoreTable("Retention by capability", "retention.capability.", CAPABILITIES),
    ),
    main_metric="verified.macro",
    analyses=ANALYSES,
)
