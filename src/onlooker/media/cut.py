"""A stretch of video as an mp4 file of its own: copied where the copy is exact, else encoded anew.

Times of the copy are those of the source less the window's start, to a tick; the frame on screen at the window's start
is its first frame, at 0. What is encoded anew is turned upright, gets square pixels, even sides (an odd one loses one
pixel by scaling) and 8 bits. HDR keeps its transfer curve, and says so in the file: no tone mapping, as in sampled
frames. Variable frame rates stay variable. Sound is cut and filled to the sample.

A byte budget: the bit rate follows from the length, and no quantizer goes above ``LOWEST_QP``. Two tries, then a
smaller side, down to ``LOWEST_SIDE_PX``; what does not fit then is refused.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from onlooker.errors import InputError, MediaError
from onlooker.media.budget import (
    LOWEST_QP,
    LOWEST_SIDE_PX,
    LOWEST_SOUND_BPS,
    MOST_SOUND_BPS,
    STEREO_BPS,
    Rate,
    lower_rate,
    lower_side,
    rate_within,
)
from onlooker.media.cache import decoder_version
from onlooker.media.clip import Clip, kept_clip, measured, replacing
from onlooker.media.copying import copied_size, copy_stretch, places_to_copy
from onlooker.media.digest import file_sha256
from onlooker.media.encode import (
    SOUND_BPS_A_CHANNEL,
    PictureEncoder,
    SoundEncoder,
    as_displayed,
    even_size,
    new_scaler,
    open_mp4,
    shown_size,
    ticks_per_second,
)
from onlooker.media.pictures import Advance
from onlooker.media.soundtrack import sound_pieces
from onlooker.media.stretch import DamageFound, FirstFrameLost, OrderedFrames, Stretch, find_stretch

# Raised whenever the same request would give another file.
CLIP_REVISION = 2


def cut_clip(
    path: Path,
    out: Path,
    *,
    window: tuple[float, float] | None = None,
    max_side_px: int | None = None,
    max_bytes: int | None = None,
    keep_sound: bool = True,
    max_fps: float | None = None,
    source_sha256: str | None = None,
    advance: Advance | None = None,
) -> Clip:
    """Write the medium, or ``window`` = (start_s, end_s) of it from the first frame shown, to ``out`` as mp4.

    ``max_side_px``: the longer side at most, as displayed (at least 2); ``max_bytes``: the file at most;
    ``keep_sound``: the default track, if there is one; ``max_fps``: only frames on screen at that grid, at their own
    times. ``advance``: called with frames encoded and their number, from the first again where it takes another try.
    The same input and options give the same bytes; ``out`` is replaced in one step.

    Raises ``InputError`` (options, ``out``), ``NoStream`` without a picture, ``UnreadableMedia`` where nothing of the
    window decodes, ``MediaError`` where it cannot be made to fit ``max_bytes``, ``OnlookerError`` where ``out`` cannot
    be written.
    """
    if max_bytes is not None and max_bytes < 1:
        raise InputError("max_bytes must be at least 1", value=max_bytes)
    stretch = find_stretch(path, window, max_fps=max_fps)
    digest = source_sha256 or file_sha256(path)
    with replacing(out, [path]) as target:
        opening = opened(stretch)
        clip = _copied(opening, keep_sound, target, max_side_px, max_bytes, digest)
        if isinstance(clip, str):
            written = _fitted(opening, keep_sound, target, even_size(*opening.size, max_side_px), max_bytes, advance)
            clip = _stated(written, target, digest, why=clip)
    return clip.placed(out)


def cached_clip(
    cache_dir: Path,
    path: Path,
    *,
    window: tuple[float, float] | None = None,
    max_side_px: int | None = None,
    max_bytes: int | None = None,
    keep_sound: bool = True,
    max_fps: float | None = None,
) -> Clip:
    """``cut_clip`` through the cache in ``cache_dir``: the same file, from disk where it is there, under
    ``cache_dir``/clips by the source's content and the options. Raises what ``cut_clip`` raises."""
    digest = file_sha256(path, cache_dir)
    options = [None if window is None else [float(t) for t in window], max_side_px, max_bytes, keep_sound, max_fps]
    return kept_clip(
        cache_dir,
        ["cut", digest, *options, decoder_version(), CLIP_REVISION],
        {path: digest},
        lambda entry: cut_clip(
            path,
            entry,
            window=window,
            max_side_px=max_side_px,
            max_bytes=max_bytes,
            keep_sound=keep_sound,
            max_fps=max_fps,
            source_sha256=digest,
        ),
    )


@dataclass(frozen=True, slots=True)
class Opening:
    """A stretch whose first frame decodes, the size of that frame as displayed, whether damage was met before it."""

    stretch: Stretch
    size: tuple[int, int]
    is_damaged: bool


def opened(stretch: Stretch) -> Opening:
    """Decode up to the first frame that can be decoded; the stretch begins there."""
    is_damaged = False
    while True:
        try:
            _, frame = next(iter(OrderedFrames(stretch, is_damaged=is_damaged)))
        except FirstFrameLost as lost:
            stretch = stretch.beginning_at(lost.pts)
        except DamageFound:
            is_damaged = True
        else:
            return Opening(stretch, shown_size(frame, stretch.aspect), is_damaged)


def _copied(
    opening: Opening, keep_sound: bool, target: Path, max_side_px: int | None, max_bytes: int | None, digest: str
) -> Clip | str:
    """The copy, or the reason why the picture has to be encoded anew."""
    stretch = opening.stretch
    if opening.is_damaged:
        return "parts of the file are damaged"
    if max_side_px is not None and max(opening.size) > max_side_px:
        return f"the longer side is more than {max_side_px} px"
    places = places_to_copy(stretch)
    if isinstance(places, str):
        return places
    too_large = f"the copy is larger than {max_bytes} bytes"
    if max_bytes is not None and copied_size(stretch.path, places) > max_bytes:
        return too_large
    sound = sound_pieces(stretch.path, stretch.zero_s, stretch.duration_s) if keep_sound else None
    is_sound_copied = copy_stretch(stretch, places, sound, target)
    sha256, size_bytes, bit_rate = measured(target, float(stretch.duration_s))
    if max_bytes is not None and size_bytes > max_bytes:
        return too_large
    start_s, end_s = stretch.window
    return Clip(
        path=target,
        sha256=sha256,
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        sources_sha256=(digest,),
        has_sound=sound is not None,
        width_px=opening.size[0],
        height_px=opening.size[1],
        fps=len(stretch.shown) / float(stretch.duration_s),
        frames=len(stretch.shown),
        last_pts_s=float(stretch.time_s(stretch.shown[-1])),
        duration_s=float(stretch.duration_s),
        bit_rate=bit_rate,
        picture="copied",
        sound="none" if is_sound_copied is None else "copied" if is_sound_copied else "re-encoded",
        corrupt=None,
    )


@dataclass(frozen=True, slots=True)
class _Written:
    """What an encoding gave."""

    stretch: Stretch
    size: tuple[int, int]
    has_sound: bool
    last_pts_s: float
    duration_s: float
    frames: int
    missing: int
    corrupt: int
    is_damaged: bool


def _fitted(
    opening: Opening,
    keep_sound: bool,
    target: Path,
    size: tuple[int, int],
    max_bytes: int | None,
    advance: Advance | None,
) -> _Written:
    """Encode, at once without a budget; else with lower rates and smaller sides until it fits."""
    written = _Written(opening.stretch, size, keep_sound, 0.0, 0.0, 0, 0, 0, opening.is_damaged)
    if max_bytes is None:
        return _encoded(written, target, Rate(None, MOST_SOUND_BPS), advance)
    stretch = opening.stretch
    while True:
        rate = rate_within(max_bytes, float(stretch.duration_s), len(stretch.shown), has_sound=written.has_sound)
        for _ in range(2):
            written = _encoded(written, target, rate, advance)
            size_bytes = target.stat().st_size
            if size_bytes <= max_bytes:
                return written
            rate = lower_rate(rate, size_bytes, max_bytes)
        smaller = lower_side(written.size, size_bytes, max_bytes)
        if smaller is None:
            raise MediaError(
                f"does not fit into {max_bytes} bytes at the lowest quality (quantizer {LOWEST_QP}, longer side "
                f"{LOWEST_SIDE_PX} px, sound at {LOWEST_SOUND_BPS // 1000} kbit/s): it takes {size_bytes}",
                where=str(stretch.path),
                remedy="allow more bytes, cut a shorter window, allow fewer frames a second or leave the sound out",
            )
        written = dataclasses.replace(written, size=smaller)


def _encoded(before: _Written, target: Path, rate: Rate, advance: Advance | None) -> _Written:
    """Encode the stretch; where damage shows, once more from the start of the file."""
    while True:
        try:
            return _encoded_once(before, target, rate, advance)
        except FirstFrameLost as lost:
            before = dataclasses.replace(before, stretch=before.stretch.beginning_at(lost.pts))
        except DamageFound:
            before = dataclasses.replace(before, is_damaged=True)


def _encoded_once(before: _Written, target: Path, rate: Rate, advance: Advance | None) -> _Written:
    stretch = before.stretch
    scale = ticks_per_second(stretch.index.time_base)
    frames = OrderedFrames(stretch, is_damaged=before.is_damaged)
    pieces = sound_pieces(stretch.path, stretch.zero_s, stretch.duration_s) if before.has_sound else None
    if pieces is not None and rate.sound_bps < STEREO_BPS:
        pieces = dataclasses.replace(pieces, layout="mono")
    fps = (len(stretch.shown) / max(stretch.duration_s, Fraction(1, scale))).limit_denominator(1001)
    picture: PictureEncoder | None = None
    scaler = new_scaler()
    with open_mp4(target, scale) as out:
        sound: SoundEncoder | None = None
        for pts, frame in frames:
            if picture is None:
                picture = PictureEncoder(out, before.size, scale, fps, rate, frame)
                if pieces is not None:
                    sound = SoundEncoder(out, pieces, min(rate.sound_bps, SOUND_BPS_A_CHANNEL * pieces.channels))
            time_s = stretch.time_s(pts)
            if sound is not None:
                sound.write_until(time_s)
            picture.add(as_displayed(frame, before.size, scaler), max(round(time_s * scale), picture.last_tick + 1))
            if advance is not None:
                advance(picture.count, len(stretch.shown))
        assert picture is not None, "without a frame OrderedFrames raises"
        picture.finish(round(stretch.duration_s * scale))
        if sound is not None:
            sound.write_until(None)
    return dataclasses.replace(
        before,
        has_sound=pieces is not None,
        last_pts_s=picture.last_tick / scale,
        duration_s=picture.end_tick / scale,
        frames=picture.count,
        missing=frames.missing,
        corrupt=frames.corrupt,
    )


def _stated(written: _Written, target: Path, digest: str, why: str) -> Clip:
    stretch = written.stretch
    sha256, size_bytes, bit_rate = measured(target, written.duration_s)
    start_s, end_s = stretch.window
    return Clip(
        path=target,
        sha256=sha256,
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        sources_sha256=(digest,),
        has_sound=written.has_sound,
        width_px=written.size[0],
        height_px=written.size[1],
        fps=written.frames / written.duration_s,
        frames=written.frames,
        last_pts_s=written.last_pts_s,
        duration_s=written.duration_s,
        bit_rate=bit_rate,
        picture="re-encoded",
        sound="re-encoded" if written.has_sound else "none",
        why=why,
        missing=written.missing,
        corrupt=written.corrupt,
        lost_s=stretch.lost_s,
    )
