"""The frames of a report: made small, embedded once each, within a stated budget."""

from __future__ import annotations

import base64
import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from onlooker.errors import MissingExtra
from onlooker.report.content import FrameView, Limits
from onlooker.report.wording import evenly

_QUALITY = 62


@dataclass(frozen=True, slots=True)
class Picture:
    """A small JPEG. ``id`` is its place in the page; ``uri`` the data address."""

    id: str
    uri: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Shown:
    """One frame of a strip. ``picture`` is None where there is nothing to show; ``why_not`` says why."""

    time_s: float
    pts_s: float | None
    status: str
    picture: Picture | None
    why_not: str | None = None
    of: str | None = None


@dataclass(slots=True)
class Album:
    """Pictures that the page embeds, by the sha256 of the frame they were made from.

    ``frames_per_answer`` is what the budget allowed, at most what the limits say. ``size_bytes`` counts the characters
    of all embedded data addresses, ``left_out`` the chosen frames that the budget kept out.
    """

    limits: Limits
    frames_per_answer: int
    pictures: dict[str, Picture] = field(default_factory=dict)
    size_bytes: int = 0
    left_out: int = 0
    _made: dict[str, Picture | None] = field(default_factory=dict)

    def strip(self, frames: Sequence[FrameView]) -> tuple[Shown, ...]:
        """The frames of one answer that are shown, evenly chosen."""
        return tuple(self._show(frames[i]) for i in _chosen(frames, self.frames_per_answer))

    def fits(self, strips: Sequence[Sequence[FrameView]], allowed: int) -> bool:
        """Whether ``allowed`` frames of each strip stay within the budget together."""
        pictures: dict[str, int] = {}
        for frames in strips:
            for place in _chosen(frames, allowed):
                picture = self._picture(frames[place].jpeg)
                if picture is not None:
                    pictures[picture.id] = len(picture.uri)
            if sum(pictures.values()) > self.limits.frame_bytes:
                return False
        return True

    def _show(self, frame: FrameView) -> Shown:
        picture = self._picture(frame.jpeg)
        why_not = None
        if frame.jpeg is None:
            why_not = "not kept" if frame.status == "ok" else frame.status
        elif picture is None:
            why_not = "not a readable JPEG"
        elif picture.id not in self.pictures:
            if self.size_bytes + len(picture.uri) > self.limits.frame_bytes:
                self.left_out += 1
                picture, why_not = None, "left out for size"
            else:
                self.pictures[picture.id] = picture
                self.size_bytes += len(picture.uri)
        return Shown(frame.time_s, frame.pts_s, frame.status, picture, why_not, frame.of)

    def _picture(self, jpeg: bytes | None) -> Picture | None:
        if jpeg is None:
            return None
        digest = hashlib.sha256(jpeg).hexdigest()
        if digest not in self._made:
            self._made[digest] = _shrink(digest, jpeg, self.limits.frame_side_px)
        return self._made[digest]


def plan_album(strips: Sequence[Sequence[FrameView]], limits: Limits) -> Album:
    """An album that takes as many frames an answer as the budget allows for all of them alike.

    Tries the limit, then 8, 6, 4, 3, 2 and 1 frames. Where one frame an answer is still too much, the first ones in
    the report's order are kept. Raises ``MissingExtra`` without Pillow where there is a frame to show.
    """
    most = limits.frames_per_answer
    album = Album(limits, most)
    for allowed in (most, *(k for k in (8, 6, 4, 3, 2, 1) if k < most)):
        album.frames_per_answer = allowed
        if album.fits(strips, allowed):
            break
    return album


def _chosen(frames: Sequence[FrameView], allowed: int) -> list[int]:
    """The places of at most ``allowed`` frames; where some are left out, as many of each view, at least one."""
    if len(frames) <= allowed:
        return list(range(len(frames)))
    views: dict[str | None, list[int]] = {}
    for place, frame in enumerate(frames):
        views.setdefault(frame.of, []).append(place)
    each = max(1, allowed // len(views))
    return sorted(places[k] for places in views.values() for k in evenly(len(places), each))


def _shrink(digest: str, jpeg: bytes, side_px: int) -> Picture | None:
    try:
        from PIL import Image  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("report", "showing frames in a report") from error
    try:
        with Image.open(io.BytesIO(jpeg)) as source:
            source.draft("RGB", (2 * side_px, 2 * side_px))
            small = source.convert("RGB")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None  # the strip says "not a readable JPEG" in its place
    small.thumbnail((side_px, side_px), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    small.save(out, "JPEG", quality=_QUALITY, optimize=True)
    uri = "data:image/jpeg;base64," + base64.b64encode(out.getvalue()).decode("ascii")
    return Picture(f"frame-{digest[:20]}", uri, small.width, small.height)
