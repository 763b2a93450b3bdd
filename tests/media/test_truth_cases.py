"""The cases that concern decoding and sound, each by its number. Others stand beside their subject: V01, V02, V04, V09,
V10, V12, V15 in ``test_truth``; V07, V20, V21, A09 in ``test_card``; V17 in ``test_truth_workers``; A01 in
``test_sound``."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from onlooker.errors import InputError, NoStream
from onlooker.media.card import probe
from onlooker.media.frame_files import write_frames
from onlooker.media.frames import sample
from onlooker.media.grid import parse_policy
from onlooker.media.sound import read_sound

from .making import barred, counter, gray, pixels, read_bars, tone, write
from .test_card import cut


def test_v06_more_frames_than_there_are(folder: Path, nine: Path) -> None:
    sampled = sample(nine, "uniform:12")
    assert (len(sampled.frames), sampled.wanted, sampled.missing) == (9, 12, ())
    one = sample(write(folder / "case-one.mp4", counter(1)), "uniform:8")
    assert (len(one.frames), one.wanted) == (1, 8)


def test_v08_a_rate_that_gives_no_frame_gives_one_and_nonsense_is_refused(nine: Path) -> None:
    assert len(sample(nine, "fps:0.5").frames) == 1
    for nonsense in ("fps:0", "fps:-1", "fps:nan", "uniform:0"):
        with pytest.raises(InputError):
            parse_policy(nonsense)


def test_v09_containers_without_a_count(folder: Path) -> None:
    pictures = [barred(n) for n in range(80)]
    grids = {}
    for name, codec in (("count.mp4", "libx264"), ("count.mkv", "libx264"), ("count.webm", "libvpx")):
        path = write(folder / name, pictures, rate=20, codec=codec, gop=300)
        grids[name] = [read_bars(pixels(f.jpeg)) for f in sample(path, "uniform:8").frames]
    assert set(map(tuple, grids.values())) == {tuple(range(0, 80, 10))}


def test_v10_any_order_twice_and_then_in_sequence(folder: Path) -> None:
    path = write(folder / "sparse-keys.mkv", [barred(n) for n in range(100)], rate=25, gop=250, b_frames=3)
    order = [*range(0, 100, 7)] * 2
    random.Random(10).shuffle(order)
    shown = [sample(path, "uniform:1", window=(n / 25, n / 25 + 0.02)).frames[0] for n in order]
    assert [read_bars(pixels(f.jpeg)) for f in shown] == order
    every = {f.index: f.jpeg for f in sample(path, "fps:25").frames}
    assert all(frame.jpeg == every[n] for n, frame in zip(order, shown, strict=True))


def test_v14_v15_a_cap_keeps_both_ends(red_blue: Path) -> None:
    colours = [pixels(f.jpeg).mean(axis=(0, 1)) for f in sample(red_blue, "fps:2:4").frames]
    assert [bool(red > blue) for red, _, blue in colours] == [True, True, False, False]
    for policy in ("fps:5:8", "fps:5", "uniform:8", "midpoint"):
        sampled = sample(red_blue, policy)
        assert len(sampled.frames) == len({f.time_s for f in sampled.frames}) <= sampled.wanted
    capped = sample(red_blue, "fps:5:8")
    assert len(capped.frames) == 8
    assert (capped.frames[0].time_s, capped.frames[-1].time_s) == (0.0, 5.8)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_v19_neither_card_nor_sound_grows_with_the_length(folder: Path) -> None:
    """A minute and twenty minutes of sound beside a small picture: a window of ten seconds costs the same memory."""
    script = (
        "import sys; from pathlib import Path; from onlooker.media.card import probe;"
        "from onlooker.media.sound import read_sound; p = Path(sys.argv[1]); probe(p);"
        "c = read_sound(p, window=(40, 50)); assert len(c.samples) == 160_000;"
        "read_sound(p, window=(float(sys.argv[2]) - 12, float(sys.argv[2])));"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    peaks_kib = []
    for minutes in (1, 20):
        minute = np.tile(tone(440, 60, 8000), minutes)
        path = write(
            folder / f"long{minutes}.mkv",
            [gray(16 + n % 200) for n in range(60 * minutes)],
            rate=1,
            codec="mpeg4",
            sounds=[minute],
            sound_codec="pcm_s16le",
            sound_rate_hz=8000,
        )
        command = [sys.executable, "-c", script, str(path), str(60 * minutes)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks_kib.append(int(done.stdout))
    # All of it would be 38 MB more.
    assert peaks_kib[1] - peaks_kib[0] < 12_000, peaks_kib


def test_v20_what_is_lost_is_missing_and_counted(folder: Path) -> None:
    path = cut(folder, "case-cut.mp4")
    card = probe(path).video
    assert card is not None
    assert (card.damage, card.frames_declared) == ("partial", 120)
    sampled = sample(path, "uniform:8")
    assert len(sampled.frames) + len(sampled.missing) == 8
    assert len({f.jpeg for f in sampled.frames}) == len(sampled.frames)


def test_v21_path_text(folder: Path) -> None:
    path = write(folder / "视频 测试 😀 #3.mp4", counter(10), rate=10, sounds=[tone(440, 1)])
    assert probe(path).duration_s == pytest.approx(1)
    assert len(sample(path, "uniform:2").frames) == 2
    assert len(read_sound(path).samples) > 15_000


def test_v22_times_at_2997_frames_a_second_come_back_as_the_same_frames(folder: Path, tmp_path: Path) -> None:
    """Written to a list and read again; milliseconds rounded up would be the next frame."""
    path = write(
        folder / "ntsc.mp4", [barred(n) for n in range(90)], [1001 * n for n in range(90)], rate=30_000, gop=30
    )
    listing = write_frames(sample(path, "fps:30000/1001"), tmp_path / "frames")
    rows = json.loads(listing.read_text())
    assert len(rows) == 90
    for row in rows[::7]:
        window = (row["pts_s"], row["pts_s"] + 0.01)
        (again,) = sample(path, "uniform:1", window=window).frames
        assert again.pts_s == row["pts_s"]
        assert read_bars(pixels(again.jpeg)) == row["index"]
        rounded = round(row["pts_s"], 3) + 0.0004  # as far as a list in milliseconds may be off
        (again,) = sample(path, "uniform:1", window=(rounded, rounded + 0.01)).frames
        assert read_bars(pixels(again.jpeg)) == row["index"]


def test_a01_a09_sound_that_is_not_there_and_the_default_one(base: Path, two_tracks: Path) -> None:
    with pytest.raises(NoStream):
        read_sound(base)
    assert probe(base).default_sound is None
    assert (probe(two_tracks).default_sound, read_sound(two_tracks).track) == (2, 2)


def test_a02_a03_silence_and_noise_are_sound(silent: Path, noise: Path) -> None:
    """What speech recognition makes of them is its own matter; they are read as they are."""
    assert int(np.abs(read_sound(silent).samples.astype(int)).max()) <= 2
    assert float(read_sound(noise).samples.std()) == pytest.approx(1600, rel=0.15)


def test_a05_nothing_lies_behind_the_end(two_tracks: Path) -> None:
    whole = read_sound(two_tracks)
    part = read_sound(two_tracks, window=(3.5, 30.0))
    assert part.end_s == pytest.approx(whole.end_s)
    assert len(read_sound(two_tracks, window=(28.0, 31.5)).samples) == 0
