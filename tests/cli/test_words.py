"""The commands of sound and words, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.cli.main import main
from onlooker.cli.terminal import counting
from tests.media.making import coloured, tone, write

pytest.importorskip("faster_whisper")


@pytest.fixture
def video(tmp_path: Path) -> Path:
    return write(tmp_path / "a.mp4", [coloured((90, 90, 90), 320, 180)] * 20, rate=10, sounds=[tone(440, 2)])


def test_a_medium_without_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mute = write(tmp_path / "mute.mp4", [coloured((90, 90, 90))] * 5, rate=10)
    assert main(["transcribe", str(mute), "--out", str(tmp_path / "a.json")]) == 0
    assert json.loads((tmp_path / "a.json").read_text())["status"] == "no_audio"
    assert main(["transcribe", str(mute)]) == 1
    assert "a file needs a place for its transcript" in capsys.readouterr().err


def test_a_bundle_says_how_to_name_its_transcripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "bundle"
    (folder / "media").mkdir(parents=True)
    write(folder / "media" / "a.mp4", [coloured((90, 90, 90))] * 5, rate=10)
    (folder / "media" / "b.mp4").write_bytes(b"")
    (folder / "bundle.yaml").write_text("name: b\nfamily: psycheme\nversion: '1'\n")
    rows = [{"id": name, "media": {"video": f"media/{name}.mp4"}} for name in "ab"]
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["transcribe", str(folder)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("1 transcripts written, 0 were there, 1 episodes failed\n")
    assert "--episodes FILE" in said.out
    assert "b.mp4: is empty" in said.err
    assert main(["transcribe", str(folder), "--episodes", str(tmp_path / "new.jsonl")]) == 1
    assert "1 episodes name a new transcript" in capsys.readouterr().out
    assert "media/transcripts/a.json" in (tmp_path / "new.jsonl").read_text()


def test_draw_and_paint_out(video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for extra in ("matplotlib", "fontTools", "rapidocr", "cv2"):
        pytest.importorskip(extra)
    words = tmp_path / "words.srt"
    words.write_text("1\n00:00:00,500 --> 00:00:01,500\nWhere is the key\n")
    drawn, clean, sheet = (tmp_path / name for name in ("drawn.mp4", "clean.mp4", "sheet.jpg"))
    assert main(["draw-subtitles", str(video), "--transcript", str(words), "--out", str(drawn)]) == 0
    assert "1 captions on 10 of 20 frames" in capsys.readouterr().out
    assert main(["paint-out-text", str(drawn), "--out", str(clean), "--sheet", str(sheet)]) == 0
    said = capsys.readouterr().out
    assert "10 of 20 frames painted over" in said
    assert "1 of 1 texts are gone" in said
    assert sheet.stat().st_size > 1000


def test_a_wrong_name_is_told_before_the_work(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work(*_: object, **__: object) -> None:
        pytest.fail("the work began")

    monkeypatch.setattr("onlooker.media.screen_text.find_screen_text", work)
    monkeypatch.setattr("onlooker.media.cache.cached_transcribe", work)
    sheet, out = str(tmp_path / "s.png"), str(tmp_path / "o.mp4")
    for arguments, word in (
        (["paint-out-text", str(video), "--out", "o.avi", "--sheet", sheet], "written as mp4"),
        (["paint-out-text", str(video), "--out", str(video), "--sheet", sheet], "over itself"),
        (["paint-out-text", str(video), "--out", out, "--sheet", "s.bmp"], "a sheet is a picture"),
        (["transcribe", str(video), "--out", "a.txt"], "not written as this"),
    ):
        assert main(arguments) == 1
        assert word in capsys.readouterr().err


def test_a_caption_that_no_frame_shows_is_named(
    video: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("fontTools")
    words = tmp_path / "words.srt"
    words.write_text("1\n00:00:00,500 --> 00:00:01,500\nHere\n\n2\n00:09:00,000 --> 00:09:01,000\nToo late\n")
    assert main(["draw-subtitles", str(video), "--transcript", str(words), "--out", str(tmp_path / "d.mp4")]) == 0
    said = capsys.readouterr()
    assert "1 captions on 10 of 20 frames" in said.out
    assert "on no frame, 540.000-541.000 s: Too late" in said.err


def test_long_work_says_how_far_it_is(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("onlooker.cli.terminal.time.monotonic", lambda: now[0])
    advance = counting("frames drawn")
    for now[0], done in ((5.0, 1), (10.0, 2), (11.0, 3), (20.0, 4)):
        advance(done, 9)
    assert capsys.readouterr().err == "frames drawn: 2 of 9\nframes drawn: 4 of 9\n"
