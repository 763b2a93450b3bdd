"""What people are asked in PsycheMME: answers (appendix K, the human baseline), the review of questions (section 3.3,
appendix C.4), and whether they endorse the judge (appendix L).
"""

from __future__ import annotations

from typing import Final

from onlooker.protocol.answer_form import answer_form
from onlooker.protocol.form import Answer, Choice, Decision, Form, Layout, ManyOf, OneOf, View, When, Words

YES_NO: Final = (Choice(1, "Yes", key="y"), Choice(0, "No", key="n"))
CRITERIA: Final = ("validity", "correctness", "consistency")


def verdict(answer: Answer) -> str:
    """One reviewer's word: approved where all three criteria hold."""
    return "accept" if all(answer[name] == 1 for name in CRITERIA) else "reject"


def _why(criterion: str, *choices: Choice) -> ManyOf:
    return ManyOf(f"{criterion}_reasons", "Why not?", choices=choices, when=When(criterion, (0,)))


REVIEW: Final = Form(
    name="review",
    title="Review a question",
    says="Watch the video and read what came before. Then say whether the question is valid, whether its reference "
    "answer is right, and whether it asks for the capability of its label. Whatever is judged needs support from "
    "the episode and the context shown. Five people review each question, none sees the word of another, and only what "
    "all of them approve is kept.",
    tasks=("choice", "open"),
    fields=(
        OneOf(
            "validity",
            "Is the question valid?",
            says="It is clear, has one reading, and can be answered from the episode and the context.",
            rubric="review.validity",
            choices=YES_NO,
        ),
        _why(
            "validity",
            Choice("ambiguous", "It is not clear who or what is meant"),
            Choice("premise", "It presumes what is not supported"),
            Choice("options", "Options overlap, or give the answer away"),
            Choice("unanswerable", "It cannot be answered from what is shown"),
        ),
        OneOf(
            "correctness",
            "Is the reference answer right?",
            says="The cues support it, and no other answer is as good.",
            rubric="review.correctness",
            choices=YES_NO,
        ),
        _why(
            "correctness",
            Choice("contradicted", "The episode contradicts it"),
            Choice("unsupported", "The cues do not support it"),
            Choice("another", "Another answer is as good, or better"),
            Choice("incomplete", "A part is missing"),
        ),
        OneOf(
            "consistency",
            "Is it psychologically consistent?",
            says="It asks for the capability of its label, and keeps what is observed apart from what is inferred.",
            rubric="review.consistency",
            choices=YES_NO,
        ),
        _why(
            "consistency",
            Choice("capability", "It asks for another capability"),
            Choice("inference", "It takes an inferred state, need or action for something observed"),
            Choice("theory", "It does not fit what is known in psychology"),
        ),
        Words("note", "Anything else?", required=False),
    ),
    layout=Layout("player", (View("video"),)),
    shows=("question", "options", "history", "window", "labels"),
    private=("answer", "cues", "explanation"),
    decision=Decision(verdict, ("accept", "reject"), "unanimous", tuple(f"{name}_reasons" for name in CRITERIA)),
)

ENDORSEMENT: Final = Form(
    name="endorsement",
    title="Do you agree with the judge?",
    says="A judge labelled the explanation in a reply, against the reference cues. Compare its labels and its reasons "
    "with the cues, and say whether you agree with the decision as it stands. Who wrote the reply is not shown.",
    tasks=("choice", "open"),
    fields=(
        OneOf(
            "endorsement",
            "Do you agree with this decision?",
            rubric="endorsement",
            choices=(Choice(1, "I agree", key="y"), Choice(0, "I do not agree", key="n")),
        ),
        Words("note", "What is wrong with it?", required=False, when=When("endorsement", (0,))),
    ),
    layout=Layout("player", (View("video"),)),
    shows=("question", "options"),
    private=("answer", "cues", "reply", "verdict"),
    asks_about="reply",
)

FORMS: Final[tuple[Form, ...]] = (answer_form("choice", "open"), REVIEW, ENDORSEMENT)
