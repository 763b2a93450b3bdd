"""JSON lines on disk: streaming reads that say what is wrong and where, and writes that a kill
cannot tear.

A line ends at the byte ``\\n`` and nowhere else: U+2028 is content. Blank lines are skipped, a
byte-order mark at the start and carriage returns before the newline are tolerated.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Generic, Self, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json

from onlooker.errors import InputError, OnlookerError
from onlooker.records.atomic import Replacement, sync_folder, unwritable
from onlooker.records.problem import Problem, explain
from onlooker.records.record import Record, escape_separators
from onlooker.records.tail import mend_tail

T = TypeVar("T")
_RecordT = TypeVar("_RecordT", bound=BaseModel)

_BOM = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    """A record, the file and line it stands on (from 1), and the bytes of that line without its
    newline.
    """

    record: T
    file: str
    line: int
    source: bytes


def read_rows(path: Path, kind: type[T] | TypeAdapter[T], *, name: str | None = None) -> Iterator[Row[T]]:
    """The rows of ``path``, streaming. InputError at the first problem, or if the file cannot be
    opened.

    Messages call the file ``name``, by default its path.
    """
    for found in scan_rows(path, kind, name=name):
        if isinstance(found, Problem):
            raise found.error()
        yield found


def scan_rows(
    path: Path,
    kind: type[T] | TypeAdapter[T],
    *,
    name: str | None = None,
    repeated_keys: bool = False,
    rejected: Callable[[bytes], None] | None = None,
) -> Iterator[Row[T] | Problem]:
    """The rows of ``path`` and every problem of the others, streaming, in the order of the file.

    ``repeated_keys``: also look for objects that name a key twice, which JSON readers resolve in
    silence. It parses each line a second time. ``rejected`` is called with every line that is
    refused.
    """
    name = str(path) if name is None else name
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    validate = adapter.validator.validate_json
    watch = _KeyWatch() if repeated_keys else None
    try:
        file = path.open("rb")
    except OSError as error:
        yield _unopened(error, name)
        return
    with file:
        for line, source in _lines(file):
            if line == 1 and source.startswith(_UTF16_MARKS):
                remedy = "save the file as UTF-8"
                yield Problem(name, 1, None, "the file is UTF-16, expected UTF-8", remedy=remedy)
                return
            try:
                record = validate(source)
            except ValidationError as error:
                problems = _explain_line(error, source, name, line)
            else:
                problems = watch.problems(source, name, line) if watch else []
            if problems:
                if rejected is not None:
                    rejected(source)
                yield from problems
                continue
            yield Row(record, name, line, source)


def read_json(path: Path, kind: type[_RecordT]) -> _RecordT:
    """The record in the JSON file ``path``. InputError if it cannot be opened or is not that."""
    name = str(path)
    try:
        source = path.read_bytes().removeprefix(_BOM)
    except OSError as error:
        raise _unopened(error, name).error() from error
    try:
        return kind.model_validate_json(source)
    except ValidationError as error:
        raise _explain_line(error, source, name, None)[0].error() from error


def _lines(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """(number, content) of the lines that are not blank. A binary file yields at ``\\n`` only."""
    for line, found in enumerate(file, start=1):
        content = (found.removeprefix(_BOM) if line == 1 else found).rstrip(b"\r\n")
        if content and not content.isspace():
            yield line, content


def _unopened(error: OSError, name: str) -> Problem:
    what = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
    return Problem(name, None, None, what, remedy="check the path")


def _explain_line(error: ValidationError, source: bytes, name: str, line: int | None) -> list[Problem]:
    first = error.errors(include_url=False)[0]
    if first["type"] != "json_invalid":
        return explain(error, from_json(source), name, line)
    try:
        source.decode()
    except UnicodeDecodeError as fault:
        message = f"not valid UTF-8 at byte {fault.start} of the line"
        return [Problem(name, line, None, message, remedy="save the file as UTF-8")]
    cause, _, place = str(first.get("ctx", {}).get("error", first["msg"])).rpartition(" at line ")
    row, _, column = place.partition(" column ")
    at = f"column {column}" if line is not None else f"line {row}, column {column}"
    remedy = "write one JSON object a line" if line is not None else "write one JSON object"
    return [Problem(name, line, None, f"not valid JSON at {at}: {cause}", remedy=remedy)]


class _KeyWatch:
    """Finds keys that stand twice in one object. One decoder serves all lines."""

    def __init__(self) -> None:
        self._twice: list[str] = []
        self._decoder = json.JSONDecoder(object_pairs_hook=self._collect)

    def _collect(self, pairs: list[tuple[str, Any]]) -> None:
        if len(dict(pairs)) < len(pairs):
            keys = [key for key, _ in pairs]
            self._twice.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)

    def problems(self, source: bytes, name: str, line: int) -> list[Problem]:
        self._twice.clear()
        self._decoder.decode(source.decode())
        message, remedy = "the key stands twice in one object", "keep one of the two"
        return [Problem(name, line, key, message, remedy=remedy) for key in self._twice]


# --- writing ------------------------------------------------------------------------------------

Writable: TypeAlias = Record | Row[Any] | Mapping[str, Any]
"""What can become a line. A ``Row`` is written as the bytes it was read from: same order, same
spelling.
"""


def encode_row(row: Writable) -> bytes:
    """One line of JSON in UTF-8 with its newline. InputError for a mapping that JSON cannot hold
    (NaN, objects).
    """
    if isinstance(row, Row):
        return row.source + b"\n"
    if isinstance(row, Record):
        return row.to_json().encode() + b"\n"
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False)
        return escape_separators(text).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise InputError(f"a row cannot be written as JSON: {error}", value=row) from error


def write_rows(path: Path, rows: Iterable[Writable]) -> int:
    """Replace ``path`` by ``rows`` in one step and return their number. See ``write_text`` for what
    a kill leaves.
    """
    count = 0
    with Replacement(path) as file:
        for row in rows:
            file.write(encode_row(row))
            count += 1
    return count


def write_text(path: Path, text: str) -> None:
    """Replace ``path`` by ``text`` in UTF-8, in one step.

    Whoever reads ``path`` finds the old content or the new one, also after a kill or a power cut; a
    kill may leave a file ``.NAME.*.tmp`` beside it. InputError if the folder cannot be written, OnlookerError if the
    disk takes no more.
    """
    try:
        with Replacement(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise OnlookerError(
            f"cannot be written ({error.strerror or error})", where=str(path), remedy="make room, or name another place"
        ) from error


class AppendFile:
    """JSON lines that only grow. One writer at a time; its threads may share it.

    Opening repairs the end of the file (``torn``, None if there was nothing to repair). Each
    ``append`` is one write to the system, so that a kill loses at most the row under way; with
    ``fsync`` it also survives a power cut.
    """

    def __init__(self, path: Path, *, fsync: bool = False) -> None:
        self.path = path
        self._fsync = fsync
        self._lock = threading.Lock()
        try:
            self.torn = mend_tail(path)
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise unwritable(path, error) from error
        if fsync:
            sync_folder(path.parent)

    def append(self, row: Writable) -> None:
        """Write ``row`` as the last line. If the system refuses (disk full), the file is as before
        and OSError is raised.
        """
        content = encode_row(row)
        with self._lock:
            start = self._file.seek(0, os.SEEK_END)
            try:
                written = 0
                while written < len(content):
                    written += self._file.write(content[written:]) or 0
            except BaseException:
                self._file.truncate(start)
                raise
            if self._fsync:
                os.fsync(self._file.fileno())

    def close(self) -> None:
        """Make the rows durable and close the file. Closing twice does nothing."""
        if not self._file.closed:
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
