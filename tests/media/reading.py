"""Reading test clips back by plain decoding, with none of the package's own code."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from tests.media.making import Pixels


def luma(path: Path) -> list[tuple[float, Pixels]]:
    """(time in seconds as it stands in the file, Y plane) of every frame."""
    found = []
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            assert frame.pts is not None
            assert frame.time_base is not None
            plane = np.asarray(frame.reformat(format="yuv420p").to_ndarray(), np.uint8)[: frame.height]
            found.append((float(frame.pts * frame.time_base), plane))
    return found


def counts(path: Path, digits: int = 3) -> list[tuple[float, int]]:
    """(time in seconds, rounded to ``digits``, counter) of every frame of a counter clip."""
    return [(round(time_s, digits), round((float(plane.mean()) - 16) / 4)) for time_s, plane in luma(path)]


def packets(path: Path, kind: str = "video") -> list[bytes]:
    """The bytes of every packet of the first picture or sound stream."""
    with av.open(str(path)) as container:
        streams = container.streams.video if kind == "video" else container.streams.audio
        return [bytes(packet) for packet in container.demux(streams[0]) if packet.size]
