"""Every frame decoded once, to find the damage that the packets do not tell of."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from onlooker.errors import NoStream
from onlooker.media.container import keep_only, open_media, picture_stream
from onlooker.media.decode import WantedFrames
from onlooker.media.index import read_index


@dataclass(frozen=True, slots=True)
class Checkup:
    """How many of the ``frames`` decode without a word (``ok``), may show damage (``corrupt``), or give no picture
    (``undecodable``); ``first_damage_s``: where the first that is not ``ok`` would be shown, None where all are."""

    frames: int
    ok: int
    corrupt: int
    undecodable: int
    first_damage_s: float | None


def check_frames(path: Path) -> Checkup:
    """Decode all frames of the picture, at the price of a full decode. What decodes without an error counts as ``ok``,
    see ``Frame.status`` for what that means.

    Raises ``NoStream`` without a picture, ``UnreadableMedia`` where nothing can be read.
    """
    with open_media(path) as container:
        stream = picture_stream(container)
        if stream is None:
            raise NoStream("has no picture", where=str(path))
        keep_only(container, stream)
        index = read_index(container, stream, path)
    wanted = WantedFrames(path, index, frozenset(index.shown_pts))
    decoded: set[int] = set()
    for pts, frame in wanted:
        if frame is None:
            decoded.discard(pts)
        else:
            decoded.add(pts)
    corrupt = {pts for pts in decoded if wanted.leans_on_damage(pts)}
    bad = [pts for pts in index.shown_pts if pts in corrupt or pts not in decoded]
    return Checkup(
        frames=len(index.shown_pts),
        ok=len(decoded) - len(corrupt),
        corrupt=len(corrupt),
        undecodable=len(index.shown_pts) - len(decoded),
        first_damage_s=index.seconds(bad[0]) if bad else None,
    )
