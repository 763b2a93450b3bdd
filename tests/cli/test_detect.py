"""``onlooker detect``: a table, a file, pictures, and clear words for what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.cli.main import main
from tests.media.making import coloured, counter, tone, write


def test_cuts_as_table_json_and_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = write(tmp_path / "clip.mp4", [coloured((200, 0, 0))] * 15 + [coloured((0, 0, 200))] * 15, rate=10)
    out, overlay = tmp_path / "cuts.json", tmp_path / "seen"
    assert main(["detect", "cuts", str(clip), "--out", str(out), "--overlay", str(overlay)]) == 0
    assert "1.500" in capsys.readouterr().out
    report = json.loads(out.read_text())
    assert report["file"] == "clip.mp4"
    assert [cut["time_s"] for cut in report["cuts"]] == [1.5]
    assert report["segments"] == [[0.0, 1.5], [1.5, 3.0]]
    assert report["least_change"] == 10.0
    assert sorted(p.name for p in overlay.iterdir()) == ["00000.000.jpg", "00001.500.jpg"]


def test_quality_and_offset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = write(tmp_path / "clip.mp4", [coloured((90, 90, 90))] * 20, rate=10, sounds=[tone(440, 2)])
    assert main(["detect", "quality", str(clip), "--region", "0,0,32,32", "--window", "0.5:2"]) == 0
    shown = capsys.readouterr()
    assert "frozen" in shown.out
    assert "not checked: blocky" in shown.err
    mute = write(tmp_path / "mute.mp4", [coloured((90, 90, 90))] * 30, rate=10)
    assert main(["detect", "offset", str(clip), str(mute), "--out", str(tmp_path / "o.json")]) == 0
    assert "undefined" in capsys.readouterr().out
    report = json.loads((tmp_path / "o.json").read_text())
    assert report["offset_s"] is None
    assert report["reason"]
    assert report["other"] == "mute.mp4"


def test_a_window_without_an_end_goes_to_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clip = write(tmp_path / "clip.mp4", counter(10), rate=10)
    assert main(["detect", "cuts", str(clip), "--window", "0.5:inf"]) == 0
    assert "0.500     1.000" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["offset", "{clip}"], "two files"),
        (["cuts", "{clip}", "{clip}"], "two files"),
        (["cuts", "{clip}", "--window", "1"], "two times"),
        (["cuts", "{clip}", "--window", "8:9"], "window"),
        (["quality", "{clip}", "--region", "1,2,3"], "four whole numbers"),
        (["quality", "{clip}", "--overlay", "x"], "nothing to draw"),
        (["cuts", "{clip}.none"], "cannot be opened"),
    ],
)
def test_bad_input_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], word: str
) -> None:
    clip = write(tmp_path / "clip.mp4", counter(10), rate=10)
    assert main(["detect", *(a.format(clip=clip) for a in arguments)]) == 1
    assert word in capsys.readouterr().err
