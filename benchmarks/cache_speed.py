"""How fast many clips are prepared, how fast they are read again, and what memory that takes.

``python benchmarks/cache_speed.py [--small]``: 8 frames each of many 30-second clips (640 x 360, H.264 with B-frames)
by one process and by two, in interleaved rounds of which the best counts; the rate is that between the first and the
last finished clip, so that it holds no start of a process. Then 64 frames a video cold and warm, and the peak memory of
a process that prepares one minute and twenty minutes (64 uniform frames, and 64 by meaning with a made-up encoder).
Clips are generated in a temporary folder. Times depend on what else runs: read the ratios.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

from onlooker.media.cache import cached_keyframes, cached_sample
from onlooker.media.frames import sample
from onlooker.models.request import Modality
from onlooker.protocol.condition import Condition
from onlooker.records.bundle import Bundle
from onlooker.records.public import BundleCard, Episode
from onlooker.run.delivery import Want
from onlooker.run.plan import Parameters
from onlooker.run.pool import work_off
from onlooker.run.prepare import Load, Means

ACCEPTS: frozenset[Modality] = frozenset({"text", "image"})
EIGHT = Condition("eight", "8 frames", "none.txt", frames="uniform:8")


class Lengths:
    """An encoder that costs nothing: the length of a JPEG file."""

    name = "lengths"
    fingerprint = "1"

    def embed_texts(self, texts: list[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 2), np.float32)

    def embed_images(self, jpegs: list[bytes]) -> NDArray[np.float32]:
        return np.array([[1.0, len(jpeg)] for jpeg in jpegs], np.float32)


def main(clips: int, rounds: int) -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = many(folder / "media", make(folder / "one.mp4", 30, 640, 360, 30), clips)
        print(f"{clips} clips of 30 s, load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")  # noqa: T201
        time_processes(folder, paths, rounds)
        time_warm(folder, paths[: min(clips, 20)])
        for policy in ("uniform:64", "bolt:64"):
            peaks = [peak_mb(folder, minutes, policy) for minutes in (1, 20)]
            print(f"peak memory, {policy}: {peaks[0]:.0f} MB for 1 minute, {peaks[1]:.0f} MB for 20 minutes")  # noqa: T201


def time_processes(folder: Path, paths: list[Path], rounds: int) -> None:
    """Clips a second by one process and by two, and their ratio."""
    best = {1: 0.0, 2: 0.0}
    for number in range(rounds):
        for processes, before in list(best.items()):
            rate = prepare_rate(folder, paths, folder / f"cache-{number}-{processes}", processes)
            best[processes] = max(before, rate)
    ratio = best[2] / best[1]
    print(f"8 frames a clip: {best[1]:.1f} clips a second by one process, {best[2]:.1f} by two: {ratio:.2f}x")  # noqa: T201


def prepare_rate(folder: Path, paths: list[Path], cache_dir: Path, processes: int) -> float:
    """Clips a second from the first finished to the last."""
    bundle = Bundle(folder, BundleCard(name="clips", family="none", version="1"))
    clips = [Episode.model_validate({"id": p.stem, "media": {"video": f"media/{p.name}"}}) for p in paths]
    work = [Load(clip, (Want(clip.id, EIGHT, None),), {clip.id: clip}) for clip in clips]
    ends = []
    for load, found in work_off(work, Means(bundle, cache_dir, ACCEPTS, Parameters()), processes):
        if found:
            raise SystemExit(f"{load.episode.id}: {found}")
        ends.append(time.perf_counter())
    return (len(ends) - processes) / (ends[-1] - ends[processes - 1])


def time_warm(folder: Path, paths: list[Path]) -> None:
    """Milliseconds a video of 64 frames, cold and warm."""
    cold = [timed(lambda p=path: cached_sample(folder / "warm", p, "uniform:64")) for path in paths]
    bare = [timed(lambda p=path: sample(p, "uniform:64")) for path in paths]
    warm = [
        min(timed(lambda p=path: cached_sample(folder / "warm", p, "uniform:64")) for _ in range(5)) for path in paths
    ]
    size = sum(len(f.jpeg) for f in cached_sample(folder / "warm", paths[0], "uniform:64").frames)
    cold_ms, bare_ms, warm_ms = (statistics.median(times) * 1000 for times in (cold, bare, warm))
    print(  # noqa: T201
        f"64 frames ({size / 1e6:.1f} MB) a video: cold {cold_ms:.0f} ms (without the cache {bare_ms:.0f}), "
        f"warm {warm_ms:.2f} ms, worst {max(warm) * 1000:.2f} ms: {cold_ms / warm_ms:.0f}x"
    )


def timed(work: Any) -> float:
    """Seconds that a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def peak_mb(folder: Path, minutes: int, policy: str) -> float:
    """Peak resident memory in MB of a process of its own that reads one medium by the policy."""
    path = folder / f"{minutes}.mp4"
    if not path.exists():
        make(path, minutes * 60, 320, 180, 15)
    command = [sys.executable, __file__, "--read", str(path), policy, str(folder / "memory")]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)  # noqa: S603 - ourselves


def read(path: Path, policy: str, cache_dir: Path) -> None:
    """What ``peak_mb`` runs: read, then print the peak in MB."""
    if policy.startswith("bolt:"):
        count = int(policy.removeprefix("bolt:"))
        cached_sample(cache_dir, path, cached_keyframes(cache_dir, path, count, "any", Lengths()).policy(count))
    else:
        cached_sample(cache_dir, path, policy)
    # Linux: ru_maxrss would begin with the peak of the process that started this one.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    print(int(status["VmHWM"].split()[0]) / 1024)  # noqa: T201


def make(path: Path, seconds: int, width: int, height: int, rate: int) -> Path:
    """A clip of moving waves with some noise."""
    generator = np.random.default_rng(1)
    noise = generator.normal(0, 6, (height, width))
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    with av.open(str(path), "w") as out:
        stream: Any = out.add_stream("libx264", rate=rate, options={"preset": "ultrafast", "bf": "2"})
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = width, height, "yuv420p", 8 * rate
        stream.codec_context.time_base = Fraction(1, rate)
        waves = [
            np.clip(128 + 60 * np.sin(x / 17 + k / 4) + 40 * np.cos(y / 23 - k / 4) + np.roll(noise, 3 * k), 0, 255)
            for k in range(25)
        ]
        for number in range(seconds * rate):
            planes = np.full((height * 3 // 2, width), 128, np.uint8)
            planes[:height] = waves[number % len(waves)]
            planes[:height, : 1 + number * width // (seconds * rate)] //= 2
            frame = av.VideoFrame.from_ndarray(planes, format="yuv420p")
            frame.pts = number
            frame.time_base = Fraction(1, rate)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    return path


def many(folder: Path, clip: Path, number: int) -> list[Path]:
    """Copies that differ in content: each ends with a free box of its own."""
    folder.mkdir()
    data = clip.read_bytes()
    paths = [folder / f"{n:04d}.mp4" for n in range(number)]
    for n, path in enumerate(paths):
        path.write_bytes(data + b"\x00\x00\x00\x10free" + n.to_bytes(8, "big"))
    return paths


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]))
    elif "--small" in sys.argv:
        main(20, 2)
    else:
        main(60, 3)
