"""What a provider takes at most in one request, so that a run is not refused in its middle.

Checked before anything is sent. The plain numbers are there for whoever prepares media, so that frames are thinned or
made smaller by a stated rule beforehand. Bytes of media are counted as they travel: in base64, four for three.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace

from onlooker.errors import InputError, ModelError
from onlooker.models.capabilities import Provider
from onlooker.models.payload import jpeg_size_px
from onlooker.models.request import Image, Model, Request, Sound, Video

_MB = 1_000_000
_MIB = 1 << 20
# What JSON adds around one part, generously.
_PART_BYTES = 200


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits of one request; None: none is known.

    ``max_image_bytes`` and ``max_video_bytes`` are of the file itself, ``max_request_bytes`` of the body on the wire.
    ``max_image_side_px`` is the longer side; with more than ``many_images`` of them ``max_side_many_px`` holds.
    ``inline_bytes``: a body with more media than this has its videos and sounds uploaded beforehand, where the provider
    has uploads. ``max_video_s``: all videos of a request together, in seconds.
    """

    max_images: int | None = None
    max_image_bytes: int | None = None
    max_image_side_px: int | None = None
    many_images: int | None = None
    max_side_many_px: int | None = None
    max_request_bytes: int | None = None
    inline_bytes: int | None = None
    max_videos: int | None = None
    max_video_bytes: int | None = None
    max_video_s: int | None = None

    def described(self) -> str:
        """Those that are known, as one line for fingerprints."""
        known = {name: value for name, value in asdict(self).items() if value is not None}
        return ", ".join(f"{name}={value}" for name, value in known.items()) or "none known"


NO_LIMITS = Limits()

_TABLE: tuple[tuple[Provider, str, Limits], ...] = (
    # developers.openai.com/api/docs/guides/images-vision, image input requirements, read in November 2026: 500 images
    # and 50 MB of them a request, 20 MB an image. Larger ones are scaled down by the server.
    ("openai", r".*", Limits(max_images=500, max_image_bytes=20 * _MB, max_request_bytes=50 * _MB)),
    # platform.claude.com/docs/en/build-with-claude/vision, general limits, read in November 2026: 100 images a request
    # for models with a context of 200k tokens and 600 for all others, 8000 px a side, 2000 px with more than 20 images,
    # 5 MB an image (counted in base64), 32 MB a request.
    (
        "anthropic",
        r"claude-(3.*|haiku.*|[a-z]+-4(-[0-5])?(-\d{8})?)",
        Limits(
            max_images=100,
            max_image_bytes=5 * _MIB * 3 // 4,
            max_image_side_px=8000,
            many_images=20,
            max_side_many_px=2000,
            max_request_bytes=32 * _MB,
        ),
    ),
    (
        "anthropic",
        r".*",
        Limits(
            max_images=600,
            max_image_bytes=5 * _MIB * 3 // 4,
            max_image_side_px=8000,
            many_images=20,
            max_side_many_px=2000,
            max_request_bytes=32 * _MB,
        ),
    ),
    # ai.google.dev/gemini-api/docs/files and .../video-understanding, read in November 2026: 2 GB a file, 10 videos a
    # request, an hour of video at the default resolution in a context of a million tokens. Inline media: the pages now
    # say 100 MB, they said 20 MB until early 2026; the smaller one holds for every model.
    # .../image-understanding: 3600 images a request.
    (
        "google",
        r".*",
        Limits(
            max_images=3600,
            max_request_bytes=100 * _MB,
            inline_bytes=20 * _MB,
            max_videos=10,
            max_video_bytes=2_000 * _MB,
            max_video_s=3600,
        ),
    ),
    # A server of one's own has the limits its owner gave it: state them with ModelOptions.limits.
    ("compatible", r".*", NO_LIMITS),
)


def limits_of(provider: Provider, model: str, stated: Mapping[str, float] | None = None) -> Limits:
    """The row of the table for a model, with what the user states about the endpoint put over it.

    Raises InputError where ``stated`` names no limit, or is no whole number of 1 or more.
    """
    known = next(limits for p, pattern, limits in _TABLE if p == provider and re.fullmatch(pattern, model.lower()))
    names = [f.name for f in fields(Limits)]
    for name, value in (stated or {}).items():
        if name not in names:
            raise InputError("no such limit", where="limits", value=name, remedy=f"one of {', '.join(names)}")
        if value != int(value) or value < 1:
            raise InputError(f"{name} is a whole number of 1 or more", where="limits", value=value)
    return replace(known, **{name: int(value) for name, value in (stated or {}).items()})


def model_limits(model: Model) -> Limits:
    """The limits that a model knows of; none for one that has no endpoint."""
    limits = getattr(model, "limits", NO_LIMITS)
    return limits if isinstance(limits, Limits) else NO_LIMITS


def inline_bytes(request: Request) -> int:
    """How many bytes the body of a request will have with all its media inside, to within a few per cent."""
    size = len((request.system or "").encode())
    for part in request.parts:
        match part:
            case Image(jpeg=data) | Sound(wav=data):
                size += _encoded(len(data))
            case Video(size_bytes=count):
                size += _encoded(count)
            case _:
                size += len(part.text.encode())
        size += _PART_BYTES
    return size


def uploads_needed(request: Request, limits: Limits) -> bool:
    """Whether the videos and sounds of a request are to be uploaded instead of being sent inside it."""
    return limits.inline_bytes is not None and inline_bytes(request) > limits.inline_bytes


def check_request(request: Request, limits: Limits, where: str, *, uploaded: bool = False) -> None:
    """Raise ModelError, with what to do, where a request exceeds a limit; ``uploaded``: without videos and sounds."""
    images = [part for part in request.parts if isinstance(part, Image)]
    videos = [part for part in request.parts if isinstance(part, Video)]
    fewer, smaller = "give fewer frames", "make the frames smaller"
    _hold(len(images), limits.max_images, "images", where, fewer)
    many = limits.many_images is not None and len(images) > limits.many_images
    side_px = limits.max_side_many_px if many else limits.max_image_side_px
    for image in images:
        _hold(len(image.jpeg), limits.max_image_bytes, "bytes in an image", where, smaller)
        if side_px is not None and (size := jpeg_size_px(image.jpeg)) is not None:
            what = f"pixels on an image's side{f' with more than {limits.many_images} images' if many else ''}"
            _hold(max(size), side_px, what, where, f"{smaller}{f', or {fewer}' if many else ''}")
    _hold(len(videos), limits.max_videos, "videos", where, "give one video")
    for video in videos:
        _hold(video.size_bytes, limits.max_video_bytes, "bytes in a video", where, "give a shorter stretch of it")
    watched_s = sum(v.end_s - v.start_s if v.watch_s is None else v.watch_s[1] - v.watch_s[0] for v in videos)
    _hold(watched_s, limits.max_video_s, "seconds of video", where, "give a shorter stretch of it")
    sent = request if not uploaded else replace(request, parts=tuple(p for p in request.parts if _stays(p)))
    advice = "give fewer or smaller frames, or a shorter stretch of sound and video"
    _hold(inline_bytes(sent), limits.max_request_bytes, "bytes in a request", where, advice)


def _stays(part: object) -> bool:
    return not isinstance(part, Video | Sound)


def _hold(found: float, most: int | None, what: str, where: str, remedy: str) -> None:
    if most is not None and found > most:
        raise ModelError(
            f"the provider takes at most {most:,} {what}; nothing was sent",
            where=where,
            value=round(found, 3),
            remedy=remedy,
        )


def _encoded(count: int) -> int:
    return (count + 2) // 3 * 4
