"""Cues of TTML files (also called DFXP): the part of it that people's subtitles use.

W3C Timed Text Markup Language 2 (2018), sections 8 (content), 12 (timing) and 14.1.3 (agents).
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from onlooker.errors import InputError
from onlooker.media.subtitles import Cue

_CLOCK = re.compile(r"^(\d{2,6}):([0-5]\d):([0-5]\d(?:\.\d{1,12})?)$")
_CLOCK_WITH_FRAMES = re.compile(r"^(\d{2,6}):([0-5]\d):([0-5]\d):(\d{2,4})$")
_OFFSET = re.compile(r"^(\d{1,18}(?:\.\d{1,12})?)(h|ms|m|s|f|t)$")
_UNIT_S = {"h": Fraction(3600), "m": Fraction(60), "s": Fraction(1), "ms": Fraction(1, 1000)}
_SPACES = re.compile(r"\s+")
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


@dataclass(frozen=True, slots=True)
class _Rates:
    """What a frame and a tick of the document last, in seconds; None where it states no rate."""

    frame_s: Fraction | None
    tick_s: Fraction | None


def read_ttml(text: str, path: Path) -> tuple[list[Cue], str | None]:
    """Cues and language (``xml:lang``, None where it is empty or absent) of a TTML text.

    A cue is a ``p`` element, or each timed ``span`` of one. Times are clock times (00:00:01.5, 00:00:01:12) or offsets
    (1.5s, 36f, 100t), ``end`` or ``dur``, counted from the start of the element around it and cut to its end. Speakers
    are ``ttm:agent`` by their ``ttm:name``. Cues without words are left out. Raises ``InputError`` naming the paragraph
    (counted from 1) for a time that cannot be read, an end before its start, frames or ticks without a stated rate; for
    ``timeContainer="seq"``, SMPTE or wall-clock time bases, and anything that is not XML.
    """
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise InputError("TTML with a document type is not read", where=str(path))
    try:
        root = ET.fromstring(text.strip())  # noqa: S314 - entities, the danger of XML, are refused above
    except (ET.ParseError, ValueError) as error:
        raise InputError(f"not valid XML ({error})", where=str(path)) from error
    base = _attribute(root, "timeBase")
    if base not in {None, "media"}:
        raise InputError("TTML times are read on the clock of the medium only", where=str(path), value=base)
    reader = _Reader(path, _rates(root, path), dict(_agents(root)))
    try:
        reader.walk(root, Fraction(0), None, None)
    except RecursionError as error:
        raise InputError("elements lie too deep in one another", where=str(path)) from error
    return reader.cues, root.get(_LANGUAGE) or None


class _Reader:
    """Walks the document in order and collects cues."""

    def __init__(self, path: Path, rates: _Rates, agents: dict[str, str]) -> None:
        self.path, self.rates, self.agents = path, rates, agents
        self.cues: list[Cue] = []
        self.paragraphs = 0

    def walk(self, element: ET.Element, start_s: Fraction, end_s: Fraction | None, agent: str | None) -> None:
        name = _name(element)
        if name == "p":
            self.paragraphs += 1
        if element.get("timeContainer") == "seq":
            raise InputError('TTML with timeContainer="seq" is not read', where=self._where())
        begin_s, stop_s = self._interval(element, start_s, end_s)
        agent = _attribute(element, "agent") or agent
        if name == "p":
            self._paragraph(element, begin_s, stop_s, agent)
            return
        for child in element:
            self.walk(child, begin_s, stop_s, agent)

    def _paragraph(self, element: ET.Element, begin_s: Fraction, end_s: Fraction | None, agent: str | None) -> None:
        """The cue of a ``p``; words in timed spans are cues of their own."""
        pieces = list(self._pieces(element, begin_s, end_s, agent))
        while pieces:
            times = pieces[0][:3]
            same = [words for *place, words in pieces if tuple(place) == times]
            pieces = [piece for piece in pieces if piece[:3] != times]
            words = _SPACES.sub(" ", "".join(same)).strip()
            if words:
                begin, end, who = times
                if end is None:
                    raise InputError("a paragraph needs an end or a duration", where=self._where(), value=words)
                self.cues.append(Cue(float(begin), float(end), words, who))

    def _pieces(
        self, element: ET.Element, begin_s: Fraction, end_s: Fraction | None, agent: str | None
    ) -> Iterator[tuple[Fraction, Fraction | None, str | None, str]]:
        """Runs of words with their begin, end and speaker, in the order of the document."""
        speaker = self._speaker(agent)
        yield begin_s, end_s, speaker, element.text or ""
        for child in element:
            name = _name(child)
            if name == "br":
                yield begin_s, end_s, speaker, " "
            elif name == "span":
                inner = self._interval(child, begin_s, end_s)
                yield from self._pieces(child, *inner, _attribute(child, "agent") or agent)
            yield begin_s, end_s, speaker, child.tail or ""

    def _speaker(self, agent: str | None) -> str | None:
        names = [self.agents.get(name, name) for name in (agent or "").split()]
        return " and ".join(names) or None

    def _interval(
        self, element: ET.Element, start_s: Fraction, end_s: Fraction | None
    ) -> tuple[Fraction, Fraction | None]:
        begin, end, duration = element.get("begin"), element.get("end"), element.get("dur")
        begin_s = start_s if begin is None else start_s + self._seconds(begin)
        ends = [] if end_s is None else [end_s]
        if end is not None:
            own_s = start_s + self._seconds(end)
            if own_s < begin_s:
                raise InputError(
                    "a cue ends before it starts", where=self._where(), value=(float(begin_s), float(own_s))
                )
            ends.append(own_s)
        if duration is not None:
            ends.append(begin_s + self._seconds(duration))
        return begin_s, max(begin_s, min(ends)) if ends else None

    def _seconds(self, value: str) -> Fraction:
        value = value.strip()
        if clock := _CLOCK.match(value):
            return int(clock[1]) * 3600 + int(clock[2]) * 60 + Fraction(clock[3])
        if clock := _CLOCK_WITH_FRAMES.match(value):
            whole = Fraction(int(clock[1]) * 3600 + int(clock[2]) * 60 + int(clock[3]))
            return whole + int(clock[4]) * self._stated(self.rates.frame_s, "ttp:frameRate", value)
        if offset := _OFFSET.match(value):
            if offset[2] == "f":
                return Fraction(offset[1]) * self._stated(self.rates.frame_s, "ttp:frameRate", value)
            if offset[2] == "t":
                return Fraction(offset[1]) * self._stated(self.rates.tick_s, "ttp:tickRate", value)
            return Fraction(offset[1]) * _UNIT_S[offset[2]]
        raise InputError(
            "a paragraph's time must be a clock time (00:00:01.5) or an offset (1.5s)", where=self._where(), value=value
        )

    def _stated(self, length_s: Fraction | None, name: str, value: str) -> Fraction:
        if length_s is None:
            raise InputError(f"a time in frames or ticks needs {name}", where=self._where(), value=value)
        return length_s

    def _where(self) -> str:
        return f"{self.path}, paragraph {self.paragraphs}" if self.paragraphs else str(self.path)


def _rates(root: ET.Element, path: Path) -> _Rates:
    frames = _number(_attribute(root, "frameRate"), "frameRate", path)
    multiplier = _attribute(root, "frameRateMultiplier")
    if frames is not None and multiplier is not None:
        parts = [_number(part, "frameRateMultiplier", path) for part in multiplier.replace(":", " ").split()]
        if len(parts) != 2 or None in parts:
            raise InputError("ttp:frameRateMultiplier must be two numbers", where=str(path), value=multiplier)
        frames *= (parts[0] or Fraction(1)) / (parts[1] or Fraction(1))
    ticks = _number(_attribute(root, "tickRate"), "tickRate", path)
    return _Rates(None if frames is None else 1 / frames, None if ticks is None else 1 / ticks)


def _number(value: str | None, name: str, path: Path) -> Fraction | None:
    if value is None:
        return None
    if not re.fullmatch(r"0*[1-9]\d{0,11}", value.strip()):
        raise InputError(f"ttp:{name} must be a whole number above zero", where=str(path), value=value)
    return Fraction(int(value))


def _agents(root: ET.Element) -> Iterator[tuple[str, str]]:
    for element in root.iter():
        if _name(element) == "agent":
            key = element.get("{http://www.w3.org/XML/1998/namespace}id")
            names = ["".join(child.itertext()).strip() for child in element if _name(child) == "name"]
            if key and names and names[0]:
                yield key, _SPACES.sub(" ", names[0])


def _name(element: ET.Element) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def _attribute(element: ET.Element, name: str) -> str | None:
    """An attribute by its local name: the namespaces of TTML differ from edition to edition."""
    return next((value for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), None)
