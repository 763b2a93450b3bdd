"""The frame on screen at a time, from any container, by any way, and never a copy of a neighbour."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from onlooker.errors import InputError, NoStream
from onlooker.media.frame_files import write_frames
from onlooker.media.frames import Sampled, sample

from .making import COUNTER_RATE, Pixels, counted, counter, gray, pixels, remux, tone, write
from .test_card import cut


def times(sampled: Sampled) -> list[tuple[float, float]]:
    return [(f.time_s, round(f.pts_s, 6)) for f in sampled.frames]


def test_variable_rate_frames_carry_their_own_time(vfr: Path) -> None:
    assert times(sample(vfr, "fps:1")) == [(0, 0), (1, 1), (2, 2), (3, 3)]
    # 3.1 s falls between the frames at 3.0 and 3.2: the one at 3.0 is on screen.
    assert times(sample(vfr, "uniform:1", window=(3.1, 3.2))) == [(3.1, 3.0)]


@pytest.mark.parametrize("name", ["start.ts", "start.mkv"])
def test_times_count_from_the_first_frame(folder: Path, name: str) -> None:
    path = write(
        folder / name,
        [gray(16 + t) for t in range(120)],
        offset_s=5,
        b_frames=2,
        container_options={"avoid_negative_ts": "disabled"},
    )
    sampled = sample(path, "uniform:4")
    assert [f.time_s for f in sampled.frames] == pytest.approx([0, 1, 2, 3], abs=0.002)
    assert [f.pts_s for f in sampled.frames] == pytest.approx([0, 1, 2, 3], abs=0.034)
    assert sampled.missing == ()


def test_fewer_frames_than_asked_are_all_given_once(folder: Path, nine: Path) -> None:
    sampled = sample(nine, "uniform:12")
    assert [counted(f.jpeg) for f in sampled.frames] == list(range(9))
    assert (sampled.wanted, sampled.missing) == (12, ())
    assert [f.index for f in sampled.frames] == sorted({f.index for f in sampled.frames})
    one = write(folder / "oneframe.mp4", counter(1))
    assert len(sample(one, "uniform:8").frames) == 1
    assert len(sample(nine, "fps:0.5").frames) == 1


def test_a_held_frame_answers_every_time_it_is_on_screen(folder: Path) -> None:
    slides = write(folder / "slides.mp4", [gray(40), gray(120), gray(200)], [0, 50, 100], rate=30)
    held = sample(slides, "fps:1").frames
    assert [f.time_s for f in held] == [0, 1, 2, 3]
    assert [f.pts_s for f in held] == pytest.approx([0, 0, 50 / 30, 50 / 30])
    assert held[0].jpeg == held[1].jpeg
    assert [f.pts_s for f in sample(slides, "uniform:5").frames] == pytest.approx([0, 50 / 30])


def test_any_container_gives_the_same_frames(folder: Path) -> None:
    expected = [n * 50 // 8 for n in range(8)]
    for name, codec in (
        ("same.mp4", "libx264"),
        ("same.mkv", "libx264"),
        ("same.avi", "libx264"),
        ("same.ts", "libx264"),
        ("same.webm", "libvpx"),
        ("same9.webm", "libvpx-vp9"),
        ("same.ffv1.mkv", "ffv1"),
    ):
        path = write(
            folder / name,
            counter(50),
            rate=COUNTER_RATE,
            codec=codec,
            gop=300,
            b_frames=3 if codec == "libx264" else 0,
            # Hidden reference frames of VP8 must not count.
            codec_options={"auto-alt-ref": "1", "lag-in-frames": "16"} if "vpx" in codec else {},
        )
        sampled = sample(path, "uniform:8")
        assert [counted(f.jpeg) for f in sampled.frames] == expected, name
        assert sampled.missing == ()


def test_every_frame_is_the_one_asked_for_in_any_order(gray_counter: Path) -> None:
    order = [n for n in range(50) for _ in range(2)]
    random.Random(3).shuffle(order)
    for n in order[:60]:
        window = (n / COUNTER_RATE, n / COUNTER_RATE + 0.05)
        (frame,) = sample(gray_counter, "uniform:1", window=window).frames
        assert counted(frame.jpeg) == n
    assert [counted(f.jpeg) for f in sample(gray_counter, "fps:10").frames] == list(range(50))


def moving(count: int, width: int = 96, height: int = 64) -> list[Pixels]:
    """A gradient that moves over noise, so that pictures really depend on one another."""
    noise = np.random.default_rng(5).integers(0, 60, (height, width), dtype=np.uint8)
    pictures = []
    for n in range(count):
        pictures.append(gray(0, width, height))
        pictures[-1][:height] = 16 + noise + (np.arange(width) * 2 + 5 * n) % 160
    return pictures


@pytest.mark.parametrize(
    ("name", "codec", "options"),
    [
        ("open.mp4", "libx264", {"x264-params": "open-gop=1:keyint=20:min-keyint=20:bframes=3"}),
        ("closed.mkv", "libx264", {"x264-params": "keyint=25:bframes=4:b-pyramid=normal"}),
        ("pyramid.mov", "libx265", {"x265-params": "keyint=24:bframes=4:log-level=none"}),
        ("part2.mp4", "mpeg4", {"g": "15", "bf": "2"}),
        ("vp9.webm", "libvpx-vp9", {"g": "20", "lag-in-frames": "10", "cpu-used": "8"}),
    ],
)
def test_seeking_gives_the_bytes_of_a_full_decode(folder: Path, name: str, codec: str, options: dict[str, str]) -> None:
    path = write(folder / f"seek-{name}", moving(90), codec=codec, codec_options=options, b_frames=3)
    for policy in ("uniform:7", "fps:5", "uniform:90"):
        jumped, decoded = sample(path, policy), sample(path, policy, seek=False)
        assert jumped == decoded
        assert jumped.missing == ()
    late = sample(path, "uniform:2", window=(2.2, 2.6))
    assert late == sample(path, "uniform:2", window=(2.2, 2.6), seek=False)
    # Against a plain decode that knows nothing of our index: same pixels for frame 45 (1.5 s).
    with av.open(str(path)) as container:
        plain = [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]
    (frame,) = sample(path, "uniform:1", window=(1.501, 1.6), jpeg_quality=100).frames
    assert np.abs(pixels(frame.jpeg).astype(int) - plain[45]).mean() < 4
    assert np.abs(pixels(frame.jpeg).astype(int) - plain[46]).mean() > 4


def test_frames_before_an_edit_list_do_not_exist(folder: Path) -> None:
    pictures = (counter(50) * 3)[:120]
    whole = write(folder / "whole-edit.mp4", pictures, gop=30, b_frames=2)
    sampled = sample(remux(whole, folder / "edit.mp4", shift_s=Fraction(-1, 2)), "uniform:8", jpeg_quality=100)
    assert sampled.missing == ()
    assert sampled.frames[0].time_s == sampled.frames[0].pts_s == 0
    # Frame 15 is the first one shown; time t shows frame 15 + floor(30 t).
    assert [counted(f.jpeg) for f in sampled.frames] == [(15 + int(30 * k * 3.5 / 8)) % 50 for k in range(8)]


@pytest.mark.parametrize("turned_deg", [90, 180, 270])
def test_phone_pictures_stand_upright(folder: Path, turned_deg: int) -> None:
    stored = np.zeros((180, 320, 3), np.uint8)
    stored[:40, :40] = (255, 0, 0)
    path = write(folder / f"upright{turned_deg}.mp4", [stored] * 2, rotation_deg=turned_deg)
    (frame,) = sample(path, "midpoint").frames
    shown = pixels(frame.jpeg)
    expected = np.rot90(stored, turned_deg // 90)  # the display matrix turns counter-clockwise
    assert shown.shape == expected.shape == (frame.height_px, frame.width_px, 3)
    assert np.abs(shown.astype(int) - expected).mean() < 6


def test_size_is_bounded_and_never_blown_up(folder: Path) -> None:
    path = write(folder / "wide.mp4", [gray(99, 320, 180)])
    (small,) = sample(path, "midpoint", max_side_px=100).frames
    (same,) = sample(path, "midpoint", max_side_px=1000).frames
    assert (small.width_px, small.height_px) == (100, 56)
    assert (same.width_px, same.height_px) == (320, 180)
    with pytest.raises(InputError):
        sample(path, "midpoint", max_side_px=0)


def test_a_cap_sees_both_halves(red_blue: Path) -> None:
    for policy in ("fps:2:4", "uniform:4"):
        means = [pixels(f.jpeg).mean(axis=(0, 1)) for f in sample(red_blue, policy).frames]
        assert [bool(m[0] > m[2]) for m in means] == [True, True, False, False]
    eight = sample(red_blue, "fps:5:8")
    assert len(eight.frames) == eight.wanted == 8
    assert eight.frames[-1].time_s == 5.8


@pytest.mark.parametrize("name", ["cutframes.mp4", "cutframes.mkv"])
def test_what_is_cut_off_is_missing_never_copied(folder: Path, name: str) -> None:
    sampled = sample(cut(folder, name), "uniform:8")
    assert [f.time_s for f in sampled.frames] == pytest.approx([0, 0.5, 1, 1.5, 2], abs=0.02)
    assert sampled.missing == pytest.approx((2.5, 3, 3.5), abs=0.02)
    assert len({f.jpeg for f in sampled.frames}) == 5


@pytest.mark.parametrize(
    ("codec", "options"),
    [
        ("libx264", {"x264-params": "keyint=30:min-keyint=30:scenecut=0:bframes=2"}),
        ("libx265", {"x265-params": "keyint=30:min-keyint=30:scenecut=0:open-gop=0:log-level=none"}),
    ],
)
def test_damage_inside_marks_the_frames_that_lean_on_it(folder: Path, codec: str, options: dict[str, str]) -> None:
    whole = write(folder / f"sane-{codec}.mp4", moving(90), codec=codec, codec_options=options)
    with av.open(str(whole)) as container:
        packets = [(p.pos, p.size) for p in container.demux(video=0) if p.size]
    data = bytearray(whole.read_bytes())
    # The first packet after frame 30's key packet: an anchor that the rest of the group leans on.
    position, size = packets[31]
    assert position is not None
    data[position + 6 : position + size] = bytes(size - 6)
    broken = folder / f"damaged-{codec}.mp4"
    broken.write_bytes(data)
    clean, damaged = sample(whole, "fps:30"), sample(broken, "fps:30")
    status = {round(f.time_s * 30): f.status for f in damaged.frames}
    assert all(status[n] == "ok" for n in [*range(31), *range(60, 90)])
    assert [status.get(n) for n in range(36, 60)].count("ok") == 0
    sound_at = {f.time_s: f.jpeg for f in clean.frames}
    assert all(f.jpeg == sound_at[f.time_s] for f in damaged.frames if f.status == "ok")
    assert len(damaged.frames) + len(damaged.missing) == damaged.wanted == 90
    assert sample(broken, "fps:30", seek=False) == damaged
    # A few frames of it are the same as in the whole series, damage and all.
    few = {f.time_s: f for f in sample(broken, "fps:3").frames}
    assert all(f.jpeg == few[f.time_s].jpeg for f in damaged.frames if f.time_s in few)


def test_sound_alone_has_no_frames(folder: Path) -> None:
    with pytest.raises(NoStream, match=r"nopicture\.m4a"):
        sample(write(folder / "nopicture.m4a", sounds=[tone(440, 1)]), "fps:1")


def test_the_list_on_disk(gray_counter: Path, tmp_path: Path) -> None:
    listing = write_frames(sample(gray_counter, "fps:1"), tmp_path / "out")
    rows = json.loads(listing.read_text("utf-8"))
    assert [(r["index"], r["time_s"], r["pts_s"]) for r in rows] == [(n, n, n) for n in range(5)]
    assert [counted((tmp_path / "out" / r["file"]).read_bytes()) for r in rows] == [
        0,
        10,
        20,
        30,
        40,
    ]


def test_a_used_folder_keeps_no_picture_of_an_earlier_call(gray_counter: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.jpg").write_bytes(b"not ours")
    (tmp_path / "00099.jpg").write_bytes(b"not listed")
    write_frames(sample(gray_counter, "uniform:10"), tmp_path)
    listing = write_frames(sample(gray_counter, "uniform:2"), tmp_path)
    assert [row["file"] for row in json.loads(listing.read_bytes())] == ["00000.jpg", "00001.jpg"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "00000.jpg",
        "00001.jpg",
        "00099.jpg",
        "frames.json",
        "mine.jpg",
    ]


@pytest.mark.parametrize("content", ["{}x", '[{"file": "../evil.jpg"}]', '[{"file": 3}]', '[{"name": "a"}]', "7"])
def test_a_list_of_somebody_else_is_not_overwritten(gray_counter: Path, tmp_path: Path, content: str) -> None:
    victim = tmp_path / "evil.jpg"
    victim.write_bytes(b"x")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "frames.json").write_text(content)
    with pytest.raises(InputError, match=r"frames\.json: is not a list of frames"):
        write_frames(sample(gray_counter, "midpoint"), folder)
    assert [p.name for p in folder.iterdir()] == ["frames.json"]
    assert victim.exists()


def test_a_place_that_cannot_be_written_is_one_error(gray_counter: Path, tmp_path: Path) -> None:
    sampled = sample(gray_counter, "midpoint")
    file = tmp_path / "file"
    file.write_text("x")
    (tmp_path / "list" / "frames.json").mkdir(parents=True)
    for place, words in ((file, "is a file"), (file / "deeper", "written"), (tmp_path / "list", "written")):
        with pytest.raises(InputError, match=words):
            write_frames(sampled, place)


def test_any_name_will_do(folder: Path) -> None:
    path = write(folder / "视频 测试 😀 #2.mp4", counter(3))
    assert [counted(f.jpeg) for f in sample(path, "uniform:3").frames] == [0, 1, 2]


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_memory_does_not_grow_with_length(folder: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from onlooker.media.frames import sample;"
        "sample(Path(sys.argv[1]), 'uniform:8', seek=False);"
        "print(Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])"
    )
    peaks_kib = []
    for name, count in (("short.mkv", 8), ("long.mkv", 900)):
        # 900 decoded pictures of this size are 311 MB.
        path = write(
            folder / name,
            [gray(16 + n % 200, 640, 360) for n in range(count)],
            codec_options={"preset": "ultrafast"},
        )
        done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
        peaks_kib.append(int(done.stdout))
    assert peaks_kib[1] - peaks_kib[0] < 100_000
