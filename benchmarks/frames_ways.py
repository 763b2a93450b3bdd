"""One way of getting frames in one process, for ``frames_speed.py``: what it costs, and the numbers in its pictures.

``python frames_ways.py REQUEST``: a JSON object with ``way``, ``paths``, ``policy``, ``places`` (the frames' places in
the file), ``width``, ``height`` and ``processes``. Every way writes JPEG files of that size and quality 90. CPU seconds
count children and leave out loading the libraries. It runs in the environment of the other loaders, too, which has no
onlooker.
"""

from __future__ import annotations

import importlib
import io
import json
import multiprocessing
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

QUALITY = 90


@dataclass(frozen=True)
class Request:
    """See the module."""

    way: str
    paths: tuple[str, ...]
    policy: str
    places: tuple[int, ...]
    width: int
    height: int
    processes: int = 1


def onlooker(request: Request, path: str, out: Path) -> None:
    """``sample``, with the digest of the file."""
    from onlooker.media.frames import sample  # noqa: PLC0415 - not there in the other environment

    for frame in sample(Path(path), request.policy, max_side_px=request.width, jpeg_quality=QUALITY).frames:
        (out / f"{frame.index:05d}.jpg").write_bytes(frame.jpeg)


def onlooker_decode_only(request: Request, path: str, out: Path) -> None:
    """Our index and our decoding, no picture made of it."""
    from onlooker.media.container import keep_only, open_media, picture_stream  # noqa: PLC0415 - as above
    from onlooker.media.decode import WantedFrames  # noqa: PLC0415 - as above
    from onlooker.media.grid import grid_times, parse_policy  # noqa: PLC0415 - as above
    from onlooker.media.index import read_index  # noqa: PLC0415 - as above

    with open_media(Path(path)) as container:
        stream = picture_stream(container)
        assert stream is not None, f"{out}: the clips have a picture"
        keep_only(container, stream)
        index = read_index(container, stream, Path(path))
    times = grid_times(parse_policy(request.policy), index.duration_s)
    wanted = frozenset(pts for pts in map(index.on_screen, times) if pts is not None)
    assert sum(1 for _ in WantedFrames(Path(path), index, wanted)) == len(wanted)


def full_decode(request: Request, path: str, out: Path) -> None:
    """Every frame in order with PyAV, the wanted ones written."""
    import av  # noqa: PLC0415 - not there in the other environment

    wanted = set(request.places)
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_type, stream.thread_count = "NONE", 1
        for place, frame in enumerate(container.decode(stream)):
            if place in wanted:
                small = frame.reformat(width=request.width, height=request.height, format="rgb24", interpolation="AREA")
                _write(out, place, small.to_ndarray())


def decord(request: Request, path: str, out: Path) -> None:
    """decord, which scales by itself, on one thread (more cost more)."""
    reader = importlib.import_module("decord").VideoReader(
        path, width=request.width, height=request.height, num_threads=1
    )
    for place, pixels in zip(request.places, reader.get_batch(list(request.places)).asnumpy(), strict=True):
        _write(out, place, pixels)


def torchcodec(request: Request, path: str, out: Path) -> None:
    """torchcodec's exact mode, which scales by itself, on one thread."""
    resize = importlib.import_module("torchcodec.transforms").Resize((request.height, request.width))
    decoder = importlib.import_module("torchcodec.decoders").VideoDecoder(
        path, seek_mode="exact", dimension_order="NHWC", num_ffmpeg_threads=1, transforms=[resize]
    )
    pictures = decoder.get_frames_at(list(request.places)).data.numpy()
    for place, pixels in zip(request.places, pictures, strict=True):
        _write(out, place, pixels)


def decord_plain(request: Request, path: str, out: Path) -> None:
    """decord as evaluation tools call it: its own threads, whole frames, scaled afterwards by Pillow."""
    reader = importlib.import_module("decord").VideoReader(path)
    for place, pixels in zip(request.places, reader.get_batch(list(request.places)).asnumpy(), strict=True):
        _write(out, place, _scaled(pixels, request))


def torchcodec_plain(request: Request, path: str, out: Path) -> None:
    """torchcodec's exact mode as evaluation tools call it: eight threads, whole frames, scaled by Pillow."""
    decoder = importlib.import_module("torchcodec.decoders").VideoDecoder(
        path, seek_mode="exact", dimension_order="NHWC", num_ffmpeg_threads=8
    )
    pictures = decoder.get_frames_at(list(request.places)).data.numpy()
    for place, pixels in zip(request.places, pictures, strict=True):
        _write(out, place, _scaled(pixels, request))


def _scaled(pixels: Any, request: Request) -> Any:
    return np.asarray(Image.fromarray(pixels).resize((request.width, request.height), Image.Resampling.BICUBIC))


def ffmpeg_fps(request: Request, path: str, out: Path) -> None:
    """The fps filter of the ffmpeg program. It shows other frames (the last one half a step later)."""
    program = shutil.which("ffmpeg")
    assert program, "frames_speed.py asks for it only where it is there"
    rate = request.policy.removeprefix("fps:")
    filters = f"fps={rate},scale={request.width}:{request.height}:flags=area"
    command = [program, "-v", "error", "-threads", "1", "-i", path, "-vf", filters, "-q:v", "2", str(out / "%05d.jpg")]
    subprocess.run(command, check=True)  # noqa: S603 - the clips are ours


WAYS: dict[str, Callable[[Request, str, Path], None]] = {
    "onlooker": onlooker,
    "onlooker, decode only": onlooker_decode_only,
    "full decode": full_decode,
    "decord": decord,
    "torchcodec": torchcodec,
    "decord as tools call it": decord_plain,
    "torchcodec as tools call it": torchcodec_plain,
    "ffmpeg fps filter": ffmpeg_fps,
}
_LOADS = {
    "onlooker": ("av", "onlooker.media.frames"),
    "full decode": ("av",),
    "decord": ("decord",),
    "decord as tools call it": ("decord",),
    "onlooker, decode only": ("av", "onlooker.media.decode", "onlooker.media.index"),
    "torchcodec": ("torchcodec.decoders", "torchcodec.transforms"),
    "torchcodec as tools call it": ("torchcodec.decoders",),
}


def main(request: Request) -> dict[str, Any]:
    """Do it and say what it took: ``cpu_s``, ``wall_s``, ``peak_mb``, ``numbers`` of the last file's pictures."""
    load(request.way)
    with tempfile.TemporaryDirectory() as name:
        one = partial(run_one, request, Path(name))
        if request.processes == 1:
            cpu_s, start_s = _cpu_s(), time.perf_counter()
            for path in request.paths:
                one(path)
            wall_s, cpu_s = time.perf_counter() - start_s, _cpu_s() - cpu_s
        else:
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(request.processes, context, load, (request.way,)) as pool:
                list(pool.map(load, [request.way] * 4 * request.processes))
                start_s = time.perf_counter()
                list(pool.map(one, request.paths))
                wall_s, cpu_s = time.perf_counter() - start_s, float("nan")
        peak_mb = _peak_mb()
        pictures = sorted((Path(name) / Path(request.paths[-1]).stem).glob("*.jpg"))
        arrays = [np.asarray(Image.open(io.BytesIO(p.read_bytes()))) for p in pictures]
    return {
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb,
        "sizes": sorted({a.shape[1::-1] for a in arrays}),
        "numbers": [importlib.import_module("frames_clips").read_number(a) for a in arrays] if arrays else [],
    }


def load(way: str) -> None:
    """Import what the way needs."""
    for module in _LOADS.get(way, ()):
        importlib.import_module(module)
    if way == "torchcodec":
        importlib.import_module("torch").set_num_threads(1)


def run_one(request: Request, folder: Path, path: str) -> None:
    """One file into a folder of its own."""
    out = folder / Path(path).stem
    out.mkdir()
    WAYS[request.way](request, path, out)


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def _peak_mb() -> float:
    """Of this process alone: what ``getrusage`` gives on Linux counts the process that started it, too."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _write(out: Path, place: int, pixels: Any) -> None:
    Image.fromarray(pixels).save(out / f"{place:05d}.jpg", "JPEG", quality=QUALITY)


def request_of(fields: dict[str, Any]) -> Request:
    """The request that a JSON object states."""
    return Request(**{**fields, "paths": tuple(fields["paths"]), "places": tuple(fields["places"])})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(request_of(json.loads(sys.argv[1])))) + "\n")
