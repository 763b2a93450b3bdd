"""Prediction tables of VLMEvalKit: one row a question, the reply as text in the column ``prediction``.

The file is ``MODEL_DATASET.xlsx`` (or ``.tsv``, ``.csv``, ``.json``) beside the result files of a run, the dataset's
table (``index``, ``question``, ``A`` .. , ``answer``, often ``video``) with the replies added.
"""

from __future__ import annotations

import csv
import json
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from onlooker.errors import InputError, MissingExtra
from onlooker.interop.rows import Reply, status_of

REPLY: Final = "prediction"
ID: Final = "index"
# What it writes in place of a reply when every attempt failed (its FAIL_MSG).
_FAILED: Final = "Failed to obtain answer via API."
# Excel's limit of a cell, in characters: longer replies were cut when the table was written.
_LONGEST_CELL: Final = 32_767


def read_table(path: Path, *, seed: int | None = None) -> Iterator[Reply]:
    """The replies of a table, row by row.

    The message that it writes for a call that failed is an ``error``, a blank cell ``empty``, a cell of an Excel file
    as long as a cell can be ``truncated``. Raises ``InputError`` for a file that is no such table, ``MissingExtra``
    where an Excel file cannot be read here.
    """
    kind = path.suffix.lower()
    readers = {".xlsx": _excel_rows, ".tsv": _text_rows, ".csv": _text_rows, ".json": _json_rows}
    if kind not in readers:
        raise InputError("no table of a known kind", where=str(path), value=kind, remedy=f"one of {', '.join(readers)}")
    for number, row in readers[kind](path):
        where = f"{path}, row {number}"
        if REPLY not in row:
            raise InputError(f"no column {REPLY!r}", where=where, value=", ".join(map(str, row)))
        said = row[REPLY]
        if said is not None and not isinstance(said, str):
            raise InputError("the reply is no text", where=f"{where}, {REPLY}", value=said)
        raw = said or ""
        status = status_of(raw)
        if raw.strip() == _FAILED:
            status = "error"
        elif kind == ".xlsx" and len(raw) >= _LONGEST_CELL:
            status = "truncated"
        yield Reply(where, row, {"raw": "" if status == "error" else raw, "status": status, "seed": seed})


_Rows = Iterator[tuple[int, Mapping[str, Any]]]


def _text_rows(path: Path) -> _Rows:
    limit = csv.field_size_limit(sys.maxsize)  # pictures stand in some tables as text of megabytes
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",", strict=True)
            _refuse_twins(table.fieldnames or (), path)
            for number, row in enumerate(table, 2):
                if None in row or None in row.values():
                    raise InputError("the row has another number of cells than the head", where=f"{path}, row {number}")
                yield number, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be read as a table ({error})", where=str(path)) from error
    finally:
        csv.field_size_limit(limit)


def _refuse_twins(head: Sequence[str], path: Path) -> None:
    """Raise ``InputError`` where two columns have one name: which of them holds the replies is not said."""
    twice = sorted(name for name, count in Counter(head).items() if count > 1)
    if twice:
        raise InputError(
            "two columns have the same name", where=f"{path}, row 1", value=twice[0], remedy="remove or rename one"
        )


def _json_rows(path: Path) -> _Rows:
    try:
        rows = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as JSON ({error})", where=str(path)) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("expected an array of objects, one a row", where=str(path))
    yield from enumerate(rows, 1)


def _excel_rows(path: Path) -> _Rows:
    try:
        import openpyxl  # noqa: PLC0415  an extra
    except ImportError as error:
        raise MissingExtra("xlsx", "an Excel table") from error
    try:
        book = openpyxl.load_workbook(path, read_only=True)
    except (OSError, zipfile.BadZipFile, KeyError, ValueError) as error:
        raise InputError(f"cannot be read as an Excel table ({error})", where=str(path)) from error
    try:
        rows = book.worksheets[0].iter_rows(values_only=True)
        head = [str(cell) for cell in next(rows, ())]
        _refuse_twins([cell for cell in head if cell in (REPLY, ID)], path)
        for number, cells in enumerate(rows, 2):
            yield number, dict(zip(head, cells, strict=False))
    finally:
        book.close()
