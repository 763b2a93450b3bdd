"""How ReactionBench's rationales are judged: by text alone, against the references that people wrote (section 3.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onlooker.benchmarks.reactionbench.scoring import RATIONALE
from onlooker.protocol.judging import Judging, bullets
from onlooker.protocol.prompt import PromptFolder
from onlooker.records.public import RationaleItem

if TYPE_CHECKING:
    from onlooker.protocol.scoring import Private, Reply
    from onlooker.records.public import Item

_PROMPTS = PromptFolder(__package__)


def _spare(item: Item, private: Private, reply: Reply, words: str) -> str | None:  # noqa: ARG001 - see Spared
    if not isinstance(item, RationaleItem):
        return "no rationale is asked for"
    if reply.answer is None:
        return "nothing was written"
    references = private.reference.references if private.reference is not None else None
    return None if references else "no reference to hold it against"


def _fields(item: Item, private: Private, reply: Reply, words: str) -> dict[str, object]:  # noqa: ARG001 - see Fields
    references = private.reference.references if private.reference is not None else None
    return {
        "references": bullets(references or ()),
        "explanation": reply.answer.value if reply.answer is not None else "",
    }


JUDGING: Final = (
    Judging(
        RATIONALE,
        "one explanation of a reaction against what people wrote: cue, link, consistency",
        _PROMPTS,
        "judge_rationale.txt",
        _fields,
        _spare,
    ),
)
