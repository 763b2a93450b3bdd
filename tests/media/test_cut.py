"""Clips: which frames, when, with which sound, how large, and what is said about it."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.errors import InputError, MediaError, NoStream, OnlookerError, UnreadableMedia
from onlooker.media.card import probe
from onlooker.media.cut import cached_clip, cut_clip
from onlooker.media.frames import sample
from onlooker.media.sound import read_sound
from tests.media.making import counted, counter, gray, pixels, remux, tone, write
from tests.media.reading import counts, luma, packets

VFR_TICKS = [0, 1, 2, 5, 9, 10, 11, 20, 21, 22, 23, 30, 40, 41, 42, 43, 44, 45, 46, 58]
KINDS: dict[str, dict[str, Any]] = {
    "cfr.mp4": {},
    "bframes.mp4": {"b_frames": 3, "gop": 7},
    "vfr.mp4": {"ticks": VFR_TICKS},
    "vfr_bframes.mkv": {"ticks": VFR_TICKS, "b_frames": 3, "gop": 6},
    "late.mkv": {"offset_s": 6.4},
    "late.ts": {"offset_s": 6.4, "gop": 8},
    "hevc.mp4": {"codec": "libx265", "codec_options": {"x265-params": "log-level=none"}},
    "vp9.webm": {"codec": "libvpx-vp9", "ticks": VFR_TICKS},
    "mpeg4.avi": {"codec": "mpeg4", "codec_options": {"qmin": "1", "qmax": "1"}},
    "opengop.mp4": {
        "codec_options": {"x264-params": "open-gop=1:bframes=3:b-adapt=0:keyint=8:min-keyint=8:scenecut=0"}
    },
}


@pytest.mark.parametrize("window", [None, (0.4, 1.5), (0.45, 1.37), (0.0, 0.05), (1.0, 9.0)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_frame_is_there_at_its_own_time(tmp_path: Path, kind: str, window: tuple[float, float] | None) -> None:
    options = KINDS[kind]
    ticks = options.get("ticks", list(range(20)))
    path = write(tmp_path / kind, counter(20), rate=10, **options)
    clip = cut_clip(path, tmp_path / "out.mp4", window=window)
    start, end = window or (0.0, 99.0)
    shown = [(t / 10, n) for n, t in enumerate(ticks)]
    first = [(0.0, n) for t, n in shown if t <= start + 1e-6][-1:]
    expected = first + [(t - start, n) for t, n in shown if start + 1e-6 < t < end - 1e-6]
    found = counts(clip.path, digits=9)
    assert [n for _, n in found] == [n for _, n in expected]
    tick_s = 0.001 if kind.endswith(("mkv", "webm", "ts")) else 1e-4
    assert np.allclose([t for t, _ in found], [t for t, _ in expected], atol=tick_s)
    card = probe(clip.path)
    assert card.video is not None
    assert (clip.frames, clip.first_pts_s, card.video.first_pts_s) == (len(expected), 0.0, 0.0)
    assert clip.last_pts_s == pytest.approx(card.video.last_pts_s, abs=1e-9)
    assert card.duration_s == pytest.approx(clip.end_s - clip.start_s, abs=tick_s)
    assert card.duration_s == pytest.approx(clip.duration_s, abs=1e-9)
    assert (card.video.codec, card.video.pix_fmt, card.sound) == ("h264", "yuv420p", ())
    assert (clip.sha256, clip.size_bytes) == (card.sha256, card.bytes)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ticks=st.lists(st.integers(1, 60), min_size=1, max_size=30, unique=True),
    suffix=st.sampled_from(["mp4", "mkv"]),
    b_frames=st.sampled_from([0, 3]),
    gop=st.sampled_from([3, 250]),
    ends_ms=st.tuples(st.integers(0, 5900), st.integers(1, 6500)),
)
def test_any_window_of_any_clip(
    tmp_path: Path, ticks: list[int], suffix: str, b_frames: int, gop: int, ends_ms: tuple[int, int]
) -> None:
    ticks = sorted({0, *ticks})
    path = write(tmp_path / f"a.{suffix}", counter(len(ticks)), ticks, rate=10, b_frames=b_frames, gop=gop)
    start = min(ends_ms[0] / 1000, ticks[-1] / 10)
    end = start + ends_ms[1] / 1000
    clip = cut_clip(path, tmp_path / "out.mp4", window=(start, end))
    times = [t / 10 for t in ticks]
    first = max(n for n, t in enumerate(times) if t <= start + 1e-6)
    expected = [(max(0.0, t - start), n) for n, t in enumerate(times) if n >= first and t < end - 1e-6]
    found = counts(clip.path, digits=9)
    assert [n for _, n in found] == [n for _, n in expected]
    assert np.allclose([t for t, _ in found], [t for t, _ in expected], atol=0.001)
    with av.open(str(clip.path)) as container:
        stream = container.streams.video[0]
        assert stream.duration is not None
        assert stream.time_base is not None
        length_s = float(stream.duration * stream.time_base)
    assert length_s == pytest.approx(clip.end_s - clip.start_s, abs=0.0011)
    assert clip.duration_s == pytest.approx(length_s, abs=1e-6)


@pytest.mark.parametrize("b_frames", [0, 2])
@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
def test_a_window_between_key_frames_is_copied_packet_by_packet(tmp_path: Path, suffix: str, b_frames: int) -> None:
    path = write(
        tmp_path / f"a.{suffix}", counter(40), rate=10, gop=10, b_frames=b_frames, codec_options={"sc_threshold": "0"}
    )
    whole = cut_clip(path, tmp_path / "whole.mp4")
    assert (whole.method, whole.why, whole.corrupt) == ("copied", None, None)
    assert packets(whole.path) == packets(path)
    clip = cut_clip(path, tmp_path / "part.mp4", window=(1.0, 3.0))
    assert clip.method == "copied"
    assert packets(clip.path) == packets(path)[10:30]
    assert counts(clip.path) == [(k / 10, 10 + k) for k in range(20)]
    assert probe(clip.path).duration_s == pytest.approx(2.0, abs=1e-3)
    assert [counted(f.jpeg) for f in sample(clip.path, "fps:2").frames] == [10, 15, 20, 25]


def test_what_cannot_be_copied_says_why(tmp_path: Path) -> None:
    def why(
        name: str, window: tuple[float, float] | None = None, side: int | None = None, **options: Any
    ) -> str | None:
        path = write(tmp_path / name, counter(20), rate=10, **options)
        return cut_clip(path, tmp_path / "out.mp4", window=window, max_side_px=side).why

    assert why("a.mp4") is None
    assert why("b.mp4", (0.05, 1.0)) == "the window begins in the middle of a frame"
    assert why("c.mp4", (0.0, 0.95)) == "the window ends in the middle of a frame"
    assert why("d.mp4", (0.5, 1.0)) == "the window does not begin with a key frame"
    assert why("e.mp4", side=32) == "the longer side is more than 32 px"
    assert why("f.mp4", rotation_deg=90) == "the picture is turned"
    assert why("g.ts") == "the container is mpegts"
    assert why("h.mp4", codec="mpeg4") == "the codec is mpeg4"
    assert why("i.avi", codec="mpeg4") == "the packets have no times of showing"
    open_gop = KINDS["opengop.mp4"]
    assert why("j.mp4", (0.8, 1.6), **open_gop) is not None


def test_edit_list_hides_what_it_hid(tmp_path: Path) -> None:
    """Frames before the edit list's start are decoded and never shown (case V12)."""
    path = write(tmp_path / "a.mp4", counter(20), rate=10)
    hidden = remux(path, tmp_path / "hidden.mp4", shift_s=Fraction(-1, 2))
    card = probe(hidden)
    assert card.video is not None
    assert card.video.frames == 15
    clip = cut_clip(hidden, tmp_path / "out.mp4")
    assert [n for _, n in counts(clip.path)] == list(range(5, 20))
    assert clip.picture == "re-encoded"


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_pictures_stand_upright(tmp_path: Path, rotation: int) -> None:
    stored = gray(60, 96, 64)
    stored[:16, :16] = 220
    path = write(tmp_path / "a.mp4", [stored] * 3, rotation_deg=rotation)
    clip = cut_clip(path, tmp_path / "out.mp4")
    assert (clip.width_px, clip.height_px) == ((64, 96) if rotation % 180 else (96, 64))
    shown = pixels(sample(path, "uniform:1").frames[0].jpeg)[:, :, 0].astype(int)
    plane = luma(clip.path)[0][1]
    assert plane.shape == shown.shape
    corners = {(y, x): bool(plane[y, x] > 150) for y in (4, shown.shape[0] - 5) for x in (4, shown.shape[1] - 5)}
    assert corners == {place: bool(shown[place] > 150) for place in corners}
    assert sum(corners.values()) == 1
    card = probe(clip.path).video
    assert card is not None
    assert card.rotation_deg == 0


def write_raw(path: Path, picture: np.ndarray[Any, Any], form: str) -> Path:
    """Three equal pictures without loss, in any size and pixel format."""
    with av.open(str(path), "w") as out:
        video: Any = out.add_stream("ffv1", rate=10)
        video.height, video.width = picture.shape[:2]
        video.pix_fmt = form
        for place in range(3):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format=form)
            frame.pts, frame.time_base = place, Fraction(1, 10)
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
    return path


def test_odd_sides_lose_one_pixel_and_pixels_become_square(tmp_path: Path) -> None:
    picture = np.full((49, 65, 3), 100, np.uint8)
    odd = cut_clip(write_raw(tmp_path / "a.mkv", picture, "yuv444p"), tmp_path / "odd.mp4")
    assert (odd.width_px, odd.height_px, odd.why) == (64, 48, "the codec is ffv1")
    wide = write(tmp_path / "b.mp4", [gray(100, 66, 48)] * 3, pixel_aspect=Fraction(2))
    clip = cut_clip(wide, tmp_path / "wide.mp4")
    assert (clip.width_px, clip.height_px, clip.why) == (132, 48, "the pixels are not square")
    card = probe(clip.path).video
    assert card is not None
    assert (card.width_px, card.height_px) == (132, 48)
    small = cut_clip(wide, tmp_path / "small.mp4", max_side_px=33)
    assert (small.width_px, small.height_px) == (32, 12)
    with pytest.raises(InputError, match="at least 2"):
        cut_clip(wide, tmp_path / "none.mp4", max_side_px=1)


@pytest.mark.parametrize("form", ["bgr0", "yuv444p", "yuv420p10le"])
def test_colours_are_those_of_the_sampled_frames(tmp_path: Path, form: str) -> None:
    """RGB and ten bits become eight bits of limited range, and look the same."""
    picture = np.zeros((64, 96, 3), np.uint8)
    picture[:, :48] = (200, 40, 60)
    picture[:, 48:] = (30, 90, 210)
    path = write_raw(tmp_path / "a.mkv", picture, form)
    clip = cut_clip(path, tmp_path / "out.mp4")
    source, copy = (
        pixels(sample(p, "uniform:1", jpeg_quality=100).frames[0].jpeg).astype(int) for p in (path, clip.path)
    )
    for column in (20, 76):
        assert np.abs(source[32, column] - copy[32, column]).max() <= 4
        assert np.abs(picture[32, column].astype(int) - copy[32, column]).max() <= 6


def test_a_cap_keeps_frames_of_the_grid_at_their_own_times(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10)
    clip = cut_clip(path, tmp_path / "out.mp4", max_fps=4)
    assert counts(clip.path) == [(n / 10, n) for n in (0, 2, 5, 7, 10, 12, 15, 17)]
    assert clip.fps == pytest.approx(4)
    assert cut_clip(path, tmp_path / "all.mp4", max_fps=10).method == "copied"
    with pytest.raises(InputError, match="frames a second"):
        cut_clip(path, tmp_path / "out.mp4", max_fps=0)


# Sound


def flashes(path: Path, at_s: tuple[float, ...], *, sound_from_s: float = 0.0, **options: Any) -> Path:
    """5 s at 20 fps: a white frame and a tone of 50 ms at the given times; sound from ``sound_from_s`` on."""
    pictures = [gray(235 if n / 20 in at_s else 16) for n in range(100)]
    rate = options.get("sound_rate_hz", 16_000)
    heard = np.zeros(round((5 - sound_from_s) * rate), np.int16)
    for time_s in at_s:
        begin = round((time_s - sound_from_s) * rate)
        heard[begin : begin + rate // 20] = tone(1000, 0.05, rate)
    steady = {"sc_threshold": "0"} if "codec" not in options else {}  # key frames once a second, not at flashes
    return write(
        path,
        pictures,
        rate=20,
        gop=20,
        sounds=[heard],
        sound_offset_s=sound_from_s,
        codec_options=steady,
        **options,
    )


def offsets_s(path: Path) -> list[float]:
    """Onset of each tone less that of each flash."""
    frames = luma(path)
    seen = [t - frames[0][0] for t, plane in frames if plane.mean() > 120]
    clip = read_sound(path)
    loud = np.flatnonzero(np.abs(clip.samples.astype(int)) > 2000) / clip.rate_hz + clip.start_s
    onsets = [t for t, before in zip(loud, [-1.0, *loud[:-1]], strict=True) if t - before > 0.2]
    assert len(onsets) == len(seen)
    return [heard - light for heard, light in zip(onsets, seen, strict=True)]


SOUNDS: dict[str, dict[str, Any]] = {
    "aac.mp4": {},
    "aac48.mkv": {"sound_rate_hz": 48_000},
    "late.mp4": {"sound_from_s": 0.3},
    "opus.webm": {"codec": "libvpx-vp9", "sound_codec": "libopus", "sound_rate_hz": 48_000},
    "start.ts": {"offset_s": 3.0, "sound_from_s": 0.0},
    "mp3.mp4": {"sound_codec": "libmp3lame", "sound_rate_hz": 44_100},
}


@pytest.mark.parametrize("window", [None, (0.0, 5.0), (0.33, 4.87), (1.0, 5.0)])
@pytest.mark.parametrize("kind", SOUNDS)
def test_sound_stays_in_step(tmp_path: Path, kind: str, window: tuple[float, float] | None) -> None:
    options = dict(SOUNDS[kind])
    shift = options.pop("offset_s", 0.0)
    path = flashes(tmp_path / kind, (0.5, 1.5, 4.75), **options)
    if shift:
        path = remux(path, tmp_path / f"shifted_{kind}", shift_s=Fraction(3))
    before = offsets_s(path)
    clip = cut_clip(path, tmp_path / "out.mp4", window=window)
    assert clip.has_sound
    after = offsets_s(clip.path)
    assert len(after) == (2 if window == (1.0, 5.0) else 3)
    assert max(abs(a - b) for a, b in zip(after, before[-len(after) :], strict=True)) < 0.004
    assert max(abs(a) for a in after) < 0.01
    card = probe(clip.path)
    # A copy holds a packet more in front, which the edit list hides.
    assert card.sound_duration_s == pytest.approx(clip.duration_s, abs=0.1 if clip.sound == "copied" else 0.03)
    assert card.sound[0].codec == "aac"


def test_aac_is_copied_where_it_covers_the_start(tmp_path: Path) -> None:
    path = flashes(tmp_path / "a.mp4", (0.5, 4.75))
    clip = cut_clip(path, tmp_path / "out.mp4", window=(1.0, 4.0))
    assert (clip.picture, clip.sound, clip.method) == ("copied", "copied", "copied")
    given = packets(path, "audio")
    taken = packets(clip.path, "audio")
    assert 48 <= len(taken) <= 50  # 3 s in packets of 64 ms, one in front
    assert taken in [given[first : first + len(taken)] for first in range(len(given))]
    late = cut_clip(flashes(tmp_path / "b.mp4", (0.5,), sound_from_s=0.3), tmp_path / "late.mp4")
    assert (late.picture, late.sound, late.method) == ("copied", "re-encoded", "re-encoded")
    silent = cut_clip(path, tmp_path / "silent.mp4", keep_sound=False)
    assert (silent.has_sound, silent.sound, probe(silent.path).sound) == (False, "none", ())


def test_sound_longer_than_the_picture_ends_with_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10, sounds=[tone(440, 5)])
    for window in (None, (0.05, 2.0)):
        card = probe(cut_clip(path, tmp_path / "out.mp4", window=window).path)
        assert card.sound_duration_s == pytest.approx(card.duration_s, abs=0.03)


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_where_the_sound_has_ended_there_is_silence(tmp_path: Path, suffix: str) -> None:
    path = write(tmp_path / f"a.{suffix}", counter(40), rate=10, sounds=[tone(440, 1)])
    clip = cut_clip(path, tmp_path / "out.mp4", window=(2.95, 4.0))
    heard = read_sound(clip.path).samples
    assert 1.05 * 16_000 <= len(heard) < 1.05 * 16_000 + 1024  # AAC comes in packets of 1024
    assert not heard.any()


def test_sound_far_into_a_file_is_that_of_a_decode_from_its_start(tmp_path: Path) -> None:
    """Seeking gives the same samples: a rising tone 3 s in, against the whole sound."""
    t = np.arange(16_000 * 5) / 16_000
    sweep = np.asarray(np.sin(2 * np.pi * (200 + 150 * t) * t) * 8000, np.int16)
    for suffix in ("mp4", "mkv"):
        path = write(tmp_path / f"a.{suffix}", counter(50), rate=10, sounds=[sweep])
        clip = cut_clip(path, tmp_path / "out.mp4", window=(3.05, 4.95))
        heard = read_sound(clip.path).samples.astype(float)
        whole = read_sound(path, window=(3.05, 4.95)).samples.astype(float)
        number = min(len(heard), len(whole))
        assert number == pytest.approx(1.9 * 16_000, abs=20)
        shifts = {
            k: float(np.dot(heard[100:-100][: number - 300], whole[100 + k :][: number - 300])) for k in range(-40, 41)
        }
        best = max(shifts, key=lambda k: shifts[k])
        assert -16 <= best <= 16  # a millisecond, Matroska's tick


@pytest.mark.parametrize("layout", ["stereo", "5.1"])
def test_two_channels_stay_two_and_six_become_two(tmp_path: Path, layout: str) -> None:
    path = tmp_path / "a.mp4"
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=10)
        video.width = video.height = 64
        video.pix_fmt = "yuv420p"
        track = out.add_stream("aac", rate=44_100, layout=layout)
        for picture in counter(10):
            out.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="yuv420p")))
        out.mux(video.encode(None))
        samples = np.zeros((2 if layout == "stereo" else 6, 44_100), np.float32)
        samples[0] = np.sin(np.arange(44_100) * 2 * np.pi * 500 / 44_100) / 4
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout=layout)
        frame.sample_rate = 44_100
        out.mux(track.encode(frame))
        out.mux(track.encode(None))
    clip = cut_clip(path, tmp_path / "out.mp4", window=(0.05, 1.0))
    with av.open(str(clip.path)) as container:
        stream = container.streams.audio[0]
        assert (stream.rate, stream.layout.name) == (44_100, "stereo")
        heard = np.concatenate([f.to_ndarray() for f in container.decode(stream)], axis=1)[:, 4000:-4000]
    assert np.abs(heard[0]).max() > 10 * np.abs(heard[1]).max()


def test_the_default_track_is_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10, sounds=[tone(400, 2), tone(3000, 2)], default_sound=1)
    for window in (None, (0.05, 2.0)):
        heard = read_sound(cut_clip(path, tmp_path / "out.mp4", window=window).path).samples
        spectrum = np.abs(np.fft.rfft(heard))
        assert np.argmax(spectrum) * 16_000 / len(heard) == pytest.approx(3000, abs=20)


# The file


def test_same_input_and_options_give_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    path = flashes(tmp_path / "a.mp4", (0.5, 4.75))
    code = (
        "import sys; from pathlib import Path; from onlooker.media.cut import cut_clip; source, out = map(Path, "
        "sys.argv[1:]); print(cut_clip(source, out, window=(0.33, 4.0), max_bytes=60000).sha256)"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code, str(path), str(tmp_path / f"{n}.mp4")],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in range(2)
    }
    assert len(digests) == 1
    copied = [cut_clip(path, tmp_path / f"copy{n}.mp4").path.read_bytes() for n in range(2)]
    assert copied[0] == copied[1]


def test_nothing_of_the_recording_but_picture_and_sound_gets_in(tmp_path: Path) -> None:
    """Places, names and dates stay behind, also in a copy."""
    plain = flashes(tmp_path / "plain.mp4", (0.5,))
    tagged = tmp_path / "tagged.mp4"
    with av.open(str(plain)) as given, av.open(str(tagged), "w", options={"movflags": "use_metadata_tags"}) as out:
        out.metadata.update(
            {"title": "Secretname", "location": "+48.8577+002.2950/", "creation_time": "2020-02-02T00:00:00Z"}
        )
        streams = {s.index: out.add_stream_from_template(s) for s in given.streams}
        for stream in streams.values():
            stream.metadata.update({"handler_name": "Secretname", "creation_time": "2020-02-02T00:00:00Z"})
        for packet in given.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream_index]
                out.mux(packet)
    assert b"Secretname" in tagged.read_bytes()
    for window in (None, (0.33, 4.0)):
        clip = cut_clip(tagged, tmp_path / "out.mp4", window=window)
        data = clip.path.read_bytes()
        assert b"Secretname" not in data
        assert b"+48.8577" not in data
        assert b"Lavf" not in data
        for box in (b"mvhd", b"mdhd", b"tkhd"):
            times = data[data.index(box) + 8 :][:8]
            assert times == bytes(8), box


def noise(path: Path, seconds: int = 4, side: int = 320) -> Path:
    generator = np.random.default_rng(1)
    pictures = [generator.integers(16, 235, (side * 3 // 2, side), np.uint8) for _ in range(seconds * 10)]
    return write(path, pictures, rate=10, sounds=[tone(440, seconds)], codec_options={"crf": "10"})


def test_a_budget_is_kept_by_rate_then_by_size_then_refused(tmp_path: Path) -> None:
    path = noise(tmp_path / "a.mp4")
    free = cut_clip(path, tmp_path / "free.mp4", window=(0.05, 4.0))
    out = tmp_path / "out.mp4"
    rate = cut_clip(path, out, max_bytes=free.size_bytes * 3 // 4)
    assert rate.size_bytes <= free.size_bytes * 3 // 4
    assert (rate.width_px, rate.frames, rate.has_sound) == (320, 40, True)
    assert rate.why == f"the copy is larger than {free.size_bytes * 3 // 4} bytes"
    small = cut_clip(path, out, max_bytes=free.size_bytes // 6)
    assert small.size_bytes <= free.size_bytes // 6
    assert small.size_bytes == out.stat().st_size
    assert 160 <= small.width_px < 320
    assert small.frames == 40
    kept = out.read_bytes()
    with pytest.raises(MediaError, match="lowest quality") as refused:
        cut_clip(path, out, max_bytes=25_000)
    assert "quantizer 40" in str(refused.value)
    assert refused.value.remedy
    with pytest.raises(MediaError, match="do not fit into 2000 bytes"):
        cut_clip(path, out, max_bytes=2000)
    assert out.read_bytes() == kept
    assert {p.name for p in tmp_path.iterdir()} == {"a.mp4", "free.mp4", "out.mp4"}


def test_a_copy_within_the_budget_stays_a_copy(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10)
    assert cut_clip(path, tmp_path / "out.mp4", max_bytes=20_000).method == "copied"


def test_what_is_no_video_or_would_replace_itself_is_refused(tmp_path: Path) -> None:
    sound = write(tmp_path / "a.m4a", sounds=[tone(440, 2)], container="mp4")
    with pytest.raises(NoStream, match="has no picture"):
        cut_clip(sound, tmp_path / "out.mp4")
    empty = tmp_path / "empty.mp4"
    empty.touch()
    with pytest.raises(UnreadableMedia, match="is empty"):
        cut_clip(empty, tmp_path / "out.mp4")
    path = write(tmp_path / "b.mp4", counter(20), rate=10)
    for options in ({"window": (1.0, 1.0)}, {"window": (5.0, 6.0)}, {"max_bytes": 0}):
        with pytest.raises(InputError):
            cut_clip(path, tmp_path / "out.mp4", **options)
    with pytest.raises(InputError, match="its own source"):
        cut_clip(path, path)
    assert not (tmp_path / "out.mp4").exists()


# Damage


def test_a_place_that_cannot_be_written_is_told_and_left_clean(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10, codec="mpeg4")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder: is a folder"):
        cut_clip(path, tmp_path / "folder")
    with pytest.raises(OnlookerError, match=r"a\.mp4/out\.mp4: cannot be written"):
        cut_clip(path, path / "out.mp4")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as a full disk does, the system refuses to write on
    try:
        with pytest.raises(OnlookerError, match=r"^[^ ]*/out\.mp4: cannot be written \(File too large\)\. Remedy"):
            cut_clip(path, tmp_path / "out.mp4")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.mp4", "folder"]


def test_a_cut_file_gives_what_it_has_and_says_what_is_lost(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(40), rate=10, gop=5, container_options={"movflags": "+faststart"})
    data = path.read_bytes()
    short = tmp_path / "short.mp4"
    short.write_bytes(data[: len(data) - len(b"".join(packets(path)[25:]))])
    clip = cut_clip(short, tmp_path / "out.mp4")
    assert [n for _, n in counts(clip.path)] == list(range(25))
    assert (clip.start_s, round(clip.end_s, 6), round(clip.lost_s, 6)) == (0.0, 2.5, 1.5)
    whole = cut_clip(short, tmp_path / "out.mp4", window=(0.5, 2.0))
    assert (whole.lost_s, whole.missing, [n for _, n in counts(whole.path)]) == (0.0, 0, list(range(5, 20)))
    with pytest.raises(UnreadableMedia, match="no frame is known"):
        cut_clip(short, tmp_path / "out.mp4", window=(3.0, 4.0))


def spoil(path: Path, target: Path, number: int, keep: int = 0) -> Path:
    """Overwrite all of a packet but its first ``keep`` bytes, which stay."""
    data = path.read_bytes()
    packet = packets(path)[number]
    at = data.index(packet)
    target.write_bytes(data[: at + keep] + bytes(len(packet) - keep) + data[at + len(packet) :])
    return target


def test_frames_that_cannot_be_decoded_are_counted_and_no_wrong_one_stands_in(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10, gop=1)
    bad = spoil(path, tmp_path / "bad.mp4", 7)
    clip = cut_clip(bad, tmp_path / "out.mp4", max_side_px=32)
    found = counts(clip.path)
    assert [n for _, n in found] == [n for n in range(20) if n != 7]
    assert (clip.missing, clip.lost_s, found[7]) == (1, 0.0, (0.8, 8))
    # Where it should come first, the clip begins with the next one, and says so.
    later = cut_clip(bad, tmp_path / "out.mp4", window=(0.7, 2.0), max_side_px=32)
    assert (round(later.start_s, 6), round(later.lost_s, 6)) == (0.8, 0.1)
    assert counts(later.path) == [((n - 8) / 10, n) for n in range(8, 20)]
    assert (later.missing, later.frames) == (0, 12)


def test_damage_inside_a_group_is_stated(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    pictures = [np.repeat(np.repeat(generator.integers(16, 235, (24, 16), np.uint8), 4, 0), 4, 1) for _ in range(30)]
    path = write(tmp_path / "a.mp4", pictures, rate=10, gop=10, codec_options={"sc_threshold": "0"})
    bad = spoil(path, tmp_path / "bad.mp4", 14, keep=60)
    clip = cut_clip(bad, tmp_path / "out.mp4", max_side_px=48)
    statuses = [f.status for f in sample(bad, "fps:10").frames]
    assert clip.corrupt == statuses.count("corrupt") > 0
    assert clip.missing + clip.frames == 30


# Cache


def test_a_clip_is_made_once_and_again_when_anything_differs(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    path = write(tmp_path / "a.mp4", counter(20), rate=10)
    clip = cached_clip(cache, path, window=(0.05, 1.0))
    assert clip.path.is_relative_to(cache / "clips")
    inode = clip.path.stat().st_ino
    moved = path.rename(tmp_path / "moved.mp4")
    assert cached_clip(cache, moved, window=(0.05, 1.0)) == clip
    assert clip.path.stat().st_ino == inode
    others: list[Callable[[], Any]] = [
        lambda: cached_clip(cache, moved, window=(0.05, 1.1)),
        lambda: cached_clip(cache, moved, window=(0.05, 1.0), max_side_px=32),
        lambda: cached_clip(cache, moved, window=(0.05, 1.0), max_bytes=9000),
        lambda: cached_clip(cache, moved, window=(0.05, 1.0), max_fps=3),
        lambda: cached_clip(cache, moved, window=(0.05, 1.0), keep_sound=False),
    ]
    assert len({other().path for other in others} | {clip.path}) == 6
    clip.path.write_bytes(b"rotten")
    assert cached_clip(cache, moved, window=(0.05, 1.0)) == clip
    clip.path.unlink()
    again = cached_clip(cache, moved, window=(0.05, 1.0))
    assert (again, probe(again.path).sha256) == (clip, clip.sha256)
    write(moved, counter(19), rate=10)
    assert cached_clip(cache, moved, window=(0.05, 1.0)).path != clip.path


def test_long_work_tells_how_far_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.mp4", counter(10), rate=10)
    told: list[tuple[int, int]] = []
    cut_clip(path, tmp_path / "b.mp4", max_side_px=32, advance=lambda done, total: told.append((done, total)))
    assert told == [(n, 10) for n in range(1, 11)]


def test_a_provider_whose_limit_is_far_away_changes_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    """Google takes files of two billion bytes: bits of a second of those are more than the encoder can count."""
    path = write(tmp_path / "in.webm", counter(10), rate=10, codec="libvpx-vp9")
    for most in (2_000_000_000, 10**13):
        clip = cut_clip(path, tmp_path / "out.mp4", window=(0.2, 0.6), max_bytes=most)
        assert clip.method == "re-encoded"
        assert [n for _, n in counts(clip.path, digits=9)] == [2, 3, 4, 5]
