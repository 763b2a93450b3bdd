"""Reasoning that a model wrote before its answer is not its answer."""

from __future__ import annotations

import re

_NAMES = r"think(?:ing)?|thought|reasoning"
_TAG = re.compile(
    rf"(?P<open><(?:{_NAMES})>|◁think▷|\[THINK\])"
    rf"|(?P<close></(?:{_NAMES})>|◁/think▷|\[/THINK\])"
    '|(?P<quote>["“”])',
    re.IGNORECASE,
)
_ANY_TAG = re.compile(rf"</?(?:{_NAMES})>|◁/?think▷|\[/?THINK\]", re.IGNORECASE)
_PAIRS = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}


def strip_thinking(reply: str) -> tuple[str, bool]:
    """The reply without its reasoning, and whether a reasoning tag was left open.

    Text between an opening and a closing tag is dropped. A closing tag without an opening one hides all
    that precedes it (servers often swallow the opening tag); an opening tag without a closing one hides
    all that follows. A tag is literal text, and stays, when quotation marks or backticks touch it on
    both sides; an opening tag also when it stands inside double quotes that close on the same line, as
    in a JSON string or in "he wrote <think> on the wall". Closing tags have no such second rule: an
    unbalanced quotation mark in the reasoning must not hide the answer.
    """
    if _ANY_TAG.search(reply) is None:  # most replies: nothing below would find anything either
        return reply, False
    kept: list[str] = []
    inside = False
    start = 0  # of the text that is not yet kept
    line_start = 0
    while line_start <= len(reply):
        newline = reply.find("\n", line_start)
        line_end = len(reply) if newline < 0 else newline
        last_quote = max(reply.rfind(mark, line_start, line_end) for mark in '"”')
        quoted = False
        for match in _TAG.finditer(reply, line_start, line_end):
            if match["quote"]:
                quoted = not quoted if match["quote"] == '"' else match["quote"] == "“"
                continue
            if _touched_by_quotes(reply, match.start(), match.end()):
                continue
            if match["open"]:
                if inside or (quoted and last_quote >= match.end()):
                    continue
                kept.append(reply[start : match.start()])
                inside = True
            else:
                if not inside:
                    kept.clear()
                inside = False
                start = match.end()
        line_start = line_end + 1
    if not inside:
        kept.append(reply[start:])
    return "".join(kept), inside


def _touched_by_quotes(text: str, start: int, end: int) -> bool:
    return start > 0 and end < len(text) and _PAIRS.get(text[start - 1]) == text[end]
