"""Entries of the cache on disk: whole or not there, made once, checked when read, the longest unused removed first.

An entry is a file ``KIND/xx/KEY.suffix`` below the cache folder. Those written by ``kept`` begin with a line that holds
the length and the SHA-256 of what follows, so that a cut or rotten entry is made anew and never served. Any number of
processes may share a folder:

* An entry is written beside its place and renamed. A reader that has it open reads it to its end, whoever removes it.
* Whoever makes an entry holds a lock on its key. Others wait for it and read; the system frees a dead owner's lock.
* The file ``.size`` stands for the bytes in use: its length, times 4096. Every writer makes it longer, which costs no
  scan. Where it passes the limit, one process scans, removes the entries unused for longest until nine tenths of the
  limit are left, and sets it right. Between a write and the end of that scan the folder may exceed the limit by what
  is written meanwhile.

What others put below the folder counts too once they call ``put`` or ``grew``, or at the next scan. Names that begin
with a dot are no entries.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from onlooker.errors import InputError, OnlookerError

LIMIT_VARIABLE = "ONLOOKER_CACHE_LIMIT"
DEFAULT_LIMIT = "20G"
# Clips are handed on as paths, and are read when they are sent.
_KEPT_FOR_S = {"clips": 3600.0}
_ABANDONED_AFTER_S = 3600.0
_BLOCK_BYTES = 4096
_SIZE, _SCANNING, _LOCKS = ".size", ".scanning", ".locks"
_MAGIC = b"onlooker entry 1 "
_AMOUNT = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)\s*([KMGT]?)B?", re.IGNORECASE)
_UNITS = {"": 1, "K": 1000, "M": 1000**2, "G": 1000**3, "T": 1000**4}


def kept(cache_dir: Path, kind: str, request: Sequence[object], make: Callable[[], bytes]) -> bytes:
    """The entry of ``kind`` for ``request`` (JSON values that say all that decides it), from disk or by ``make``.

    Of several processes and threads that want the same one, one makes it and the others wait. What ``make`` raises is
    raised and nothing is kept. Raises ``OnlookerError`` where the folder cannot be written.
    """
    entry = entry_path(cache_dir, kind, request, "entry")
    body = read_entry(entry)
    if body is not None:
        return body
    with _made_by_one(cache_dir, entry):
        body = read_entry(entry)
        if body is None:
            body = make()
            put(cache_dir, entry, _head(body) + body)
        return body


def entry_path(cache_dir: Path, kind: str, request: Sequence[object], suffix: str) -> Path:
    """Where an entry lies or would lie. Its name is the digest of what was asked for."""
    key = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    return cache_dir / kind / key[:2] / f"{key}.{suffix}"


def read_entry(entry: Path) -> bytes | None:
    """What ``kept`` wrote; None where there is nothing, or where it is damaged. Counts as a use."""
    try:
        with entry.open("rb") as file:
            data = file.read()
            with suppress(OSError):  # a folder that may only be read serves all the same
                os.utime(file.fileno())
    except OSError:
        return None
    head, _, body = data.partition(b"\n")
    return body if head + b"\n" == _head(body) else None


def put(cache_dir: Path, entry: Path, data: bytes) -> None:
    """Write an entry of any form and count it. Raises ``OnlookerError`` where it cannot be written."""
    temporary = entry.with_name(f".{entry.name}.{secrets.token_hex(6)}.tmp")
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        try:
            # Not synced: what a power cut leaves is known by its head, and made anew.
            temporary.write_bytes(data)
            temporary.replace(entry)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(entry.parent, error) from error
    grew(cache_dir, len(data))


def grew(cache_dir: Path, size_bytes: int) -> None:
    """Count a file of ``size_bytes`` that was put below ``cache_dir``; remove old entries where the limit is passed."""
    limit = limit_bytes()
    counter = cache_dir / _SIZE
    try:
        handle = os.open(counter, os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        shrink(cache_dir, limit)
        return
    try:
        os.write(handle, b"." * _blocks(size_bytes))
        used = os.fstat(handle).st_size * _BLOCK_BYTES
    finally:
        os.close(handle)
    if used > limit:
        shrink(cache_dir, limit)


def limit_bytes() -> int:
    """The bound on the cache: ``$ONLOOKER_CACHE_LIMIT``, 20 GB without it. Raises ``InputError`` for no amount."""
    return parse_bytes(os.environ.get(LIMIT_VARIABLE) or DEFAULT_LIMIT, LIMIT_VARIABLE)


def parse_bytes(text: str, where: str) -> int:
    """``20G``, ``500 MB``, ``1.5T`` or plain bytes, in powers of 1000. Raises ``InputError`` naming ``where``."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        raise InputError("not an amount of bytes", where=where, value=text, remedy="such as 20G, 500M or 1.5T")
    return round(float(found[1]) * _UNITS[found[2].upper()])


@dataclass(frozen=True, slots=True)
class Holding:
    """What lies in the cache of one kind: entries and the bytes they take, in whole blocks of 4096."""

    kind: str
    entries: int
    used_bytes: int


def holdings(cache_dir: Path) -> tuple[Holding, ...]:
    """What lies in the cache, by kind in the order of the alphabet. A scan of all entries."""
    sums: dict[str, tuple[int, int]] = {}
    for found in _scan(cache_dir):
        number, used = sums.get(found.kind, (0, 0))
        sums[found.kind] = (number + 1, used + found.used_bytes)
    return tuple(Holding(kind, *sums[kind]) for kind in sorted(sums))


def shrink(cache_dir: Path, limit: int) -> int:
    """Remove the entries unused for longest where all take more than ``limit`` bytes, until nine tenths of it are left.

    Returns how many were removed; none where another process is at it. Entries used after the scan began stay, and so
    does a clip for an hour after its last use.
    """
    try:
        return _shrunk(cache_dir, limit)
    except OSError as error:
        raise _unwritable(cache_dir, error) from error


def _shrunk(cache_dir: Path, limit: int) -> int:
    removed = 0
    with _alone(cache_dir / _SCANNING) as alone:
        if not alone:
            return 0
        found = list(_scan(cache_dir))
        used = sum(entry.used_bytes for entry in found)
        if used > limit:
            now_ns = time.time_ns()
            for entry in sorted(found, key=lambda e: e.used_ns):
                if used <= limit * 9 // 10:
                    break
                if now_ns - entry.used_ns >= _KEPT_FOR_S.get(entry.kind, 0.0) * 1e9 and entry.remove():
                    used -= entry.used_bytes
                    removed += 1
        with (cache_dir / _SIZE).open("ab") as counter:
            counter.truncate(-(-used // _BLOCK_BYTES))
    return removed


def clear(cache_dir: Path) -> int:
    """Remove every entry, also those in use by others: they read on, and make what they need anew."""
    removed = 0
    try:
        for entry in _scan(cache_dir):
            with suppress(FileNotFoundError):
                entry.path.unlink()
                removed += 1
        (cache_dir / _SIZE).unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(cache_dir, error) from error
    return removed


@dataclass(frozen=True, slots=True)
class Verified:
    """``sound`` and ``damaged`` entries; ``unchecked``: those of other forms, which carry no digest."""

    sound: int
    damaged: int
    unchecked: int


def verify(cache_dir: Path) -> Verified:
    """Read every entry against its digest and remove the damaged ones, which are made anew when wanted."""
    sound = damaged = unchecked = 0
    for entry in _scan(cache_dir):
        if entry.path.suffix != ".entry":
            unchecked += 1
            continue
        try:
            data = entry.path.read_bytes()
        except OSError:
            continue  # removed meanwhile
        head, _, body = data.partition(b"\n")
        if head + b"\n" == _head(body):
            sound += 1
        else:
            damaged += 1
            entry.path.unlink(missing_ok=True)
    return Verified(sound, damaged, unchecked)


@dataclass(frozen=True, slots=True)
class _Found:
    path: Path
    kind: str
    used_bytes: int
    used_ns: int

    def remove(self) -> bool:
        """False where it was used or removed since the scan."""
        try:
            if self.path.stat().st_mtime_ns != self.used_ns:
                return False
            self.path.unlink()
        except FileNotFoundError:
            return False
        return True


def _scan(cache_dir: Path) -> Iterator[_Found]:
    """Every entry. What a killed writer left behind is removed on the way."""
    for folder, _, names in os.walk(cache_dir):
        if folder == str(cache_dir):
            continue
        kind = os.path.relpath(folder, cache_dir).split(os.sep, 1)[0]
        for name in names:
            path = Path(folder, name)
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            if kind != _LOCKS and not name.startswith("."):
                used = _blocks(status.st_size) * _BLOCK_BYTES
                yield _Found(path, kind, used, status.st_mtime_ns)
            elif name.endswith((".tmp", ".lock")) and time.time() - status.st_mtime > _ABANDONED_AFTER_S:
                path.unlink(missing_ok=True)


def _head(body: bytes) -> bytes:
    return b"%s%d %s\n" % (_MAGIC, len(body), hashlib.sha256(body).hexdigest().encode())


def _blocks(size_bytes: int) -> int:
    return max(1, -(-size_bytes // _BLOCK_BYTES))


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Whether nobody else holds the lock, which is ours for the block then."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        yield _is_locked(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.close(handle)


@contextmanager
def _made_by_one(cache_dir: Path, entry: Path) -> Iterator[None]:
    """Hold the lock of an entry's key. Its file goes with its owner; the system frees the lock of a dead one."""
    path = cache_dir / _LOCKS / f"{entry.stem}.lock"
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _unwritable(cache_dir, error) from error
        try:
            # The owner before may have removed the file that was waited for; then another one counts.
            if _is_locked(handle, fcntl.LOCK_EX) and not _is_same(handle, path):
                continue
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
            return
        finally:
            os.close(handle)


def _is_locked(handle: int, mode: int) -> bool:
    """False where another one holds it. A file system without locks gives all to everybody: work is done twice, the
    result is the same."""
    try:
        fcntl.flock(handle, mode)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP}:
            raise
    return True


def _is_same(handle: int, path: Path) -> bool:
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    here = os.fstat(handle)
    return (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)


def _unwritable(folder: Path, error: OSError) -> OnlookerError:
    return OnlookerError(
        f"the cache cannot be written ({error.strerror or error})",
        where=str(folder),
        remedy=f"make room (onlooker cache --limit 1G), lower {LIMIT_VARIABLE}, or move it by ONLOOKER_CACHE",
    )
