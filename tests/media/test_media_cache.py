"""A cache that is never wrong: by content, shared by processes, whole or not there."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

import pytest

from onlooker.errors import UnreadableMedia
from onlooker.media import digest
from onlooker.media.cache import cached_sample, cached_transcribe
from onlooker.media.digest import file_sha256, write_atomically
from onlooker.media.frames import Sampled, sample

from .making import counted, counter, write


def entries(cache_dir: Path) -> set[Path]:
    return {p for p in cache_dir.rglob("*.frames") if p.is_file()}


def test_the_cached_value_equals_the_sampled_one(gray_counter: Path, tmp_path: Path) -> None:
    for policy, window in (("uniform:4", None), ("fps:1:3", (0.5, 4.5))):
        direct = sample(gray_counter, policy, window=window)
        cold = cached_sample(tmp_path, gray_counter, policy, window=window)
        warm = cached_sample(tmp_path, gray_counter, policy, window=window)
        assert direct == cold == warm
    assert len(entries(tmp_path)) == 2


def test_a_warm_read_neither_hashes_nor_decodes(
    gray_counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cold = cached_sample(tmp_path, gray_counter, "uniform:4")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("worked again")

    monkeypatch.setattr(digest, "_hash", refuse)
    monkeypatch.setattr("onlooker.media.cache.sample", refuse)
    assert cached_sample(tmp_path, gray_counter, "uniform:4") == cold


def test_another_file_under_the_same_name_misses(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    shutil.copy(write(folder / "dark.mp4", counter(5)), path)
    assert counted(cached_sample(tmp_path / "c", path, "midpoint").frames[0].jpeg) == 2
    stamp = path.stat().st_mtime_ns
    shutil.copy(write(folder / "bright.mp4", counter(50)[40:45]), path)
    os.utime(path, ns=(stamp + 1, stamp + 1))
    assert counted(cached_sample(tmp_path / "c", path, "midpoint").frames[0].jpeg) == 42


def test_a_copy_under_another_name_hits(gray_counter: Path, tmp_path: Path) -> None:
    copy = tmp_path / "another name.bin"
    shutil.copy(gray_counter, copy)
    first = cached_sample(tmp_path / "c", gray_counter, "uniform:2")
    assert cached_sample(tmp_path / "c", copy, "uniform:2") == first
    assert len(entries(tmp_path / "c")) == 1


def test_everything_asked_for_is_part_of_the_key(gray_counter: Path, tmp_path: Path) -> None:
    cached_sample(tmp_path, gray_counter, "uniform:2")
    cached_sample(tmp_path, gray_counter, "uniform:3")
    cached_sample(tmp_path, gray_counter, "uniform:2", max_side_px=32)
    cached_sample(tmp_path, gray_counter, "uniform:2", jpeg_quality=50)
    cached_sample(tmp_path, gray_counter, "uniform:2", window=(0, 2))
    assert len(entries(tmp_path)) == 5


def sample_one(arguments: tuple[Path, Path]) -> Sampled:
    return cached_sample(*arguments, "uniform:5")


def test_several_processes_share_a_folder(gray_counter: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(sample_one, [(tmp_path, gray_counter)] * 6))
    assert all(r == sample(gray_counter, "uniform:5") for r in results)
    assert len(entries(tmp_path)) == 1
    assert not list(tmp_path.rglob(".*"))  # no scratch file is left


def test_transcripts_are_kept(base: Path, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper")
    first = cached_transcribe(tmp_path, base)
    assert first.status == "no_audio"
    assert cached_transcribe(tmp_path, base) == first
    assert len(list((tmp_path / "transcripts").rglob("*.json"))) == 1


def test_digest_of_a_rewritten_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")
    assert file_sha256(path, tmp_path / "c") == sha256(b"one").hexdigest()
    assert file_sha256(path, tmp_path / "c") == sha256(b"one").hexdigest()
    path.write_bytes(b"two!")
    assert file_sha256(path, tmp_path / "c") == sha256(b"two!").hexdigest()
    with pytest.raises(UnreadableMedia, match=r"gone\.bin"):
        file_sha256(tmp_path / "gone.bin", tmp_path / "c")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.json"
    write_atomically(path, b"old")

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("onlooker.media.digest.os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.json"]
