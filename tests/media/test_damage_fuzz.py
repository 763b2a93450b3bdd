"""Five hundred broken files: no crash, no hang, no error without a type, and no frame of another time passed as right.

What a decoder cannot notice nobody can tell: entropy-coded bits carry no check, so a changed byte gives another
picture without an error. Measured (``python -m tests.media.damaging``, 510 files, 30 of each clip, share of the ``ok``
frames on which the number cannot be read or is another one): 0 where something checks (Matroska with CRC-32) or the
syntax is tight (ProRes, MPEG-4 part 2, MPEG-2 in program streams); up to 0.04 in transport streams; 0.05 to 0.15 for
H.264 and HEVC in MP4, VP8 and VP9 in WebM, WMV2; 0.28 for AV1, whose one damaged picture spoils all that lean on it.
0.05 over all. FFmpeg's ``err_detect`` flags (crccheck, bitstream, buffer, explode, aggressive, careful, compliant)
change none of these; its log tells of none either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from onlooker.media.card import probe
from onlooker.media.frames import sample

from .damaging import CLIPS, COUNT, LONGEST_S, make_clips, noisy
from .making import pixels, read_bars, write

FILES = 510
_ROOT = Path(__file__).parents[2]
_KEYS = {"right", "altered", "garbled", "wrong", "corrupt", "missing"}
_TYPED = {"UnreadableMedia", "NoStream"}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What became of every broken file, read in another process."""
    folder = tmp_path_factory.mktemp("damage")
    make_clips(folder)
    command = [sys.executable, "-m", "tests.media.damaging", str(folder), "0", str(FILES)]
    done = subprocess.run(command, check=False, cwd=_ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_broken_file_ends_in_frames_or_in_a_typed_error(rows: list[dict[str, Any]]) -> None:
    assert [row["number"] for row in rows] == list(range(FILES))
    assert max(row["took_s"] for row in rows) < LONGEST_S
    for row in rows:
        outcomes = set(row) - {"number", "name", "kind", "took_s"} - _KEYS
        assert {outcome.split()[1] for outcome in outcomes} <= _TYPED, row
        has_frames = sum(row.get(key, 0) for key in _KEYS) > 0
        assert has_frames != any(outcome.startswith("sample") for outcome in outcomes), row


def test_what_can_be_noticed_is_never_passed_as_right(rows: list[dict[str, Any]]) -> None:
    total: Counter[str] = Counter()
    by_clip: dict[str, Counter[str]] = {name: Counter() for name in CLIPS}
    for row in rows:
        for key in _KEYS:
            by_clip[row["name"]][key] += row.get(key, 0)
            total[key] += row.get(key, 0)
    for name in ("h264.mkv", "mpeg4.mkv", "mpeg4.avi", "prores.mov", "mpeg2.mpg"):
        assert by_clip[name]["garbled"] + by_clip[name]["wrong"] == 0, (name, by_clip[name])
    # A packet lost from an AVI moves all later ones: those are never ``ok``.
    assert by_clip["h264.avi"]["wrong"] == 0
    fine = total["right"] + total["altered"] + total["garbled"] + total["wrong"]
    assert (total["garbled"] + total["wrong"]) / fine < 0.08, total
    assert total["wrong"] / fine < 0.015, total
    assert total["right"] > 0.5 * FILES * COUNT, total  # most of what is sound stays usable


def test_a_matroska_cluster_that_differs_from_its_check_sum_is_marked(folder: Path) -> None:
    whole = write(
        folder / "checked.mkv",
        [noisy(n) for n in range(60)],
        rate=25,
        codec_options={"x264-params": "keyint=20:min-keyint=20:scenecut=0:bframes=2"},
    )
    with av.open(str(whole)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    place, size = packets[30]
    assert place is not None
    data = bytearray(whole.read_bytes())
    data[place + size // 2] ^= 4
    broken = folder / "unchecked.mkv"
    broken.write_bytes(data)
    sound, card = probe(whole).video, probe(broken).video
    assert sound is not None
    assert card is not None
    assert (sound.damage, card.damage, card.frames) == ("none", "partial", 60)
    clean = sample(whole, "fps:25").frames
    damaged = sample(broken, "fps:25")
    assert damaged == sample(broken, "fps:25", seek=False)
    assert {f.status for f in damaged.frames} == {"ok", "corrupt"}
    assert all(f.jpeg == clean[f.index].jpeg for f in damaged.frames if f.status == "ok")
    assert damaged.frames[30].status == "corrupt"
    assert damaged.frames[0].status == "ok"


@pytest.mark.parametrize("codec", ["mpeg4", "libx264"])
def test_behind_a_break_in_an_avi_no_time_is_sure(folder: Path, codec: str) -> None:
    """AVI counts packets: with some of them gone, every later picture moves up, and looks perfect."""
    whole = write(folder / f"counted-{codec}.avi", [noisy(n) for n in range(50)], rate=25, codec=codec, gop=10)
    with av.open(str(whole)) as container:
        places = [p.pos for p in container.demux(video=0) if p.size]
    first, end = places[20], places[23]
    assert first is not None
    assert end is not None
    data = whole.read_bytes()
    broken = folder / f"miscounted-{codec}.avi"
    broken.write_bytes(data[: first + 100] + data[end + 150 :])
    damaged = sample(broken, "fps:25")
    shown = {f.index: read_bars(pixels(f.jpeg)) for f in damaged.frames}
    assert any(number is not None and number > index for index, number in shown.items())
    assert all(shown[f.index] == f.index for f in damaged.frames if f.status == "ok")
    assert sum(f.status == "ok" for f in damaged.frames) >= 18


def test_an_avi_that_is_cut_gives_no_picture_at_the_wrong_time(folder: Path) -> None:
    """The pictures that the decoder still holds when the packets end cannot be timed."""
    whole = write(folder / "held.avi", [noisy(n) for n in range(50)], rate=25, b_frames=3, gop=25)
    data = whole.read_bytes()
    for part in np.linspace(0.2, 0.9, 12):
        cut = folder / "held-cut.avi"
        cut.write_bytes(data[: int(len(data) * part)])
        for frame in sample(cut, "fps:25").frames:
            assert frame.status != "ok" or read_bars(pixels(frame.jpeg)) == frame.index


def test_a_picture_in_colours_that_nothing_converts_is_missing(folder: Path) -> None:
    """A reserved colour matrix in the header of one ProRes picture; the scaler refuses it with an error of its own."""
    whole = write(
        folder / "colours.mov", [noisy(n) for n in range(6)], rate=10, codec="prores_ks", pix_fmt="yuv422p10le"
    )
    with av.open(str(whole)) as container:
        packets = [(p.pos, bytes(p)) for p in container.demux(video=0) if p.size]
    place, packet = packets[3]
    assert place is not None
    data = bytearray(whole.read_bytes())
    data[place + packet.index(b"icpf") + 4 + 16] = 3  # behind size, version, creator, picture size, flags, ... (RDD 36)
    broken = folder / "no-colours.mov"
    broken.write_bytes(data)
    sampled = sample(broken, "fps:10")
    assert list(sampled.missing) == pytest.approx([0.3])
    assert [read_bars(pixels(f.jpeg)) for f in sampled.frames] == [0, 1, 2, 4, 5]
    assert sampled == sample(broken, "fps:10", seek=False)
