from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from onlooker.catalog import families, load_benchmark
from onlooker.construct.intake import new_bundle
from onlooker.errors import InputError
from onlooker.records.bundle import open_bundle
from onlooker.records.validate import has_errors, validate_bundle
from tests.media.making import coloured, tone, write


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    folder = tmp_path / "clips"
    (folder / "sub").mkdir(parents=True)
    write(folder / "a b.mp4", [coloured((255, 0, 0))] * 20, rate=10)
    (folder / "a b.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello.\n", encoding="utf-8")
    write(folder / "sub" / "a b.mkv", [coloured((0, 255, 0))] * 10, rate=10)
    write(folder / "talk.m4a", sounds=[tone(440, 1.5)])
    write(folder / "视频 😀 #1.mp4", [coloured((0, 0, 255))] * 10, rate=10)
    (folder / "empty.mp4").write_bytes(b"")
    (folder / "words.mp4").write_text("not a video at all")
    (folder / "notes.txt").write_text("no medium")
    return folder


@pytest.mark.parametrize("copy", [False, True])
def test_every_file_is_an_episode_or_named_with_its_reason(clips: Path, tmp_path: Path, copy: bool) -> None:
    intake = new_bundle(tmp_path / "b", "sivbench", clips, copy=copy)
    bundle = open_bundle(tmp_path / "b")
    episodes = bundle.load_episodes()
    assert set(episodes) == {"a b.mp4", "sub/a b.mkv", "talk", "视频 😀 #1"}
    assert episodes["a b.mp4"].media.transcript == "media/a b.srt"
    assert episodes["talk"].media.audio == "media/talk.m4a"
    assert episodes["talk"].media.video is None
    assert episodes["a b.mp4"].duration_s == pytest.approx(2.0)
    for episode in episodes.values():
        path = bundle.media_path(episode, "video" if episode.media.video else "audio")
        assert path is not None
        assert path.is_file()
        assert path.is_symlink() != copy
    assert {path.name: reason for path, reason in intake.unreadable}.keys() == {"empty.mp4", "words.mp4"}
    listed = [json.loads(line) for line in (tmp_path / "b" / "unreadable.jsonl").read_text().splitlines()]
    assert [row["file"] for row in listed] == ["empty.mp4", "words.mp4"]
    assert "0 bytes" in listed[0]["reason"]
    rules = {family: load_benchmark(family).labels for family in families()}
    assert not has_errors(validate_bundle(tmp_path / "b", families=rules))


def test_a_name_that_is_no_text_and_a_broken_transcript_are_listed_and_stop_nothing(
    clips: Path, tmp_path: Path
) -> None:
    (clips / "a b.srt").write_bytes(b"\x00\x01\x02 no transcript")
    odd = os.fsencode(clips) + b"/odd\xff.mp4"
    with open(odd, "wb") as file:  # noqa: PTH123 - a path of bytes
        file.write((clips / "a b.mp4").read_bytes())
    new_bundle(tmp_path / "b", "sivbench", clips)
    assert open_bundle(tmp_path / "b").load_episodes()["a b.mp4"].media.transcript is None
    listed = [json.loads(line) for line in (tmp_path / "b" / "unreadable.jsonl").read_text().splitlines()]
    assert {"odd\\xff.mp4", "a b.srt"} <= {row["file"] for row in listed}


def test_files_of_one_name_do_not_overwrite_each_other(clips: Path, tmp_path: Path) -> None:
    write(clips / "sub" / "a b.mp4", [coloured((9, 9, 9))] * 5, rate=10)
    new_bundle(tmp_path / "b", "sivbench", clips)
    bundle = open_bundle(tmp_path / "b")
    paths = {bundle.media_path(e, "video") for e in bundle.load_episodes().values() if e.media.video}
    assert len({p.resolve() for p in paths if p}) == 4


def test_media_inside_the_bundle_stay_where_they_are(clips: Path) -> None:
    new_bundle(clips, "sivbench", clips)
    episode = open_bundle(clips).load_episodes()["sub/a b.mkv"]
    assert episode.media.video == "sub/a b.mkv"


def test_what_cannot_be_made_is_refused_before_anything_is_written(clips: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        new_bundle(tmp_path / "b", "sivbench", tmp_path / "nowhere")
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="no media file"):
        new_bundle(tmp_path / "b", "sivbench", tmp_path / "nothing")
    assert not (tmp_path / "b").exists()
    new_bundle(tmp_path / "b", "sivbench", clips)
    with pytest.raises(InputError, match="a bundle here already"):
        new_bundle(tmp_path / "b", "sivbench", clips)
