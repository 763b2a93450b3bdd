"""When the picture begins, read no further than needed: the zero of all times of a medium."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.media.container import AVI, MATROSKA, demuxed, keep_only, open_media, picture_stream
from onlooker.media.index import gives_picture, is_packed, read_index

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.stream import VideoStream


def picture_start_s(path: Path) -> Fraction | None:
    """Time stamp, in seconds, of the first frame shown, as ``read_index`` finds it; None without a picture.

    No picture is shown before it is decoded, so the search ends where times of decoding reach the earliest time of
    showing. Where the packets do not tell, all of them are read. Raises ``UnreadableMedia`` where the file cannot be
    opened, or not even all packets tell.
    """
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            return None
        keep_only(container, stream)
        start_s = _early_start_s(container, stream)
    if start_s is not None:
        return start_s
    with open_media(path) as container:
        stream = picture_stream(container)
        assert stream is not None, "it was there a moment ago"
        keep_only(container, stream)
        index = read_index(container, stream, path)
        return index.start_pts * index.time_base


def _early_start_s(container: InputContainer, stream: VideoStream) -> Fraction | None:
    """None where the first packets do not tell: damage, or times of showing that are missing."""
    from av.error import FFmpegError  # noqa: PLC0415 - an extra

    name, time_base = container.format.name, stream.time_base
    key_pts: int | None = None
    first: int | None = None
    try:
        for place, packet in enumerate(p for p in demuxed(container, stream) if p.size):
            if time_base is None or packet.is_corrupt or (not place and is_packed(packet, stream)):
                return None
            if name == AVI:  # which has times of decoding only
                return None if packet.dts is None else packet.dts * time_base
            if packet.pts is None:
                if name != MATROSKA:
                    return None
                continue
            if key_pts is None and packet.is_keyframe:
                key_pts = packet.pts
            if first is not None and packet.dts is not None and packet.dts >= first:
                break
            if (
                key_pts is not None
                and packet.pts >= key_pts
                and not packet.is_discard
                and gives_picture(packet, stream)
            ):
                first = packet.pts if first is None else min(first, packet.pts)
    except FFmpegError:
        return None
    return None if first is None or time_base is None else first * time_base
