"""When to look: sampling policies and the times they give. Pure arithmetic, no media.

Our rules, all on the clock whose zero is the first frame shown, for a medium of D seconds or a window [a, b):

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

The rules of other tools, by name, for results that have to be comparable with theirs. They choose among the frames by
number, so there is nothing else to show at a grid time: the grid time of a chosen frame is its own time. F frames, 0
to F - 1, are those on screen in [a, b), the one that is on screen at a included; they last T = b - a seconds. How many
they are goes with the result (``Sampled.counted``): on files with edit lists or damage, in MKV and in TS the tools
themselves count differently. The lost end of a cut file is not among them, and so never missing. A number that comes
out twice (fewer frames than asked) is taken once; where a rule takes none (a clip of less than a step, on which the
tools raise), the first frame is taken.

* ``vlmeval:N``: VLMEvalKit with ``nframe``: int(i F / (N + 1)) for i = 1 .. N. Never the first frame of a long clip.
* ``vlmeval-fps:R``: VLMEvalKit with ``fps``: int(i f / R) for i = 0 .. int(T R) - 1, with f = F / T.
* ``lmms-eval:N``: the distinct values of linspace(0, F - 1, N), rounded down. Both ends.
* ``mvbench:N``: int(s / 2 + round(i s)) for i = 0 .. N - 1, with s = (F - 1) / N, halves to the even number.
* ``qwen-vl``, ``qwen-vl:R``: qwen-vl-utils, R = 2 if absent: n = min(max(T R, 4), 768, F) rounded down to an even
  number, then linspace(0, F - 1, n) rounded. Theirs rounds in single precision: of very long clips (about ten thousand
  frames and more) a number may differ by one.

All but the last are computed in binary floating point in the order of the originals.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from onlooker.errors import InputError, shown

_KNOWN = (
    "uniform:N, fps:R, fps:R:CAP, midpoint, bolt:N, or a rule of another tool: vlmeval:N, vlmeval-fps:R, lmms-eval:N, "
    "mvbench:N, qwen-vl, qwen-vl:R"
)
# A day at one frame a second; beyond it a typing error or a broken time stamp would fill the memory.
_MOST_TIMES = 100_000
_MOST_RATE_HZ = 1000
_COUNT = re.compile(r"[0-9]{1,6}")
_RATE = re.compile(r"[0-9]{1,4}(\.[0-9]{1,6})?|[0-9]{1,10}/[0-9]{1,7}")
# Window ends are decimal fractions in binary: this close is the same.
_SAME_S = Fraction(1, 1_000_000)
# Start and end of a medium are each rounded to half a millisecond, and so is the last frame's duration.
_ROUNDED_END_S = Fraction(3, 2000)
_WINDOW = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?):([0-9]{1,9}(?:\.[0-9]{1,9})?)")
# Of qwen-vl-utils: FPS, FPS_MIN_FRAMES, FPS_MAX_FRAMES, FRAME_FACTOR.
_QWEN_RATE_HZ, _QWEN_FEWEST, _QWEN_MOST, _QWEN_FACTOR = Fraction(2), 4, 768, 2

Kind = Literal["uniform", "fps", "midpoint", "bolt", "vlmeval", "vlmeval-fps", "lmms-eval", "mvbench", "qwen-vl"]
Window = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Policy:
    """A parsed policy. ``count``: N or CAP; ``rate_hz``: R, frames a second; ``times_s``: of ``bolt``, once they are
    chosen (see ``keyframes``)."""

    kind: Kind
    count: int | None = None
    rate_hz: Fraction | None = None
    times_s: tuple[float, ...] | None = None

    @property
    def counts_frames(self) -> bool:
        """Whether it chooses among the frames by number instead of looking at times."""
        return self.kind in {"vlmeval", "vlmeval-fps", "lmms-eval", "mvbench", "qwen-vl"}

    def __str__(self) -> str:
        """The canonical text; ``parse_policy`` reads it back to an equal value."""
        return ":".join(
            [self.kind]
            + ([] if self.rate_hz is None else [str(self.rate_hz)])
            + ([] if self.count is None else [str(self.count)])
        )


def parse_policy(text: str) -> Policy:
    """Read ``uniform:64``, ``fps:1``, ``fps:30000/1001``, ``fps:0.5:64``, ``midpoint``, ``bolt:16``, ``vlmeval:8``,
    ``vlmeval-fps:1``, ``lmms-eval:32``, ``mvbench:16``, ``qwen-vl``, ``qwen-vl:1``.

    Numbers are plain ASCII digits: counts of 1 to 100000, rates above 0 and up to 1000 frames a second as a decimal (at
    most four digits before the point and six after it) or a fraction. Raises ``InputError`` for anything else.
    """
    kind, *values = text.strip().split(":")
    match kind, values:
        case ("uniform" | "bolt" | "vlmeval" | "lmms-eval" | "mvbench") as known, [count]:
            return Policy(known, count=_count(count, text))
        case ("vlmeval-fps" | "qwen-vl") as known, [rate]:
            return Policy(known, rate_hz=_rate(rate, text))
        case "qwen-vl", []:
            return Policy("qwen-vl")
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


def parse_window(text: str) -> Window:
    """Read ``12.5:20``, two plain decimal numbers of seconds, start before end. Raises ``InputError``."""
    found = _WINDOW.fullmatch(text.strip())
    if not found or not float(found[1]) < float(found[2]):
        raise InputError("a window is START:END in seconds, start before end", value=text, remedy="write it as 12.5:20")
    return float(found[1]), float(found[2])


def grid_times(
    policy: Policy, duration_s: float, window: Window | None = None, frame_times_s: Sequence[float] | None = None
) -> tuple[float, ...]:
    """Times in seconds at which to look, rising, at least one.

    ``duration_s`` >= 0 is the picture's; ``window`` = (start, end) with 0 <= start < end is cut at
    the duration. ``frame_times_s``: times of all frames shown, rising, from 0; only rules that count frames need them.
    Raises ``InputError`` for a window that is not one or begins at or after the end, for a rule that counts frames
    without any, and for ``bolt`` whose times, which depend on the pictures, are not chosen yet.
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
    if policy.counts_frames:
        if not frame_times_s:
            raise InputError("this policy chooses among the frames by number, and none are known", value=str(policy))
        counted = counted_frames(frame_times_s, duration_s, window)
        return tuple(frame_times_s[counted[n]] for n in _numbers(policy, len(counted), end_s - start_s))
    if policy.times_s is not None:
        return policy.times_s
    raise InputError(
        "bolt chooses frames by their likeness to a text: it needs the text and an image-text encoder",
        value=str(policy),
        remedy="give --query and --encoder hf:FOLDER, or use uniform:N",
    )


def counted_frames(frame_times_s: Sequence[float], duration_s: float, window: Window | None = None) -> range:
    """Places in ``frame_times_s`` of the frames that a rule which counts frames chooses among: those on screen in the
    window."""
    start_s, end_s = checked_window(window, duration_s)
    same_s = float(_SAME_S)
    first = max(0, bisect_right(frame_times_s, start_s + same_s) - 1)
    if window is None:
        return range(first, len(frame_times_s))
    return range(first, max(first + 1, bisect_left(frame_times_s, end_s - same_s)))


def _numbers(policy: Policy, frames: int, seconds: float) -> list[int]:
    """Numbers of the chosen ones of that many frames, rising, each once."""
    asked = policy.count or 1
    rate_hz = float(policy.rate_hz or _QWEN_RATE_HZ)
    match policy.kind:
        case "vlmeval":
            step = frames / (asked + 1)
            numbers = [int(i * step) for i in range(1, asked + 1)]
        case "vlmeval-fps":
            step = frames / seconds / rate_hz if seconds else 1.0
            _refuse_too_many(policy, int(seconds * rate_hz))
            numbers = [int(i * step) for i in range(int(seconds * rate_hz))]
        case "lmms-eval":
            numbers = _linspaced(frames, asked)
        case "mvbench":
            step = (frames - 1) / asked
            numbers = [int(step / 2 + round(step * i)) for i in range(asked)]
        case _:
            most = min(_QWEN_MOST, frames) // _QWEN_FACTOR * _QWEN_FACTOR
            count = int(min(max(seconds * rate_hz, _QWEN_FEWEST), most)) // _QWEN_FACTOR * _QWEN_FACTOR
            numbers = [round(Fraction(k * (frames - 1), count - 1)) for k in range(count)]
    return sorted({min(n, frames - 1) for n in numbers}) or [0]


def _linspaced(frames: int, count: int) -> list[int]:
    """numpy.linspace(0, frames - 1, count, dtype=int)."""
    if count == 1:
        return [0]
    step = (frames - 1) / (count - 1)
    return [math.floor(k * step) for k in range(count - 1)] + [frames - 1]


def checked_window(window: Window | None, duration_s: float) -> Window:
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
