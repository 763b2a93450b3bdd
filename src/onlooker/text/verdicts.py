"""Where a reply declares its answer. A mention is not a verdict, and the last verdict wins.

The reading goes forward over three kinds of places: cues that announce an answer ("the answer is", "so",
"\\boxed", 答案), statements about a letter ("Option B is right", "A和C都不对", "not A but B"), and the form of
the reply itself (its start and its last line). Each cue looks at a bounded stretch behind it, so that the work
grows with the length of the reply and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from onlooker.text.cues import (
    ALSO_BEFORE,
    CONTRAST,
    DOUBT,
    LEAD,
    LINK,
    NEGATION,
    NOUN,
    PLURAL,
    RETRACTED,
    RIGHT,
    STOP,
    WRONG,
)
from onlooker.text.declarations import Verdict, after_negation, declared, denied_before, supposed_before
from onlooker.text.forms import verdicts_of_form
from onlooker.text.labels import OPEN, Labels

_FILLER = re.compile(r"\s*(?:\([^)\n]{0,60}\))?\s*")
_OPENING = re.compile(rf"(?<![^\W_]){OPEN.pattern}\Z")
_GAP_CHARS = 90


def find_verdict(text: str, labels: Labels, *, several: bool) -> Verdict | None:
    """The verdict of a reply (already ``plain``), None if it declares nothing.

    ``several``: all options that hold are asked, so that letters one a line make a list.
    """
    verdicts = sorted(_all(text, labels, several=several), key=lambda verdict: verdict.at)
    last: Verdict | None = None
    for verdict in verdicts:
        if verdict.denied:
            if last is not None and set(verdict.ids) & set(last.ids):
                last = None  # "The answer is A. No, A is not right."
        elif several and last is not None and (verdict.added or (verdict.additive and last.additive)):
            last = Verdict(last.at, verdict.end, last.ids + verdict.ids, additive=True)
        else:
            last = verdict
    if last is not None and RETRACTED.search(text, last.end):
        return None  # "The answer is A. Wait, no."
    return last


def _all(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    yield from _of_nouns(text, labels, several=several)
    yield from _of_leads(text, labels, several=several)
    yield from _of_statements(text, labels)
    yield from _of_contrasts(text, labels, several=several)
    yield from verdicts_of_form(text, labels, several=several)


def _of_nouns(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    linked: dict[int, Verdict | None] = {}
    for noun in NOUN.finditer(text):
        at = noun.start()
        if text[at - 1 : at] == "/" or denied_before(text, at) or supposed_before(text, at):
            continue
        verdict = _after_noun(text, noun.end(), labels, linked, several=several)
        if verdict is not None:
            yield verdict


def _of_leads(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    for lead in LEAD.finditer(text):
        if denied_before(text, lead.start()) or supposed_before(text, lead.start()):
            continue
        verdict = declared(text, lead.end(), labels, several=several, firm=False)
        if verdict is not None:
            yield verdict


def _after_noun(
    text: str, at: int, labels: Labels, linked: dict[int, Verdict | None], *, several: bool
) -> Verdict | None:
    """ "answer" has been read up to ``at``: find what it is said to be, within the sentence.

    ``linked`` keeps what stands behind each link, for the nouns of one sentence look at the same ones.
    """
    direct = declared(text, at, labels, several=several, firm=False)
    if direct is not None:
        return direct
    filler = _FILLER.match(text, at)
    assert filler is not None
    start, limit = filler.end(), min(len(text), filler.end() + _GAP_CHARS)
    negation = NEGATION.search(text, start, limit)
    if negation is None and LINK.search(text, start, limit) is None:
        return None
    stop = STOP.search(text, start, limit)
    limit = stop.start() if stop else limit
    doubt = DOUBT.search(text, start, limit)
    limit = doubt.start() if doubt else limit
    if negation is not None:
        negation = NEGATION.search(text, start, limit)
    for link in LINK.finditer(text, start, limit):
        if negation is not None and negation.start() < link.start():
            break
        if link.end() not in linked:
            linked[link.end()] = declared(text, link.end(), labels, several=several, firm=True)
        verdict = linked[link.end()]
        if verdict is not None:
            return verdict
    return after_negation(text, negation.end(), labels, several=several) if negation else None


def _of_contrasts(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    """ "not A but B", "neither A nor B but C", "不是A，是B", wherever they stand."""
    for contrast in CONTRAST.finditer(text):
        verdict = after_negation(text, contrast.end(), labels, several=several)
        if verdict is not None and not verdict.denied and not supposed_before(text, contrast.start()):
            yield verdict


def _of_statements(text: str, labels: Labels) -> Iterator[Verdict]:
    """ "Option B is right", "A and C are wrong", "A和C都不对"."""
    at = 0
    while (mention := labels.mention.search(text, at)) is not None:
        at = mention.end()
        if mention["id"] not in labels.ids:
            continue  # another case is a word more often than a letter
        opened = _opening_of(text, mention.start())
        reading = labels.read(text, opened, subject=True)
        if reading is None:
            continue
        at = max(at, reading.end)
        own = labels.own_text(reading.ids[-1], text, reading.end)  # "(B) unhappy is the correct answer"
        end = own[0] if own else reading.end
        ids = reading.ids if PLURAL.match(text, end) else reading.ids[-1:]
        if mention["id"].isdigit() and opened == mention.start():
            continue  # "the other 2 are wrong"
        if WRONG.match(text, end):
            yield Verdict(mention.start(), end, ids, denied=True)
        elif (right := RIGHT.match(text, end)) and right.end() > end:
            if denied_before(text, opened):
                yield Verdict(mention.start(), end, ids, denied=True)
            elif not supposed_before(text, opened) and not text.startswith("?", right.end()):
                alternatives = reading.alternatives and len(ids) > 1
                added = ALSO_BEFORE.search(text[max(0, opened - 30) : opened]) or " also " in right.group()
                yield Verdict(mention.start(), end, ids, alternatives=alternatives, additive=True, added=bool(added))


def _opening_of(text: str, at: int) -> int:
    """Where the brackets, asterisks and the word "option" before a letter begin."""
    window = max(0, at - 24)
    opening = _OPENING.search(text, text.rfind("\n", window, at) + 1 or window, at)
    return opening.start() if opening else at
