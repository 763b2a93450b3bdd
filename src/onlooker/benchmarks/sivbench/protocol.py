"""SIV-Bench on one page: every piece of it is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.sivbench.analyses import ANALYSES
from onlooker.benchmarks.sivbench.conditions import BASELINE, CONDITIONS
from onlooker.benchmarks.sivbench.forms import FORMS
from onlooker.benchmarks.sivbench.rubrics import JUDGING
from onlooker.benchmarks.sivbench.scoring import FAMILY
from onlooker.benchmarks.sivbench.taxonomy import DIMENSIONS, LABELS, SUBTASKS
from onlooker.protocol.benchmark import Benchmark, Given, ScoreTable, VideoCalls
from onlooker.protocol.choice import choice_prompt
from onlooker.protocol.prompt import PromptFolder
from onlooker.protocol.questions import questions_prompt, split_answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item

PROMPTS = PromptFolder(__package__)


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """The request for one question under a condition (paper, section 3.1: letter and full text are asked for)."""
    return choice_prompt(PROMPTS, item, condition, given)


def render_video(items: Sequence[Item], condition: Condition, given: Given) -> tuple[Part, ...]:
    """The request for all questions of a clip, numbered from 1 (paper, section 3.1; the authors' code asks so)."""
    return questions_prompt(PROMPTS, items, condition, given)


BENCHMARK = Benchmark(
    family="sivbench",
    title="SIV-Bench",
    claims="Understanding social scenes, inferring social states and predicting social dynamics in short clips",
    citation="Kong et al., SIV-Bench: A Video Benchmark for Social Interaction Understanding and Reasoning",
    labels=LABELS,
    conditions=CONDITIONS,
    baseline=BASELINE,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("By dimension", "accuracy.dimension.", DIMENSIONS),
        ScoreTable("By subtask", "accuracy.subtask.", SUBTASKS),
        ScoreTable("By relation", "accuracy.relation."),
        ScoreTable("Reasoning", "reasoning.", own_scale=True),
    ),
    analyses=ANALYSES,
    video_calls=VideoCalls(render=render_video, split=split_answers),
    judging=JUDGING,
    forms=FORMS,
)
