"""Cards say what reading the file shows, whatever its header claims."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import av
import numpy as np
import pytest

from onlooker.errors import UnreadableMedia
from onlooker.media.card import probe

from .making import counter, gray, remux, tone, write


def test_a_plain_file(base: Path) -> None:
    card = probe(base)
    assert card.video is not None
    assert (card.duration_s, card.sound_duration_s, card.sound) == (4.0, None, ())
    assert (card.video.codec, card.video.width_px, card.video.height_px) == ("h264", 64, 64)
    assert (card.video.frames, card.video.vfr, card.video.damage) == (120, False, "none")
    assert card.video.average_fps == pytest.approx(30)
    assert card.bytes == base.stat().st_size
    assert card.sha256 == sha256(base.read_bytes()).hexdigest()


def test_a_variable_rate_is_seen_and_the_last_frame_holds_its_own_time(vfr: Path) -> None:
    card = probe(vfr)
    assert card.video is not None
    assert (card.video.vfr, card.video.frames, card.duration_s) == (True, 70, 4.0)
    assert card.video.last_pts_s == pytest.approx(3.8)


@pytest.mark.parametrize("name", ["start5.ts", "start5.mkv"])
def test_time_counts_from_the_first_frame_not_from_the_header(folder: Path, name: str) -> None:
    path = write(
        folder / name,
        [gray(16 + t) for t in range(120)],
        offset_s=5,
        b_frames=2,
        container_options={"avoid_negative_ts": "disabled"},
    )
    card = probe(path)
    assert card.video is not None
    assert card.video.first_pts_s == pytest.approx(5)
    assert card.duration_s == pytest.approx(4, abs=0.002)


def test_an_edit_list_hides_frames(folder: Path) -> None:
    whole = write(folder / "whole120.mp4", [gray(16 + t) for t in range(120)], gop=30, b_frames=2)
    card = probe(remux(whole, folder / "editlist.mp4", shift_s=Fraction(-1, 2)))
    assert card.video is not None
    assert (card.video.frames, card.duration_s) == (105, 3.5)
    assert card.video.damage == "none"


@pytest.mark.parametrize(("turned_deg", "size"), [(90, (180, 320)), (180, (320, 180)), (270, (180, 320))])
def test_the_size_is_that_of_the_turned_picture(folder: Path, turned_deg: int, size: tuple[int, int]) -> None:
    path = write(folder / f"turned{turned_deg}.mp4", [gray(50, 320, 180)], rotation_deg=turned_deg)
    video = probe(path).video
    assert video is not None
    assert (video.width_px, video.height_px) == size
    assert video.rotation_deg % 360 == turned_deg


def test_pixels_that_are_not_square_widen_the_picture(folder: Path) -> None:
    path = folder / "anamorphic.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 72, 64, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(4, 3)
        out.mux(stream.encode(av.VideoFrame.from_ndarray(gray(80, 72), format="yuv420p")))
        out.mux(stream.encode(None))
    video = probe(path).video
    assert video is not None
    assert (video.width_px, video.height_px) == (96, 64)


def test_a_cut_file_says_how_much_is_left(folder: Path) -> None:
    for name, declared in (("cut.mp4", 120), ("cut.mkv", None)):
        card = probe(cut(folder, name))
        assert card.video is not None
        assert card.video.damage == "partial"
        assert 60 <= card.video.frames_decodable <= 80
        assert card.video.frames_declared == declared
        assert card.duration_s == pytest.approx(4, abs=0.05)  # of the whole, as the header has it


def cut(folder: Path, name: str) -> Path:
    """A busy 4 s clip, 120 frames, of which the file keeps the first 60 %."""
    pictures = [np.random.default_rng(n).integers(16, 235, (96, 64), dtype=np.uint8) for n in range(120)]
    whole = write(
        folder / f"whole-{name}",
        pictures,
        b_frames=2,
        container_options={"movflags": "+faststart"} if name.endswith("mp4") else {},
    )
    data = whole.read_bytes()
    target = folder / name
    target.write_bytes(data[: len(data) * 6 // 10])
    return target


def test_unreadable_files_are_named_with_the_reason(folder: Path) -> None:
    empty = folder / "empty.mp4"
    empty.write_bytes(b"")
    with pytest.raises(UnreadableMedia, match=r"empty\.mp4: is empty"):
        probe(empty)
    headless = folder / "trunc_nomoov.mp4"
    whole = write(
        folder / "noisy.mp4",
        [np.random.default_rng(n).integers(16, 235, (96, 64), dtype=np.uint8) for n in range(30)],
    )
    headless.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    with pytest.raises(UnreadableMedia, match=r"trunc_nomoov\.mp4: .*moov atom not found"):
        probe(headless)
    with pytest.raises(UnreadableMedia, match=r"gone\.mp4: cannot be opened \(No such file"):
        probe(folder / "gone.mp4")
    text = folder / "notes.mp4"
    text.write_text("these are no frames\n" * 40)
    with pytest.raises(UnreadableMedia, match=r"notes\.mp4"):
        probe(text)
    with pytest.raises(UnreadableMedia, match="folder"):
        probe(folder)


def test_sound_tracks_and_the_default_one(two_tracks: Path) -> None:
    card = probe(two_tracks)
    assert [(t.index, t.rate_hz, t.channels, t.default) for t in card.sound] == [
        (1, 16_000, 1, False),
        (2, 16_000, 1, True),
    ]
    assert card.default_sound == 2
    assert card.sound_duration_s == pytest.approx(4, abs=0.1)


def test_sound_alone_has_its_own_duration_and_a_cover_is_no_picture(folder: Path) -> None:
    alone = probe(write(folder / "alone.m4a", sounds=[tone(440, 3)]))
    assert alone.video is None
    assert alone.duration_s == alone.sound_duration_s == pytest.approx(3, abs=0.1)
    cover = folder / "cover.mp4"
    with av.open(str(cover), "w") as out:
        sound = out.add_stream("aac", rate=16_000, layout="mono")
        art = out.add_stream("mjpeg", rate=1)
        art.width, art.height, art.pix_fmt = 64, 64, "yuvj420p"
        art.disposition = av.stream.Disposition.attached_pic
        frame = av.AudioFrame.from_ndarray(tone(440, 1).reshape(1, -1)[:, :1024], format="s16", layout="mono")
        frame.sample_rate = 16_000
        picture = av.VideoFrame.from_ndarray(gray(90), format="yuv420p")
        out.mux(art.encode(picture.reformat(format="yuvj420p")))
        out.mux(art.encode(None))
        out.mux(sound.encode(frame))
        out.mux(sound.encode(None))
    assert probe(cover).video is None


def test_any_name_will_do(folder: Path) -> None:
    for name in ("视频 测试 😀 #1.mp4", "a:b?c%d'e.mp4"):
        card = probe(write(folder / name, counter(3)))
        assert card.video is not None
        assert card.video.frames == 3
