"""How SIV-Bench's explanations are judged: six qualities, 1 to 5, beside what people explained (appendix D.1).

Meant for conditions that ask for reasoning (``cot``): a reply that is an answer and nothing else has none to judge.
"""

from __future__ import annotations

from typing import Final

from onlooker.benchmarks.sivbench.scoring import REASONING
from onlooker.protocol.judging import Judging, reasoning_fields, reasoning_missing
from onlooker.protocol.prompt import PromptFolder

_PROMPTS = PromptFolder(__package__)


JUDGING: Final = (
    Judging(
        REASONING,
        "the reasoning in a reply: relevance, alignment with people's, coherence, depth, conciseness, overall",
        _PROMPTS,
        "judge_reasoning.txt",
        reasoning_fields,
        reasoning_missing,
    ),
)
