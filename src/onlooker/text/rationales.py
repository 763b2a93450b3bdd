"""PsycheMME replies: an answer and the eight observation fields in one JSON object."""

from __future__ import annotations

import json
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from onlooker.text.choices import Select, answer_key, parse_choice, visible_text
from onlooker.text.objects import find_object, scan_objects
from onlooker.text.outcome import Parsed, Unparsed

FIELDS = ("G", "W", "N", "T", "S", "A", "M", "R")
_NOTHING = frozenset({"", "n/a", "none", "null"})


@dataclass(frozen=True, slots=True)
class PsychemeReply:
    """``answer``: option ids for a choice, text for an open question; ``fields``: one entry for each of FIELDS."""

    answer: tuple[str, ...] | str
    fields: Mapping[str, str | None]


def parse_psycheme(
    reply: str,
    *,
    task: Literal["choice", "open"],
    option_ids: Sequence[str] = (),
    option_texts: Sequence[str] = (),
    select: Select = "one",
) -> Parsed[PsychemeReply] | Unparsed:
    """The answer of a reply and its eight fields (None where the object has none, or there is no object).

    Choice: the rules of every choice question; a reply that is no object can still hold a verdict, its
    fields are then all None, so that it earns raw but no verified credit. Open: the object's ``answer``, a
    string that is not blank, unaltered. A reply without an object is no open answer (``no_object``): the
    protocol owes one JSON object, and nothing else tells answer from reasoning.
    """
    if task == "choice":
        chosen = parse_choice(reply, option_ids, option_texts, select)
        if isinstance(chosen, Unparsed):
            return chosen
        members = _answering_object(reply) if chosen.how == "object" else {}
        value = PsychemeReply(chosen.value, _fields(members))
        return Parsed(value, chosen.how, chosen.repaired)
    visible = visible_text(reply)
    if isinstance(visible, Unparsed):
        return visible
    found = find_object(visible)
    if isinstance(found, Unparsed):
        return found
    members = _answering_object(reply)
    key = answer_key(members)
    answer = members[key] if key is not None else None
    if not isinstance(answer, str) or not answer.strip():
        return Unparsed("no_answer")
    return Parsed(PsychemeReply(answer, _fields(members)), "object", found.repaired)


def informative(field: str | None) -> bool:
    """Whether a field says anything: not null, blank, punctuation, "n/a", "none" or "null" (any case)."""
    if field is None:
        return False
    start, end = 0, len(field)
    while start < end and _says_nothing(field[start]):
        start += 1
    while end > start and _says_nothing(field[end - 1]):
        end -= 1
    return field[start:end].casefold() not in _NOTHING


def _says_nothing(char: str) -> bool:
    """Space, punctuation (Unicode's, and ASCII's "=", "+", "~" ...) or an invisible character."""
    if char.isspace() or char in string.punctuation:
        return True
    return unicodedata.category(char)[0] in "PCZ"


def _answering_object(reply: str) -> dict[str, Any]:
    """The last complete object that has an answer; empty if none has."""
    visible = visible_text(reply)
    if isinstance(visible, Unparsed):
        return {}
    objects = reversed(scan_objects(visible).objects)
    return next((found.value for found in objects if answer_key(found.value) is not None), {})


def _fields(members: Mapping[str, Any]) -> dict[str, str | None]:
    return {name: _as_text(members.get(name)) for name in FIELDS}


def _as_text(value: object) -> str | None:
    """A field as the judge reads it: several observations in one line, other JSON as it was written."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [text for element in value if (text := _as_text(element)) is not None]
        return "; ".join(parts) if parts else None
    if isinstance(value, dict) and not value:
        return None
    return json.dumps(value, ensure_ascii=False)
