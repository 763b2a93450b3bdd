"""Entries on disk under many processes, kills, damage and a bound."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal
import threading
import time
from hashlib import sha256
from pathlib import Path

import pytest

from onlooker.errors import InputError, OnlookerError
from onlooker.media import store
from onlooker.media.store import (
    clear,
    entry_path,
    grew,
    holdings,
    kept,
    limit_bytes,
    parse_bytes,
    put,
    read_entry,
    shrink,
    verify,
)

SPAWN = multiprocessing.get_context("spawn")


def body(number: int, size: int = 3000) -> bytes:
    """The one right content of entry ``number``."""
    return (sha256(str(number).encode()).digest() * (size // 32 + 1))[:size]


def entry(cache_dir: Path, number: int) -> Path:
    return entry_path(cache_dir, "frames", [number], "entry")


def fill(cache_dir: Path, numbers: range, size: int = 3000) -> None:
    for number in numbers:
        assert kept(cache_dir, "frames", [number], lambda n=number: body(n, size)) == body(number, size)  # type: ignore[misc]


def used(cache_dir: Path) -> int:
    return sum(h.used_bytes for h in holdings(cache_dir))


@pytest.fixture
def no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ONLOOKER_CACHE_LIMIT", raising=False)


def test_the_longest_unused_goes_first_and_use_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_limit: None
) -> None:
    fill(tmp_path, range(10))  # 3,000 bytes and a head: one block of 4,096 each
    assert used(tmp_path) == 10 * 4096
    for age, number in enumerate(reversed(range(10))):
        long_ago = time.time_ns() - (age + 1) * 10**9
        os.utime(entry(tmp_path, number), ns=(long_ago, long_ago))
    assert read_entry(entry(tmp_path, 0)) == body(0)
    # Nine tenths of eight blocks hold seven: the three oldest go, and 0 was just used.
    assert shrink(tmp_path, 8 * 4096) == 3
    assert [n for n in range(10) if entry(tmp_path, n).exists()] == [0, 4, 5, 6, 7, 8, 9]
    assert shrink(tmp_path, 8 * 4096) == 0


def test_writing_keeps_the_bound_and_rarely_scans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE_LIMIT", str(100 * 4096))
    scans = []
    real = store.shrink

    def counted(cache_dir: Path, limit: int) -> int:
        scans.append(limit)
        return real(cache_dir, limit)

    monkeypatch.setattr(store, "shrink", counted)
    for number in range(500):
        fill(tmp_path, range(number, number + 1))
        assert sum(1 for _ in (tmp_path / "frames").rglob("*.entry")) <= 100
    # One at the start, then one for each tenth of the limit that is written after the first hundred.
    assert len(scans) <= 1 + 400 // 10 + 1
    assert entry(tmp_path, 499).exists()
    assert read_entry(entry(tmp_path, 0)) is None
    fill(tmp_path, range(1))  # what was removed is made again


def test_what_others_put_there_is_counted_and_removed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE_LIMIT", "100K")
    fill(tmp_path, range(1))
    foreign = tmp_path / "observations" / "ab" / "old.json"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"x" * 90_000)
    os.utime(foreign, (1, 1))
    grew(tmp_path, 90_000)
    assert foreign.exists()
    fill(tmp_path, range(1, 5))
    assert not foreign.exists()
    assert all(entry(tmp_path, n).exists() for n in range(5))


def test_a_clip_that_was_handed_out_stays_for_an_hour(tmp_path: Path, no_limit: None) -> None:
    new, old = (tmp_path / "clips" / name for name in ("new.mp4", "old.mp4"))
    for path, age_s in ((new, 60), (old, 7200)):
        put(tmp_path, path, bytes(50_000))
        os.utime(path, (time.time() - age_s,) * 2)
    assert shrink(tmp_path, 1) == 1
    assert new.exists()
    assert not old.exists()


def test_a_reader_reads_on_while_its_entry_is_removed(tmp_path: Path, no_limit: None) -> None:
    fill(tmp_path, range(1), 100_000)
    with entry(tmp_path, 0).open("rb") as file:
        file.read(10)
        assert shrink(tmp_path, 0) == 1
        assert file.read().endswith(body(0, 100_000)[-50_000:])


def test_damage_is_found_and_removed(tmp_path: Path, no_limit: None) -> None:
    fill(tmp_path, range(4))
    entry(tmp_path, 1).write_bytes(entry(tmp_path, 1).read_bytes()[:-1])
    data = bytearray(entry(tmp_path, 2).read_bytes())
    data[-1] ^= 128
    entry(tmp_path, 2).write_bytes(data)
    put(tmp_path, tmp_path / "observations" / "a.json", b"[]")
    found = verify(tmp_path)
    assert (found.sound, found.damaged, found.unchecked) == (2, 2, 1)
    assert [n for n in range(4) if entry(tmp_path, n).exists()] == [0, 3]


def test_clearing_leaves_only_what_is_being_written(tmp_path: Path, no_limit: None) -> None:
    fill(tmp_path, range(3))
    scratch = entry(tmp_path, 0).with_name(".x.tmp")
    scratch.write_bytes(b"half")
    assert clear(tmp_path) == 3
    assert holdings(tmp_path) == ()
    assert scratch.exists()
    os.utime(scratch, (1, 1))
    shrink(tmp_path, 0)  # nobody writes for that long: a kill left it
    assert not scratch.exists()


def make_slowly(arguments: tuple[Path, Path]) -> None:
    cache_dir, log = arguments

    def make() -> bytes:
        with log.open("ab") as file:
            file.write(b"made\n")
        time.sleep(0.5)
        return body(1)

    assert kept(cache_dir, "frames", [1], make) == body(1)


def test_processes_that_want_the_same_entry_make_it_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with SPAWN.Pool(4) as pool:
        pool.map(make_slowly, [(tmp_path / "c", log)] * 8, chunksize=1)
    assert log.read_bytes() == b"made\n"


def test_threads_that_want_the_same_entry_make_it_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    threads = [threading.Thread(target=make_slowly, args=((tmp_path / "c", log),)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert log.read_bytes() == b"made\n"
    assert not list((tmp_path / "c" / ".locks").iterdir())


def hang(cache_dir: Path, begun: Path) -> None:
    def make() -> bytes:
        begun.touch()
        time.sleep(600)
        return b""

    kept(cache_dir, "frames", [1], make)


def test_a_killed_owner_does_not_block_the_next(tmp_path: Path, no_limit: None) -> None:
    owner = SPAWN.Process(target=hang, args=(tmp_path / "c", tmp_path / "begun"))
    owner.start()
    while not (tmp_path / "begun").exists():
        time.sleep(0.01)
    owner.kill()
    owner.join()
    begun = time.monotonic()
    assert kept(tmp_path / "c", "frames", [1], lambda: b"made anew") == b"made anew"
    assert time.monotonic() - begun < 5


def what_fails_is_raised_and_the_next_one_tries(cache_dir: Path) -> None:
    def fail() -> bytes:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept(cache_dir, "frames", [1], fail)


def test_what_fails_is_not_kept(tmp_path: Path, no_limit: None) -> None:
    what_fails_is_raised_and_the_next_one_tries(tmp_path)
    what_fails_is_raised_and_the_next_one_tries(tmp_path)
    fill(tmp_path, range(1))


def churn(cache_dir: Path, seed: int, rounds: int) -> None:
    """Read and write entries at random; every body must be the right one."""
    draw = random.Random(seed)
    for _ in range(rounds):
        number = draw.randrange(60)
        fill(cache_dir, range(number, number + 1), 2000 + number * 200)


def test_many_processes_under_a_bound_that_is_too_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE_LIMIT", "150K")
    workers = [SPAWN.Process(target=churn, args=(tmp_path, seed, 400)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert verify(tmp_path).damaged == 0
    shrink(tmp_path, limit_bytes())
    assert used(tmp_path) <= 150_000


def test_kills_in_the_middle_of_writing_leave_no_bad_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE_LIMIT", "2M")
    draw = random.Random(5)
    for seed in range(6):
        worker = SPAWN.Process(target=churn_large, args=(tmp_path, seed))
        worker.start()
        begun = tmp_path / f"begun-{seed}"
        while not begun.exists():
            time.sleep(0.005)
        time.sleep(draw.uniform(0.0, 0.1))
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    found = verify(tmp_path)
    assert found.damaged == 0
    assert found.sound > 0
    for number in range(12):
        fill(tmp_path, range(number, number + 1), 400_000)


def churn_large(cache_dir: Path, seed: int) -> None:
    (cache_dir / f"begun-{seed}").touch()
    draw = random.Random(seed)
    while True:
        number = draw.randrange(12)
        fill(cache_dir, range(number, number + 1), 400_000)


def test_a_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_limit: None
) -> None:
    def full(self: Path, data: bytes) -> int:
        with self.open("wb") as file:
            file.write(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OnlookerError, match=r"cannot be written \(No space left on device\).*onlooker cache --limit"):
        kept(tmp_path, "frames", [1], lambda: b"abc")
    assert [p for p in (tmp_path / "frames").rglob("*") if p.is_file()] == []


def test_a_cache_that_may_only_be_read_serves(tmp_path: Path, no_limit: None) -> None:
    fill(tmp_path, range(1))
    assert read_entry(entry(tmp_path, 0)) == body(0)
    assert read_entry(entry(tmp_path, 1)) is None


def test_what_may_only_be_read_is_told(tmp_path: Path, no_limit: None, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, range(3))

    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(OnlookerError, match=r"cannot be written \(Read-only file system\)"):
        clear(tmp_path)
    with pytest.raises(OnlookerError, match=r"cannot be written \(Read-only file system\)"):
        shrink(tmp_path, 0)


@pytest.mark.parametrize(
    ("text", "amount"), [("20G", 20 * 10**9), ("500 MB", 5 * 10**8), ("1.5t", 15 * 10**11), ("4096", 4096), ("0", 0)]
)
def test_amounts(text: str, amount: int) -> None:
    assert parse_bytes(text, "--limit") == amount


@pytest.mark.parametrize("text", ["", "much", "-1G", "1e9", "nan", "20 GiB"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(InputError, match=r"--limit: not an amount of bytes"):
        parse_bytes(text, "--limit")


def test_the_limit_is_20_gb_unless_told(monkeypatch: pytest.MonkeyPatch, no_limit: None) -> None:
    assert limit_bytes() == 20 * 10**9
    monkeypatch.setenv("ONLOOKER_CACHE_LIMIT", "lots")
    with pytest.raises(InputError, match="ONLOOKER_CACHE_LIMIT"):
        limit_bytes()
