"""Frames with their times, the same bytes whichever way they were reached.

The frame on screen at a grid time t is the last one shown at or before it: pts <= first pts + t, give or take
the container's rounding. Frame rates and frame numbers are never used. Which frames those are follows from the
packets' time stamps before anything is decoded, so a frame that cannot be decoded is known to be missing and is
never replaced by a neighbour.

``uniform:N`` asks for a number of pictures: grid times that fall on one frame keep the first, and a
clip of nine frames gives nine. ``fps:R`` asks what was on screen at each time: a frame that is held
for three seconds is the answer at all three grid times, and stands there three times with the same
``pts_s``.
"""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from onlooker.errors import InputError, MissingExtra, NoStream, UnreadableMedia
from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.decode import WantedFrames
from onlooker.media.digest import file_sha256, write_atomically
from onlooker.media.grid import Policy, grid_times, parse_policy
from onlooker.media.index import read_index

if TYPE_CHECKING:
    from av.video.frame import VideoFrame

Status = Literal["ok", "corrupt"]
_FRAME_FILE = re.compile(r"\d{5,}\.jpg")


@dataclass(frozen=True, slots=True)
class Frame:
    """One sampled frame.

    ``index``: place in the sampling grid, from 0; ``time_s``: grid time; ``pts_s``: the frame's own
    time, both in seconds from the first frame shown; ``jpeg``: the picture as displayed (rotated,
    square pixels), ``width_px`` x ``height_px``. ``corrupt``: the decoder or the demuxer
    reported damage in it, or in a frame it may be predicted from. Codecs carry no check sums: damage that decodes
    without an error (most of it in GIF, Theora, VP9, WMV and MPEG-4 part 2) is not known.
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
    second look at one frame.
    """

    frames: tuple[Frame, ...]
    source_sha256: str
    policy: str
    wanted: int
    missing: tuple[float, ...]


def sample(
    path: Path,
    policy: Policy | str,
    *,
    window: tuple[float, float] | None = None,
    max_side_px: int = 512,
    jpeg_quality: int = 90,
    source_sha256: str | None = None,
    seek: bool = True,
) -> Sampled:
    """Sample ``path`` by ``policy`` (see ``grid``), in ``window`` = (start_s, end_s) if given.

    Pictures are scaled down, never up, so that the longer side is at most ``max_side_px``.
    ``seek=False`` decodes from the start to the last wanted frame instead of jumping to key frames:
    slower, same bytes. Memory does not grow with the length. ``source_sha256``: the file's digest
    where the caller knows it.

    Raises ``InputError`` (policy, window, size), ``NoStream`` without a picture, ``UnreadableMedia``, also where not
    one wanted frame can be decoded.
    """
    if isinstance(policy, str):
        policy = parse_policy(policy)
    if max_side_px < 1 or not 1 <= jpeg_quality <= 100:
        raise InputError(
            "max_side_px must be at least 1 and jpeg_quality 1 to 100",
            value=(max_side_px, jpeg_quality),
        )
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            raise NoStream("has no picture", where=str(path))
        keep_only(container, stream)
        index = read_index(container, stream, path)
        times = grid_times(policy, index.duration_s, window)
        on_screen = [index.on_screen(t) for t in times]
        aspect = stream.sample_aspect_ratio or Fraction(1)
        codec = stream.codec_context.name
    wanted = WantedFrames(path, index, frozenset(p for p in on_screen if p is not None), seek=seek)
    pictures: dict[int, tuple[bytes, int, int]] = {}
    for pts, frame in wanted:
        if frame is None:
            pictures.pop(pts, None)
        else:
            pictures[pts] = encode_picture(frame, aspect, max_side_px, jpeg_quality)
    if not pictures:
        why = f"the decoder {codec} gives no picture for them" if wanted.wanted else "they are cut off or lost"
        raise UnreadableMedia(f"not one of the {len(times)} wanted frames can be decoded: {why}", where=str(path))
    digest = source_sha256 or file_sha256(path)
    frames: list[Frame] = []
    missing: list[float] = []
    for place, (time_s, shown) in enumerate(zip(times, on_screen, strict=True)):
        if shown is None or shown not in pictures:
            missing.append(time_s)
        elif policy.kind == "fps" or not frames or index.seconds(shown) != frames[-1].pts_s:
            status: Status = "corrupt" if wanted.leans_on_damage(shown) else "ok"
            frames.append(Frame(place, time_s, index.seconds(shown), status, *pictures[shown], digest))
    return Sampled(tuple(frames), digest, str(policy), len(times), tuple(missing))


def display_size(width: int, height: int, aspect: Fraction, rotation_deg: int) -> tuple[int, int]:
    """Width and height in pixels as a player shows them: pixels made square by widening, then
    turned."""
    shown = (max(1, round(width * aspect)), height)
    return shown if rotation_deg % 180 == 0 else (shown[1], shown[0])


def encode_picture(frame: VideoFrame, aspect: Fraction, max_side_px: int, jpeg_quality: int) -> tuple[bytes, int, int]:
    """The frame as displayed, as JPEG, with its width and height in pixels."""
    try:
        import numpy as np  # noqa: PLC0415 - an extra
        from PIL import Image  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "writing frames as JPEG") from error

    width, height = display_size(frame.width, frame.height, aspect, 0)
    scale = min(1.0, max_side_px / max(width, height))
    scaled = frame.reformat(
        width=max(1, round(width * scale)),
        height=max(1, round(height * scale)),
        format="rgb24",
        interpolation="AREA",
    )
    # The display matrix turns counter-clockwise, as rot90 does.
    pixels = np.ascontiguousarray(np.rot90(scaled.to_ndarray(), round(frame.rotation / 90)))
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=jpeg_quality)
    return buffer.getvalue(), pixels.shape[1], pixels.shape[0]


def write_frames(sampled: Sampled, out_dir: Path) -> Path:
    """Write one JPEG a frame and ``frames.json``, which lists ``file``, ``index``, ``time_s``,
    ``pts_s`` (and ``status`` of damaged ones); return its path.

    The list is written after the pictures and atomically, so it never names a file that is not there. Pictures that
    the ``frames.json`` of an earlier call lists are removed; nothing else in the folder is touched. Raises
    ``InputError`` where ``out_dir`` cannot be written or holds a ``frames.json`` of somebody else.
    """
    target = out_dir / "frames.json"
    rows: list[dict[str, object]] = []
    try:
        if out_dir.exists() and not out_dir.is_dir():
            raise InputError("is a file, not a folder", where=str(out_dir), remedy="name a folder for the frames")
        former = _listed_files(target)
        for frame in sampled.frames:
            name = f"{frame.index:05d}.jpg"
            write_atomically(out_dir / name, frame.jpeg)
            row = {"file": name, "index": frame.index, "time_s": frame.time_s, "pts_s": frame.pts_s}
            rows.append(row if frame.status == "ok" else {**row, "status": frame.status})
        write_atomically(target, (json.dumps(rows, indent=1) + "\n").encode())
        for name in former - {str(row["file"]) for row in rows}:
            (out_dir / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"frames cannot be written here ({error.strerror or error})",
            where=str(out_dir),
            remedy="name a folder that can be written",
        ) from error
    return target


def _listed_files(listing: Path) -> set[str]:
    """Names of the pictures that the listing of an earlier call holds; empty without one."""
    if not listing.exists():
        return set()
    try:
        names = [row["file"] for row in json.loads(listing.read_bytes())]
        is_ours = all(_FRAME_FILE.fullmatch(name) for name in names)
    except (ValueError, TypeError, KeyError, RecursionError):
        names, is_ours = [], False
    if not is_ours:
        raise InputError(
            "is not a list of frames that this command wrote, and is not overwritten",
            where=str(listing),
            remedy="name another folder",
        )
    return set(names)
