"""A reply to a choice question -> the options it chooses, or why there is no choice.

The order of the rules (FORMATS, "Parsing choices"): the ``answer`` of a JSON object; else an explicit verdict,
the last one; else the text of an option. No rule guesses: what declares nothing is Unparsed.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any, Literal

from onlooker.text.characters import plain
from onlooker.text.declarations import Verdict
from onlooker.text.echoes import without_echo
from onlooker.text.labels import Labels
from onlooker.text.objects import Scan, scan_objects
from onlooker.text.option_text import equal_option, framed_option, nearest_option
from onlooker.text.outcome import How, Parsed, Reason, Unparsed
from onlooker.text.thinking import strip_thinking
from onlooker.text.verdicts import find_verdict

Select = Literal["one", "all"]


def parse_choice(
    reply: str,
    option_ids: Sequence[str],
    option_texts: Sequence[str],
    select: Select,
    *,
    near_text: bool = False,
) -> Parsed[tuple[str, ...]] | Unparsed:
    """The chosen option ids in the order of the question's options, without doubles.

    ``option_ids`` and ``option_texts`` are parallel (a text may be blank); ``select`` "one" yields exactly one
    id, "all" one or more. ``near_text`` adds SIV-Bench's last rule, the option of nearest text. Only these
    ids can be returned. Reasons: empty, unclosed_thinking, only_thinking, bad_json, no_answer,
    unknown_option, several_for_one, undecided, no_verdict.
    """
    visible = visible_text(reply)
    if isinstance(visible, Unparsed):
        return visible
    scan = scan_objects(visible)
    for found in reversed(scan.objects):
        key = answer_key(found.value)
        if key is not None:
            return choice_of_value(
                found.value[key],
                option_ids,
                option_texts,
                select,
                near_text=near_text,
                repaired=not scan.sound,
            )
    rest, cut_off = _without_objects(visible, scan)
    parsed = choice_of_words(rest, option_ids, option_texts, select, near_text=near_text)
    if isinstance(parsed, Unparsed) and parsed.reason in ("empty", "no_verdict"):
        if cut_off:
            return Unparsed("bad_json")
        if scan.objects and not rest.strip():
            return Unparsed("no_answer")
    return parsed


def visible_text(reply: str) -> str | Unparsed:
    """The reply without reasoning, or why nothing is left of it."""
    if not reply.strip():
        return Unparsed("empty")
    visible, unclosed = strip_thinking(reply)
    if visible.strip():
        return visible
    return Unparsed("unclosed_thinking" if unclosed else "only_thinking")


def answer_key(members: dict[str, Any]) -> str | None:
    """The key of the answer: ``answer``, else the same in another case, else ``final_answer``."""
    if "answer" in members:
        return "answer"
    names = {key.strip().casefold().replace("_", " "): key for key in members}
    return names.get("answer") or names.get("final answer")


def choice_of_value(
    value: object,
    option_ids: Sequence[str],
    option_texts: Sequence[str],
    select: Select,
    *,
    near_text: bool = False,
    repaired: bool = False,
) -> Parsed[tuple[str, ...]] | Unparsed:
    """An object's ``answer``: an id, "B. text", "(C)", an option's text, or a list of these."""
    elements = value if isinstance(value, list) else [value]
    chosen: list[str] = []
    for element in elements:
        words = _as_words(element)
        if words is None or not words.strip():
            return Unparsed("no_answer")
        # In a list each element names one option; a lone string may name several where all are asked.
        each: Select = "one" if isinstance(value, list) else select
        parsed = choice_of_words(words, option_ids, option_texts, each, near_text=near_text)
        if isinstance(parsed, Unparsed):
            return parsed
        chosen.extend(parsed.value)
    if not chosen:
        return Unparsed("no_answer")
    distinct = Labels(tuple(option_ids), tuple(option_texts)).ordered(chosen)
    if select == "one" and len(distinct) > 1:
        return Unparsed("several_for_one")
    return Parsed(distinct, "object", repaired)


def choice_of_words(
    words: str,
    option_ids: Sequence[str],
    option_texts: Sequence[str],
    select: Select,
    *,
    near_text: bool = False,
) -> Parsed[tuple[str, ...]] | Unparsed:
    """The rules for plain text: letter, option text, verdict, last the nearest text."""
    if not words.strip():
        return Unparsed("empty")
    labels = Labels(tuple(option_ids), tuple(option_texts))
    several = select == "all"
    text = plain(words).strip()
    whole = labels.read(text, 0, lines=True)
    listed = whole is not None and whole.texted and len(whole.ids) > 1
    if listed and (not several or (whole is not None and len(whole.ids) == len(labels.ids))):
        whole = None  # perhaps a copy of the options: see without_echo
    if whole is not None and not text[whole.end :].strip(" \t\r\n.,;:!?。、*_`"):
        return _settled(Verdict(0, whole.end, whole.ids, "letter", whole.alternatives), labels, several=several)
    equal = equal_option(words, labels)
    if equal is not None:
        return Parsed((equal,), "option_text")
    small = _small_letters(text, labels) if several else None
    if small is not None:
        return Parsed(small, "letter")
    text = without_echo(text, labels, several=several).strip()
    verdict = find_verdict(text, labels, several=several)
    if verdict is not None:
        return _settled(verdict, labels, several=several)
    how: How = "option_text"
    hit = framed_option(text, labels)
    if hit is None and near_text:
        hit, how = nearest_option(text, labels), "nearest_text"
    return Unparsed("no_verdict") if hit is None else Parsed((hit,), how)


def _settled(verdict: Verdict, labels: Labels, *, several: bool) -> Parsed[tuple[str, ...]] | Unparsed:
    reason: Reason | None = None
    if None in verdict.ids:
        reason = "unknown_option"
    elif not several and len(verdict.ids) > 1:
        reason = "several_for_one"
    elif several and verdict.alternatives:
        reason = "undecided"
    if reason is not None:
        return Unparsed(reason)
    return Parsed(labels.ordered([known for known in verdict.ids if known is not None]), verdict.how)


def _small_letters(text: str, labels: Labels) -> tuple[str, ...] | None:
    """ "acd" as the whole reply: small letters in rising order, so that "bad" stays a word."""
    letters = text.strip().strip(".*`()[]\"'")
    if len(letters) < 2 or not letters.islower() or not all(c in labels.by_form for c in letters):
        return None
    rising = all(a < b for a, b in itertools.pairwise(letters))
    return labels.ordered([labels.by_form[c] for c in letters]) if rising else None


def _as_words(value: object) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return None


def _without_objects(text: str, scan: Scan) -> tuple[str, bool]:
    """The text outside JSON objects, and whether an object was cut off.

    Braces that begin with no quoted key, as in ``\\boxed{B: happy}``, are prose.
    """
    end = len(text)
    cut_off = scan.cut_off_at is not None and _quoted_key(text, scan.cut_off_at)
    if cut_off and scan.cut_off_at is not None:
        end = scan.cut_off_at
    pieces, at = [], 0
    for found in scan.objects:
        if _quoted_key(text, found.start):
            pieces.append(text[at : found.start])
            at = found.end
    pieces.append(text[at:end])
    return "\n".join(pieces), cut_off


def _quoted_key(text: str, brace: int) -> bool:
    return text[brace + 1 : brace + 200].lstrip()[:1] in ('"', "'", "“", "‘", "}")
