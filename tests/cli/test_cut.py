"""``onlooker cut`` and ``onlooker compose``: options arrive, results and remarks are said."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.cli.main import main
from onlooker.media.card import probe
from tests.media.making import counter, tone, write
from tests.media.reading import counts


def test_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "a.mp4", counter(20), rate=10, sounds=[tone(440, 2)])
    out = tmp_path / "new" / "out.mp4"
    options = ["--window", "0.5:1.5", "--max-side", "32", "--max-bytes", "50000", "--no-sound", "--fps", "5"]
    assert main(["cut", str(path), "--out", str(out), *options]) == 0
    assert counts(out) == [(0.0, 5), (0.2, 7), (0.4, 9), (0.6, 11), (0.8, 13)]
    card = probe(out)
    assert card.video is not None
    assert (card.video.width_px, card.sound) == (32, ())
    said = capsys.readouterr()
    assert "0.500 to 1.500 s, 5 frames, 32 x 32" in said.out
    assert "re-encoded (the longer side is more than 32 px), sound none" in said.out
    assert said.err == ""
    assert main(["cut", str(path), "--out", str(out), "--max-bytes", "100"]) == 1
    assert "do not fit into 100 bytes" in capsys.readouterr().err
    for window in ("3", "nan:2", "1:inf", "2:1"):
        assert main(["cut", str(path), "--out", str(out), "--window", window]) == 1
        assert "a window is START:END in seconds" in capsys.readouterr().err


def test_compose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = write(tmp_path / "a.mp4", counter(20), rate=10)
    right = write(tmp_path / "b.mp4", counter(20), rate=10, sounds=[tone(440, 2)])
    out = tmp_path / "out.mp4"
    windows = ["--left-window", "0:1", "--right-window", "0.5:2", "--offset", "0.5", "--sound", "right"]
    assert main(["compose", str(left), str(right), "--out", str(out), "--height", "32", "--fps", "10", *windows]) == 0
    card = probe(out)
    assert card.video is not None
    assert (card.video.width_px, card.video.height_px, card.video.frames) == (64, 32, 20)
    assert main(["compose", str(left), str(right), "--out", str(out), "--inset", "8,8,40,40", *windows]) == 0
    card = probe(out)
    assert card.video is not None
    assert (card.video.width_px, len(card.sound)) == (64, 1)
    assert "two videos in one picture" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["compose", str(left), str(right), "--out", str(out), "--inset", "8,8,40"])
    assert "no rectangle" in capsys.readouterr().err
