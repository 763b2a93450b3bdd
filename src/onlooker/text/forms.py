"""The answer by the form of a reply: its start ("B.", "(B) because ..."), its last line, its last sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from onlooker.text.characters import fold
from onlooker.text.cues import ASSENT, DOUBT, NEGATION, WRONG
from onlooker.text.declarations import Verdict, closed
from onlooker.text.labels import Labels, Reading
from onlooker.text.option_text import NEGATIONS

_MARK = r"(?:[^\S\n]|[#>*_`~•·|-])*+"
_LINE_LABEL = re.compile(rf"^{_MARK}(?:[(\[])?(?P<form>[^\s()\[\].:*]{{1,20}})[*_`]*[.):\]]", re.MULTILINE)
_REST = re.compile(r"[\s.!。,;:*_`]*+")
_NUMBERED = re.compile(r"\s*\d{1,2}[.)]\s+(?=\D)")
_TEXT_CLOSED = re.compile(r"\s*(?:[.!\n。！]|because|since)")
_ASSENT_ENDS = re.compile(r"[^\S\n]*[,.:;!。、–—-]\s*")
_CLAIM = re.compile(
    r"(?:\b(?:is|are|was|were|seems?|looks?|feels?|appears?|remains?|to\s+be|as)|:|是|为)"
    r"(?:\s+(?:the|a|an|most\s+likely|clearly|probably|very|quite))*\s*\Z",
    re.IGNORECASE,
)
_SENTENCE_ENDS = ".!?。"


def verdicts_of_form(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    """What the start, the lines and the last sentence of a ``plain`` reply declare."""
    leading = _leading(text, labels, several=several)
    if leading is not None:
        yield leading
    if not several or leading is None:
        yield from _of_lines(text, labels, several=several)


def _leading(text: str, labels: Labels, *, several: bool) -> Verdict | None:
    first = labels.read(text, 0, lines=several)
    forms = [labels.by_form[match["form"]] for match in _LINE_LABEL.finditer(text) if match["form"] in labels.by_form]
    listed = len(set(forms)) > 1 and forms == sorted(forms, key=labels.ids.index)
    if first is not None and (len(first.ids) >= len(set(forms)) or first.end >= len(text.rstrip())):
        listed = False
    if listed:
        return None
    if first is not None and _leads(text, first, labels):
        return Verdict(0, first.end, first.ids, "letter", first.alternatives)
    named = _leading_text(text, labels)
    if named is not None:
        return Verdict(0, named[1], (named[0],), "option_text")
    return _after_assent(text, labels, several=several) if first is None else None


def _leads(text: str, first: Reading, labels: Labels) -> bool:
    if WRONG.match(text, first.end) and not first.texted:
        return False
    whole = labels.read(text, 0, subject=True)
    if whole is not None and len(whole.ids) > len(first.ids):
        return False  # "A and B are calm": a subject, no verdict
    return first.texted or closed(text, first, labels, firm=False)


def _leading_text(text: str, labels: Labels) -> tuple[str, int] | None:
    """ "Yes, nobody notices": the text of an option, closed by punctuation, opens the reply.

    Before a comma it must be a word of assent or denial, or the only option that the reply speaks of:
    "Happy, then angry" chooses nothing.
    """
    named = labels.read_text(text, 0)
    if named is None:
        return None
    known, end = named
    if text[end - 1] in '.。*"”' or _TEXT_CLOSED.match(text, end):
        return named
    if ASSENT.match(text) or not labels.other_text(text, end, known):
        return named
    return None


def _after_assent(text: str, labels: Labels, *, several: bool) -> Verdict | None:
    """ "Yes, B": assent and letters, and nothing else."""
    assent = ASSENT.match(text)
    pause = _ASSENT_ENDS.match(text, assent.end()) if assent else None
    reading = labels.read(text, pause.end(), lines=several) if pause else None
    if pause is None or reading is None or reading.small or not _REST.fullmatch(text, reading.end):
        return None
    return Verdict(pause.end(), reading.end, reading.ids, "letter", reading.alternatives)


def _of_lines(text: str, labels: Labels, *, several: bool) -> Iterator[Verdict]:
    """Lines that are nothing but a letter, with or without its text, and a last sentence that is one.

    Where one option is asked: the last line, or the only option that any line consists of. Where all
    are asked: the lines of that kind at the end of the reply, together.
    """
    alone: list[Verdict] = []
    trailing: list[Verdict] = []
    start = 0
    for line in text.split("\n"):
        at = start + (number.end() if (number := _NUMBERED.match(line)) else 0)
        end = start + len(line)
        start = end + 1
        if not line.strip():
            continue
        reading = labels.read(text, at)
        if reading is not None and _REST.fullmatch(text, reading.end, max(end, reading.end)):
            alone.append(Verdict(at, reading.end, reading.ids, "letter", reading.alternatives))
            trailing.append(alone[-1])
        else:
            trailing.clear()
    if several and trailing:
        ids = tuple(known for verdict in trailing for known in verdict.ids)
        yield Verdict(trailing[0].at, trailing[-1].end, ids, "letter", trailing[-1].alternatives)
    elif trailing:
        yield trailing[-1]
    elif len({verdict.ids for verdict in alone}) == 1:
        yield alone[-1]
    if not trailing:
        yield from _of_last_sentence(text, labels)


def _of_last_sentence(text: str, labels: Labels) -> Iterator[Verdict]:
    """ "He frowns. B." and "The emotion is unhappy (B).": a letter alone, or in brackets behind its own text."""
    stripped = text.rstrip()
    line_start = stripped.rfind("\n") + 1
    at = max(stripped.rfind(mark, line_start, len(stripped) - 1) for mark in _SENTENCE_ENDS) + 1
    reading = labels.read(text, at) if at else None
    if reading is not None and _REST.fullmatch(text, reading.end):
        if text[at - 1] != "?" or None not in reading.ids:  # "Who is to blame? I"
            yield Verdict(at, reading.end, reading.ids, "letter", reading.alternatives)
        return
    at = max(at, line_start)
    bracket = stripped.rfind("(", at)
    reading = labels.read(text, bracket) if bracket >= 0 else None
    known = reading.ids[0] if reading is not None else None
    if reading is None or known is None or len(reading.ids) > 1 or not _REST.fullmatch(text, reading.end):
        return
    sentence = text[at:bracket].rstrip()
    wording = labels.wordings.get(known)
    spans = wording.spans(sentence, fold(sentence)) if wording else ()
    claim = next((sentence[:start] for start, end in spans if end == len(sentence)), "")
    if not _CLAIM.search(claim) or NEGATIONS.search(claim) or NEGATION.search(claim) or DOUBT.search(claim):
        return
    if not labels.mention.search(claim) and not labels.other_text(sentence, 0, known):
        yield Verdict(bracket, reading.end, reading.ids)
