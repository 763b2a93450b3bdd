"""Files broken at random, and what is given back for them. ``python -m tests.media.damaging FOLDER FIRST COUNT`` breaks
files number FIRST to FIRST + COUNT - 1 of the clips in FOLDER, reads each, and prints a line of JSON for each one: in a
process of its own, so that a crash of the decoder shows."""

from __future__ import annotations

import faulthandler
import json
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from onlooker.errors import OnlookerError
from onlooker.media.card import probe
from onlooker.media.frames import sample
from onlooker.media.sound import read_sound

from .making import Pixels, barred, beeps, pixels, read_bars, write

RATE = 25
COUNT = 40
# No file of a second and a half may take longer.
LONGEST_S = 20
_X264 = {"preset": "veryfast", "x264-params": "keyint=12:min-keyint=12:scenecut=0:bframes=2"}
_X265 = {"preset": "ultrafast", "x265-params": "log-level=none:keyint=12:min-keyint=12:scenecut=0:bframes=2:pools=1"}
_OLD = {"qmin": "2", "qmax": "4"}
CLIPS: dict[str, tuple[str, dict[str, str], dict[str, Any], str | None]] = {
    "h264.mp4": ("libx264", _X264, {}, "aac"),
    "h264.mkv": ("libx264", _X264, {}, "aac"),
    "h264.ts": ("libx264", _X264, {}, "aac"),
    "h264.avi": ("libx264", _X264, {}, "pcm_s16le"),
    "hevc.mp4": ("libx265", _X265, {}, "aac"),
    "hevc.ts": ("libx265", _X265, {}, None),
    "vp8.webm": ("libvpx", {"cpu-used": "8"}, {"gop": 12}, "libopus"),
    "vp9.webm": ("libvpx-vp9", {"cpu-used": "8"}, {"gop": 12}, "libopus"),
    "av1.mp4": ("libsvtav1", {"preset": "12", "crf": "20", "svtav1-params": "keyint=12:lp=1"}, {}, None),
    "mpeg2.ts": ("mpeg2video", _OLD, {"b_frames": 2}, "mp2"),
    "mpeg2.mpg": ("mpeg2video", _OLD, {"b_frames": 2}, "mp2"),
    "mpeg4.avi": ("mpeg4", _OLD, {}, "pcm_s16le"),
    "mpeg4.mkv": ("mpeg4", _OLD, {"b_frames": 2}, "libmp3lame"),
    "sorenson.flv": ("flv", _OLD, {}, "libmp3lame"),
    "wmv2.asf": ("wmv2", _OLD, {}, None),
    "prores.mov": ("prores_ks", {}, {"pix_fmt": "yuv422p10le"}, None),
    "anim.gif": ("gif", {}, {"pix_fmt": "gray"}, None),
}


def noisy(number: int) -> Pixels:
    """The bars of a number under noise, so that pictures have something to lose."""
    noise = np.random.default_rng(number).integers(-20, 21, (64, 96, 1))
    return np.asarray(np.clip(barred(number) + noise, 0, 255), np.uint8)


def make_clips(folder: Path) -> None:
    """The sound files that are broken afterwards."""
    for name, (codec, options, more, sound) in CLIPS.items():
        rate_hz = 48_000 if sound in {"libopus", "mp2", "libmp3lame"} else 16_000
        write(
            folder / name,
            [noisy(n) for n in range(COUNT)],
            rate=RATE,
            codec=codec,
            codec_options=options,
            sounds=[] if sound is None else [beeps(2, rate_hz)],
            sound_codec=sound or "aac",
            sound_rate_hz=rate_hz,
            **{"gop": 12, **more},
        )


def broken(data: bytes, draw: random.Random) -> tuple[bytes, str]:
    """The content of a file after an accident, and which one."""
    kind = draw.choice(("cut", "flip", "zero", "noise", "lose", "packets"))
    changed = bytearray(data)
    place = draw.randrange(len(data))
    length = min(draw.choice((40, 200, 1000, 3000)), len(data) // 4)
    if kind == "cut":
        del changed[max(place, len(data) // 10) :]
    elif kind == "flip":
        for _ in range(draw.choice((1, 5, 30))):
            changed[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif kind == "zero":
        changed[place : place + length] = bytes(len(changed[place : place + length]))
    elif kind == "noise":
        changed[place : place + length] = draw.randbytes(len(changed[place : place + length]))
    elif kind == "lose":
        del changed[place : place + length]
    else:  # packets of a transport stream, sectors of anything else
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(max(1, len(changed) // 188)) * 188
            del changed[at : at + 188 * draw.randint(1, 3)]
    return bytes(changed), kind


def look(path: Path, clean: dict[int, bytes], clean_start_s: float) -> Counter[str]:
    """What comes back of a broken file: errors by type, and frames by what they show.

    ``right``: ``ok`` and the bytes of the sound file; ``altered``: ``ok``, the right number, other bytes;
    ``garbled``: ``ok``, and no number can be read; ``wrong``: ``ok``, and another number; the others by their status.
    """
    seen: Counter[str] = Counter()
    for read in (probe, read_sound):
        try:
            read(path)
        except OnlookerError as error:
            seen[f"{read.__name__} {type(error).__name__}"] += 1
    try:
        sampled = sample(path, "fps:25")
        video = probe(path).video
    except OnlookerError as error:
        seen[f"sample {type(error).__name__}"] += 1
        return seen
    assert video is not None
    seen["missing"] += len(sampled.missing)
    own = {round((f.pts_s + video.first_pts_s - clean_start_s) * RATE): f for f in sampled.frames}
    for number, frame in own.items():
        if frame.status == "ok":
            shown = read_bars(pixels(frame.jpeg))
            if shown is None:
                seen["garbled"] += 1
            elif shown != number:
                seen["wrong"] += 1
            else:
                seen["right" if clean.get(number) == frame.jpeg else "altered"] += 1
        else:
            seen[frame.status] += 1
    return seen


def main(folder: Path, first: int, count: int) -> None:
    """Break, read and report."""
    known: dict[str, tuple[bytes, dict[int, bytes], float]] = {}
    for number in range(first, first + count):
        draw = random.Random(f"damage {number}")
        name = list(CLIPS)[number % len(CLIPS)]
        if name not in known:
            video = probe(folder / name).video
            assert video is not None
            frames = sample(folder / name, "fps:25").frames
            clean = {round(f.pts_s * RATE): f.jpeg for f in frames}
            known[name] = ((folder / name).read_bytes(), clean, video.first_pts_s)
        data, clean, start_s = known[name]
        changed, kind = broken(data, draw)
        path = folder / f"broken-{number}-{name}"
        path.write_bytes(changed)
        faulthandler.dump_traceback_later(LONGEST_S, exit=True)
        began = time.monotonic()
        seen = look(path, clean, start_s)
        faulthandler.cancel_dump_traceback_later()
        row = {"number": number, "name": name, "kind": kind, "took_s": time.monotonic() - began, **seen}
        print(json.dumps(row), flush=True)  # noqa: T201 - the caller reads it
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
