"""How PsycheMME is judged: open answers for their credit, then rationales for support and logic (paper, appendix D.4).

``verified`` needs the answer's credit, so for open questions ``open_answer`` comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onlooker.benchmarks.psycheme.scoring import OPEN_ANSWER, VERIFIED
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES
from onlooker.protocol.judging import Judging, bullets, option_lines
from onlooker.protocol.prompt import PromptFolder
from onlooker.protocol.scoring import exact_credit
from onlooker.records.public import OpenItem
from onlooker.text.rationales import informative

if TYPE_CHECKING:
    from onlooker.protocol.scoring import Private, Reply
    from onlooker.records.public import Item

_PROMPTS = PromptFolder(__package__)


def _spare_open(item: Item, private: Private, reply: Reply, words: str) -> str | None:  # noqa: ARG001 - see Spared
    if not isinstance(item, OpenItem):
        return "a choice question, whose credit is exact match"
    return None if reply.answer is not None else "no answer was understood: credit 0"


def _spare_verified(item: Item, private: Private, reply: Reply, words: str) -> str | None:  # noqa: ARG001 - see Spared
    if reply.answer is None:
        return "no answer was understood: credit 0"
    if isinstance(item, OpenItem):
        judged = reply.labels.get(OPEN_ANSWER.name)
        if judged is None:
            return "an open answer without a valid open_answer judgement: judge that rubric first"
        credit = float(judged["credit"])
    else:
        credit = exact_credit(private, reply)
    if credit == 0:
        return "answer credit 0: verified credit is 0 without a judge"
    if not any(map(informative, reply.answer.rationale.values())):
        return "no informative rationale: verified credit is 0 without a judge"
    return None


def _fields(item: Item, private: Private, reply: Reply, words: str) -> dict[str, object]:  # noqa: ARG001 - see Fields
    reference, answer = private.reference, reply.answer
    given = answer.value if answer is not None else ""
    right = reference.answer if reference is not None else None
    rationale = answer.rationale if answer is not None else {}
    return {
        "question": getattr(item, "question", ""),
        "options": option_lines(item),
        "reference": right if isinstance(right, str) else ", ".join(right or ()),
        "cues": bullets(reference.cues or () if reference is not None else ()),
        "answer": given
        if isinstance(given, str)
        else ", ".join(map(str, given))
        if isinstance(given, tuple)
        else given,
        "rationale": bullets(
            [f"{CAPABILITIES[field]}: {said}" for field, said in rationale.items() if said and informative(said)]
        ),
    }


JUDGING: Final = (
    Judging(
        OPEN_ANSWER,
        "credit of an open answer: 0, 0.5 or 1",
        _PROMPTS,
        "judge_open_answer.txt",
        _fields,
        _spare_open,
    ),
    Judging(
        VERIFIED,
        "support of a rationale by the reference cues, and its logic, where the answer has credit",
        _PROMPTS,
        "judge_verified.txt",
        _fields,
        _spare_verified,
    ),
)
