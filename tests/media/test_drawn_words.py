"""Subtitles drawn into pictures: the right words on exactly the right frames, everything else as it was."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from onlooker.errors import InputError, NoStream
from onlooker.media.card import probe
from onlooker.media.drawn_words import Caption, draw_subtitles, lay_out
from onlooker.media.lettering import load_lettering
from onlooker.media.pictures import Pixels, open_footage, walk
from onlooker.media.repaint import repaint
from onlooker.media.sound import read_sound
from onlooker.media.transcript import Segment, Transcript

from .making import coloured, remux, tone, write

pytest.importorskip("fontTools")
pytest.importorskip("matplotlib")
SIZE = (320, 180)


def moving(count: int) -> list[Pixels]:
    """A soft pattern that moves, and a patch of colour."""
    x, y = np.meshgrid(np.arange(SIZE[0]), np.arange(SIZE[1]))
    pictures = []
    for n in range(count):
        wave = 90 + 40 * np.sin((x + 3 * n) / 40) + 30 * np.cos((y - n) / 25)
        picture = np.stack([wave, wave * 0.8 + 20, 220 - wave], axis=2)
        picture[20:60, 20 + n : 60 + n] = (200, 30, 30)
        pictures.append(picture.astype(np.uint8))
    return pictures


@pytest.fixture(scope="module")
def talk(folder: Path) -> Path:
    """60 frames at 24 a second with B-frames, 2.5 s of sound."""
    return write(folder / "talk.mp4", moving(60), rate=24, b_frames=2, sounds=[tone(440, 2.5)])


def said(*segments: Segment) -> Transcript:
    return Transcript(segments, "en", "ok", "t")


def differing(before: Path, after: Path) -> list[bool]:
    """For every frame whether its lower third differs visibly."""
    old, new = open_footage(before), open_footage(after)
    size = (old.width_px, old.height_px)
    assert old.index.shown_pts[0] - old.index.start_pts == 0
    frames = list(zip(walk(old), walk(new), strict=True))
    assert all(a[0] == pytest.approx(b[0], abs=1e-9) for a, b in frames)
    third = size[1] * 2 // 3
    found = []
    for (_, a), (_, b) in frames:
        one, other = (f.pixels(x, size).astype(int) for f, x in ((old, a), (new, b)))
        assert np.abs(one[: size[1] // 3] - other[: size[1] // 3]).mean() < 4
        found.append(bool(np.abs(one[third:] - other[third:]).max() > 90))
    return found


def test_words_stand_on_exactly_their_frames(talk: Path, tmp_path: Path) -> None:
    # Frame n is shown at n / 24 s: from frame 12 to before 24; the next from the first frame at or after 1.6 s on.
    transcript = said(Segment(0.5, 1.0, "Hello"), Segment(1.6, 2.0, "Bye"), Segment(2.0, 2.4, "uh", None, "faint"))
    drawn = draw_subtitles(talk, transcript, tmp_path / "out.mp4")
    expected = [12 <= n < 24 or 39 <= n < 48 for n in range(60)]
    assert differing(talk, drawn.path) == expected
    assert (drawn.frames, drawn.with_words, drawn.left_out, drawn.missing) == (60, sum(expected), 1, 0)
    assert drawn.captions == (Caption(0.5, 1.0, ("Hello",)), Caption(1.6, 2.0, ("Bye",)))


def test_what_no_frame_shows_is_told(talk: Path, tmp_path: Path) -> None:
    segments = (
        Segment(0.5, 1.0, "Hello"),
        Segment(1.01, 1.02, "blink"),
        Segment(1.5, 1.5, "now"),
        Segment(9, 10, "late"),
    )
    counted: list[tuple[int, int]] = []
    drawn = draw_subtitles(
        talk, said(*segments), tmp_path / "out.mp4", advance=lambda done, total: counted.append((done, total))
    )
    assert [caption.lines for caption in drawn.unshown] == [("blink",), ("now",), ("late",)]
    assert counted == [(n, 60) for n in range(1, 61)]


def test_the_sound_is_copied_sample_by_sample(talk: Path, tmp_path: Path) -> None:
    out = draw_subtitles(talk, said(Segment(0, 1, "x")), tmp_path / "out.mp4").path
    before, after = read_sound(talk), read_sound(out)
    assert after.start_s == pytest.approx(before.start_s, abs=1e-9)
    assert np.array_equal(after.samples, before.samples)


def test_all_tracks_are_kept_and_the_default_one_stays_it(two_tracks: Path, tmp_path: Path) -> None:
    """Case A09."""
    repaint(two_tracks, tmp_path / "out.mp4", where=lambda _, __: [], paint=lambda _, __: None)
    before, after = probe(two_tracks), probe(tmp_path / "out.mp4")
    assert [t.default for t in after.sound] == [t.default for t in before.sound]
    for track in (None, *(t.index for t in after.sound)):
        one, other = (read_sound(path, track=track) for path in (two_tracks, tmp_path / "out.mp4"))
        assert (one.track, np.array_equal(one.samples, other.samples)) == (other.track, True)


def test_a_medium_that_starts_late_and_varies_keeps_its_times(tmp_path: Path) -> None:
    ticks = [0, 1, 2, 5, 9, 10, 11, 20]
    source = write(tmp_path / "a.mkv", moving(8), ticks, rate=10, sounds=[tone(440, 2.5)], sound_codec="pcm_s16le")
    late = remux(source, tmp_path / "late.mkv", shift_s=Fraction(7))
    drawn = draw_subtitles(late, said(Segment(0.5, 1.05, "Hi")), tmp_path / "out.mp4")
    assert differing(late, drawn.path) == [t in {5, 9, 10} for t in ticks]
    footage = open_footage(drawn.path)
    assert [footage.index.seconds(p) for p in footage.index.shown_pts] == [t / 10 for t in ticks]
    assert np.array_equal(read_sound(late).samples, read_sound(drawn.path).samples)


def test_colours_outside_the_words_survive(tmp_path: Path) -> None:
    video = write(tmp_path / "a.mp4", [coloured((180, 60, 90), *SIZE)] * 10, rate=10)
    out = draw_subtitles(video, said(Segment(0, 1, "Hi")), tmp_path / "b.mp4").path
    old, new = open_footage(video), open_footage(out)
    (_, a), (_, b) = next(walk(old)), next(walk(new))
    one, other = old.pixels(a, SIZE).astype(int), new.pixels(b, SIZE).astype(int)
    assert np.abs(one - other)[:100].max() <= 3
    # Beside the letters, inside the painted box, colours went to RGB and back.
    assert np.abs(one - other)[:, :20].max() <= 3


def test_a_turned_picture_is_written_upright(tmp_path: Path) -> None:
    video = write(tmp_path / "a.mp4", moving(10), rate=10, rotation_deg=90)
    drawn = draw_subtitles(video, said(Segment(0, 1, "Hi")), tmp_path / "b.mp4")
    before, after = open_footage(video), open_footage(drawn.path)
    assert (after.width_px, after.height_px) == (before.width_px, before.height_px)
    assert after.placed.is_upright
    assert (after.width_px, after.height_px) == (180, 320)


def test_letters_that_the_font_lacks_are_an_error(talk: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"DejaVuSans\.ttf: the font lacks 2 of the letters: 你 \(U\+4F60\)"):
        draw_subtitles(talk, said(Segment(0, 1, "Hi 你好")), tmp_path / "out.mp4")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "no.ttf").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"no\.ttf: is no font"):
        draw_subtitles(talk, said(Segment(0, 1, "Hi")), tmp_path / "out.mp4", font=tmp_path / "no.ttf")


def test_what_cannot_be_written_is_said(talk: Path, tmp_path: Path) -> None:
    words = said(Segment(0, 1, "Hi"))
    with pytest.raises(InputError, match="not written over itself"):
        draw_subtitles(talk, words, talk)
    with pytest.raises(InputError, match=r"ends in \.mp4"):
        draw_subtitles(talk, words, tmp_path / "a.mkv")
    with pytest.raises(InputError, match="subtitles need times"):
        draw_subtitles(talk, said(Segment(None, None, "Hi")), tmp_path / "a.mp4")
    with pytest.raises(InputError, match="do not fit into a picture of 320 x 180"):
        draw_subtitles(talk, said(*[Segment(0, 1, f"Nr {n}") for n in range(20)]), tmp_path / "a.mp4")
    sound_only = write(tmp_path / "s.m4a", sounds=[tone(440, 1)], container="mp4")
    with pytest.raises(NoStream):
        draw_subtitles(sound_only, words, tmp_path / "a.mp4")
    assert not (tmp_path / "a.mp4").exists()


def test_a_translation_is_drawn(talk: Path, tmp_path: Path) -> None:
    drawn = draw_subtitles(
        talk, said(Segment(0, 1, "Hallo")), tmp_path / "a.mp4", translate=lambda texts: [t + "!" for t in texts]
    )
    assert drawn.captions == (Caption(0, 1, ("Hallo!",)),)


def test_long_words_become_captions_that_share_the_time() -> None:
    lettering = load_lettering(20, ["a"])
    text = " ".join(["word"] * 30)
    captions = lay_out(1.0, 4.0, text, lettering, 300)
    assert " ".join(line for c in captions for line in c.lines) == text
    assert all(1 <= len(c.lines) <= 2 for c in captions)
    assert all(lettering.width_px(line) <= 300 for c in captions for line in c.lines)
    assert [c.start_s for c in captions] == [1.0, *(c.end_s for c in captions[:-1])]
    assert captions[-1].end_s == 4.0
    shares = [(c.end_s - c.start_s) / sum(map(len, c.lines)) for c in captions]
    assert max(shares) == pytest.approx(min(shares))


def test_lines_break_at_spaces_or_between_ideographs() -> None:
    lettering = load_lettering(20, ["a"])
    assert lettering.wrap("one two three", 1000) == ["one two three"]
    assert all(lettering.width_px(line) <= 80 for line in lettering.wrap("a" * 60, 80))
    assert "".join(lettering.wrap("a" * 60, 80)) == "a" * 60
    words = "世界，你好世界你好"
    assert "".join(lay_out(0, 1, words, lettering, 6 * lettering.width_px("世"))[0].lines) == words
    # A full stop never begins a line: it goes with the character before it.
    lines = lettering.wrap("世界世界世界世界。世界", 4 * lettering.width_px("世"))
    assert "".join(lines) == "世界世界世界世界。世界"
    assert not any(line.startswith("。") for line in lines)


def test_only_what_is_painted_changes(talk: Path, tmp_path: Path) -> None:
    alone = repaint(talk, tmp_path / "a.mp4", where=lambda _, __: [], paint=lambda _, __: None)
    assert (alone.frames, alone.painted, alone.missing) == (60, 0, 0)
    assert not any(differing(talk, alone.path))
