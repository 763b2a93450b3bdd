"""PsycheMME on one page: every piece of it is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.psycheme.analyses import ANALYSES
from onlooker.benchmarks.psycheme.arrangements import ARRANGEMENTS
from onlooker.benchmarks.psycheme.conditions import BASELINE, CONDITIONS
from onlooker.benchmarks.psycheme.forms import FORMS
from onlooker.benchmarks.psycheme.rubrics import JUDGING
from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES, LABELS
from onlooker.errors import InputError
from onlooker.protocol.benchmark import Benchmark, Given, ScoreTable
from onlooker.protocol.choice import question_prompt
from onlooker.protocol.prompt import PromptFolder
from onlooker.records.public import ChoiceItem, OpenItem

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import HistoryEntry, Item

PROMPTS = PromptFolder(__package__)


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """The request for one question: answer and eight rationale fields in one JSON object (paper, appendix D.3)."""
    if not isinstance(item, ChoiceItem | OpenItem):
        raise InputError("psycheme has choice and open questions only", where=f"item {item.id}", value=item.task)
    return question_prompt(PROMPTS, item, condition, given, history=[_line(entry) for entry in item.history or ()])


def _line(entry: HistoryEntry) -> str:
    when = entry.when or (f"{entry.time_s:.1f} s" if entry.time_s is not None else None)
    return f"{when}: {entry.text}" if when else entry.text


BENCHMARK = Benchmark(
    family="psycheme",
    title="PsycheMME",
    claims="Psychological perception, response and modulation in video; answers count as far as their rationales hold",
    citation="Dong et al., A Psychology-Informed Benchmark for Social Understanding and Interaction in Videos",
    labels=LABELS,
    conditions=CONDITIONS,
    baseline=BASELINE,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("Raw by capability", "raw.capability.", CAPABILITIES),
        ScoreTable("Verified by capability", "verified.capability.", CAPABILITIES),
        ScoreTable("Retention by capability", "retention.capability.", CAPABILITIES),
    ),
    main_metric="verified.macro",
    analyses=ANALYSES,
    tasks=("choice", "open"),
    arrangements=ARRANGEMENTS,
    judging=JUDGING,
    forms=FORMS,
)
