"""Whether an answer is one: every field against the form and the case, nothing guessed, nothing mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from onlooker.annotate.cases import Case
from onlooker.annotate.work import Work, covers
from onlooker.errors import InputError
from onlooker.protocol.form import (
    Answer,
    Checks,
    Field,
    Form,
    ItemAnswer,
    ManyOf,
    OneOf,
    Scale,
    View,
    Words,
    choices_of,
)
from onlooker.records.public import ChoiceItem, IntensityItem, OpenItem


class AnswerRefused(InputError):
    """``faults``: {field: what is wrong with it}, in words for the person who answers."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        self.faults = dict(faults)
        super().__init__("the answer is not complete", value=self.faults, remedy="; ".join(self.faults.values()))


PLAYBACK: Final = "playback"
"""The name under which an answer before the video was played is refused."""


def check_answer(form: Form, case: Case, answer: Any, work: Work, views: Mapping[str, float | None]) -> dict[str, Any]:
    """The answer with its fields in the order of the form; fields that were not asked are left out.

    ``views``: {medium on the page: its length in seconds}. Raises ``AnswerRefused``.
    """
    if not isinstance(answer, dict):
        raise AnswerRefused({"answer": "no answer was sent"})
    faults: dict[str, str] = {}
    checked: dict[str, Any] = {}
    known = {field.name for field in form.fields}
    for name in answer.keys() - known:
        faults[str(name)[:40]] = "the form has no such field"
    for field in form.fields:
        if not is_asked(field, checked):
            continue
        value = answer.get(field.name)
        fault = _moments_fault(field, value, case) if field.per == "moment" else _fault(field, value, case)
        if fault is not None:
            faults[field.name] = fault
        elif not _is_blank(value):
            checked[field.name] = value
    if not faults and (unplayed := unplayed_parts(form, case, work, views)):
        faults[PLAYBACK] = f"play this first: {', '.join(unplayed)}"
    if faults:
        raise AnswerRefused(faults)
    return checked


def is_asked(field: Field, answer: Answer) -> bool:
    """Whether a field is asked, given the answers before it."""
    if field.when is None:
        return True
    given = answer.get(field.when.field)
    there = given if isinstance(given, list) else [given]
    return any(one in field.when.values for one in there)


def unplayed_parts(form: Form, case: Case, work: Work, views: Mapping[str, float | None]) -> list[str]:
    """What still has to be played before an answer is taken, in words."""
    if form.playback is None:
        return []
    missing = []
    for view in form.layout.views:
        if view.medium not in views:
            continue
        for name, start_s, end_s in extents(form, case, view, views[view.medium]):
            if not covers(work.played.get(view.medium, ()), start_s, end_s):
                missing.append(name)
    return missing


def extents(form: Form, case: Case, view: View, length_s: float | None) -> Iterator[tuple[str, float, float]]:
    """(name, start, end) of what has to be played of a view; nothing where its length is not known."""
    item = case.item
    if form.playback == "moments" and isinstance(item, IntensityItem):
        yield from ((f"moment {m.id}", m.start_s, _within(m.end_s, length_s)) for m in item.moments)
    elif form.playback == "window" and item.window is not None:
        yield view.title or view.medium, item.window.start_s, _within(item.window.end_s, length_s)
    elif length_s is not None:
        yield view.title or view.medium, 0.0, length_s


def _within(end_s: float, length_s: float | None) -> float:
    return end_s if length_s is None else min(end_s, length_s)


def _is_blank(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _moments_fault(field: Field, value: Any, case: Case) -> str | None:
    assert isinstance(case.item, IntensityItem), "gather_cases has seen to it"
    if not isinstance(value, dict):
        return "answer for every moment"
    ids = [moment.id for moment in case.item.moments]
    if unknown := set(value) - set(ids):
        return f"no moment of this name: {sorted(unknown)[0]}"
    for one in ids:
        if (fault := _fault(field, value.get(one), case)) is not None:
            return f"moment {one}: {fault}"
    return None


def _fault(field: Field, value: Any, case: Case) -> str | None:  # noqa: PLR0911 - one for each kind of field
    """What is wrong with one value, None where nothing is."""
    if _is_blank(value):
        return f"{field.title}: this is needed" if field.required else None
    match field:
        case Scale() | OneOf():
            return None if _is_offered(value, field) else f"{field.title}: choose one of those offered"
        case ManyOf():
            return _list_fault(field, value, [choice.value for choice in choices_of(field)])
        case Checks():
            names = {choice.value for choice in field.criteria}
            if not isinstance(value, dict) or set(value) - names:
                return f"{field.title}: answer yes or no for each"
            is_whole = set(value) == names and all(isinstance(one, bool) for one in value.values())
            return None if is_whole else f"{field.title}: answer yes or no for each"
        case Words():
            return _words_fault(field.title, value, field.least_chars, field.most_chars)
        case ItemAnswer():
            return _item_fault(field, value, case)
    return f"{field.title}: unknown kind of field"


def _item_fault(field: ItemAnswer, value: Any, case: Case) -> str | None:
    item = case.item
    if isinstance(item, OpenItem):
        return _words_fault(field.title, value, 1, field.most_chars)
    if not isinstance(item, ChoiceItem):
        return f"{field.title}: this item has no question"
    if fault := _list_fault(field, value, [option.id for option in item.options]):
        return fault
    return f"{field.title}: choose one" if item.select == "one" and len(value) != 1 else None


def _is_offered(value: Any, field: Field) -> bool:
    # True equals 1 in Python, and is none of the values.
    return not isinstance(value, bool) and value in [choice.value for choice in choices_of(field)]


def _list_fault(field: Field, value: Any, offered: list[Any]) -> str | None:
    if not isinstance(value, list) or any(isinstance(one, bool) or one not in offered for one in value):
        return f"{field.title}: choose from those offered"
    in_order = [one for one in offered if one in value]
    return None if value == in_order else f"{field.title}: each at most once, in the order shown"


def _words_fault(title: str, value: Any, least: int, most: int) -> str | None:
    if not isinstance(value, str):
        return f"{title}: write words"
    if len(value.strip()) < least:
        return f"{title}: at least {least} characters"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{title}: this holds characters that cannot be stored"
    return f"{title}: at most {most} characters, these are {len(value)}" if len(value) > most else None
