"""How SIV-Bench's explanations are judged: six qualities, 1 to 5, beside what people explained (appendix D.1).

Meant for conditions that ask for reasoning (``cot``): a reply that is an answer and nothing else has none to judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onlooker.benchmarks.sivbench.scoring import REASONING
from onlooker.protocol.judging import Judging, option_lines, reasoning_missing, told
from onlooker.protocol.prompt import PromptFolder

if TYPE_CHECKING:
    from onlooker.protocol.scoring import Private, Reply
    from onlooker.records.public import Item

_PROMPTS = PromptFolder(__package__)


def _fields(item: Item, private: Private, reply: Reply, words: str) -> dict[str, object]:  # noqa: ARG001 - see Fields
    reference = private.reference
    right = reference.answer if reference is not None else None
    return {
        "question": getattr(item, "question", ""),
        "options": option_lines(item),
        "reference": ", ".join(right or ()) if not isinstance(right, str) else right,
        "human": told(reference),
        "reasoning": words,
    }


JUDGING: Final = (
    Judging(
        REASONING,
        "the reasoning in a reply: relevance, alignment with people's, coherence, depth, conciseness, overall",
        _PROMPTS,
        "judge_reasoning.txt",
        _fields,
        reasoning_missing,
    ),
)
