"""Cards say what reading the file shows, whatever its header claims."""

from __future__ import annotations

from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from onlooker.errors import UnreadableMedia
from onlooker.media.card import probe
from onlooker.media.edits import edit_lists
from onlooker.media.remarks import describe, remarks
from onlooker.media.sound import read_sound

from .making import barred, counter, gray, remux, tone, write


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
    """Case V02. The last packet lasts 0.2 s, the distance to the one decoded before it; the edit list, which is what
    players go by, ends the picture after the 1/30 s that the writer meant."""
    card = probe(vfr)
    assert card.video is not None
    assert (card.video.vfr, card.video.frames) == (True, 70)
    assert card.duration_s == pytest.approx(3.8 + 1 / 30, abs=0.001)
    assert card.video.last_pts_s == pytest.approx(3.8)


@pytest.mark.parametrize("name", ["start5.ts", "start5.mkv"])
def test_time_counts_from_the_first_frame_not_from_the_header(folder: Path, name: str) -> None:
    """Case V04."""
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
    """Case V01."""
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
    """Case V20."""
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
    """Case V07."""
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
    """Case A09."""
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
    """Case V21."""
    for name in ("视频 测试 😀 #1.mp4", "a:b?c%d'e.mp4"):
        card = probe(write(folder / name, counter(3)))
        assert card.video is not None
        assert card.video.frames == 3


def test_the_card_tells_what_is_out_of_the_ordinary(folder: Path) -> None:
    ten_bit = {"x265-params": "log-level=none:keyint=12:min-keyint=12:scenecut=0:bframes=2:transfer=smpte2084:pools=1"}
    path = write(
        folder / "special.mp4",
        [barred(n) for n in range(30)],
        rate=10,
        codec="libx265",
        codec_options=ten_bit,
        pix_fmt="yuv420p10le",
        sounds=[tone(440, 3), tone(880, 3)],
        default_sound=1,
        languages=("deu", "eng"),
        cover=barred(255),
    )
    card = probe(path)
    assert card.video is not None
    assert (card.video.bit_depth, card.video.color_transfer, card.video.hdr) == (10, "smpte2084", True)
    assert card.video.key_frames == 3
    assert card.video.largest_key_gap_s == pytest.approx(1.2)
    assert (card.video.b_frames, card.video.interlaced) == (True, False)
    assert [(t.language, t.default) for t in card.sound] == [("deu", False), ("eng", True)]
    assert (card.picture_streams, card.attached_pictures) == (1, 1)
    assert remarks(card) == ["HDR (smpte2084)", "10 bit", "2 sound tracks, 2 is read"]


def test_every_stream_has_its_own_start_and_duration(folder: Path) -> None:
    """Case V04: times count from the picture's first frame, for the sound, too."""
    path = write(
        folder / "apart.mkv",
        counter(20),
        rate=10,
        offset_s=5,
        sounds=[tone(440, 4)],
        sound_offset_s=6,
        container_options={"avoid_negative_ts": "disabled"},
    )
    card = probe(path)
    (track,) = card.sound
    assert card.video is not None
    assert card.video.first_pts_s == pytest.approx(5, abs=0.01)
    assert card.duration_s == pytest.approx(2, abs=0.002)
    assert track.start_s == pytest.approx(1, abs=0.07)
    assert track.duration_s == pytest.approx(4, abs=0.13)
    heard = read_sound(path)
    assert track.start_s == pytest.approx(heard.start_s, abs=0.001)
    assert track.duration_s == pytest.approx(heard.end_s - heard.start_s, abs=0.07)
    assert remarks(card)[0].startswith("first frame at 5.000 s")
    assert any(words.startswith("sound ends 3.") for words in remarks(card))


def test_the_edit_list_is_told(folder: Path) -> None:
    """Case V12: 105 of 120 frames are presented."""
    whole = write(folder / "whole-told.mp4", [gray(16 + t) for t in range(120)], gop=30, b_frames=2)
    video = probe(remux(whole, folder / "told.mp4", shift_s=Fraction(-1, 2))).video
    assert video is not None
    assert (video.edit_list, video.frames_hidden, video.frames) == (True, 15, 105)
    plain = probe(write(folder / "none.mkv", counter(5))).video
    assert plain is not None
    assert (plain.edit_list, plain.frames_hidden) == (None, 0)


def test_fields_and_pixels_are_told(folder: Path) -> None:
    path = write(
        folder / "told.ts",
        [barred(n) for n in range(10)],
        codec="mpeg2video",
        interlaced=True,
        pixel_aspect=Fraction(16, 9),
    )
    video = probe(path).video
    assert video is not None
    assert video.interlaced
    # MPEG-2 states the shape of the whole picture, which is rounded to one of four.
    assert video.sample_aspect_ratio != "1:1"
    assert video.width_px > video.stored_width_px == 96


def test_subtitles_are_listed(folder: Path) -> None:
    path = folder / "words.mkv"
    style = (
        b"[Script Info]\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n[Events]\nFormat: Layer, Text\n"
    )
    with av.open(str(path), "w") as out:
        words: Any = out.add_stream("ass")
        words.codec_context.subtitle_header = style
        words.metadata["language"] = "fra"
        video: Any = out.add_stream("mpeg4", rate=10)
        video.width, video.height, video.pix_fmt = 64, 64, "yuv420p"
        for level in (40, 80):
            out.mux(video.encode(av.VideoFrame.from_ndarray(gray(level), format="yuv420p")))
        packet = av.Packet(b"0,0,Default,,0,0,0,,bonjour")
        packet.stream, packet.pts, packet.dts, packet.duration = words, 0, 0, 100
        packet.time_base = Fraction(1, 1000)
        out.mux(packet)
        out.mux(video.encode(None))
    card = probe(path)
    assert [(t.codec, t.language) for t in card.subtitles] == [("ssa", "fra")]
    assert any("1 subtitle track" in line for line in describe(card))


def test_the_end_of_the_last_frame_is_the_presented_one(folder: Path) -> None:
    """Frames at 25 a second, held longer and longer: only the edit list tells how long the last one stays."""
    ticks = [0, 1, 3, 6, 10, 15, 21, 28]
    for options in ({}, {"x264-params": "bframes=3:b-adapt=0"}):
        path = write(folder / f"hold{len(options)}.mp4", counter(8), ticks, rate=25, b_frames=3, codec_options=options)
        assert probe(path).duration_s == pytest.approx(29 / 25, abs=0.0011)


def test_a_list_of_edits_is_read_as_far_as_it_goes(folder: Path) -> None:
    path = write(folder / "boxes.mp4", counter(10), rate=10, sounds=[tone(440, 1)])
    found = edit_lists(path)
    assert set(found) == {1, 2}
    assert found[1].ends_s == 1
    data = path.read_bytes()
    for place in range(data.index(b"moov") - 4, len(data), 7):
        short = folder / "short-boxes.mp4"
        short.write_bytes(data[:place])
        assert all(e.ends_s is None or e.ends_s >= 0 for e in edit_lists(short).values())
    assert edit_lists(write(folder / "boxes.mkv", counter(3))) == {}


def test_a_list_of_other_files_is_no_medium(folder: Path) -> None:
    """Its own bytes stay the same when what it names is replaced."""
    write(folder / "named.mp4", [gray(50)] * 2)
    listing = folder / "list.ffconcat"
    listing.write_text("ffconcat version 1.0\nfile named.mp4\n")
    with pytest.raises(UnreadableMedia, match="list of other files"):
        probe(listing)


def test_a_picture_named_like_a_pattern_is_read_itself(folder: Path) -> None:
    for name, width in (("shot%d.png", 64), ("shot1.png", 32)):
        Image.new("RGB", (width, 16)).save(folder / name)
    video = probe(folder / "shot%d.png").video
    assert video is not None
    assert video.width_px == 64
