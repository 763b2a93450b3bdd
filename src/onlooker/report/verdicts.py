"""The one word an answer gets in the item browser."""

from __future__ import annotations

from onlooker.report.content import AnswerView

# key: (word, sign); the keys are also the filter values and CSS classes. Worst first is how a reader looks for them.
VERDICTS = {
    "wrong": ("wrong", "✗"),
    "partial": ("partly right", "◐"),
    "right": ("right", "✓"),
    "scored": ("scored", "•"),
    "unparsed": ("unparsed", "?"),
    "empty": ("empty", "∅"),
    "truncated": ("truncated", "…"),
    "refused": ("refused", "⊘"),
    "error": ("error", "!"),
    "missing": ("missing", "–"),
    "unjudged": ("unjudged", "~"),
}


def verdict_of(answer: AnswerView) -> str:
    """A key of ``VERDICTS``: by credit where the outcome is ``scored``, else the outcome itself.

    ``scored`` stands for a scored answer that has no credit of its own (an intensity profile).
    """
    if answer.outcome != "scored":
        return answer.outcome
    if answer.credit is None:
        return "scored"
    if answer.credit <= 0:
        return "wrong"
    return "right" if answer.credit >= 1 else "partial"
