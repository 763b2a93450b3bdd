"""The JSON object in a reply: fenced, in prose, or slightly broken.

A reader of our own and not a repair library: those also invent closing brackets for what was cut off, so
that half an answer would be scored. This one forgives single or typographic quotes, bare words, trailing
commas, raw line breaks and unescaped quotes in strings, comments, and Python's None, True, False.
What is cut off stays cut off. NaN and Infinity are words, not numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

from onlooker.text.outcome import Parsed, Unparsed

_MAX_DEPTH = 40
_CLOSING = {'"': '"', "'": "'", "“": "”", "‘": "’", "”": "”"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"null": None, "None": None, "true": True, "True": True, "false": False, "False": False}
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*[^*]*\*/)*")
_BLANK = re.compile(r"\s*+")
_BARE = re.compile(r"[\w.+\-]+")
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_NEXT_MEMBER = re.compile(r"\s*(?://[^\n]{0,200}\n\s*)?(?:[\"'“‘}\]]|[^\W\d]\w*+\s*+[:：]|\Z)")
_NEXT_ELEMENT = re.compile(r"\s*(?:[\"'“‘{\[\]}]|[\w.+\-]++\s*+[,，\]]|\Z)")
_HEX = re.compile(r"[0-9a-fA-F]{4}")


class _Broken(Exception):
    def __init__(self, at: int, *, cut_off: bool) -> None:
        super().__init__()
        self.at = at
        self.cut_off = cut_off


@dataclass(frozen=True, slots=True)
class Found:
    """An object and the span [start, end) of the text it was read from."""

    value: dict[str, Any]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """All complete objects in order; ``cut_off_at`` is where an unfinished one begins."""

    objects: tuple[Found, ...]
    cut_off_at: int | None
    sound: bool  # the whole text is one object in strict JSON


def scan_objects(text: str) -> Scan:
    """Every complete top-level object of a text, in time linear in its length.

    After an error the search goes on behind the place of the error, never inside what was already read.
    """
    whole = _strict(text)
    if whole is not None:
        return Scan((Found(whole, 0, len(text)),), None, sound=True)
    found: list[Found] = []
    at = text.find("{")
    while at >= 0:
        reader = _Reader(text, at)
        try:
            value = reader.read_object(0)
        except _Broken as broken:
            if broken.cut_off and reader.members:
                return Scan(tuple(found), at, sound=False)
            after = max(broken.at, at + 1)
        else:
            found.append(Found(value, at, reader.at))
            after = reader.at
        at = text.find("{", after)
    return Scan(tuple(found), None, sound=False)


def find_object(text: str, *, wanted: Collection[str] | None = None) -> Parsed[dict[str, Any]] | Unparsed:
    """The last complete object of a text that has all ``wanted`` keys (any object where None).

    ``repaired`` is false only if the whole text is that object in strict JSON. Unparsed: ``bad_json``
    (the only candidate is cut off), ``no_object``, ``missing_label`` (objects, none with the keys).
    """
    scan = scan_objects(text)
    for found in reversed(scan.objects):
        if wanted is None or all(key in found.value for key in wanted):
            return Parsed(found.value, "object", repaired=not scan.sound)
    if scan.cut_off_at is not None:
        return Unparsed("bad_json")
    return Unparsed("missing_label" if scan.objects else "no_object")


def with_keys(members: dict[str, Any], wanted: Collection[str]) -> dict[str, Any] | None:
    """The object itself if it has all ``wanted`` keys, else the one member object that has them."""
    if all(key in members for key in wanted):
        return members
    inner = [value for value in members.values() if isinstance(value, dict)]
    fitting = [value for value in inner if all(key in value for key in wanted)]
    return fitting[0] if len(fitting) == 1 else None


def as_number(value: object) -> float | None:
    """A JSON number or a numeric string as float; None for anything else (booleans, NaN, "four")."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        text = value.strip()
        if not _NUMBER.fullmatch(text):
            return None
        value = float(text)
    if isinstance(value, int):
        return float(value) if abs(value) < 10**300 else None
    if isinstance(value, float) and math.isfinite(value):
        return value
    return None


def _strict(text: str) -> dict[str, Any] | None:
    if not text.strip().startswith("{"):
        return None
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return _join_all(value) if "\\ud" in text.lower() else value


def _join_all(value: Any) -> Any:
    """Lone surrogates, which no file can hold, replaced in every string of a JSON value."""
    if isinstance(value, str):
        return _join_surrogates(value)
    if isinstance(value, list):
        return [_join_all(element) for element in value]
    if isinstance(value, dict):
        return {_join_surrogates(key): _join_all(member) for key, member in value.items()}
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


class _Reader:
    """Recursive descent over ``text`` from ``at``, which moves on as things are read."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.members = 0  # keys read so far: a brace without any key is no object that was cut off

    def read_object(self, depth: int) -> dict[str, Any]:
        if depth > _MAX_DEPTH:
            raise _Broken(self.at, cut_off=False)
        self.at += 1
        members: dict[str, Any] = {}
        while True:
            if self._next() == "}":
                self.at += 1
                return members
            key = self._key()
            if self._next() not in ":：":
                raise _Broken(self.at, cut_off=False)
            self.at += 1
            self.members += 1
            members[key] = self._value(depth, "}")
            self._separator("}")

    def _array(self, depth: int) -> list[Any]:
        if depth > _MAX_DEPTH:
            raise _Broken(self.at, cut_off=False)
        self.at += 1
        elements: list[Any] = []
        while True:
            if self._next() == "]":
                self.at += 1
                return elements
            elements.append(self._value(depth, "]"))
            self._separator("]")

    def _next(self) -> str:
        """The next character that is neither space nor comment; the text must not end here."""
        space = _SPACE.match(self.text, self.at)
        assert space is not None
        self.at = space.end()
        if self.at >= len(self.text):
            raise _Broken(self.at, cut_off=True)
        return self.text[self.at]

    def _separator(self, closing: str) -> None:
        following = self._next()
        if following in ",，":
            self.at += 1
        elif following != closing:
            raise _Broken(self.at, cut_off=False)

    def _key(self) -> str:
        if self.text[self.at] in _CLOSING:
            return self._string(":")
        bare = _BARE.match(self.text, self.at)
        if bare is None:
            raise _Broken(self.at, cut_off=False)
        self.at = bare.end()
        return bare.group()

    def _value(self, depth: int, closing: str) -> Any:
        first = self._next()
        if first == "{":
            return self.read_object(depth + 1)
        if first == "[":
            return self._array(depth + 1)
        if first in _CLOSING:
            return self._string(closing)
        bare = _BARE.match(self.text, self.at)
        if bare is None:
            raise _Broken(self.at, cut_off=False)
        self.at = bare.end()
        word = bare.group()
        if word in _WORDS:
            return _WORDS[word]
        if _NUMBER.fullmatch(word):
            return float(word) if any(mark in word for mark in ".eE") else int(word)
        return word

    def _string(self, context: str) -> str:
        """A string up to the quote that closes it: the one after which JSON goes on (``context``)."""
        text, closing = self.text, _CLOSING[self.text[self.at]]
        pieces: list[str] = []
        at = piece_start = self.at + 1
        while at < len(text):
            char = text[at]
            if char == "\\" and at + 1 < len(text):
                pieces.append(text[piece_start:at])
                replaced, at = self._escape(at)
                pieces.append(replaced)
                piece_start = at
            elif char == closing and self._closes(at + 1, context):
                pieces.append(text[piece_start:at])
                self.at = at + 1
                return _join_surrogates("".join(pieces))
            else:
                at += 1
        raise _Broken(len(text), cut_off=True)

    def _escape(self, at: int) -> tuple[str, int]:
        char = self.text[at + 1]
        if char == "u" and (digits := _HEX.match(self.text, at + 2)):
            return chr(int(digits.group(), 16)), at + 6
        if char in _ESCAPES:
            return _ESCAPES[char], at + 2
        # An escape that JSON does not know keeps its backslash, save before quotes and slashes.
        return (char, at + 2) if char in "\"'/\\" else ("\\" + char, at + 2)

    def _closes(self, at: int, context: str) -> bool:
        blank = _BLANK.match(self.text, at)
        assert blank is not None
        at = blank.end()
        following = self.text[at : at + 1]
        if context == ":":
            return following in (":", "：")
        if following in (context, ""):
            return following != ""
        if following in (",", "，"):
            pattern = _NEXT_MEMBER if context == "}" else _NEXT_ELEMENT
            return pattern.match(self.text, at + 1) is not None
        return False


def _join_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
