"""When to look: sampling policies and the times they give. Pure arithmetic, no media.

Three rules, all on the clock whose zero is the first frame shown, for a medium of D seconds or a
window [a, b):

* ``uniform:N``: the starts of N equal parts, a + k (b - a) / N for k = 0 .. N - 1. The first time
  is the start itself.
* ``fps:R``: the grid k / R of the whole medium, as far as it lies in [a, b). A window that holds no
  point of the grid gives its start alone, so that every window and every short clip has one time. R
  may be a decimal or a fraction. A grid point less than 1.5 ms (at most half a step) before the end of the medium is
  left out: containers round times to milliseconds, so a clip of four seconds may measure 4.001 s, and has to give the
  same times in every container.
* ``fps:R:CAP``: where that gives n > CAP times, CAP of them: number round(j (n - 1) / (CAP - 1))
  for j = 0 .. CAP - 1, halves up. Both ends stay and every kept time is a time of the grid. CAP = 1
  keeps the first.
* ``midpoint``: the middle of the medium or the window.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from onlooker.errors import InputError, shown

_KNOWN = "uniform:N, fps:R, fps:R:CAP, midpoint or bolt:N"
# A day at one frame a second; beyond it a typing error or a broken time stamp would fill the memory.
_MOST_TIMES = 100_000
_MOST_RATE_HZ = 1000
_COUNT = re.compile(r"[0-9]{1,6}")
_RATE = re.compile(r"[0-9]{1,4}(\.[0-9]{1,6})?|[0-9]{1,10}/[0-9]{1,7}")
# Window ends are decimal fractions in binary: this close is the same.
_SAME_S = Fraction(1, 1_000_000)
# Start and end of a medium are each rounded to half a millisecond, and so is the last frame's duration.
_ROUNDED_END_S = Fraction(3, 2000)


@dataclass(frozen=True, slots=True)
class Policy:
    """A parsed policy. ``count``: N or CAP; ``rate_hz``: R, frames a second."""

    kind: Literal["uniform", "fps", "midpoint", "bolt"]
    count: int | None = None
    rate_hz: Fraction | None = None

    def __str__(self) -> str:
        """The canonical text; ``parse_policy`` reads it back to an equal value."""
        return ":".join(
            [self.kind]
            + ([] if self.rate_hz is None else [str(self.rate_hz)])
            + ([] if self.count is None else [str(self.count)])
        )


def parse_policy(text: str) -> Policy:
    """Read ``uniform:64``, ``fps:1``, ``fps:30000/1001``, ``fps:0.5:64``, ``midpoint``,
    ``bolt:16``.

    Numbers are plain ASCII digits: counts of 1 to 100000, rates above 0 and up to 1000 frames a second as a decimal (at
    most four digits before the point and six after it) or a fraction. Raises ``InputError`` for anything else.
    """
    kind, *values = text.strip().split(":")
    match kind, values:
        case (("uniform" | "bolt"), [count]):
            return Policy("uniform" if kind == "uniform" else "bolt", count=_count(count, text))
        case "fps", [rate]:
            return Policy("fps", rate_hz=_rate(rate, text))
        case "fps", [rate, cap]:
            return Policy("fps", rate_hz=_rate(rate, text), count=_count(cap, text))
        case "midpoint", []:
            return Policy("midpoint")
    raise InputError("unknown sampling policy", value=text, remedy=f"use {_KNOWN}")


def _count(text: str, policy: str) -> int:
    count = int(text) if _COUNT.fullmatch(text) else 0
    if not 1 <= count <= _MOST_TIMES:
        raise InputError(
            f"the number of frames in the policy {shown(policy)} must be a whole number from 1 to {_MOST_TIMES}",
            value=text,
        )
    return count


def _rate(text: str, policy: str) -> Fraction:
    try:
        rate = Fraction(text) if _RATE.fullmatch(text) else Fraction(0)
    except ZeroDivisionError:
        rate = Fraction(0)
    if not 0 < rate <= _MOST_RATE_HZ:
        raise InputError(
            f"the rate in the policy {shown(policy)} must be a number of frames a second above 0, at most "
            f"{_MOST_RATE_HZ}, such as 1, 0.5 or 30000/1001",
            value=text,
        )
    return rate


def grid_times(policy: Policy, duration_s: float, window: tuple[float, float] | None = None) -> tuple[float, ...]:
    """Times in seconds at which to look, rising, at least one.

    ``duration_s`` >= 0 is the picture's; ``window`` = (start, end) with 0 <= start < end is cut at
    the duration. Raises ``InputError`` for a window that is not one or begins at or after the end,
    and for ``bolt``, whose times depend on the pictures.
    """
    start_s, end_s = checked_window(window, duration_s)
    if policy.kind == "midpoint":
        return ((start_s + end_s) / 2,)
    if policy.kind == "uniform":
        count = policy.count or 1
        _refuse_too_many(policy, count)
        return tuple(start_s + k * (end_s - start_s) / count for k in range(count))
    if policy.kind == "fps" and policy.rate_hz is not None:
        return _rate_grid(policy, policy.rate_hz, start_s, end_s, duration_s)
    raise InputError(
        "bolt chooses frames by their similarity to a text: it needs an image-text encoder, which this version "
        "does not have",
        value=str(policy),
        remedy="use uniform:N",
    )


def checked_window(window: tuple[float, float] | None, duration_s: float) -> tuple[float, float]:
    """The window cut at the duration; the whole medium without one. Raises ``InputError`` as
    ``grid_times`` says."""
    if window is None:
        return 0.0, duration_s
    start_s, end_s = window
    if not 0 <= start_s < end_s:
        raise InputError("a window needs 0 <= start < end (seconds)", value=window)
    if start_s >= duration_s:
        raise InputError(
            f"the window begins at or after the end of the medium ({duration_s:.3f} s)",
            value=window,
        )
    return start_s, min(end_s, duration_s)


def _rate_grid(policy: Policy, rate_hz: Fraction, start_s: float, end_s: float, duration_s: float) -> tuple[float, ...]:
    first = max(0, math.ceil((Fraction(start_s) - _SAME_S) * rate_hz))
    rounded_s = min(_ROUNDED_END_S, 1 / (2 * rate_hz))
    last_s = min(Fraction(end_s) - _SAME_S, Fraction(duration_s) - rounded_s)
    end = math.ceil(last_s * rate_hz)  # the first place outside
    if end <= first:
        return (start_s,)
    last, cap = end - 1 - first, policy.count
    if cap is None or last < cap:
        _refuse_too_many(policy, last + 1)
        places = range(last + 1)
    elif cap == 1:
        places = range(1)
    else:
        return tuple(float((first + (2 * j * last + cap - 1) // (2 * (cap - 1))) / rate_hz) for j in range(cap))
    return tuple(float((first + k) / rate_hz) for k in places)


def _refuse_too_many(policy: Policy, number: int) -> None:
    if number > _MOST_TIMES:
        raise InputError(
            f"the policy {policy} gives {number} frames, more than {_MOST_TIMES}",
            remedy="use a lower rate, or a cap such as fps:1:64",
        )
