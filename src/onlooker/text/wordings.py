"""An option's text as it may stand in a reply, whatever its spaces, case, quotes and last full stop.

Compared as text and not by a pattern of its own: to compile one for every option of every question would
take far longer than to read the replies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from onlooker.text.characters import WORD, fold, plain

_BEGINS_WITH_WORD = re.compile(rf"[{WORD}]")
_ENDS_WITH_WORD = re.compile(rf"[{WORD}]\W*\Z")
_INSIDE_WORD = re.compile(rf"(?<=[{WORD}])", re.IGNORECASE)
_GOES_ON = re.compile(rf"[{WORD}]|\.\d|-[{WORD}]", re.IGNORECASE)
_SPACE = re.compile(r"\s+")


class Wording:
    """The words of one option's text (not blank)."""

    __slots__ = ("_closed_after", "_closed_before", "_words")

    def __init__(self, text: str) -> None:
        body = plain(text).strip()
        self._words = fold(body.rstrip(".。")).split() or [fold(body)]
        self._closed_before = _BEGINS_WITH_WORD.match(body) is not None
        self._closed_after = _ENDS_WITH_WORD.search(body) is not None

    @property
    def first_letter(self) -> str:
        """The first character of the words, folded."""
        return self._words[0][0]

    def end_at(self, text: str, at: int) -> int | None:
        """Where the words end that begin at ``at`` of a ``plain`` text; None if they do not stand there."""
        first = self._words[0]
        if fold(text[at : at + len(first)]) != first:
            return None
        if self._closed_before and _INSIDE_WORD.match(text, at):
            return None
        at += len(first)
        for word in self._words[1:]:
            space = _SPACE.match(text, at)
            if space is None:
                return None
            at = space.end()
            if fold(text[at : at + len(word)]) != word:
                return None
            at += len(word)
        return None if self._closed_after and _GOES_ON.match(text, at) else at

    def spans(self, text: str, folded: str, at: int = 0) -> Iterator[tuple[int, int]]:
        """Every place behind ``at`` where the words stand. ``folded`` is ``fold(text)``."""
        while (start := folded.find(self._words[0], at)) >= 0:
            end = self.end_at(text, start)
            at = start + 1 if end is None else end
            if end is not None:
                yield start, end
