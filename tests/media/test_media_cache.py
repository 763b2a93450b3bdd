"""A cache that is never wrong: by content, shared by processes, whole or not there."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlooker.errors import InputError, UnreadableMedia
from onlooker.media import cache, digest
from onlooker.media.cache import cached_probe, cached_sample, cached_sound, cached_transcribe
from onlooker.media.card import probe
from onlooker.media.digest import file_sha256, write_atomically
from onlooker.media.frames import Sampled, sample
from onlooker.media.sound import read_sound, wav_bytes

from .making import counted, counter, write


def entries(cache_dir: Path, kind: str = "frames") -> list[Path]:
    return sorted((cache_dir / kind).rglob("*.entry"))


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("worked again")


def test_the_cached_value_equals_the_sampled_one(gray_counter: Path, tmp_path: Path) -> None:
    for policy, window in (("uniform:4", None), ("fps:1:3", (0.5, 4.5))):
        direct = sample(gray_counter, policy, window=window)
        cold = cached_sample(tmp_path, gray_counter, policy, window=window)
        warm = cached_sample(tmp_path, gray_counter, policy, window=window)
        assert direct == cold == warm
    assert len(entries(tmp_path)) == 2


def test_a_warm_read_neither_hashes_nor_decodes(
    two_tracks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything() -> tuple[object, ...]:
        return (
            cached_sample(tmp_path, two_tracks, "uniform:4"),
            cached_probe(tmp_path, two_tracks),
            cached_sound(tmp_path, two_tracks),
        )

    cold = everything()
    monkeypatch.setattr(digest, "_hash", refuse)
    for name in ("sample", "probe", "read_sound"):
        monkeypatch.setattr(cache, name, refuse)
    assert everything() == cold


def test_another_file_under_the_same_name_misses(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    shutil.copy(write(folder / "dark.mp4", counter(5)), path)
    assert counted(cached_sample(tmp_path / "c", path, "midpoint").frames[0].jpeg) == 2
    stamp = path.stat().st_mtime_ns
    shutil.copy(write(folder / "bright.mp4", counter(50)[40:45]), path)
    os.utime(path, ns=(stamp + 1, stamp + 1))
    assert counted(cached_sample(tmp_path / "c", path, "midpoint").frames[0].jpeg) == 42


def test_other_content_of_the_same_size_with_its_old_time_put_back_misses(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"before")
    before = path.stat()
    assert file_sha256(path, tmp_path / "c") == sha256(b"before").hexdigest()
    with path.open("r+b") as file:
        file.write(b"after!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (before.st_size, before.st_mtime_ns, before.st_ino)
    assert file_sha256(path, tmp_path / "c") == sha256(b"after!").hexdigest()


def test_a_file_that_changes_right_after_it_was_hashed_misses(tmp_path: Path) -> None:
    """Stamps move in ticks of the kernel: two changes within one look alike."""
    path = tmp_path / "a.bin"
    for number in range(30):
        content = b"%06d" % number
        path.write_bytes(content)
        assert file_sha256(path, tmp_path / "c") == sha256(content).hexdigest()


@pytest.mark.parametrize("reader", ["sample", "probe", "read_sound"])
def test_a_file_that_changes_while_it_is_read_is_not_kept(
    two_tracks: Path, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    """What was read may be of the new file, and must not answer for the old one when that comes back."""
    path = tmp_path / "a.mp4"
    shutil.copy(two_tracks, path)
    calls: dict[str, Callable[[], Any]] = {
        "sample": lambda: cached_sample(tmp_path / "c", path, "midpoint"),
        "probe": lambda: cached_probe(tmp_path / "c", path),
        "read_sound": lambda: cached_sound(tmp_path / "c", path),
    }
    right = getattr(cache, reader)

    def replaced_first(*given: Any, **options: Any) -> Any:
        shutil.copy(base, path)
        return right(*given, **options)

    with monkeypatch.context() as patched:
        patched.setattr(cache, reader, replaced_first)
        with pytest.raises(UnreadableMedia, match="changed while it was read"):
            calls[reader]()
    shutil.copy(two_tracks, path)
    value: Any = calls[reader]()
    assert file_sha256(two_tracks) in {getattr(value, "sha256", None), getattr(value, "source_sha256", None)}
    assert value == getattr(cache, f"cached_{reader.removeprefix('read_')}")(
        tmp_path / "other", two_tracks, *(["midpoint"] if reader == "sample" else [])
    )


def test_a_digest_in_a_folder_that_may_only_be_read_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"content")
    known = file_sha256(path, tmp_path / "c")

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", read_only)
    monkeypatch.setattr(digest, "put", read_only)
    monkeypatch.setattr(digest, "_hash", refuse)
    assert file_sha256(path, tmp_path / "c") == known


def test_a_copy_or_a_renamed_file_hits(gray_counter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy = tmp_path / "another name.bin"
    shutil.copy(gray_counter, copy)
    first = cached_sample(tmp_path / "c", gray_counter, "uniform:2")
    monkeypatch.setattr(cache, "sample", refuse)
    assert cached_sample(tmp_path / "c", copy, "uniform:2") == first
    (tmp_path / "elsewhere").mkdir()
    moved = copy.rename(tmp_path / "elsewhere" / "视频 😀.mp4")
    assert cached_sample(tmp_path / "c", moved, "uniform:2") == first
    assert len(entries(tmp_path / "c")) == 1


def test_everything_asked_for_is_part_of_the_key(gray_counter: Path, tmp_path: Path) -> None:
    cached_sample(tmp_path, gray_counter, "uniform:2")
    cached_sample(tmp_path, gray_counter, "uniform:3")
    cached_sample(tmp_path, gray_counter, "uniform:2", max_side_px=32)
    cached_sample(tmp_path, gray_counter, "uniform:2", jpeg_quality=50)
    cached_sample(tmp_path, gray_counter, "uniform:2", window=(0, 2))
    assert len(entries(tmp_path)) == 5


@pytest.mark.parametrize("damage", ["cut", "flipped", "emptied", "grown"])
def test_a_damaged_entry_is_made_anew(gray_counter: Path, tmp_path: Path, damage: str) -> None:
    good = cached_sample(tmp_path, gray_counter, "uniform:3")
    (entry,) = entries(tmp_path)
    whole = entry.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 1
    entry.write_bytes(
        {"cut": whole[:-7], "flipped": bytes(flipped), "emptied": bytes(len(whole)), "grown": whole + b"x"}[damage]
    )
    assert cached_sample(tmp_path, gray_counter, "uniform:3") == good
    assert entry.read_bytes() == whole


def sample_one(arguments: tuple[Path, Path]) -> Sampled:
    return cached_sample(*arguments, "uniform:5")


def test_several_processes_share_a_folder(gray_counter: Path, tmp_path: Path) -> None:
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        results = list(pool.map(sample_one, [(tmp_path, gray_counter)] * 6))
    assert all(r == sample(gray_counter, "uniform:5") for r in results)
    assert len(entries(tmp_path)) == 1
    assert sorted(p.name for p in tmp_path.rglob(".*") if p.is_file()) == [
        ".scanning",
        ".size",
    ]  # no scratch file is left


def test_the_kept_card_is_the_card(two_tracks: Path, tmp_path: Path) -> None:
    card = probe(two_tracks)
    assert cached_probe(tmp_path, two_tracks) == card
    assert cached_probe(tmp_path, two_tracks) == card


def test_the_kept_sound_is_the_sound(two_tracks: Path, base: Path, tmp_path: Path) -> None:
    for window in (None, (1.0, 2.5)):
        clip = read_sound(two_tracks, window=window)
        for _ in range(2):
            found = cached_sound(tmp_path, two_tracks, window=window)
            assert found is not None
            assert (found.wav, found.start_s, found.end_s) == (wav_bytes(clip), clip.start_s, clip.end_s)
            assert found.source_sha256 == clip.source_sha256
    assert cached_sound(tmp_path, base) is None
    assert cached_sound(tmp_path, base) is None
    with pytest.raises(InputError, match="a window needs"):
        cached_sound(tmp_path, two_tracks, window=(3.0, 1.0))


def test_transcripts_are_kept(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faster_whisper")
    first = cached_transcribe(tmp_path, base)
    assert first.status == "no_audio"
    monkeypatch.setattr(cache, "transcribe", refuse)
    assert cached_transcribe(tmp_path, base) == first
    assert len(entries(tmp_path, "transcripts")) == 1


def test_failures_are_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    path.write_bytes(b"no medium")
    with pytest.raises(UnreadableMedia, match=r"a\.mp4"):
        cached_sample(tmp_path / "c", path, "uniform:2")
    write(path, counter(5))
    assert len(cached_sample(tmp_path / "c", path, "uniform:2").frames) == 2


def test_a_warm_read_of_64_frames_takes_under_10_ms(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    noise = [rng.integers(0, 255, (144, 192, 3), dtype="uint8") for _ in range(66)]
    path = write(folder / "rich.mp4", noise, rate=10)
    cached_sample(tmp_path, path, "uniform:64")
    seconds = []
    for _ in range(20):
        begun = time.perf_counter()
        assert len(cached_sample(tmp_path, path, "uniform:64").frames) == 64
        seconds.append(time.perf_counter() - begun)
    assert min(seconds) < 0.010


def test_digest_of_a_rewritten_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")
    assert file_sha256(path, tmp_path / "c") == sha256(b"one").hexdigest()
    assert file_sha256(path, tmp_path / "c") == sha256(b"one").hexdigest()
    path.write_bytes(b"two!")
    assert file_sha256(path, tmp_path / "c") == sha256(b"two!").hexdigest()
    with pytest.raises(UnreadableMedia, match=r"gone\.bin"):
        file_sha256(tmp_path / "gone.bin", tmp_path / "c")


def test_a_damaged_digest_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"one")
    file_sha256(path, tmp_path / "c")
    (entry,) = (p for p in (tmp_path / "c" / "digests").rglob("*") if p.is_file())
    for damage in (b"", bytes(64), b"0" * 63):
        entry.write_bytes(damage)
        assert file_sha256(path, tmp_path / "c") == sha256(b"one").hexdigest()


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
