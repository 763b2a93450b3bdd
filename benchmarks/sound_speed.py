"""How fast sound is read, against the ffmpeg command.

``python benchmarks/sound_speed.py [MINUTES]``: that many (20) minutes of stereo AAC at 44.1 kHz beside a picture, made
on the spot, read to mono samples at 16 kHz and written as WAV. Prints CPU seconds (the machine may be shared), each the
median of five rounds that take turns, their ratio, how far the samples differ, and the peak memory of a window of it.
Each side runs in a process of its own; ours is given with and without the start of Python and its imports. Without an
ffmpeg on the path only our own figures are printed. Needs /proc, that is Linux.
"""

from __future__ import annotations

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import wave
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

ROUNDS = 5
RATE_HZ = 44_100
_READ = """
import sys, time
from pathlib import Path
from onlooker.media.sound import read_sound, wav_bytes
import av
start = time.process_time()
window = tuple(map(float, sys.argv[3:])) or None
clip = read_sound(Path(sys.argv[1]), window=window, source_sha256="0" * 64)
Path(sys.argv[2]).write_bytes(wav_bytes(clip))
took_s = time.process_time() - start
# Not getrusage: what that tells begins at the memory of the process that started this one.
print(took_s, int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024)
"""


def make(path: Path, minutes: int) -> None:
    """A minute of warbling tones over noise, again and again, beside a picture of 25 frames a second."""
    t = np.arange(RATE_HZ * 60) / RATE_HZ
    noise = np.random.default_rng(1).normal(0, 800, len(t))
    mono = (np.sin(2 * np.pi * (200 + 50 * np.sin(t)) * t) * 6000 + noise).astype(np.int16)
    stereo = np.stack([mono, mono[::-1]], axis=1).reshape(1, -1)
    with av.open(str(path), "w") as out:
        sound: Any = out.add_stream("aac", rate=RATE_HZ, layout="stereo")
        video: Any = out.add_stream("libx264", rate=25, options={"preset": "ultrafast", "bf": "2"})
        video.width, video.height, video.pix_fmt = 320, 180, "yuv420p"
        for minute in range(minutes):
            for k in range(60 * 25):
                picture = av.VideoFrame.from_ndarray(np.full((270, 320), 16 + k % 200, np.uint8), format="yuv420p")
                picture.pts, picture.time_base = minute * 1500 + k, Fraction(1, 25)
                out.mux(video.encode(picture))
            for begin in range(0, len(mono), 1024):
                piece = np.ascontiguousarray(stereo[:, 2 * begin : 2 * (begin + 1024)])
                frame = av.AudioFrame.from_ndarray(piece, format="s16", layout="stereo")
                frame.sample_rate, frame.pts = RATE_HZ, minute * len(mono) + begin
                out.mux(sound.encode(frame))
        out.mux(video.encode(None))
        out.mux(sound.encode(None))


def cpu_s(command: list[str]) -> tuple[float, str]:
    """CPU seconds of a process, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own command
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def samples(path: Path) -> np.ndarray[Any, np.dtype[np.int16]]:
    """The samples of a WAV file."""
    with wave.open(str(path), "rb") as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


def main(minutes: int) -> None:
    """Make the file, run the rounds, print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        source, ours, theirs = (Path(folder) / name for name in ("sound.mp4", "ours.wav", "theirs.wav"))
        make(source, minutes)
        ffmpeg = shutil.which("ffmpeg")
        whole_s, call_s, ffmpeg_s = [], [], []
        for _ in range(ROUNDS):
            took_s, printed = cpu_s([sys.executable, "-c", _READ, str(source), str(ours)])
            whole_s.append(took_s)
            call_s.append(float(printed.split()[0]))
            if ffmpeg:
                quiet = [ffmpeg, "-v", "error", "-y", "-vn", "-i", str(source)]
                ffmpeg_s.append(cpu_s([*quiet, "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le", str(theirs)])[0])
        own_s, own_call_s = statistics.median(whole_s), statistics.median(call_s)
        print(f"{minutes} minutes of AAC to 16 kHz mono WAV, CPU seconds, median of {ROUNDS}")  # noqa: T201
        print(f"  onlooker {own_s:.2f} ({own_call_s:.2f} without the start of Python)")  # noqa: T201
        if ffmpeg_s:
            their_s = statistics.median(ffmpeg_s)
            print(f"  ffmpeg   {their_s:.2f}: ratio {own_s / their_s:.2f} ({own_call_s / their_s:.2f})")  # noqa: T201
            a, b = samples(ours), samples(theirs)
            both = min(len(a), len(b))
            apart = int(np.abs(a[:both].astype(int) - b[:both]).max())
            print(f"  samples: {len(a):,} and {len(b):,}, at most {apart} of 32,768 apart")  # noqa: T201
        else:
            print("  ffmpeg is not on the path: no ratio")  # noqa: T201
        last = (minutes * 60.0 - 10, minutes * 60.0 - 5)
        _, whole = cpu_s([sys.executable, "-c", _READ, str(source), str(ours)])
        took_s, part = cpu_s([sys.executable, "-c", _READ, str(source), str(ours), *map(str, last)])
        print(f"  peak memory: {float(whole.split()[1]):.0f} MB for all of it, ", end="")  # noqa: T201
        print(f"{float(part.split()[1]):.0f} MB and {took_s:.2f} CPU-s for five seconds near the end")  # noqa: T201


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
