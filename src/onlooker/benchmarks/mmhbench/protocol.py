"""MMHBench on one page: every piece of it is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.mmhbench.analyses import ANALYSES
from onlooker.benchmarks.mmhbench.conditions import BASELINE, CONDITIONS
from onlooker.benchmarks.mmhbench.forms import FORMS
from onlooker.benchmarks.mmhbench.rubrics import JUDGING
from onlooker.benchmarks.mmhbench.scoring import FAMILY
from onlooker.benchmarks.mmhbench.taxonomy import LABELS, PERSPECTIVES, ROLES
from onlooker.protocol.benchmark import Benchmark, Given, ScoreTable
from onlooker.protocol.choice import choice_prompt
from onlooker.protocol.prompt import PromptFolder

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item

PROMPTS = PromptFolder(__package__)


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """The request for one question under a condition, worded for its perspective (paper, section 3.2)."""
    perspective = item.perspective or (item.labels or {}).get("perspective")
    return choice_prompt(PROMPTS, item, condition, given, perspective=perspective)


BENCHMARK = Benchmark(
    family="mmhbench",
    title="MMHBench",
    claims="Understanding of mental states in long videos, as an onlooker and from where one of the people stands",
    citation="Hu et al., MMHBench: A Multi-Perspective Benchmark for Mental Health Understanding in Long-Form Videos",
    labels=LABELS,
    conditions=CONDITIONS,
    baseline=BASELINE,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("By perspective", "accuracy.perspective.", PERSPECTIVES),
        ScoreTable("By questioner", "accuracy.questioner.", ROLES),
        ScoreTable("By responder", "accuracy.responder.", ROLES),
        ScoreTable("By topic", "accuracy.topic."),
        ScoreTable("By duration (minutes)", "accuracy.duration."),
        ScoreTable("Reasoning", "reasoning.", own_scale=True),
    ),
    analyses=ANALYSES,
    judging=JUDGING,
    forms=FORMS,
)
