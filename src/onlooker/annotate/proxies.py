"""Whether browsers play a medium, and an H.264 copy with the same time base for those that some cannot play."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from onlooker.errors import MediaError
from onlooker.media.card import MediaCard, VideoCard, probe
from onlooker.media.cut import cached_clip

BROWSERS: Final = ("Chromium", "Firefox", "Safari")
# A picture that begins later than this in its file: browsers count from the file's zero, onlooker from the first frame.
_LATE_S: Final = 0.001

# What plays where without the help of the operating system. Sources: the media pages of the Chromium project, MDN
# ("Media container formats", "Web video codec guide"), WebKit's release notes.
_CONTAINERS: Final[Mapping[str, tuple[str, ...]]] = {
    "mp4": BROWSERS,
    "webm": BROWSERS,
    "mp3": BROWSERS,
    "wav": BROWSERS,
    "flac": BROWSERS,
    "ogg": ("Chromium", "Firefox"),
}
_PICTURES: Final[Mapping[str, tuple[str, ...]]] = {
    "h264": BROWSERS,
    "vp8": BROWSERS,
    "vp9": BROWSERS,
    "av1": ("Chromium", "Firefox"),
    "hevc": ("Safari",),
    "prores": ("Safari",),
}
_SOUNDS: Final[Mapping[str, tuple[str, ...]]] = {
    "aac": BROWSERS,
    "mp3": BROWSERS,
    "opus": BROWSERS,
    "vorbis": BROWSERS,
    "flac": BROWSERS,
    "pcm_s16le": BROWSERS,
}
_MIME: Final = {"mp4": "video/mp4", "webm": "video/webm", "mp3": "audio/mpeg", "wav": "audio/wav", "flac": "audio/flac"}


@dataclass(frozen=True, slots=True)
class Playable:
    """A file that every browser plays. ``proxy``: it was made from another one, for the reason ``why``. ``frame_s``:
    the mean time a frame, None where there is no picture or its rate is not known."""

    path: Path
    mime: str
    duration_s: float
    proxy: bool = False
    why: str | None = None
    frame_s: float | None = None


def playable(path: Path, cache_dir: Path, notice: Callable[[str], None]) -> Playable:
    """The file itself where all browsers play it, else its copy from the cache, made once.

    ``notice`` is told before a copy is made, since that takes a while. Raises ``UnreadableMedia`` and what ``cut_clip``
    raises.
    """
    card = probe(path, cache_dir=cache_dir)
    faults = browser_faults(card)
    if not faults:
        return Playable(path, _mime(card), card.duration_s, frame_s=_frame_s(card))
    why = "; ".join(f"{reason} (fails in {', '.join(who)})" for reason, who in faults.items())
    notice(f"{path.name}: {why}; an H.264 copy with the same times is used")
    if card.video is None:
        raise MediaError("no browser plays this sound", where=path.name, value=why, remedy="convert it to AAC in mp4")
    clip = cached_clip(cache_dir, path)
    copied = probe(clip.path, cache_dir=cache_dir)
    left = browser_faults(copied)
    if left:
        raise MediaError("its copy cannot be played either", where=path.name, value=list(left))
    return Playable(clip.path, clip.mime, clip.duration_s, proxy=True, why=why, frame_s=_frame_s(copied))


def _frame_s(card: MediaCard) -> float | None:
    return 1 / card.video.average_fps if card.video is not None and card.video.average_fps else None


def browser_faults(card: MediaCard) -> dict[str, tuple[str, ...]]:
    """{reason: the browsers that fail for it}; empty where all play the medium with the bundle's times."""
    found: dict[str, tuple[str, ...]] = {}

    def note(reason: str, plays: tuple[str, ...]) -> None:
        fails = tuple(browser for browser in BROWSERS if browser not in plays)
        if fails:
            found[reason] = fails

    container = _container(card)
    note(f"container {card.container}", _CONTAINERS.get(container, ()))
    if card.video is not None:
        _note_picture(card.video, note)
    for track in card.sound:
        if track.index == card.default_sound:
            note(f"sound {track.codec}", _SOUNDS.get(track.codec, ()))
    if len(card.sound) > 1 and card.default_sound != card.sound[0].index:
        note("the default sound is not the first track", ())
    return found


def _note_picture(video: VideoCard, note: Callable[[str, tuple[str, ...]], None]) -> None:
    note(f"picture {video.codec}", _PICTURES.get(video.codec, ()))
    if video.codec == "h264" and (video.bit_depth > 8 or "420" not in (video.pix_fmt or "")):
        note(f"H.264 as {video.pix_fmt}", ("Chromium",))
    if abs(video.first_pts_s) > _LATE_S:
        note(f"the first frame stands at {video.first_pts_s:.3f} s", ())
    if video.damage != "none":
        note("parts of the file are damaged", ())


def _container(card: MediaCard) -> str:
    """One word for libav's list of names."""
    names = card.container.split(",")
    if "mp4" in names:
        return "mp4"
    if "webm" in names:
        # libav has one demuxer for both. WebM is Matroska with these codecs only.
        codecs = {track.codec for track in card.sound} | ({card.video.codec} if card.video else set())
        return "webm" if codecs <= {"vp8", "vp9", "av1", "opus", "vorbis"} else "matroska"
    return names[0]


def _mime(card: MediaCard) -> str:
    mime = _MIME.get(_container(card), "application/octet-stream")
    return mime if card.video is not None else mime.replace("video/", "audio/")
