"""Fields that a record keeps without knowing them, where they look like a slip: misspelt names, media of no known kind,
and what only scorers may see in the file that models may see.

Unknown fields are legal (FORMATS, head), so all of this is warnings; a slip that stands in every row of a file is one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from onlooker.records.problem import Problem
from onlooker.records.public import MEDIA_KEYS, ChoiceItem, Episode, IntensityItem, ItemBase, MatchingItem
from onlooker.records.record import Record

_PRIVATE: Final = frozenset(
    {
        "answer",
        "answers",
        "consensus",
        "correct",
        "correct_answer",
        "cue",
        "cues",
        "explanation",
        "explanations",
        "gold",
        "is_correct",
        "reference",
        "references",
    }
)
"""Names of answers, lower case. They are spelled out here: this module must not know the private records."""


@dataclass(slots=True)
class _Stray:
    line: int | None
    message: str
    remedy: str | None
    rows: int = 0


class StrayFields:
    """Gathers the suspicious fields of one ``file``; memory grows with their names only."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._found: dict[str, _Stray] = {}

    def add(self, record: Record, line: int | None) -> None:
        """Look at a record, which stands on ``line``."""
        for field, (message, remedy) in dict(_strays(record)).items():
            self._found.setdefault(field, _Stray(line, message, remedy)).rows += 1

    def problems(self) -> Iterator[Problem]:
        """One warning a field, at the first line that has it."""
        for field, stray in self._found.items():
            rows = "" if stray.rows == 1 else f"in {stray.rows} rows, the first here: "
            yield Problem(self._file, stray.line, field, rows + stray.message, remedy=stray.remedy, severity="warning")


def _strays(record: Record) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """(field, (message, remedy)) of everything suspicious in a record."""
    known = tuple(type(record).model_fields)
    for name in record.extra:
        if isinstance(record, ItemBase) and name.lower() in _PRIVATE:
            yield name, _LEAK
        elif (near := _nearest(name, known)) is not None:
            yield name, (f"unknown field, kept; did you mean `{near}`?", None)
    if isinstance(record, Episode):
        for name in record.media.extra:
            yield f"media.{name}", ("unknown kind of media, kept", f"use one of {', '.join(MEDIA_KEYS)}")
    if isinstance(record, ItemBase):
        for field, part in _parts(record):
            for name in part.extra:
                if name.lower() in _PRIVATE:
                    yield f"{field}.{name}", _LEAK


_LEAK: Final = ("only scorers may see this, and models may see the file", "move it to references.jsonl")


def _parts(item: ItemBase) -> Iterable[tuple[str, Record]]:
    if isinstance(item, ChoiceItem):
        return (("options", option) for option in item.options)
    if isinstance(item, MatchingItem):
        return (("candidates", candidate) for candidate in item.candidates)
    return (("moments", moment) for moment in item.moments) if isinstance(item, IntensityItem) else ()


@cache
def _nearest(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that ``name`` is a slip of: one edit away, two for names of 8 letters and more; names of up to
    three letters are never guessed at."""
    near = [
        (distance, one)
        for one in known
        if len(one) > 3 and (distance := edit_distance(name.lower(), one)) <= (1 if len(one) < 8 else 2)
    ]
    return min(near)[1] if near else None


def edit_distance(a: str, b: str) -> int:
    """Letters to add, drop, replace, or swap with their neighbour to make ``a`` into ``b`` (optimal string alignment).

    >>> edit_distance("lables", "labels")
    1
    """
    if abs(len(a) - len(b)) > 2:  # further than any caller asks; long junk costs nothing
        return abs(len(a) - len(b))
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        before, above, row = row, before, [i]
        for j, y in enumerate(b, start=1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, above[j - 2] + 1)
            row.append(best)
    return row[-1]
