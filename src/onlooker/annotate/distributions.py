"""How often each answer was given, field by field, also those that nobody gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import Work
from onlooker.protocol.form import Checks, Field, ItemAnswer, Words, choices_of


def distributions(desk: Desk, counted: Sequence[Work]) -> list[dict[str, Any]]:
    """For every field ``{field, title, answers, bars: [{value, title, count}]}`` and, where words were typed,
    ``median_chars``. ``answers``: how often the field was answered; with ``ManyOf`` bars may add up to more. A
    criterion of ``Checks`` is a field of its own, ``NAME.CRITERION``. Of words only number and length are told.
    """
    given: dict[str, list[Any]] = {field.name: [] for field in desk.form.fields}
    for work in counted:
        for field in desk.form.fields:
            given[field.name].extend(values_of(field, work.answer or {}))
    return [row for field in desk.form.fields for row in _field_rows(field, given[field.name])]


def values_of(field: Field, answer: Mapping[str, Any]) -> Iterator[Any]:
    """The values given to a field: one, or one a moment."""
    value = answer.get(field.name)
    if field.per == "moment" and isinstance(value, dict):
        yield from (one for one in value.values() if one is not None)
    elif value is not None:
        yield value


def _field_rows(field: Field, values: Sequence[Any]) -> Iterator[dict[str, Any]]:
    if isinstance(field, Checks):
        for one in field.criteria:
            said = Counter(value[one.value] for value in values if one.value in value)
            bars = [_bar(1, "Yes", said[True]), _bar(0, "No", said[False])]
            title = f"{field.title}: {one.title}"
            yield {"field": f"{field.name}.{one.value}", "title": title, "answers": said.total(), "bars": bars}
        return
    row: dict[str, Any] = {"field": field.name, "title": field.title, "answers": len(values), "bars": []}
    words = [value for value in values if isinstance(value, str)] if isinstance(field, Words | ItemAnswer) else []
    if words:
        row["median_chars"] = median(len(value) for value in words)
    if not isinstance(field, Words):
        counts = Counter(one for value in values for one in (value if isinstance(value, list) else [value]))
        offered = {choice.value: choice.title for choice in choices_of(field)}
        if isinstance(field, ItemAnswer):
            offered = {one: one for one in sorted(one for value in values if isinstance(value, list) for one in value)}
        row["bars"] = [_bar(value, title, counts[value]) for value, title in offered.items()]
    yield row


def _bar(value: Any, title: str, count: int) -> dict[str, Any]:
    return {"value": value, "title": title, "count": count}
