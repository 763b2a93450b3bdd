"""``onlooker probe BUNDLE``: every medium, each file once, bad ones listed."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from onlooker.cli.main import main
from onlooker.media import survey as module
from onlooker.media.card import MediaCard, probe
from onlooker.media.checkup import Checkup, check_frames
from onlooker.media.survey import survey
from onlooker.records.bundle import open_bundle

from .making import counter, tone, write


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Four episodes: one sound, one that states a wrong duration and shares its video, two that cannot be read."""
    (tmp_path / "media").mkdir()
    write(tmp_path / "media" / "a.mp4", counter(20), rate=10, sounds=[tone(440, 2)])
    write(tmp_path / "media" / "b.m4a", sounds=[tone(440, 1)])
    (tmp_path / "media" / "empty.mp4").write_bytes(b"")
    (tmp_path / "media" / "a.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello.\n")
    episodes: list[dict[str, object]] = [
        {"id": "one", "media": {"video": "media/a.mp4", "transcript": "media/a.srt"}, "duration_s": 2.0},
        {"id": "two", "media": {"video": "media/a.mp4", "audio": "media/b.m4a"}, "duration_s": 9.0},
        {"id": "three", "media": {"video": "media/empty.mp4"}},
        {"id": "four", "media": {"video": "../secret.mp4", "audio": "media/gone.wav"}},
    ]
    rows = ({**e, "lineage": {"source": None}, "labels": {}} for e in episodes)
    (tmp_path / "episodes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "items.jsonl").write_text("")
    (tmp_path / "references.jsonl").write_text("")
    card = "name: b\nfamily: sivbench\nversion: 0.1.0\nlicense: unknown\ndescription: media\n"
    (tmp_path / "bundle.yaml").write_text(card)
    return tmp_path


def test_each_file_is_read_once_and_bad_ones_are_rows(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cases V07 and A01: what cannot be read is counted, and the rest goes on."""
    opened: list[str] = []

    def counted(path: Path, *, cache_dir: Path | None = None) -> MediaCard:
        opened.append(path.name)
        return probe(path, cache_dir=cache_dir)

    monkeypatch.setattr(module, "probe", counted)
    found = list(survey(open_bundle(bundle)))
    assert [(m.episode, m.medium) for m in found] == [
        *(("one", "video"), ("two", "video"), ("two", "audio"), ("three", "video")),
        *(("four", "video"), ("four", "audio")),
    ]
    assert opened == ["a.mp4", "b.m4a", "empty.mp4", "gone.wav"]
    assert [m.fault for m in found[:3]] == [None, None, None]
    assert found[0].card == found[1].card
    assert found[0].notes == []
    assert found[1].notes == ["the episode states 9.000 s"]
    assert found[2].notes == ["no picture"]
    assert found[3].fault == "is empty (0 bytes)"
    assert "climbs out" in (found[4].fault or "")
    assert "No such file" in (found[5].fault or "")
    assert str(bundle) not in json.dumps([m.row() for m in found])


def test_the_command_goes_on_and_its_exit_code_tells(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "cards.jsonl"
    assert main(["probe", str(bundle), "--out", str(out)]) == 1
    shown = capsys.readouterr()
    assert "the episode states 9.000 s" in shown.out
    assert "is empty (0 bytes)" in shown.err
    assert "3 of 6 media read" in shown.err
    assert shown.err.startswith("probed: 6 of 6, ")
    assert ", 3 failed\n" in shown.err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["card"] is None for row in rows] == [False, False, False, True, True, True]
    assert rows[0]["card"]["video"]["frames"] == 20
    assert main(["probe", str(bundle), "--json"]) == 1
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows


def test_one_file_for_a_person_and_for_a_machine(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle / "media" / "a.mp4"
    assert main(["probe", str(path)]) == 0
    text = capsys.readouterr().out
    assert "picture: h264 64x64 (yuv420p), 20 frames, 10.000 a second" in text
    assert "sound 1: aac 16000 Hz x 1" in text
    assert main(["probe", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["video"]["frames"] == 20
    assert main(["probe", str(bundle / "media" / "empty.mp4")]) == 1
    assert "is empty (0 bytes)" in capsys.readouterr().err


def test_decoding_finds_what_packets_do_not_tell(bundle: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bundle / "media" / "a.mp4"
    pictures = [np.random.default_rng(n).integers(16, 235, (96, 64), dtype=np.uint8) for n in range(30)]
    write(path, pictures, gop=10, codec_options={"x264-params": "keyint=10:min-keyint=10:scenecut=0"})
    assert check_frames(path) == Checkup(30, 30, 0, 0, None)
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        place = next(p.pos for n, p in enumerate(container.demux(video=0)) if n == 12)
    assert place is not None
    data[place + 8 : place + 400] = bytes(392)
    path.write_bytes(data)
    assert main(["probe", str(path)]) == 0
    assert "damage by its packets: none" in capsys.readouterr().out
    assert main(["probe", str(path), "--json", "--decode"]) == 0
    found = json.loads(capsys.readouterr().out)["checkup"]
    assert found["ok"] + found["corrupt"] + found["undecodable"] == 30
    assert 20 <= found["ok"] < 30
    assert found["first_damage_s"] == pytest.approx(0.4, abs=0.07)
    assert main(["probe", str(path), "--decode"]) == 0
    assert f"decoded: {found['ok']} of 30 frames without an error" in capsys.readouterr().out
    assert main(["probe", str(bundle), "--decode"]) == 1
    assert f"{found['corrupt']} corrupt and {found['undecodable']} undecodable" in capsys.readouterr().out
