"""What is wrong with a file, in plain words: file, line, field, the value found and the remedy."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from onlooker.errors import InputError

Severity: TypeAlias = Literal["error", "warning"]

ABSENT: Final[object] = object()
"""Stands for "no value to show", since null is a value."""

_SHOWN_CHARS = 120


def shown_json(value: object) -> str:
    """A value as the file spells it (null, true, "text"), cut after 120 characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}..."


def _one_line(text: str) -> str:
    """``text`` with escapes for what would break the line or cannot be printed (lone surrogates)."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a file. ``line`` counts from 1; ``line`` and ``field`` are None where the file
    as a whole is meant.

    A warning tells what a user may want to know; only an error makes the file invalid.
    """

    file: str
    line: int | None
    field: str | None
    message: str
    value: object = ABSENT
    remedy: str | None = None
    severity: Severity = "error"

    @property
    def where(self) -> str:
        """File, line and field as far as they are known: ``items.jsonl, line 17, options.0.id``."""
        parts = [self.file]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.field:
            parts.append(self.field)
        return ", ".join(parts)

    @property
    def what(self) -> str:
        """The message and the value found, without the place."""
        return self.message if self.value is ABSENT else f"{self.message}, found {shown_json(self.value)}"

    def __str__(self) -> str:
        """The problem on one line, as ``onlooker validate`` lists it."""
        text = f"{self.where}: {self.what}"
        if self.remedy:
            text += f". Remedy: {self.remedy}"
        return _one_line(f"warning: {text}" if self.severity == "warning" else text)

    def error(self) -> InputError:
        """The problem as the error that stops a command."""
        remedy = None if self.remedy is None else _one_line(self.remedy)
        return InputError(_one_line(self.what), where=_one_line(self.where), remedy=remedy)


# --- from pydantic's errors ---------------------------------------------------------------------

_NOUNS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "finite_number": "a finite number",
    "string_unicode": "valid Unicode text",
}


@dataclass(frozen=True, slots=True)
class _Fault:
    path: tuple[str | int, ...]
    in_union: bool
    detail: ErrorDetails


def explain(error: ValidationError, row: object, file: str, line: int | None) -> list[Problem]:
    """Pydantic's errors on ``row`` (the parsed JSON) as problems, one a field, in the order of the
    fields.

    Errors of the branches of one union are merged: "expected text, a number or null" instead of one
    error a branch.
    """
    faults = [_locate(detail, row) for detail in error.errors(include_url=False)]
    paths = {fault.path for fault in faults}
    grouped: dict[tuple[str | int, ...], list[ErrorDetails]] = {}
    for fault in faults:
        deeper = any(len(path) > len(fault.path) and path[: len(fault.path)] == fault.path for path in paths)
        # A union whose one branch fits down to an inner field, or a list called too short because
        # its only element is bad: the inner fault is the one to correct.
        if deeper and (fault.in_union or fault.detail["type"] == "too_short"):
            continue
        grouped.setdefault(fault.path, []).append(fault.detail)
    return [_problem(path, details, file, line) for path, details in grouped.items()]


def _locate(detail: ErrorDetails, row: object) -> _Fault:
    """The path of the error in the row: pydantic's location without the names of union branches."""
    path: list[str | int] = []
    in_union = False
    here: Any = row
    location = detail["loc"]
    for place, step in enumerate(location):
        last = place == len(location) - 1
        if _leads_on(here, step, place):
            here = here[step]
        elif not (last and detail["type"] == "missing"):
            # The name of a branch. The one of the row's task is no union to the reader.
            in_union = in_union or place > 0
            continue
        path.append(step)
    if detail["type"].startswith("union_tag"):
        path.append(str(detail.get("ctx", {}).get("discriminator", "task")).strip("'"))
    return _Fault(tuple(path), in_union, detail)


def _leads_on(here: Any, step: str | int, place: int) -> bool:
    """Whether ``step`` is a key or an index of the row, not the name of a union's branch."""
    if isinstance(here, dict):
        return step in here and not (place == 0 and here.get("task") == step)
    return isinstance(here, list) and isinstance(step, int) and step < len(here)


def _problem(path: Sequence[str | int], details: list[ErrorDetails], file: str, line: int | None) -> Problem:
    field = ".".join(str(step) for step in path) or None
    special = [detail for detail in details if detail["type"] not in _NOUNS]
    if special:
        message, value, remedy = _words(special[0])
    else:
        value = details[0]["input"]
        wanted = list(dict.fromkeys(_NOUNS[detail["type"]] for detail in details))
        if "a finite number" in wanted:
            wanted = ["a finite number"]
        elif "a number" in wanted and "a whole number" in wanted:
            wanted.remove("a whole number")
        message, remedy = f"expected {join_or(wanted)}", _type_remedy(wanted, value)
    return Problem(file, line, field, message, value, remedy)


def _words(detail: ErrorDetails) -> tuple[str, object, str | None]:
    """(message, value, remedy) of an error that is not about the type alone."""
    value: object = detail["input"]
    context: dict[str, Any] = detail.get("ctx", {})
    remedy: str | None = None
    match detail["type"]:
        case "missing":
            message, value = "required field is missing", ABSENT
            remedy = f'add "{detail["loc"][-1]}"'
        case "union_tag_not_found":
            message, value, remedy = "required field is missing", ABSENT, 'add "task"'
        case "union_tag_invalid":
            message = "unknown task"
            remedy = f"use one of {str(context['expected_tags']).replace(chr(39), '')}"
            value = detail["input"]["task"]
        case "literal_error":
            message = f"expected {str(context['expected']).replace(chr(39), chr(34))}"
            remedy = "write one of these words exactly"
        case "too_short":
            message = f"expected a list of {context['min_length']} or more"
            remedy = "add what is missing"
        case "string_too_short":
            message, remedy = "expected text that is not empty", "fill it in"
        case "string_pattern_mismatch":
            message = "expected non-empty text without white space"
            remedy = 'use a short id such as "A"'
        case "greater_than_equal":
            message, remedy = f"expected {context['ge']:g} or more", "correct the number"
        case "greater_than":
            message, remedy = f"expected more than {context['gt']:g}", "correct the number"
        case "value_error":
            message, remedy = str(context["error"]), "write null where there is no value"
        case "invalid_key":
            message, value = "expected text as the name of a field", detail["loc"][-1]
            remedy = "write it in quotes"
        case _:
            message = detail["msg"]
    return message, value, remedy


_TYPE_REMEDIES = {
    "text": "write text in quotes",
    "a number": "write a number without quotes",
    "a whole number": "write a whole number without quotes",
    "a list": "write a list: [...]",
    "an object": "write an object: {...}",
    "a finite number": "write null where there is no value",
    "true or false": "write true or false without quotes",
}


def _type_remedy(wanted: Sequence[str], value: object) -> str:
    if len(wanted) > 1:
        return "write it as one of these"
    if wanted[0] == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return f'write it in quotes: "{shown_json(value)}"'
    return _TYPE_REMEDIES.get(wanted[0], "correct it")


def join_or(words: Sequence[str]) -> str:
    """``a, b or c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
