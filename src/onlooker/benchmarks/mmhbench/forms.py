"""What people are asked in MMHBench: answers, the review of seed questions (section 3.3), and the experts' rubric
(section 3.5, appendix D).
"""

from __future__ import annotations

from typing import Final

from onlooker.protocol.answer_form import answer_form
from onlooker.protocol.form import Answer, Choice, Decision, Form, Layout, ManyOf, OneOf, Scale, View, When, Words

BEST: Final = {"perspective": 2, "value": 2, "correctness": 3, "rationale": 3, "necessity": 3}
"""The highest score of each dimension, which a question has to have on all of them to be kept."""


def retention(answer: Answer) -> str:
    """A 1 on any dimension discards, a 2 on one of the last three is to be revised, full scores keep (appendix D)."""
    scores = [answer[name] for name in BEST]
    if 1 in scores:
        return "discard"
    return "keep" if scores == list(BEST.values()) else "revise"


def _scale(name: str, title: str, *says: str) -> Scale:
    words = ("No", "Yes") if BEST[name] == 2 else ("No", "Partly", "Yes")
    anchors = tuple(
        Choice(score, word, text) for score, (word, text) in enumerate(zip(words, says, strict=True), start=1)
    )
    return Scale(name, title, rubric=f"expert.{name}", anchors=anchors)


EXPERT: Final = Form(
    name="expert",
    title="Verify a question",
    says="Watch the video, read question, options, reference answer and analysis, and score all five dimensions. Any 1 "
    "discards the question. A 2 on correctness, rationale or video necessity means that it has to be revised: say how. "
    "Another expert then reviews what was revised, with this same form, and it is kept only with full scores.",
    tasks=("choice",),
    fields=(
        _scale(
            "perspective",
            "Do question and options keep to the perspective and the roles?",
            "wrong, or not the same throughout",
            "question from the questioner's side, options from the responder's, throughout",
        ),
        _scale(
            "value",
            "Does it test psychological reasoning?",
            "too simple, beside the point, or asks to speculate beyond the video",
            "means something, and rests on what can be seen and heard",
        ),
        _scale(
            "correctness",
            "Is the reference answer the best supported option?",
            "contradicted, unsupported, or less plausible than a distractor",
            "plausible, with a small error, an ambiguity, or a distractor nearly as good",
            "clearly the best, unambiguous, no unsupported claim",
        ),
        _scale(
            "rationale",
            "Does the analysis explain answer and options from the video?",
            "contradicts the video, or mistakes key emotion, key event or an option",
            "reasonable; something unverified, superfluous, or options not told apart",
            "names key emotion and event, explains each option, no speculation",
        ),
        _scale(
            "necessity",
            "Does one have to watch the video?",
            "the text alone gives the answer",
            "the text alone narrows it down a good deal",
            "the text alone is not enough",
        ),
        Words("revision", "What is to be revised, and how?", required=False, rows=3),
    ),
    layout=Layout("player", (View("video"),)),
    shows=("question", "options", "window", "perspective", "labels"),
    private=("answer", "explanation"),
    decision=Decision(retention, ("keep", "revise", "discard"), "unanimous", ("revision",)),
)

SEED_REVIEW: Final = Form(
    name="seed_review",
    title="A question for the seed pool",
    says="Decide alone whether the question is kept, modified or discarded, and say why. Where the two of you differ, "
    "you talk it over, and the word you agree on is entered as the ruling. The reasons are used to mend the prompts.",
    tasks=("choice",),
    fields=(
        OneOf(
            "decision",
            "What should become of it?",
            rubric="seed_review",
            choices=(
                Choice("keep", "Keep", "as it is"),
                Choice("modify", "Modify", "what is wrong can be put right"),
                Choice("discard", "Discard", "it cannot"),
            ),
        ),
        ManyOf(
            "reasons",
            "Why?",
            choices=(
                Choice("grounding", "Answer or rationale does not rest on what is seen and heard"),
                Choice("answer", "The reference answer is not the best option"),
                Choice("distractors", "Distractors are implausible, or as good as the answer"),
                Choice("leakage", "The text gives the answer away"),
                Choice("perspective", "Perspective or roles are wrong"),
                Choice("speculation", "It needs speculation, or a diagnosis"),
                Choice("trivial", "It tests no psychological reasoning"),
                Choice("wording", "The wording is unclear"),
            ),
            when=When("decision", ("modify", "discard")),
        ),
        Words("change", "How should it read?", when=When("decision", ("modify",)), rows=4),
    ),
    layout=Layout("player", (View("video"),)),
    shows=("question", "options", "window", "perspective", "labels"),
    private=("answer", "explanation"),
    decision=Decision(lambda answer: str(answer["decision"]), ("keep", "modify", "discard"), "majority", ("reasons",)),
)

FORMS: Final[tuple[Form, ...]] = (answer_form("choice"), EXPERT, SEED_REVIEW)
