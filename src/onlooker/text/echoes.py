"""A reply that repeats the options has not chosen them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onlooker.text.labels import Labels

_GAP = re.compile(r"[\s,;.、。，；*_`|~\-•/]*(?:(?:and|or|和|或)\s+)?")
_CLOSING = re.compile(r"[)\]*_`\s]*")
_ANNOUNCED = re.compile(r"(?:answers?|答案|正解)\W*\Z", re.IGNORECASE)


def without_echo(text: str, labels: Labels, *, several: bool) -> str:
    """The ``plain`` text with copies of the option list blanked out, as long as before.

    A copy is a run of two or more different options, each "letter, text", with only punctuation between;
    a letter that comes again starts a new run. Where all that hold are asked, only a run of all options
    is a copy, and a shorter one a choice; so is one that "answer" announces.
    """
    if len(labels.wordings) < 2:
        return text
    runs: list[list[tuple[str, int, int]]] = []
    for known, start, end in _listed_options(text, labels):
        run = runs[-1] if runs else []
        joined = run and _GAP.fullmatch(text, run[-1][2], start)
        if joined and all(known != earlier for earlier, _, _ in run):
            run.append((known, start, end))
        else:
            runs.append([(known, start, end)])
    least = len(labels.wordings) if several else 2
    pieces, kept = [], 0
    for run in runs:
        start, end = run[0][1], run[-1][2]
        complete = len(run) == len(labels.wordings)
        if len(run) >= least and (complete or not _ANNOUNCED.search(text[max(0, start - 30) : start])):
            pieces += [text[kept:start], "\n" * (end - start)]
            kept = end
    return "".join([*pieces, text[kept:]])


def _listed_options(text: str, labels: Labels) -> Iterator[tuple[str, int, int]]:
    for mention in labels.mention.finditer(text):
        known = labels.by_form.get(mention["id"])
        closing = _CLOSING.match(text, mention.end())
        own = labels.own_text(known, text, closing.end()) if closing else None
        if known is not None and own is not None:
            yield known, mention.start(), own[0]
