"""Sample files of lmms-eval (``--log_samples``): ``*_samples_TASK.jsonl``, one object a document of the task.

``doc_id`` is the document's place in the task's data set, ``resps`` what the model said (a list of one list for each
request), ``filtered_resps`` the same after the task's filter, ``target`` the answer. Where a filter changes nothing,
``resps`` is left out by lmms-eval and ``filtered_resps`` is what was said. Newer versions also write ``filter``, a row
for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from onlooker.errors import InputError
from onlooker.interop.rows import Reply, status_of
from onlooker.records.jsonl import read_rows
from onlooker.records.record import Record

ID: Final = "doc_id"


class _Row(Record):
    """Any JSON object."""


def read_samples(path: Path, *, seed: int | None = None) -> Iterator[Reply]:
    """The replies of a sample file, row by row. Several replies to one request get the seeds 0, 1, ...

    Rows that differ in their filter only are one reply. Raises ``InputError`` for a row that is no sample, that holds
    several requests, or numbers in place of words (a task by log-likelihood).
    """
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    for row in read_rows(path, _Row):
        where = f"{path}, line {row.line}"
        fields = row.record.extra
        said = _said(fields, where)
        if "filter" in fields:
            key = (repr(fields.get(ID)), said)
            if seen.setdefault(key, str(fields["filter"])) != str(fields["filter"]):
                continue
        for number, raw in enumerate(said):
            own = number if len(said) > 1 else seed
            yield Reply(where, fields, {"raw": raw, "status": status_of(raw), "seed": own})


def _said(row: dict[str, Any], where: str) -> tuple[str, ...]:
    """The replies to the one request of a row."""
    name = "resps" if "resps" in row else "filtered_resps"
    found = row.get(name)
    if not isinstance(found, list) or not found:
        raise InputError("no replies: neither resps nor filtered_resps is a list", where=where, value=found)
    if all(isinstance(one, list) for one in found):
        if len(found) > 1:
            raise InputError(
                f"{len(found)} requests for one document: an item has one", where=f"{where}, {name}", value=found
            )
        found = found[0]
    if not found or not all(isinstance(one, str) for one in found):
        raise InputError(
            "the replies are no text",
            where=f"{where}, {name}",
            value=found,
            remedy="run the task as one that generates text (generate_until)",
        )
    return tuple(found)
