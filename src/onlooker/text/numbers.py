"""Intensity replies: one number a moment, or one number in all. Scale 0..100."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from onlooker.text.characters import plain
from onlooker.text.choices import visible_text
from onlooker.text.objects import as_number, scan_objects, with_keys
from onlooker.text.outcome import Parsed, Unparsed

LOWEST, HIGHEST = 0.0, 100.0


@cache
def _patterns(low: int, high: int) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The scale itself, when a reply repeats it ("(0-100)", "on a scale of 0 to 100"); and a number on it."""
    scale = rf"(?<![\d.]){low}\s?(?:-|–|—|~|to|至|到)\s?{high}(?![\d.])"
    token = (
        r"(?<![\w.,])(?P<number>[+\-−]?\d+(?:\.\d+)?)"
        rf"(?P<tail>\s?/\s?{high}(?!\d)|\s+out\s+of\s+{high}(?!\d)|\s?%|\s?分)?(?![^\W\u3000-\uffff])(?!\.\d|,\d)"
    )
    return re.compile(scale, re.IGNORECASE), re.compile(token)


_ANY_DIGITS = re.compile(r"(?<![A-Za-z_\d])\d+")


def parse_intensity(reply: str, moment_ids: Sequence[str]) -> Parsed[dict[str, float]] | Unparsed:
    """One number in [0, 100] for every moment, in the order of ``moment_ids``.

    The last complete object that has all ids as keys counts, also under one wrapping key; numeric strings
    are numbers, extra keys are ignored, a list is no number. Reasons: empty, unclosed_thinking,
    only_thinking, no_object, bad_json, missing_moment, not_a_number, out_of_range.
    """
    visible = visible_text(reply)
    if isinstance(visible, Unparsed):
        return visible
    scan = scan_objects(visible)
    scores = next((fit for found in reversed(scan.objects) if (fit := with_keys(found.value, moment_ids))), None)
    if scores is None:
        if scan.cut_off_at is not None:
            return Unparsed("bad_json")
        return Unparsed("missing_moment" if scan.objects else "no_object")
    numbers: dict[str, float] = {}
    for moment in moment_ids:
        number = as_number(scores[moment])
        if number is None:
            return Unparsed("not_a_number")
        if not LOWEST <= number <= HIGHEST:
            return Unparsed("out_of_range")
        numbers[moment] = number
    return Parsed(numbers, "object", repaired=not scan.sound)


def parse_number(reply: str, low: int = int(LOWEST), high: int = int(HIGHEST)) -> Parsed[float] | Unparsed:
    """The one number of a reply, in [low, high]: "72", "Score: 72", "72/100", "72 out of 100".

    A repeated scale ("0-100") is not a number of its own. Two numbers, even equal ones, are none: which
    one was meant is not ours to say. Reasons: empty, unclosed_thinking, only_thinking, no_number,
    several_numbers, not_a_number (digits in another form, "1,000"), out_of_range.
    """
    visible = visible_text(reply)
    if isinstance(visible, Unparsed):
        return visible
    scale, token = _patterns(low, high)
    text = scale.sub(" ", plain(visible))
    tokens = list(token.finditer(text))
    digits = sum(1 for _ in _ANY_DIGITS.finditer(token.sub(" ", text)))
    if not tokens:
        return Unparsed("not_a_number" if digits else "no_number")
    if len(tokens) > 1 or digits:
        return Unparsed("several_numbers")
    number = as_number(tokens[0]["number"].lstrip("+").replace("−", "-").lstrip("0") or "0")
    if number is None:
        number = as_number("0" + tokens[0]["number"].lstrip("+0"))
    if number is None:
        return Unparsed("not_a_number")
    if not low <= number <= high:
        return Unparsed("out_of_range")
    return Parsed(number, "number")
