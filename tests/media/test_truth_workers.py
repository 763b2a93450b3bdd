"""Many decodes and many processes: nothing grows, nothing hangs, everybody sees the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from .making import barred, beeps, write

_MANY = """
import gc, os, resource, sys
from pathlib import Path
from onlooker.errors import OnlookerError
from onlooker.media.card import probe
from onlooker.media.frames import sample
from onlooker.media.sound import read_sound
files = [Path(f) for f in sys.argv[1:]]
def state():
    gc.collect()
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return len(os.listdir('/proc/self/fd')), pages * resource.getpagesize()
def decode(times):
    for n in range(times):
        path = files[n % len(files)]
        try:
            sample(path, 'uniform:2', source_sha256='x')
            (probe if n % 2 else read_sound)(path)
        except OnlookerError:
            pass
decode(500)
(handles, start), points = state(), []
for _ in range(5):
    decode(300)
    points.append(state())
print(handles, start, *(value for point in points for value in point))
"""

_POOL = """
import hashlib, multiprocessing, sys
from pathlib import Path
import av
from onlooker.media.frames import sample
from onlooker.media.sound import read_sound
def digest(path):
    found = hashlib.sha256()
    for frame in sample(Path(path), 'fps:5').frames:
        found.update(frame.jpeg)
    found.update(read_sound(Path(path)).samples.tobytes())
    return found.hexdigest()
if __name__ == '__main__':
    files = sys.argv[1:]
    held = av.open(files[0])
    held_frames = held.decode(video=0)
    next(held_frames)
    serial = [digest(f) for f in files]
    for method in ('fork', 'spawn'):
        with multiprocessing.get_context(method).Pool(4) as pool:
            assert pool.map(digest, files, chunksize=1) == serial, method
    next(held_frames)
    held.close()
    print(len(set(serial)))
"""


def clip(path: Path, first: int, codec: str = "libx264") -> Path:
    pictures = [barred(first + n) for n in range(30)]
    return write(path, pictures, rate=25, codec=codec, b_frames=2, gop=10, sounds=[beeps(1)])


@pytest.mark.skipif(sys.platform != "linux", reason="handles and memory are read from /proc")
def test_two_thousand_decodes_leave_nothing_behind(tmp_path: Path) -> None:
    """Whole and broken files, pictures and sound: the same handles and no slope in memory after 500, up to 2000."""
    files = [clip(tmp_path / "a.mp4", 0), clip(tmp_path / "b.mkv", 40, "mpeg4"), clip(tmp_path / "c.avi", 80, "mpeg4")]
    data = files[0].read_bytes()
    (tmp_path / "d.mp4").write_bytes(data[:1000] + bytes(400) + data[1400:])
    (tmp_path / "e.mkv").write_bytes(files[1].read_bytes()[:9000])
    (tmp_path / "f.mp4").write_bytes(data[: len(data) // 2])
    names = [str(path) for path in (*files, *(tmp_path / n for n in ("d.mp4", "e.mkv", "f.mp4")))]
    command = [sys.executable, "-c", _MANY, *names]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    handles, start, *points = (int(value) for value in done.stdout.split())
    assert set(points[0::2]) == {handles}
    grown = [value - start for value in points[1::2]]
    assert grown[-1] < 8_000_000, grown
    assert grown[-1] - grown[1] < 4_000_000, grown


def test_forked_and_spawned_workers_see_what_one_process_sees(tmp_path: Path) -> None:
    """Case V17: a container is open, and half decoded, in the parent."""
    files = [str(clip(tmp_path / f"{n}.mp4", 8 * n)) for n in range(20)]
    script = tmp_path / "pool.py"
    script.write_text(_POOL)
    command = [sys.executable, str(script), *files]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "20"), done.stderr[-2000:]
