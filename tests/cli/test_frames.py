"""``onlooker frames`` from the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from onlooker.cli.main import main
from tests.media.making import COUNTER_RATE, counted, counter, write


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clip") / "counter.mp4"
    return write(path, counter(50), rate=COUNTER_RATE, gop=25, b_frames=2, codec_options={"qp": "0"})


def shown(out: Path) -> list[int]:
    return [counted((out / row["file"]).read_bytes()) for row in json.loads((out / "frames.json").read_bytes())]


def test_a_window_and_what_is_said_of_it(clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["frames", str(clip), "--policy", "uniform:4", "--window", "1:3", "--out", str(out)]) == 0
    assert shown(out) == [10, 15, 20, 25]
    said = capsys.readouterr().out
    assert "4 of 4 frames" in said
    assert "longest side at most 512 px, JPEG quality 90" in said


def test_a_rule_of_another_tool_says_how_many_frames_it_counted(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["frames", str(clip), "--policy", "lmms-eval:3", "--out", str(out), "--max-side", "32"]) == 0
    assert shown(out) == [0, 24, 49]
    assert "3 of 3 frames, chosen by number among 50" in capsys.readouterr().out


def test_sequential_gives_the_same_bytes_and_quality_others(clip: Path, tmp_path: Path) -> None:
    for name, more in (("a", []), ("b", ["--sequential"]), ("c", ["--quality", "40"])):
        assert main(["frames", str(clip), "--policy", "fps:1", "--out", str(tmp_path / name), *more]) == 0
    bytes_of = {n: [p.read_bytes() for p in sorted((tmp_path / n).glob("*.jpg"))] for n in "abc"}
    assert bytes_of["a"] == bytes_of["b"] != bytes_of["c"]
    tables = [Image.open(io.BytesIO(bytes_of[n][0])).quantization for n in "ac"]  # type: ignore[attr-defined]
    assert tables[0][0] < tables[1][0]


def test_damage_is_left_out_replaced_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = [np.random.default_rng(n).integers(16, 235, (96, 64), dtype=np.uint8) for n in range(60)]
    whole = write(tmp_path / "whole.mp4", pictures, container_options={"movflags": "+faststart"})
    path = tmp_path / "short.mp4"
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    ask = ["frames", str(path), "--policy", "uniform:4", "--out"]
    assert main([*ask, str(tmp_path / "skip")]) == 0
    told = capsys.readouterr()
    assert "no frame can be decoded for 1.500 s" in told.err
    assert len(json.loads((tmp_path / "skip" / "frames.json").read_bytes())) < 4
    assert main([*ask, str(tmp_path / "use"), "--damage", "use"]) == 0
    assert "the frame for 1.500 s is missing: the one of" in capsys.readouterr().err
    rows = json.loads((tmp_path / "use" / "frames.json").read_bytes())
    assert [len(rows), rows[-1]["status"]] == [4, "substituted"]
    assert main([*ask, str(tmp_path / "fail"), "--damage", "fail"]) == 1
    assert "frames are damaged: missing at" in capsys.readouterr().err
    assert not (tmp_path / "fail").exists()


@pytest.mark.parametrize("more", [["--window", "3"], ["--window", "9:10"], ["--quality", "0"], ["--policy", "every"]])
def test_wrong_options_are_one_line(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert main(["frames", str(clip), "--policy", "midpoint", "--out", str(tmp_path / "out"), *more]) == 1
    assert "Traceback" not in capsys.readouterr().err
