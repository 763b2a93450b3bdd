"""The time offset between two recordings of one event, by their sound or by their picture.

Sound: how loud each recording is every 4 ms in eight bands of frequency, as logarithms less their slow changes, is
compared at every shift; microphones and rooms change the level and the timbre of a sound, but hardly when it sets in.
Picture: the change of brightness and the amount of motion from frame to frame. Both give a normalised correlation at
each shift over the part where the recordings overlap; the offset is where it peaks. A peak counts only where it is high
and stands out from the second best one: otherwise the offset is undefined, with the reason.

Thresholds: 30 pairs of cuts of 4.5 to 12 s from five recordings of speech, shifted by up to 2.5 s, one of each through
AAC, most with an echo, another timbre and noise at 10 or 3 dB: peaks of 0.45 to 1.0, the second best at 0.14 to 0.60 of
it, offsets within 2.8 ms of the truth; one pair had its second best at 0.91 and is undefined. Ten pairs of different
recordings: peaks of 0.16 to 0.43, those above 0.3 with a second best of 0.65 and more. By picture, five pairs of
copies (other codecs, frame rates, turned): peaks of 0.78 and more, second best below 0.4; strangers 0.26 to 0.33.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError, NoStream
from onlooker.media.pictures import open_footage, walk
from onlooker.media.sound import RATE_HZ, SoundClip, read_sound

Floats = NDArray[np.float64]
By = Literal["sound", "picture"]

LEAST_PEAK = 0.35
MOST_SECOND = 0.62
_HOP = 64
_WINDOW = 256
_BANDS_HZ = (100, 200, 400, 700, 1100, 1700, 2600, 4000, 7000)
_SLOW_S = 0.5
_MOST_DEVIATIONS = 2.5
# Peaks nearer than this to the best one belong to it.
_PEAK_S = {"sound": 0.1, "picture": 0.4}
_LEAST_OVERLAP_S = 2.0
_LEAST_OVERLAP = 0.25
_PICTURE_RATE_HZ = 100
_SIZE_PX = (64, 36)


@dataclass(frozen=True, slots=True)
class Offset:
    """``offset_s``: what happens at t in the first recording happens at t + offset_s in the second, each on the clock
    of its picture; None where that cannot be told, for the ``reason``.

    ``peak``: correlation -1..1 at the best shift; ``second``: the next best peak over it; ``overlap_s``: how much was
    compared at the best shift; ``resolution_s``: steps of the comparison (the peak itself is interpolated).
    """

    offset_s: float | None
    by: By
    peak: float | None
    second: float | None
    overlap_s: float
    resolution_s: float
    reason: str | None
    least_peak: float = LEAST_PEAK
    most_second: float = MOST_SECOND


def offset_between(a: Path, b: Path, *, by: By | None = None, max_offset_s: float | None = None) -> Offset:
    """The offset of ``b`` against ``a``: by sound where both have some, else by picture, unless ``by`` says which.

    At least 2 s and a quarter of the shorter recording must overlap. ``max_offset_s`` limits the search. Sound is
    exact to 10 ms, pictures to about half a frame. Raises ``InputError``; ``NoStream`` where ``by`` asks for what is
    not there, or neither sound nor picture is common to both; ``UnreadableMedia``.
    """
    if max_offset_s is not None and not max_offset_s > 0:
        raise InputError("max_offset_s must be above 0", value=max_offset_s)
    if by != "picture":
        try:
            one, other = read_sound(a), read_sound(b)
        except NoStream:
            if by == "sound":
                raise
        else:
            return _compared(
                _loudness(one), _loudness(other), "sound", _HOP / RATE_HZ, other.start_s - one.start_s, max_offset_s
            )
    return _compared(_motion(a), _motion(b), "picture", 1 / _PICTURE_RATE_HZ, 0.0, max_offset_s)


def _loudness(clip: SoundClip) -> Floats:
    """(bands x hops): logarithms of the loudness less their mean over half a second around; 0 for digital silence."""
    samples = clip.samples.astype(np.float32) / 32768
    count = max(0, 1 + (len(samples) - _WINDOW) // _HOP)
    if count < 2:
        return np.zeros((len(_BANDS_HZ) - 1, 0))
    frequencies = np.fft.rfftfreq(_WINDOW, 1 / RATE_HZ)
    edges = np.searchsorted(frequencies, _BANDS_HZ)
    taper = np.hanning(_WINDOW).astype(np.float32)
    bands = np.empty((len(_BANDS_HZ) - 1, count))
    for begin in range(0, count, 1 << 14):
        places = np.arange(begin, min(count, begin + (1 << 14)))
        frames = samples[places[:, None] * _HOP + np.arange(_WINDOW)] * taper
        power = np.abs(np.fft.rfft(frames)) ** 2
        for band in range(len(bands)):
            low, high = edges[band], max(edges[band] + 1, edges[band + 1])
            bands[band, places] = power[:, low:high].mean(axis=1)
    # A floor 50 dB under the loudest keeps the rustle of silence from counting as much as speech.
    floor = max(float(bands.max()) * 1e-5, 1e-12)
    return _sharpened(np.log(bands + floor), round(_SLOW_S * RATE_HZ / _HOP))


def _motion(path: Path) -> Floats:
    """(2 x hundredths of a second): change of brightness and logarithm of motion of the frame on screen."""
    footage = open_footage(path)
    times: list[float] = []
    rows: list[tuple[float, float]] = []
    before: NDArray[np.uint8] | None = None
    for time_s, frame in walk(footage):
        gray = footage.pixels(frame, _SIZE_PX, "gray")
        if before is not None:
            change = gray.astype(np.int16) - before
            times.append(time_s)
            rows.append((float(change.mean()), float(np.log(0.05 + np.abs(change).mean()))))
        before = gray
    if len(rows) < 2:
        return np.zeros((2, 0))
    # Time runs from the picture's start; linear between frames, so that rates may differ.
    grid = np.arange(0, footage.duration_s, 1 / _PICTURE_RATE_HZ)
    lines = np.array([np.interp(grid, times, column) for column in np.array(rows).T])
    return _sharpened(lines, round(2 * _SLOW_S * _PICTURE_RATE_HZ))


def _sharpened(lines: Floats, width: int) -> Floats:
    """Each line less its mean over ``width`` values around, over its deviation; 0 where it never changes."""
    padded = np.pad(lines, ((0, 0), (width // 2 + 1, width - width // 2 - 1)), mode="edge")
    sums = np.cumsum(padded, axis=1)
    sharp: Floats = lines - (sums[:, width:] - sums[:, :-width])[:, : lines.shape[1]] / width
    deviation = sharp.std(axis=1, keepdims=True)
    # One loud onset or one cut must not outweigh all the rest.
    bounded = np.clip(sharp / np.maximum(deviation, 1e-6), -_MOST_DEVIATIONS, _MOST_DEVIATIONS)
    return np.where(deviation > 1e-6, bounded, 0.0)


def _compared(
    one: Floats, other: Floats, by: By, step_s: float, between_starts_s: float, max_offset_s: float | None
) -> Offset:
    least = max(_LEAST_OVERLAP_S, _LEAST_OVERLAP * min(one.shape[1], other.shape[1]) * step_s)
    if min(one.shape[1], other.shape[1]) * step_s < least:
        return Offset(None, by, None, None, 0.0, step_s, f"less than {_LEAST_OVERLAP_S} s to compare")
    shifts, correlation, overlap = _correlation(one, other)
    allowed = overlap * step_s >= least
    if max_offset_s is not None:
        allowed &= np.abs(shifts * step_s + between_starts_s) <= max_offset_s
    # A short overlap correlates by chance more than a long one.
    weighted = np.where(allowed, correlation * np.sqrt(overlap / (overlap + _LEAST_OVERLAP_S / step_s)), -1.0)
    best = int(np.argmax(weighted))
    if not allowed.any() or weighted[best] <= 0:
        return Offset(None, by, None, None, 0.0, step_s, f"the {by} of one of them does not change")
    away = np.abs(shifts - shifts[best]) * step_s >= _PEAK_S[by]
    second = max(0.0, float(weighted[away].max(initial=0.0))) / float(weighted[best])
    peak = float(correlation[best])
    reason = None
    if peak < LEAST_PEAK:
        reason = "the recordings agree at no shift"
    elif second > MOST_SECOND:
        reason = "the best shift does not stand out from another one"
    offset_s = (shifts[best] + _between(weighted, best)) * step_s + between_starts_s
    return Offset(
        offset_s=None if reason else round(float(offset_s), 4) + 0.0,  # no minus before a zero
        by=by,
        peak=round(peak, 4),
        second=round(second, 4),
        overlap_s=round(float(overlap[best]) * step_s, 3),
        resolution_s=step_s,
        reason=reason,
    )


def _correlation(one: Floats, other: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Shifts of ``other`` against ``one``, the normalised correlation at each over their overlap, and its length."""
    size = 1 << (one.shape[1] + other.shape[1]).bit_length()

    def crossed(left: Floats, right: Floats) -> Floats:
        product = np.fft.irfft(np.conj(np.fft.rfft(left, size)) * np.fft.rfft(right, size), size)
        return np.concatenate([product[size - one.shape[1] + 1 :], product[: other.shape[1]]])

    ones, others = np.ones(one.shape[1]), np.ones(other.shape[1])
    shared = sum(crossed(x, y) for x, y in zip(one, other, strict=True))
    power_one = crossed((one**2).sum(axis=0), others)
    power_other = crossed(ones, (other**2).sum(axis=0))
    overlap = np.maximum(np.round(crossed(ones, others)), 1)
    scale = np.sqrt(np.maximum(power_one, 0) * np.maximum(power_other, 0))
    # Where next to nothing lies in the overlap there is nothing to compare.
    correlation = np.where(scale > 1e-3 * overlap, shared / np.maximum(scale, 1e-9), 0.0)
    return np.arange(1 - one.shape[1], other.shape[1]), correlation, overlap


def _between(values: Floats, best: int) -> float:
    """Where the parabola through the peak and its neighbours is highest, -0.5..0.5 steps from the peak."""
    if not 0 < best < len(values) - 1:
        return 0.0
    before, peak, after = values[best - 1 : best + 2]
    curve = before - 2 * peak + after
    return float(0.5 * (before - after) / curve) if curve < 0 else 0.0
