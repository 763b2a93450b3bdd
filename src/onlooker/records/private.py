"""What only scorers may see: references and ratings. Model-facing code never imports this module; a
test holds the wall.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from onlooker.errors import InputError
from onlooker.records.bundle import Bundle
from onlooker.records.jsonl import Row, read_rows
from onlooker.records.record import Id, Record, Seconds, Texts

REFERENCES_FILE = "references.jsonl"
RATINGS_FILE = "ratings.jsonl"

OptOut: TypeAlias = Literal["unfamiliar", "unclear"]


class Explanation(Record):
    """Why the answer is right, in parts: the event, the mechanism, and a word on each option."""

    key_event: str | None = None
    mechanism: str | None = None
    options: dict[str, str] | None = None


class Reference(Record):
    """The private side of one item: ``answer``, ``consensus`` or ``references`` by its task, and
    what supports it.
    """

    item: Id
    answer: Texts | str | None = None
    consensus: dict[str, float] | None = None
    references: Texts | None = None
    cues: Texts | None = None
    explanation: str | Explanation | None = None


class Rating(Record):
    """One rater's word on one ``unit``: a moment id, or the item id. A ``value``, or the reason
    there is none.
    """

    item: Id
    unit: Id
    rater: Id
    rubric: Id
    value: int | float | str | None = None
    opt_out: OptOut | None = None
    at: Annotated[str | float | None, Field(description="when the rating was given")] = None
    seconds: Seconds | None = None


def read_references(bundle: Bundle) -> Iterator[Row[Reference]]:
    """The rows of ``references.jsonl``, streaming. InputError at the first bad one, or if the file
    is missing.
    """
    return read_rows(bundle.path / REFERENCES_FILE, Reference)


def load_references(bundle: Bundle) -> dict[str, Reference]:
    """{item id: reference}. InputError also at a second reference of one item."""
    found: dict[str, Reference] = {}
    for row in read_references(bundle):
        if row.record.item in found:
            raise InputError(
                f"a second reference for item {row.record.item!r}",
                where=f"{row.file}, line {row.line}",
                remedy="keep one row an item",
            )
        found[row.record.item] = row.record
    return found


def read_ratings(bundle: Bundle) -> Iterator[Row[Rating]]:
    """The rows of ``ratings.jsonl``, streaming; none if the bundle has no such file. InputError at
    the first bad one.
    """
    path = bundle.path / RATINGS_FILE
    return read_rows(path, Rating) if path.exists() else iter(())
