"""A judge's reply -> the labels of its rubric, or why they are no judgement. Nothing is clamped or guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from onlooker.text.choices import visible_text
from onlooker.text.objects import as_number, scan_objects, with_keys
from onlooker.text.outcome import Parsed, Reason, Unparsed

Rubric = Literal["open_answer", "verified", "grounded_rationale", "reasoning_quality", "mental_health_reasoning"]


class _Unfit(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


Check = Callable[[object], Any]


def _number(value: object) -> float:
    number = as_number(value)
    if number is None:
        raise _Unfit("not_a_number")
    return number


def between(low: float, high: float) -> Check:
    """A check for any number from ``low`` to ``high``."""

    def check(value: object) -> float:
        number = _number(value)
        if not low <= number <= high:
            raise _Unfit("out_of_range")
        return number

    return check


def whole_between(low: int, high: int) -> Check:
    """A check for a whole number (2.0 is one) from ``low`` to ``high``."""

    def check(value: object) -> int:
        number = _number(value)
        if not number.is_integer() or not low <= number <= high:
            raise _Unfit("out_of_range")
        return int(number)

    return check


def one_of_numbers(*allowed: float) -> Check:
    """A check for one of these numbers."""

    def check(value: object) -> float:
        number = _number(value)
        if number not in allowed:
            raise _Unfit("out_of_range")
        return number

    return check


def one_of_words(*allowed: str) -> Check:
    """A check for one of these words, in any case."""

    def check(value: object) -> str:
        word = value.strip().casefold() if isinstance(value, str) else None
        if word not in allowed:
            raise _Unfit("not_a_label")
        return word

    return check


def each(**checks: Check) -> Check:
    """A check for an object whose members pass checks of their own."""

    def check(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _Unfit("not_a_label")
        return _checked(value, checks)

    return check


_QUALITIES = ("relevance", "alignment", "coherence", "depth", "conciseness", "overall")
_QUARTER = between(0, 1.25)
RUBRICS: Mapping[Rubric, Mapping[str, Check]] = {
    "open_answer": {"credit": one_of_numbers(0, 0.5, 1)},
    "verified": {
        "evidence": one_of_words("strong", "normal", "weak", "contradicted", "insufficient"),
        "logic": one_of_words("coherent", "acceptable", "weak", "contradictory", "unevaluable"),
    },
    "grounded_rationale": {
        "cue": whole_between(0, 2),
        "link": whole_between(0, 2),
        "faithful": whole_between(0, 1),
    },
    "reasoning_quality": dict.fromkeys(_QUALITIES, between(1, 5)),
    "mental_health_reasoning": {
        "key_event": between(0, 5),
        "mechanism": between(0, 5),
        "options": each(A=_QUARTER, B=_QUARTER, C=_QUARTER, D=_QUARTER),
        "hallucination": between(0, 5),
    },
}


def parse_judgement(raw: str, rubric: Rubric) -> Parsed[dict[str, Any]] | Unparsed:
    """The labels of one of the five rubrics of FORMATS, section 2; see ``parse_labels``.

    Rubrics whose labels are not stated to be integers take fractions (4.5 of 1-5).
    """
    return parse_labels(raw, RUBRICS[rubric])


def parse_labels(raw: str, checks: Mapping[str, Check]) -> Parsed[dict[str, Any]] | Unparsed:
    """The labels {name: value} of a judge's reply, each as its check returns it; other keys are left out.

    The last complete object that fits wins, also where the labels stand under one wrapping key. Numeric
    strings are numbers, booleans are not; 2.0 is an integer; words in any case. Reasons, of the last object if none
    fits: missing_label, not_a_number, not_a_label, out_of_range; else no_object, bad_json, empty,
    unclosed_thinking, only_thinking.
    """
    visible = visible_text(raw)
    if isinstance(visible, Unparsed):
        return visible
    scan = scan_objects(visible)
    reason: Reason | None = None
    for found in reversed(scan.objects):
        try:
            labels = _checked(with_keys(found.value, checks) or found.value, checks)
        except _Unfit as unfit:
            reason = reason or unfit.reason
        else:
            return Parsed(labels, "object", repaired=not scan.sound)
    if scan.cut_off_at is not None:
        return Unparsed("bad_json")
    return Unparsed(reason or "no_object")


def _checked(members: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    if any(name not in members for name in checks):
        raise _Unfit("missing_label")
    return {name: check(members[name]) for name, check in checks.items()}
