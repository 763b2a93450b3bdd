"""ReactionBench on one page. Its replies are read and scored; asking models under its conditions is not built yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.reactionbench.analyses import ANALYSES
from onlooker.benchmarks.reactionbench.scoring import FAMILY
from onlooker.benchmarks.reactionbench.taxonomy import LABELS
from onlooker.errors import InputError
from onlooker.protocol.benchmark import Benchmark, Given, ScoreTable

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """There is no condition to render yet, so this cannot be reached by a run."""
    raise InputError(
        "reactionbench has no prompts yet", where=f"item {item.id}", value=(condition.name, given.transcript)
    )


BENCHMARK = Benchmark(
    family="reactionbench",
    title="ReactionBench",
    claims="Whether a model grounds an observed reaction of a viewer in what the viewer saw",
    citation="ReactionBench: intensity ranking, stimulus matching and rationales",
    labels=LABELS,
    conditions=(),
    baseline=None,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("Intensity", "ip."),
        ScoreTable("Matching", "srm."),
        ScoreTable("Rationales", "grg.", own_scale=True),
    ),
    main_metric="srm.accuracy",
    analyses=ANALYSES,
)
