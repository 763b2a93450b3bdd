"""What fits: frames, sizes and rates within limits, known before anything is sent. Pure arithmetic, no media.

Frames are left out evenly, both ends stay. Nothing is ever cut off at its end: what is too long is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from onlooker.errors import InputError, MediaError

# The lowest quality that a byte budget may lead to.
LOWEST_QP = 40
LOWEST_SIDE_PX = 160
LOWEST_SOUND_BPS = 24_000
STEREO_BPS = 96_000
MOST_SOUND_BPS = 128_000
# More than any picture needs; the encoder counts the bits of its buffer in 31 bits.
_MOST_PICTURE_BPS = 200_000_000
_SOUND_PACKETS_A_SECOND = 47
_INDEX_BYTES = 3000
_INDEX_BYTES_A_FRAME = 20
_INDEX_BYTES_A_SOUND_PACKET = 12

Size = tuple[int, int]


@dataclass(frozen=True, slots=True)
class MediaLimits:
    """What may be sent in one request, None for no limit: ``max_bytes`` of all media together, ``max_side_px`` of the
    longer side, ``max_images``, ``max_total_pixels`` of all pictures together, ``max_duration_s`` and ``max_fps`` of
    video."""

    max_bytes: int | None = None
    max_side_px: int | None = None
    max_images: int | None = None
    max_total_pixels: int | None = None
    max_duration_s: float | None = None
    max_fps: float | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"the limit {name} must be above 0", value=value)


@dataclass(frozen=True, slots=True)
class FramePlan:
    """Frames that will be sent: their ``places`` among those offered, rising, and their ``sizes`` (width, height) in
    pixels. ``offered``: how many there were; ``changes``: what was reduced, in words, empty where nothing was."""

    places: tuple[int, ...]
    sizes: tuple[Size, ...]
    offered: int
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClipPlan:
    """What a clip will be sent as: arguments of ``cut_clip``, and the size and the frames a second that follow."""

    max_side_px: int | None
    max_bytes: int | None
    max_fps: float | None
    size: Size
    fps: float
    frames: int
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rate:
    """Bits a second. ``picture_bps`` None: constant quality whatever it takes; else that quality as far as the rate,
    measured over ``buffer_s``, allows. ``sound_bps``: below ``STEREO_BPS`` the sound becomes mono."""

    picture_bps: int | None
    sound_bps: int
    buffer_s: float = 1.0


def even_places(number: int, kept: int) -> tuple[int, ...]:
    """``kept`` of the places 0 .. ``number`` - 1, evenly, both ends kept: place round(j (number - 1) / (kept - 1)),
    halves up, as ``fps:R:CAP`` does. One keeps the first; ``kept`` >= ``number`` keeps all."""
    if kept >= number:
        return tuple(range(number))
    if kept <= 1:
        return tuple(range(min(kept, number)))
    last = number - 1
    return tuple((2 * j * last + kept - 1) // (2 * (kept - 1)) for j in range(kept))


def plan_frames(
    sizes: Sequence[Size], limits: MediaLimits, *, bytes_each: Sequence[int] | None = None, lowest_side_px: int = 224
) -> FramePlan:
    """Which of the frames with ``sizes`` (width, height in pixels) go, and how large each becomes.

    In this order: at most ``max_images``; each at most ``max_side_px``; all scaled by one factor to
    ``max_total_pixels``, and frames left out where the longest side would fall below ``lowest_side_px``. With
    ``bytes_each``, the sizes of the files as they are, frames are left out until those that stay hold at most
    ``max_bytes``: where pictures also become smaller, encode them and plan again with their new sizes. A tighter limit
    never keeps more frames. Raises ``MediaError`` where not even one frame fits.
    """
    if bytes_each is not None and len(bytes_each) != len(sizes):
        raise InputError("one number of bytes a frame is needed", value=(len(sizes), len(bytes_each)))
    number = len(sizes)
    small = [_within_side(size, limits.max_side_px) for size in sizes]
    changes: list[str] = []
    kept = number if limits.max_images is None else min(number, limits.max_images)
    if kept < number:
        changes.append(f"{kept} of {number} frames, at most {limits.max_images} images may be sent")
    if small != list(sizes):
        changes.append(f"longer side at most {limits.max_side_px} px")
    if limits.max_total_pixels is not None:
        before = kept
        kept = _fitting(kept, _least_pixels(small, lowest_side_px), limits.max_total_pixels, number, "pixels")
        if kept < before:
            changes.append(f"{kept} of {number} frames, at most {limits.max_total_pixels} pixels may be sent")
    if limits.max_bytes is not None and bytes_each is not None:
        before = kept
        kept = _fitting(kept, list(bytes_each), limits.max_bytes, number, "bytes")
        if kept < before:
            changes.append(f"{kept} of {number} frames, at most {limits.max_bytes} bytes may be sent")
    places = even_places(number, kept)
    final = [small[p] for p in places]
    if limits.max_total_pixels is not None and _pixels(final) > limits.max_total_pixels:
        factor = math.sqrt(limits.max_total_pixels / _pixels(final))
        while _pixels(scaled := [(max(1, int(w * factor)), max(1, int(h * factor))) for w, h in final]) > (
            limits.max_total_pixels
        ):
            factor *= 0.99  # a side that cannot fall below one pixel leaves more than the factor says
        final = scaled
        changes.append(f"sides times {factor:.3f}, at most {limits.max_total_pixels} pixels may be sent")
    return FramePlan(places, tuple(final), number, tuple(changes))


def plan_clip(duration_s: float, size: Size, frames: int, limits: MediaLimits) -> ClipPlan:
    """How a clip of ``duration_s`` seconds and ``frames`` pictures of ``size`` (as displayed) has to be cut.

    ``max_images`` bounds its pictures and ``max_total_pixels`` the pixels of all of them. Bytes are not foretold:
    ``cut_clip`` holds ``max_bytes`` or refuses. Raises ``MediaError`` where it is longer than ``max_duration_s``: its
    end is never left out in silence.
    """
    if duration_s <= 0 or frames < 1:
        raise InputError("a clip has a length and frames", value=(duration_s, frames))
    if limits.max_duration_s is not None and duration_s > limits.max_duration_s:
        raise MediaError(
            f"the clip is longer than the {limits.max_duration_s:g} s that may be sent",
            value=round(duration_s, 3),
            remedy="ask about a window of it, or send frames",
        )
    changes: list[str] = []
    fps = frames / duration_s
    max_fps = limits.max_fps
    if limits.max_images is not None and (max_fps is None or max_fps * duration_s > limits.max_images):
        max_fps = limits.max_images / duration_s
    if max_fps is not None and fps > max_fps:
        fps, frames = max_fps, min(frames, max(1, math.ceil(max_fps * duration_s - 1e-9)))
        changes.append(f"at most {max_fps:g} frames a second")
    else:
        max_fps = None
    small = _even(_within_side(size, limits.max_side_px))
    if limits.max_total_pixels is not None and frames * small[0] * small[1] > limits.max_total_pixels:
        factor = math.sqrt(limits.max_total_pixels / (frames * small[0] * small[1]))
        small = _even((int(small[0] * factor), int(small[1] * factor)))
        if frames * small[0] * small[1] > limits.max_total_pixels:
            raise MediaError(f"{frames} frames do not fit into {limits.max_total_pixels} pixels", remedy="send fewer")
    is_smaller = max(small) < max(size) - 1
    if is_smaller:
        changes.append(f"longer side at most {max(small)} px")
    return ClipPlan(max(small) if is_smaller else None, limits.max_bytes, max_fps, small, fps, frames, tuple(changes))


def rate_within(max_bytes: int, duration_s: float, frames: int, *, has_sound: bool) -> Rate:
    """The rates at which ``duration_s`` seconds and ``frames`` pictures take at most ``max_bytes`` as mp4: sound gets a
    quarter, between the lowest and 128 kbit/s. Raises ``MediaError`` where nothing is left for the picture."""
    index = _INDEX_BYTES + _INDEX_BYTES_A_FRAME * frames
    if has_sound:
        index += math.ceil(_INDEX_BYTES_A_SOUND_PACKET * _SOUND_PACKETS_A_SECOND * duration_s)
    usable_bits = 0.98 * 8 * (max_bytes - index)
    total_bps = usable_bits / max(duration_s, 0.1)
    sound_bps = min(max(round(total_bps / 4), LOWEST_SOUND_BPS), MOST_SOUND_BPS) if has_sound else 0
    buffer_s = min(10.0, max(0.5, duration_s / 4))
    picture_bits = usable_bits - sound_bps * duration_s
    picture_bps = min(int(picture_bits / (duration_s + buffer_s)), _MOST_PICTURE_BPS)
    if picture_bps < 1000:
        raise MediaError(
            f"{duration_s:.3f} s with {frames} frames do not fit into {max_bytes} bytes",
            remedy="allow more bytes, cut a shorter window, allow fewer frames a second or leave the sound out",
        )
    return Rate(picture_bps, sound_bps, buffer_s)


def lower_rate(rate: Rate, size_bytes: int, max_bytes: int) -> Rate:
    """The rate for the next try, after one that took ``size_bytes`` > ``max_bytes``."""
    assert rate.picture_bps is not None, "only a rate that was bounded can be lowered"
    return Rate(max(1000, int(rate.picture_bps * 0.95 * max_bytes / size_bytes)), rate.sound_bps, rate.buffer_s)


def lower_side(size: Size, size_bytes: int, max_bytes: int) -> Size | None:
    """The next smaller size (even), None where the longer side is at ``LOWEST_SIDE_PX`` or below."""
    longer = max(size)
    if longer <= LOWEST_SIDE_PX:
        return None
    factor = min(0.85, max(0.25, 0.95 * math.sqrt(max_bytes / size_bytes)))
    factor = max(factor, LOWEST_SIDE_PX / longer)
    return _even((round(size[0] * factor), round(size[1] * factor)))


def _within_side(size: Size, max_side_px: int | None) -> Size:
    if max_side_px is None or max(size) <= max_side_px:
        return size
    scale = max_side_px / max(size)
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _even(size: Size) -> Size:
    return max(2, size[0] - size[0] % 2), max(2, size[1] - size[1] % 2)


def _pixels(sizes: Sequence[Size]) -> int:
    return sum(w * h for w, h in sizes)


def _least_pixels(sizes: Sequence[Size], lowest_side_px: int) -> list[int]:
    """Pixels of each where all are scaled by the factor that brings the longest side to ``lowest_side_px``."""
    longest = max((max(size) for size in sizes), default=1)
    factor = min(1.0, lowest_side_px / longest)
    return [math.ceil(w * factor) * math.ceil(h * factor) for w, h in sizes]


def _fitting(most: int, costs: list[int], limit: int, number: int, unit: str) -> int:
    """The largest count, at most ``most``, whose even choice among ``number`` costs at most ``limit``."""
    if number == 0:
        return 0
    all_costs = np.asarray(costs, np.int64)
    for kept in range(most, 0, -1):
        if int(all_costs[list(even_places(number, kept))].sum()) <= limit:
            return kept
    raise MediaError(
        f"not one frame fits into {limit} {unit}", value=costs[0], remedy="allow more, or smaller pictures"
    )
