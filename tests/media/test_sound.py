"""Sound on the clock of the picture."""

from __future__ import annotations

import io
import wave
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from onlooker.errors import InputError, NoStream, UnreadableMedia
from onlooker.media import start
from onlooker.media.container import open_media, picture_stream
from onlooker.media.index import read_index
from onlooker.media.sound import SoundClip, read_sound, wav_bytes

from .making import counter, gray, remux, tone, write


def loudest_hz(samples: NDArray[np.int16]) -> float:
    spectrum = np.abs(np.fft.rfft(samples.astype(float)))
    return float(np.argmax(spectrum) * 16_000 / len(samples))


def onset_s(clip: SoundClip) -> float:
    """When the sound becomes loud, on the picture's clock."""
    return clip.start_s + int(np.argmax(np.abs(clip.samples.astype(int)) > 2000)) / clip.rate_hz


def test_the_default_track_unless_asked(two_tracks: Path) -> None:
    """Case A09."""
    chosen = read_sound(two_tracks)
    assert chosen.track == 2
    assert loudest_hz(chosen.samples) == pytest.approx(880, abs=2)
    asked = read_sound(two_tracks, track=1)
    assert loudest_hz(asked.samples) == pytest.approx(440, abs=2)
    with pytest.raises(InputError, match=r"choose one of \[1, 2\]"):
        read_sound(two_tracks, track=0)


def test_samples_are_int16_mono_at_16_khz_from_any_rate(folder: Path) -> None:
    path = write(
        folder / "rate44.mkv", counter(20), rate=10, sounds=[tone(1000, 2, 44_100)],
        sound_rate_hz=44_100,
    )  # fmt: skip
    clip = read_sound(path)
    assert clip.samples.dtype.name == "int16"
    assert (clip.samples.ndim, clip.rate_hz) == (1, 16_000)
    assert len(clip.samples) == pytest.approx(32_000, abs=1600)
    assert loudest_hz(clip.samples) == pytest.approx(1000, abs=2)


def test_zero_is_the_first_frame_of_the_picture(folder: Path) -> None:
    # The picture begins at 5 s, the sound at 6 s, and is silent for another half second.
    samples = np.concatenate([np.zeros(8000, np.int16), tone(500, 2)])
    path = write(
        folder / "late.mkv",
        [gray(16 + t) for t in range(120)],
        offset_s=5,
        sounds=[samples],
        sound_offset_s=6,
        container_options={"avoid_negative_ts": "disabled"},
    )
    clip = read_sound(path)
    assert clip.start_s == pytest.approx(1, abs=0.08)
    assert onset_s(clip) == pytest.approx(1.5, abs=0.03)


def test_a_window_is_cut_to_the_sample(two_tracks: Path) -> None:
    whole = read_sound(two_tracks)
    part = read_sound(two_tracks, window=(1.0, 2.5))
    assert len(part.samples) == 24_000
    assert part.start_s == pytest.approx(1.0, abs=1 / 16_000)
    begin = round((part.start_s - whole.start_s) * 16_000)
    assert np.array_equal(part.samples, whole.samples[begin : begin + 24_000])
    assert len(read_sound(two_tracks, window=(100.0, 101.0)).samples) == 0
    with pytest.raises(InputError):
        read_sound(two_tracks, window=(2.0, 1.0))


def test_a_hole_is_silence_and_later_sound_keeps_its_time(folder: Path) -> None:
    source = write(folder / "unbroken.mkv", sounds=[tone(700, 3)], sound_codec="pcm_s16le")
    import av

    holed = folder / "holed.mkv"
    with av.open(str(source)) as given, av.open(str(holed), "w") as out:
        stream = out.add_stream_from_template(given.streams.audio[0])
        for packet in given.demux():
            if packet.pts is None or packet.time_base is None:
                continue
            if 1.0 <= float(packet.pts * packet.time_base) < 2.0:
                continue
            packet.stream = stream
            out.mux(packet)
    clip = read_sound(holed)
    assert len(clip.samples) == pytest.approx(48_000, abs=200)
    assert not np.any(clip.samples[18_000:30_000])
    whole = read_sound(source).samples
    assert np.array_equal(clip.samples[33_200:47_000], whole[33_200:47_000])


def test_no_sound_track_is_an_error_of_its_own(base: Path) -> None:
    """Case A01."""
    with pytest.raises(NoStream, match=r"base\.mp4: has no sound track"):
        read_sound(base)


def test_wav(two_tracks: Path) -> None:
    clip = read_sound(two_tracks, window=(0.5, 1.0))
    with wave.open(io.BytesIO(wav_bytes(clip))) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16_000)
        assert file.readframes(8000) == clip.samples.astype("<i2").tobytes()


@pytest.mark.parametrize(
    ("name", "codec", "rate_hz"),
    [("a.mp4", "aac", 44_100), ("a.mkv", "libopus", 48_000), ("a.ts", "mp2", 48_000), ("a.avi", "libmp3lame", 44_100)],
)
def test_a_window_gives_the_samples_of_the_whole(folder: Path, name: str, codec: str, rate_hz: int) -> None:
    """Noise: a decoder that jumped in would give other samples. Over windows of all kinds."""
    noise = np.random.default_rng(3).normal(0, 3000, rate_hz * 6).astype(np.int16)
    path = write(
        folder / f"window-{name}", counter(50), rate=10, sounds=[noise], sound_codec=codec, sound_rate_hz=rate_hz
    )
    whole = read_sound(path)
    for window in ((0.0, 0.5), (0.013, 0.0140), (2.5, 4.75), (5.9, 7.0), (0.0, 60.0)):
        part = read_sound(path, window=window)
        begin = max(0, round((window[0] - whole.start_s) * 16_000))
        end = max(begin, round((window[1] - whole.start_s) * 16_000))
        assert np.array_equal(part.samples, whole.samples[begin:end]), window
        assert part.start_s == pytest.approx(whole.start_s + begin / 16_000)


def test_a_rate_that_changes_on_the_way_is_followed(folder: Path) -> None:
    """Broadcasts change their sound between programmes; the clock goes on."""
    first = write(folder / "r1.ts", sounds=[tone(500, 2, 48_000)], sound_codec="mp2", sound_rate_hz=48_000)
    second = write(
        folder / "r2.ts", sounds=[tone(900, 2, 32_000)], sound_codec="mp2", sound_rate_hz=32_000, sound_offset_s=2
    )
    joined = folder / "r12.ts"
    joined.write_bytes(first.read_bytes() + second.read_bytes())
    clip = read_sound(joined)
    assert len(clip.samples) == pytest.approx(64_000, abs=3000)
    assert loudest_hz(clip.samples[4000:28_000]) == pytest.approx(500, abs=3)
    assert loudest_hz(clip.samples[36_000:60_000]) == pytest.approx(900, abs=3)


def test_joined_recordings_have_no_one_clock(folder: Path) -> None:
    one = write(folder / "j1.ts", sounds=[tone(500, 3)])
    joined = folder / "j11.ts"
    joined.write_bytes(one.read_bytes() * 2)
    with pytest.raises(UnreadableMedia, match=r"j11\.ts: the sound's time stamps jump, found '-3\.\d s'"):
        read_sound(joined)


def test_the_zero_is_found_without_reading_the_picture(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same zero as the index has, in containers of every kind; a picture that cannot be decoded does not matter."""
    clips = {
        "z.mp4": {"b_frames": 3}, "z.mkv": {"b_frames": 3, "offset_s": 2.0}, "z.ts": {"b_frames": 2, "offset_s": 1.0},
        "z.avi": {"codec": "mpeg4", "b_frames": 2}, "z.webm": {"codec": "libvpx"}, "z.flv": {"codec": "flv"},
        "z.mpg": {"codec": "mpeg2video", "b_frames": 2},
    }  # fmt: skip
    paths = [write(folder / name, counter(50), rate=25, **options) for name, options in clips.items()]  # type: ignore[arg-type]
    paths.append(remux(paths[0], folder / "z-edit.mp4", shift_s=Fraction(-1, 5)))
    expected = []
    for path in paths:
        with open_media(path) as container:
            stream = picture_stream(container)
            assert stream is not None
            index = read_index(container, stream, path)
            expected.append(index.start_pts * index.time_base)
    monkeypatch.setattr(start, "read_index", lambda *_: pytest.fail("the whole picture was read"))
    assert [start.picture_start_s(path) for path in paths] == expected
