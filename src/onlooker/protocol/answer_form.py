"""The form that every family with questions can declare: answer the question as a model would be asked to."""

from __future__ import annotations

from typing import Final

from onlooker.protocol.form import Form, ItemAnswer, Layout, OptOut, View

HUMAN_ANSWER: Final = "human_answer"
"""The rubric of people's answers to the items' own questions."""


def answer_form(*tasks: str) -> Form:
    """Study 7 of the four papers' human baselines (PsycheMME appendix K, SIV-Bench appendix B.2): the video, the
    question, the options; nothing that only scorers may see."""
    return Form(
        name="answer",
        title="Answer a question",
        says=(
            "Watch the video, then answer the question from what you saw and heard. Choose the best answer even when "
            "you are not sure; do not look anything up."
        ),
        tasks=tasks,
        fields=(ItemAnswer("answer", "Your answer", rubric=HUMAN_ANSWER),),
        layout=Layout("player", (View("video"),)),
        shows=("question", "options", "history", "window"),
        opt_outs=(OptOut("unclear", "The question or the video is unclear"),),
    )
