"""Frames with their times, the same bytes whichever way they were reached.

The frame on screen at a grid time t is the last one shown at or before it: pts <= first pts + t, give or take
the container's rounding. Frame rates and frame numbers are never used. Which frames those are follows from the
packets' time stamps before anything is decoded, so a frame that cannot be decoded is known to be missing and is
never replaced by a neighbour.

``uniform:N`` asks for a number of pictures: grid times that fall on one frame keep the first, and a
clip of nine frames gives nine. ``fps:R`` asks what was on screen at each time: a frame that is held
for three seconds is the answer at all three grid times, and stands there three times with the same
``pts_s``.

Damage. A frame that is cut off, lost or cannot be decoded is missing; one that can be, but may show damage, is
``corrupt``. What is done about it is the caller's choice:

* ``skip``: a missing frame is left out and its grid time listed; a corrupt one is given with its mark, because codecs
  report too much rather than too little.
* ``use``: as ``skip``, and at the time of a missing frame stands the nearest earlier frame that can be decoded, with
  its own ``pts_s`` and the status ``substituted``, once for every such time. Where there is no earlier one the time is
  listed as missing.
* ``fail``: any missing or corrupt frame is an error that names the times.
"""

from __future__ import annotations

import io
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from onlooker.errors import InputError, MediaError, MissingExtra, NoStream, UnreadableMedia
from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.decode import WantedFrames
from onlooker.media.digest import file_sha256
from onlooker.media.grid import Policy, Window, counted_frames, grid_times, parse_policy
from onlooker.media.index import PictureIndex, read_index
from onlooker.media.orientation import Orientation, orientation

if TYPE_CHECKING:
    from av.video.frame import VideoFrame
    from av.video.reformatter import VideoReformatter

Status = Literal["ok", "corrupt", "substituted"]
DamagePolicy = Literal["skip", "use", "fail"]
_Picture = tuple[bytes, int, int]
_NAMED_TIMES = 20


@dataclass(frozen=True, slots=True)
class Frame:
    """One sampled frame.

    ``index``: place in the sampling grid, from 0; ``time_s``: grid time; ``pts_s``: the frame's own
    time, both in seconds from the first frame shown; ``jpeg``: the picture as displayed (rotated,
    square pixels), ``width_px`` x ``height_px``. ``corrupt``: the decoder or the demuxer
    reported damage in it, or in a frame it may be predicted from. Codecs carry no check sums: damage that decodes
    without an error (most of it in GIF, Theora, VP9, WMV and MPEG-4 part 2) is not known. ``substituted``: not the
    frame on screen at ``time_s``, which is missing, but an earlier one; it may lean on damage, too.
    """

    index: int
    time_s: float
    pts_s: float
    status: Status
    jpeg: bytes
    width_px: int
    height_px: int
    source_sha256: str


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a policy gave: ``len(frames) + len(missing)`` <= ``wanted``, the number of grid times; at least one frame.

    ``missing``: grid times whose frame is cut off, lost or cannot be decoded. What is neither was a
    second look at one frame. ``counted``: among how many frames a rule of another tool chose by number, None for ours.
    """

    frames: tuple[Frame, ...]
    source_sha256: str
    policy: str
    wanted: int
    missing: tuple[float, ...]
    counted: int | None = None


def sample(
    path: Path,
    policy: Policy | str,
    *,
    window: Window | None = None,
    max_side_px: int = 512,
    jpeg_quality: int = 90,
    source_sha256: str | None = None,
    seek: bool = True,
    damage: DamagePolicy = "skip",
) -> Sampled:
    """Sample ``path`` by ``policy`` (see ``grid``), in ``window`` = (start_s, end_s) if given.

    Pictures are scaled down, never up, so that the longer side is at most ``max_side_px``.
    ``seek=False`` decodes from the start to the last wanted frame instead of jumping to key frames:
    slower, same bytes. Memory does not grow with the length. ``source_sha256``: the file's digest
    where the caller knows it. ``damage``: see the module.

    Raises ``InputError`` (policy, window, size), ``NoStream`` without a picture, ``UnreadableMedia``, also where not
    one wanted frame can be decoded, and ``MediaError`` where ``damage`` is ``fail`` and there is some.
    """
    (sampled,) = sample_many(
        path,
        [(policy, window)],
        max_side_px=max_side_px,
        jpeg_quality=jpeg_quality,
        source_sha256=source_sha256,
        seek=seek,
        damage=damage,
    )
    return sampled


def sample_many(
    path: Path,
    asks: Sequence[tuple[Policy | str, Window | None]],
    *,
    max_side_px: int = 512,
    jpeg_quality: int = 90,
    source_sha256: str | None = None,
    seek: bool = True,
    damage: DamagePolicy = "skip",
) -> tuple[Sampled, ...]:
    """``sample`` for several policies and windows of one file, in their order, with the same bytes and errors.

    The file is hashed and its time stamps are read once, and what is wanted several times is decoded once. A file with
    damage is decoded anew for each: what a decoder paints over it depends on where it began.
    """
    policies = [parse_policy(policy) if isinstance(policy, str) else policy for policy, _ in asks]
    if max_side_px < 1 or not 1 <= jpeg_quality <= 100:
        raise InputError(
            "max_side_px must be at least 1 and jpeg_quality 1 to 100",
            value=(max_side_px, jpeg_quality),
        )
    if damage not in get_args(DamagePolicy):
        raise InputError("unknown damage policy", value=damage, remedy="use skip, use or fail")
    source = _Source.read(path, max_side_px, jpeg_quality, seek=seek)
    looks = [_look(source.index, policy, window) for policy, (_, window) in zip(policies, asks, strict=True)]
    decoded = source.decode(frozenset[int]().union(*(look.wanted for look in looks)))
    is_shared = decoded.is_clean or len(looks) == 1
    digest = source_sha256 or file_sha256(path)
    return tuple(
        _sampled(source, look, decoded if is_shared else source.decode(look.wanted), digest, damage) for look in looks
    )


@dataclass(frozen=True, slots=True)
class _Look:
    """When to look, and the ticks of the frame on screen then; None where that is cut off or lost."""

    policy: Policy
    times_s: tuple[float, ...]
    on_screen: tuple[int | None, ...]
    counted: int | None

    @property
    def wanted(self) -> frozenset[int]:
        return frozenset(p for p in self.on_screen if p is not None)


@dataclass(frozen=True, slots=True)
class _Decoded:
    """JPEG pictures by ticks, and which of them may show damage; ``is_clean``: no damage was met anywhere."""

    pictures: dict[int, _Picture]
    corrupt: frozenset[int]
    is_clean: bool


@dataclass(frozen=True, slots=True)
class _Source:
    """A file whose time stamps are known, and how pictures are made of it."""

    path: Path
    index: PictureIndex
    aspect: Fraction
    codec: str
    max_side_px: int
    jpeg_quality: int
    seek: bool

    @classmethod
    def read(cls, path: Path, max_side_px: int, jpeg_quality: int, *, seek: bool) -> _Source:
        with open_media(path) as container:
            stream = picture_stream(container)
            if stream is None:
                raise NoStream("has no picture", where=str(path))
            keep_only(container, stream)
            index = read_index(container, stream, path)
            aspect = stream.sample_aspect_ratio or Fraction(1)
            return cls(path, index, aspect, stream.codec_context.name, max_side_px, jpeg_quality, seek)

    def decode(self, wanted: frozenset[int]) -> _Decoded:
        source = WantedFrames(self.path, self.index, wanted, seek=self.seek)
        scaler = _new_scaler()
        pictures: dict[int, _Picture] = {}
        for pts, frame in source:
            if frame is None:
                pictures.pop(pts, None)
            else:
                pictures[pts] = encode_picture(frame, self.aspect, self.max_side_px, self.jpeg_quality, scaler)
        corrupt = frozenset(pts for pts in pictures if source.leans_on_damage(pts))
        return _Decoded(pictures, corrupt, not source.met_damage and len(pictures) == len(wanted))


def _look(index: PictureIndex, policy: Policy, window: Window | None) -> _Look:
    counted: int | None = None
    frame_times_s: list[float] | None = None
    if policy.counts_frames:
        frame_times_s = [index.seconds(pts) for pts in index.shown_pts[: max(1, index.whole_frames)]]
        counted = len(counted_frames(frame_times_s, index.duration_s, window))
    times_s = grid_times(policy, index.duration_s, window, frame_times_s)
    return _Look(policy, times_s, tuple(index.on_screen(t) for t in times_s), counted)


def _sampled(source: _Source, look: _Look, decoded: _Decoded, digest: str, damage: DamagePolicy) -> Sampled:
    index, pictures = source.index, decoded.pictures
    substitutes = _substitutes(source, look, pictures) if damage == "use" else {}
    if not substitutes and not look.wanted & pictures.keys():
        why = f"the decoder {source.codec} gives no picture for them" if look.wanted else "they are cut off or lost"
        raise UnreadableMedia(
            f"not one of the {len(look.times_s)} wanted frames can be decoded: {why}", where=str(source.path)
        )
    frames: list[Frame] = []
    missing: list[float] = []
    last: int | None = None
    for place, (time_s, shown) in enumerate(zip(look.times_s, look.on_screen, strict=True)):
        if shown is None or shown not in pictures:
            if place in substitutes:
                pts, picture = substitutes[place]
                frames.append(Frame(place, time_s, index.seconds(pts), "substituted", *picture, digest))
            else:
                missing.append(time_s)
        elif look.policy.kind == "fps" or shown != last:
            status: Status = "corrupt" if shown in decoded.corrupt else "ok"
            frames.append(Frame(place, time_s, index.seconds(shown), status, *pictures[shown], digest))
            last = shown
    if damage == "fail":
        _refuse_damage(source.path, missing, [f.time_s for f in frames if f.status == "corrupt"])
    return Sampled(tuple(frames), digest, str(look.policy), len(look.times_s), tuple(missing), look.counted)


def _substitutes(source: _Source, look: _Look, pictures: dict[int, _Picture]) -> dict[int, tuple[int, _Picture]]:
    """For each place in the grid whose frame is missing: the nearest earlier frame that can be decoded, if any."""
    # What a cut file holds beyond its end may be torn.
    shown = source.index.shown_pts[: source.index.whole_frames]
    # How many of the frames shown come before the missing one.
    left = {
        place: bisect_right(shown, time_s, key=source.index.seconds) if pts is None else bisect_left(shown, pts)
        for place, (time_s, pts) in enumerate(zip(look.times_s, look.on_screen, strict=True))
        if pts is None or pts not in pictures
    }
    found: dict[int, tuple[int, _Picture]] = {}
    reach = 1
    while left := {place: end for place, end in left.items() if end > 0 and place not in found}:
        tried = frozenset(shown[n] for end in left.values() for n in range(max(0, end - reach), end))
        near = source.decode(tried).pictures
        for place, end in left.items():
            pts = next((shown[n] for n in range(end - 1, max(0, end - reach) - 1, -1) if shown[n] in near), None)
            if pts is not None:
                found[place] = pts, near[pts]
            left[place] = max(0, end - reach)
        reach *= 2
    return found


def _refuse_damage(path: Path, missing: Sequence[float], corrupt: Sequence[float]) -> None:
    """Raise where there are any."""
    words = [
        f"{name} at {', '.join(f'{t:.3f}' for t in times[:_NAMED_TIMES])}"
        f"{f' and {len(times) - _NAMED_TIMES} more' if len(times) > _NAMED_TIMES else ''} s"
        for name, times in (("missing", missing), ("corrupt", corrupt))
        if times
    ]
    if words:
        raise MediaError(
            f"frames are damaged: {'; '.join(words)}",
            where=str(path),
            remedy="repair the file, or choose the damage policy skip or use",
        )


def display_size(width: int, height: int, aspect: Fraction, placed: Orientation) -> tuple[int, int]:
    """Width and height in pixels as a player shows them: pixels made square by widening, then
    turned."""
    shown = (max(1, round(width * aspect)), height)
    return (shown[1], shown[0]) if placed.swaps_sides else shown


def encode_picture(
    frame: VideoFrame, aspect: Fraction, max_side_px: int, jpeg_quality: int, scaler: VideoReformatter | None = None
) -> _Picture:
    """The frame as displayed, as JPEG, with its width and height in pixels. ``scaler``: one that is used again for the
    next frame, which saves a third of the time; same bytes."""
    try:
        import numpy as np  # noqa: PLC0415 - an extra
        from PIL import Image  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "writing frames as JPEG") from error

    width, height = display_size(frame.width, frame.height, aspect, Orientation())
    scale = min(1.0, max_side_px / max(width, height))
    scaled = (scaler or _new_scaler()).reformat(
        frame,
        width=max(1, round(width * scale)),
        height=max(1, round(height * scale)),
        format="rgb24",
        interpolation="AREA",
        threads=1,
    )
    pixels = np.ascontiguousarray(orientation(frame).applied(scaled.to_ndarray()))
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=jpeg_quality)
    return buffer.getvalue(), pixels.shape[1], pixels.shape[0]


def _new_scaler() -> VideoReformatter:
    from av.video.reformatter import VideoReformatter  # noqa: PLC0415 - an extra

    return VideoReformatter()
