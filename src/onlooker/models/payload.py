"""Parts of a request as bytes on the wire."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import Mapping

from onlooker.errors import ModelError
from onlooker.models.request import Request, Video

_CHUNK_BYTES = 1 << 20
# Start-of-frame markers of JPEG (ITU-T T.81, table B.1); C4, C8 and CC in the same range mean something else.
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_BARE_MARKERS = frozenset((0x01, *range(0xD0, 0xD8)))


def in_base64(data: bytes) -> str:
    """As text, standard alphabet."""
    return base64.b64encode(data).decode("ascii")


async def read_videos(request: Request, where: str) -> Mapping[str, bytes]:
    """The bytes of the video files of a request by their digest, read beside the event loop.

    Raises ModelError where a file cannot be read or is no longer the one that was prepared.
    """
    videos = {part.sha256: part for part in request.parts if isinstance(part, Video)}
    return {sha256: await asyncio.to_thread(_read, video, where) for sha256, video in videos.items()}


def check_file(video: Video, where: str) -> None:
    """Raise ModelError unless the file of the video is there and has the bytes it was prepared with."""
    digest = hashlib.sha256()
    try:
        with video.path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    except OSError as error:
        raise _unreadable(video, where, error) from error
    _compare(digest.hexdigest(), video, where)


def jpeg_size_px(jpeg: bytes) -> tuple[int, int] | None:
    """Width and height as the frame header says (ITU-T T.81, B.2.2); None where the bytes hold no such header."""
    at = 2
    while jpeg[:2] == b"\xff\xd8" and at + 9 <= len(jpeg):
        if jpeg[at] != 0xFF:
            return None
        marker = jpeg[at + 1]
        if marker in _FRAME_MARKERS:
            return int.from_bytes(jpeg[at + 7 : at + 9], "big"), int.from_bytes(jpeg[at + 5 : at + 7], "big")
        if marker == 0xFF:  # a fill byte
            at += 1
        elif marker in _BARE_MARKERS:
            at += 2
        else:
            at += 2 + int.from_bytes(jpeg[at + 2 : at + 4], "big")
    return None


def _read(video: Video, where: str) -> bytes:
    try:
        data = video.path.read_bytes()
    except OSError as error:
        raise _unreadable(video, where, error) from error
    _compare(hashlib.sha256(data).hexdigest(), video, where)
    return data


def _compare(sha256: str, video: Video, where: str) -> None:
    if sha256 != video.sha256:
        raise ModelError(
            f"the video file {video.path.name} changed after it was prepared",
            where=where,
            value=sha256[:12],
            remedy="run again, so that it is prepared anew",
        )


def _unreadable(video: Video, where: str, error: OSError) -> ModelError:
    return ModelError(f"cannot read the video file {video.path.name} ({error.strerror})", where=where)
