"""What one place of a reply declares: an option, several, or that one does not hold."""

from __future__ import annotations

import re
from dataclasses import dataclass

from onlooker.text.cues import BUT, DENIED_AFTER, DENIED_BEFORE, LINK, NEGATION, NOR, SUPPOSED_BEFORE, WRONG
from onlooker.text.labels import Labels, Reading, ends
from onlooker.text.outcome import How

_PUNCTUATION = re.compile(r"[^\S\n]*+(?:\Z|[\n.,;:!)\]。、]|[-–—](?!\w))")
_RANGE = re.compile(r"[^\S\n]+(?:(?:[-–—~]|to)[^\S\n]+)?(?=\S)")
_CAPITAL = re.compile(r"\s{1,2}[A-Z]")
_SKIPPED = re.compile(r"[\s:]*+")
_BEFORE_CHARS = 60


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one place declares. ``ids`` None in it: a letter that is no option. ``denied``: "not A"."""

    at: int
    end: int
    ids: tuple[str | None, ...]
    how: How = "verdict"
    alternatives: bool = False
    denied: bool = False
    additive: bool = False  # "A is correct": where all that hold are asked, such statements add up
    added: bool = False  # "also, A is correct": adds to any verdict before it


def denied_before(text: str, at: int) -> bool:
    """Whether the words right before ``at`` deny or set aside what follows."""
    return DENIED_BEFORE.search(text[max(0, at - _BEFORE_CHARS) : at]) is not None


def supposed_before(text: str, at: int) -> bool:
    """Whether the clause that ``at`` stands in only supposes ("if", "although")."""
    return SUPPOSED_BEFORE.search(text[max(0, at - _BEFORE_CHARS) : at]) is not None


def declared(text: str, at: int, labels: Labels, *, several: bool, firm: bool, denials: bool = True) -> Verdict | None:
    """The option, by text or by letter, that stands at ``at``, or its denial where ``denials`` are looked for.

    ``firm``: a colon or "is" precedes it.
    """
    skipped = _SKIPPED.match(text, at)
    at = skipped.end() if skipped else at
    named = labels.read_text(text, at)
    reading = labels.read(text, at, lines=several)
    if named is not None and (reading is None or named[1] > reading.end):
        return Verdict(at, named[1], (named[0],), how="option_text")
    if reading is None:
        negation = NEGATION.match(text, at) if denials else None
        return after_negation(text, negation.end(), labels, several=several) if negation else None
    if DENIED_AFTER.match(text, reading.end):
        return Verdict(at, reading.end, reading.ids, denied=True)
    longer = labels.read(text, at, subject=True)
    asked = longer is not None and longer.alternatives and len(longer.ids) > len(reading.ids)
    if asked or not closed(text, reading, labels, firm=firm):
        return None  # "is it A or B?"
    return Verdict(at, reading.end, reading.ids, alternatives=reading.alternatives)


def after_negation(text: str, at: int, labels: Labels, *, several: bool) -> Verdict | None:
    """ "not A" denies A; "not A but B" and "neither A nor B but C" declare the last."""
    denied = labels.read(text, at)
    if denied is None:
        skipped = _SKIPPED.match(text, at)
        link = LINK.match(text, skipped.end() if skipped else at)
        denied = labels.read(text, link.end()) if link else None
    if denied is None:
        return None
    end, ids = denied.end, denied.ids
    for _ in labels.ids:
        nor = NOR.match(text, end)
        further = labels.read(text, nor.end()) if nor else None
        if further is None:
            break
        end, ids = further.end, ids + further.ids
    but = BUT.match(text, end)
    instead = declared(text, but.end(), labels, several=several, firm=False, denials=False) if but else None
    return instead or Verdict(at, end, ids, denied=True)


def closed(text: str, reading: Reading, labels: Labels, *, firm: bool) -> bool:
    """Whether the thought ends behind the letters read, so that they are no word and no subject."""
    if reading.small and not reading.texted:  # "so a, because": a word unless punctuation follows
        return _PUNCTUATION.match(text, reading.end) is not None
    range_to = _RANGE.match(text, reading.end)
    beside = labels.read(text, range_to.end()) if range_to else None
    if beside is not None and ends(text, beside.end) and not reading.texted:
        return False  # "A - D", "A B"
    if reading.texted or ends(text, reading.end):
        return True
    if not firm or text[reading.end : reading.end + 2].lstrip()[:1] == "?":
        return False
    if reading.loose:  # "Answer: A The woman hugs her": a capital begins anew, "A woman" does not
        return _CAPITAL.match(text, reading.end) is not None
    return WRONG.match(text, reading.end) is None
