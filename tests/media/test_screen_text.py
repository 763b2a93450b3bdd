"""Text on screen, there and back: drawn, read from the pictures, painted out, and no longer read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from onlooker.errors import InputError
from onlooker.media.detectors.ocr import TextLine
from onlooker.media.drawn_words import draw_subtitles
from onlooker.media.inpaint import paint_out_text, write_sheet
from onlooker.media.pictures import Pixels, Rect, open_footage, walk
from onlooker.media.screen_text import ScreenText, find_screen_text
from onlooker.media.transcript import Segment, Transcript

from .making import coloured, tone, write

pytest.importorskip("rapidocr")
pytest.importorskip("cv2")


class Letters:
    """Reads the red square of a picture as TEXT, the green one as WORD, where it is bright enough: exact and fast."""

    def __init__(self) -> None:
        self.calls = 0

    def read(self, picture: Pixels) -> list[TextLine]:
        self.calls += 1
        found = []
        for channel, name in ((0, "TEXT"), (1, "WORD")):
            others = np.delete(picture, channel, axis=2).max(axis=2)
            rows, columns = np.nonzero((picture[:, :, channel] > 150) & (others < 100))
            if len(rows) > 50:
                box = (int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1)
                found.append(TextLine(name, 0.95, *box))
        return found


def marked(frames: dict[int, tuple[int, int]], count: int) -> list[Pixels]:
    """Gray pictures; ``frames``: in which there is a red square (bit 1) or a green one (bit 2), and from the left."""
    pictures = []
    for n in range(count):
        picture = coloured((90, 90, 90), 128, 96)
        which, left = frames.get(n, (0, 0))
        if which & 1:
            picture[20:36, left : left + 32] = (230, 20, 20)
        if which & 2:
            picture[60:76, 40:72] = (20, 230, 20)
        pictures.append(picture)
    return pictures


def test_edges_are_found_to_the_frame(tmp_path: Path) -> None:
    # Red from frame 7 to 22, and 30 to the end; green only from frame 22 to 23, between two samples (at 20 and 25).
    shown = dict.fromkeys((*range(7, 22), *range(30, 40)), (1, 20)) | {22: (2, 0), 23: (2, 0)}
    video = write(tmp_path / "a.mp4", marked(shown, 40), rate=10, codec_options={"qp": "10"})
    found = find_screen_text(video, samples_per_s=2, reader=Letters())
    assert [(t.text, t.start_s, t.end_s) for t in found] == [
        ("TEXT", 0.7, 2.2),
        ("WORD", 2.2, 2.4),
        ("TEXT", 3.0, 4.0),
    ]
    box = found[0].box
    assert np.abs(np.array([box.left_px, box.top_px, box.right_px, box.bottom_px]) - (20, 20, 52, 36)).max() <= 2


def test_pictures_that_hardly_differ_are_read_once(tmp_path: Path) -> None:
    video = write(
        tmp_path / "a.mp4", marked(dict.fromkeys(range(100), (1, 20)), 100), rate=10, codec_options={"qp": "10"}
    )
    reader = Letters()
    found = find_screen_text(video, samples_per_s=5, reader=reader)
    assert [(t.start_s, t.end_s) for t in found] == [(0.0, 10.0)]
    assert found[0].read >= 50
    assert reader.calls == 1


class Blinking(Letters):
    """Overlooks everything on the whole picture of frame 20, but not in a part of it."""

    def read(self, picture: Pixels) -> list[TextLine]:
        found = super().read(picture)
        return [] if picture.shape == (96, 128, 3) and picture[90, 120, 2] > 150 else found


def test_what_is_overlooked_is_looked_for_in_its_box(tmp_path: Path) -> None:
    pictures = marked(dict.fromkeys(range(40), (1, 20)), 40)
    pictures[20][80:, 100:] = (20, 20, 230)
    video = write(tmp_path / "a.mp4", pictures, rate=10, codec_options={"qp": "10"})
    assert [(t.start_s, t.end_s) for t in find_screen_text(video, reader=Blinking())] == [(0.0, 4.0)]
    with pytest.raises(InputError, match="samples_per_s"):
        find_screen_text(video, samples_per_s=0)


def test_only_the_boxes_on_their_frames_are_painted(tmp_path: Path) -> None:
    shown = dict.fromkeys(range(10, 20), (1, 20))
    video = write(tmp_path / "a.mp4", marked(shown, 30), rate=10, codec_options={"qp": "10"})
    text = ScreenText("TEXT", Rect(20, 20, 52, 36), 1.0, 1.5, 0.9, 1)
    painted = paint_out_text(video, tmp_path / "b.mp4", [text], reader=Letters())
    assert (painted.frames, painted.painted, painted.share_gone) == (30, 5, 1.0)
    footage = open_footage(painted.path)
    pictures = [footage.pixels(frame, (128, 96)) for _, frame in walk(footage)]
    is_red = [bool(p[28, 36, 0] > 150 and p[28, 36, 1] < 100) for p in pictures]
    assert is_red == [15 <= n < 20 for n in range(30)]
    # The hole is filled with the gray around it.
    assert np.abs(pictures[12][24:32, 24:48].astype(int) - 90).max() <= 12
    nothing = paint_out_text(video, tmp_path / "c.mp4", [], reader=Letters())
    assert (nothing.painted, nothing.share_gone) == (0, None)


def test_text_that_moves_is_painted_where_it_is_and_nowhere_for_long(tmp_path: Path) -> None:
    # Two pixels a frame: ten between two samples, 60 in all.
    shown = {n: (1, 10 + 2 * n) for n in range(3, 31)}
    video = write(tmp_path / "a.mp4", marked(shown, 40), rate=10, codec_options={"qp": "10"})
    (text,) = find_screen_text(video, reader=Letters())
    assert (text.start_s, text.end_s) == (0.3, 3.1)
    painted = paint_out_text(video, tmp_path / "b.mp4", [text], reader=Letters())
    assert painted.share_gone == 1.0
    before, after = (
        [footage.pixels(frame, (128, 96)).astype(int) for _, frame in walk(footage)]
        for footage in (open_footage(video), open_footage(painted.path))
    )
    assert all(picture[20:36, :, 0].max() < 130 for picture in after)
    # A box at 1.5 s (from pixel 40 to 72, and ten on to the next sample) does not reach to the edges of its way.
    assert text.box_at(1.5).left_px >= 38
    assert text.box_at(1.5).right_px <= 84
    assert np.abs(before[15][:, :30] - after[15][:, :30]).max() <= 6
    still = ScreenText("x", Rect(0, 0, 40, 10), 0, 9, 0.9, 2, ((1.0, Rect(0, 0, 38, 10)), (2.0, Rect(2, 0, 40, 10))))
    assert still.box_at(1.5) == still.box


class Stubborn(Letters):
    """Still reads the red square where it stood."""

    def read(self, picture: Pixels) -> list[TextLine]:
        rest = [line for line in super().read(picture) if line.text != "TEXT"]
        return [TextLine("TEXT", 0.9, 20, 20, 52, 36), *rest]


def test_what_stays_legible_and_what_was_never_found_is_reported(tmp_path: Path) -> None:
    pictures = marked(dict.fromkeys(range(20), (3, 20)), 20)
    video = write(tmp_path / "a.mp4", pictures, rate=10, codec_options={"qp": "10"})
    text = ScreenText("TEXT", Rect(20, 20, 52, 36), 0.0, 2.0, 0.9, 1)
    painted = paint_out_text(video, tmp_path / "b.mp4", [text], reader=Letters())
    assert (painted.gone, painted.left, painted.unseen) == ((text,), (), ((0.0, "WORD"),))
    stubborn = paint_out_text(video, tmp_path / "b.mp4", [text], reader=Stubborn())
    assert (stubborn.gone, stubborn.left, stubborn.share_gone) == ((), (text,), 0.0)


def test_drawn_words_are_read_and_painted_out_again(tmp_path: Path) -> None:
    """The whole way with the real reader, on a moving picture."""
    x, y = np.meshgrid(np.arange(480), np.arange(270))
    waves = [110 + 50 * np.sin((x + 4 * n) / 60) * np.cos((y - 2 * n) / 45) for n in range(40)]
    pictures = [np.stack([w, w * 0.9, 200 - w * 0.5], axis=2).astype(np.uint8) for w in waves]
    video = write(tmp_path / "a.mp4", pictures, rate=10, sounds=[tone(440, 4)])
    words = Transcript((Segment(0.6, 1.9, "Where is the key"), Segment(2.3, 3.4, "Nobody knows")), "en", "ok", "t")
    drawn = draw_subtitles(video, words, tmp_path / "drawn.mp4")
    found = find_screen_text(drawn.path)
    assert ["".join(t.text.split()) for t in found] == ["Whereisthekey", "Nobodyknows"]
    # Frames are a tenth of a second apart: the first one with words and the first one without.
    assert [(t.start_s, t.end_s) for t in found] == [(0.6, 1.9), (2.3, 3.4)]
    painted = paint_out_text(drawn.path, tmp_path / "clean.mp4", found)
    assert (painted.share_gone, painted.unseen) == (1.0, ())
    assert painted.painted == drawn.with_words
    assert find_screen_text(painted.path) == ()
    assert write_sheet(drawn.path, painted.path, found, tmp_path / "sheet.png") == 2
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.size == (966, 546)
    with pytest.raises(InputError, match="a sheet is a picture"):
        write_sheet(drawn.path, painted.path, found, tmp_path / "sheet.pdf")
