"""How MMHBench's explanations are judged: key event, mechanism, options, hallucination (paper, appendix E).

Meant for conditions that ask for reasoning: a reply that is an answer and nothing else has none to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onlooker.benchmarks.mmhbench.scoring import REASONING
from onlooker.protocol.judging import Judging, reasoning_fields, reasoning_missing
from onlooker.protocol.prompt import PromptFolder

if TYPE_CHECKING:
    from onlooker.protocol.scoring import Private, Reply
    from onlooker.records.public import Item

_PROMPTS = PromptFolder(__package__)


def _spare(item: Item, private: Private, reply: Reply, words: str) -> str | None:
    if private.reference is None or not private.reference.explanation:
        return "no reference explanation to hold it against"
    return reasoning_missing(item, private, reply, words)


JUDGING: Final = (
    Judging(
        REASONING,
        "the reasoning in a reply against the reference explanation: key event, mechanism, options, hallucination",
        _PROMPTS,
        "judge_reasoning.txt",
        reasoning_fields,
        _spare,
        max_output_tokens=1024,
    ),
)
