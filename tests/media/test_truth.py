"""The number in the picture is the number asked for: over containers, codecs and everything that moves the clock.

Every clip shows its frame numbers as bars. What is expected is worked out from the ticks the clip was written with, not
from anything that the package reads; the bytes are those of a plain sequential decode that knows no index.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from onlooker.media.card import probe
from onlooker.media.frames import encode_picture, sample
from onlooker.media.sound import read_sound

from .making import barred, beeps, pixels, read_bars, remux, write

RATE = 25
COUNT = 90
# 25 frames a second, then five, then a burst, with a frame held for 0.8 s.
IRREGULAR = (*range(30), *range(30, 80, 5), *range(100, 130))
CFR = tuple(range(COUNT))
_X265 = "log-level=none:keyint=30:min-keyint=30:scenecut=0:pools=1"
RULES: tuple[tuple[str, tuple[float, float] | None], ...] = (
    ("uniform:7", None),
    ("fps:3", None),
    ("fps:10:8", None),
    ("midpoint", None),
    ("uniform:5", (0.37, 2.11)),
    ("fps:4", (1.3, 2.9)),
    ("midpoint", (2.0, 2.5)),
    ("uniform:1", (1.01, 1.03)),
    ("fps:2", (1.61, 1.63)),
    # Those of other tools choose frames by number; each has to be the frame at its own time.
    ("vlmeval:6", None),
    ("vlmeval-fps:2", None),
    ("lmms-eval:7", (0.5, 2.5)),
    ("mvbench:5", None),
    ("qwen-vl:4", None),
)


@dataclass(frozen=True)
class Clip:
    """How a clip is written. ``hides``: frames that its edit list leaves out."""

    name: str
    codec: str
    options: dict[str, str] = field(default_factory=dict)
    ticks: Sequence[int] = CFR
    sound: str | None = "aac"
    write: dict[str, Any] = field(default_factory=dict)
    size: tuple[int, int] = (96, 64)
    hides: int = 0
    upright: Callable[[Any], Any] = lambda picture: picture


def h264(extra: str = "", **options: str) -> dict[str, str]:
    return {
        "preset": "veryfast",
        "x264-params": f"keyint=30:min-keyint=30:scenecut=0:bframes=3:b-pyramid=normal{extra}",
        **options,
    }


X264, X265, VP8, VP9 = h264(), {"preset": "ultrafast", "x265-params": _X265}, {"cpu-used": "8"}, {"cpu-used": "8"}
AV1 = {"preset": "12", "crf": "15", "svtav1-params": "keyint=30:lp=1"}
OLD = {"qmin": "2", "qmax": "6"}
TEN: dict[str, Any] = {"pix_fmt": "yuv420p10le"}
PRORES: dict[str, Any] = {"pix_fmt": "yuv422p10le"}
B2: dict[str, Any] = {"b_frames": 2, "gop": 24}
GOP: dict[str, Any] = {"gop": 30}

CLIPS = (
    Clip("h264.mp4", "libx264", X264),
    Clip("h264.mov", "libx264", X264),
    Clip("h264.mkv", "libx264", X264),
    Clip("h264.ts", "libx264", X264),
    Clip("h264.flv", "libx264", X264),
    # The priming of MP3 would move the picture by a part of a frame, which AVI cannot say: it repeats the first one.
    Clip("h264.avi", "libx264", {"x264-params": "keyint=30:scenecut=0:bframes=0"}, sound="pcm_s16le"),
    Clip("h264b.avi", "libx264", X264, sound="libmp3lame"),
    Clip("hevc.mp4", "libx265", X265),
    Clip("hevc.ts", "libx265", X265),
    Clip("hevc10.mkv", "libx265", X265, write=TEN),
    Clip("hevc10.mov", "libx265", X265, write=TEN),
    Clip("vp8.webm", "libvpx", {**VP8, "auto-alt-ref": "1", "lag-in-frames": "16"}, sound="libopus", write=GOP),
    Clip("vp8.mkv", "libvpx", VP8, write=GOP),
    Clip("vp9.webm", "libvpx-vp9", {**VP9, "lag-in-frames": "10"}, sound="libopus", write=GOP),
    Clip("vp9.mp4", "libvpx-vp9", VP9, write=GOP),
    Clip("av1.mp4", "libsvtav1", AV1),
    Clip("av1.webm", "libsvtav1", AV1, sound="libopus"),
    Clip("mpeg2.mkv", "mpeg2video", OLD, write=B2),
    Clip("mpeg2.ts", "mpeg2video", OLD, write=B2),
    Clip("mpeg2.mpg", "mpeg2video", OLD, write=B2, sound="mp2"),
    Clip("mpeg2.avi", "mpeg2video", OLD, write=B2, sound="libmp3lame"),
    Clip("mpeg4.mp4", "mpeg4", OLD, write=B2),
    Clip("mpeg4.mkv", "mpeg4", OLD, write=B2),
    Clip("mpeg4.avi", "mpeg4", OLD, write=B2, sound="libmp3lame"),
    Clip("prores.mov", "prores_ks", write=PRORES),
    Clip("prores.mkv", "prores_ks", write=PRORES),
    Clip("sorenson.flv", "flv", OLD, sound="libmp3lame"),
    Clip("wmv2.asf", "wmv2", OLD, sound="libmp3lame"),
    Clip("anim.gif", "gif", sound=None, write={"pix_fmt": "gray"}),
    # What moves the clock, or the picture.
    Clip("vfr.mp4", "libx264", X264, ticks=IRREGULAR),
    Clip("vfr.mkv", "libx265", X265, ticks=IRREGULAR),
    Clip("vfr.ts", "libx264", X264, ticks=IRREGULAR),
    Clip("vfr.webm", "libvpx-vp9", VP9, ticks=IRREGULAR, sound="libopus"),
    Clip("vfr.gif", "gif", ticks=IRREGULAR, sound=None, write={"pix_fmt": "gray"}),
    Clip("edit.mp4", "libx264", X264, hides=17),
    Clip("edit.mov", "libx265", X265, hides=17),
    Clip("open.mp4", "libx264", h264(":open-gop=1")),
    Clip("open.ts", "libx265", {"preset": "ultrafast", "x265-params": _X265 + ":open-gop=1:bframes=3"}),
    Clip("open.mkv", "libx265", {"preset": "ultrafast", "x265-params": _X265 + ":open-gop=1:bframes=3"}),
    Clip("late.ts", "libx264", X264, write={"offset_s": 7.0, "sound_offset_s": 7.0}),
    Clip("late.mkv", "libx264", X264, write={"offset_s": 7.0, "sound_offset_s": 7.0}),
    Clip("sparse.mpg", "libx264", h264(":b-pyramid=none"), sound=None),
    Clip("fields.mkv", "mpeg2video", OLD, write={**B2, "interlaced": True}),
    Clip("fields.ts", "libx264", h264(":tff=1"), write={"interlaced": True}),
    Clip("odd.webm", "libvpx-vp9", VP9, size=(97, 63), sound="libopus", write=GOP),
    Clip("odd.mkv", "mpeg4", OLD, size=(101, 67), write=B2),
    Clip("odd.mp4", "libx264", X264, size=(99, 61), write={"pix_fmt": "yuv444p"}),
    Clip("wide.mp4", "libx264", X264, write={"pixel_aspect": Fraction(64, 45)}),
    Clip("turned.mp4", "libx264", X264, write={"rotation_deg": 90}, upright=lambda picture: np.rot90(picture, -1)),
    Clip("cover.mp4", "libx264", X264, write={"cover": barred(255)}),
)


def made(folder: Path, clip: Clip) -> Path:
    path = folder / f"truth-{clip.name}"
    if path.exists():
        return path
    target = path.with_name(f"whole-{path.name}") if clip.hides else path
    options = dict(clip.write)
    if target.suffix == ".mkv":
        options.setdefault("container_options", {"avoid_negative_ts": "disabled"})
    sound_rate_hz = 48_000 if clip.sound in {"libopus", "mp2", "libmp3lame"} else 16_000
    write(
        target,
        [barred(n, *clip.size) for n in range(len(clip.ticks))],
        clip.ticks,
        rate=RATE,
        codec=clip.codec,
        codec_options=clip.options,
        sounds=[] if clip.sound is None else [beeps(4, sound_rate_hz)],
        sound_codec=clip.sound or "aac",
        sound_rate_hz=sound_rate_hz,
        **options,
    )
    return remux(target, path, shift_s=Fraction(-clip.hides, RATE)) if clip.hides else path


def on_screen(clip: Clip, time_s: float) -> int:
    """The number on screen, by the ticks that were written; half a millisecond for the rounding of containers."""
    ticks = clip.ticks[clip.hides :]
    started = [n for n, tick in enumerate(ticks) if (tick - ticks[0]) / RATE <= time_s + 0.0005]
    return started[-1] + clip.hides


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_every_rule_gives_the_frame_on_screen(folder: Path, clip: Clip) -> None:
    """Cases V01, V02, V04, V09, V10, V12, V15."""
    path = made(folder, clip)
    ticks = clip.ticks[clip.hides :]
    for policy, window in RULES:
        sampled = sample(path, policy, window=window)
        assert sampled.missing == (), policy
        for frame in sampled.frames:
            number = on_screen(clip, frame.time_s)
            assert read_bars(clip.upright(pixels(frame.jpeg))) == number, (policy, window, frame.time_s)
            own_s = (clip.ticks[number] - ticks[0]) / RATE
            assert frame.status == "ok"
            assert frame.pts_s == pytest.approx(own_s, abs=0.0011)
        if window is not None:
            assert sampled == sample(path, policy, window=window, seek=False)


@pytest.mark.parametrize("clip", CLIPS, ids=lambda clip: clip.name)
def test_every_frame_has_the_bytes_of_a_sequential_decode(folder: Path, clip: Clip) -> None:
    path = made(folder, clip)
    card = probe(path).video
    assert card is not None
    assert (card.frames, card.damage) == (len(clip.ticks) - clip.hides, "none")
    assert card.vfr == (clip.ticks is IRREGULAR)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        aspect = stream.sample_aspect_ratio or Fraction(1)
        plain = [encode_picture(frame, aspect, 512, 90)[0] for frame in container.decode(stream)]
    sampled = sample(path, "fps:25")
    tick_of = {tick - clip.ticks[clip.hides]: place for place, tick in enumerate(clip.ticks[clip.hides :])}
    assert len(plain) == len(tick_of)
    shown = {round(f.pts_s * RATE): f.jpeg for f in sampled.frames}
    assert {tick_of[tick] for tick in shown} == set(range(len(plain)))
    assert all(jpeg == plain[tick_of[tick]] for tick, jpeg in shown.items())
    assert [read_bars(clip.upright(pixels(jpeg))) for _, jpeg in sorted(shown.items())] == list(
        range(clip.hides, len(clip.ticks))
    )


@pytest.mark.parametrize("clip", [c for c in CLIPS if c.sound], ids=lambda clip: clip.name)
def test_every_tone_is_at_its_second(folder: Path, clip: Clip) -> None:
    """Sound and picture on one clock; what an edit list hides is gone from the sound, too."""
    path = made(folder, clip)
    track = read_sound(path)
    hidden_s = clip.hides / RATE
    for k in range(1 if clip.hides else 0, 4):
        begin = round((k - hidden_s - track.start_s) * 16_000)
        lead = max(begin - 800, 0)
        piece = track.samples[lead : begin + 2400].astype(float)
        onset_s = (lead + int(np.argmax(np.abs(piece) > 3000))) / 16_000 + track.start_s
        assert onset_s == pytest.approx(k - hidden_s, abs=0.025), k
        tone = track.samples[begin + 400 : begin + 2800].astype(float)
        spectrum = np.abs(np.fft.rfft(tone * np.hanning(len(tone)), 16_000))
        assert int(np.argmax(spectrum)) == pytest.approx(400 + 100 * k, abs=8), k
