"""SHA-256 of files, remembered in a side table so that a warm run hashes nothing.

The table maps (absolute path, size, mtime, ctime, inode), times in ns, to a digest. A replaced, rewritten or moved file
differs in at least one of them and is hashed anew, also where size and mtime were put back afterwards: no program sets
a ctime. What it cannot notice: a change while the clock is set back to the very tick of the last one, writes below the
file system (to the device, or on a network server whose attributes this machine still keeps), and bits that rot on the
disk. One small file an entry, written atomically: any number of processes may share it.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from onlooker.errors import UnreadableMedia
from onlooker.media.store import put
from onlooker.records.atomic import Replacement

_HEX = re.compile(rb"[0-9a-f]{64}")
# File systems stamp changes by the kernel's tick, up to 10 ms: a second change within it has the stamp of the first.
_TICK_NS = 20_000_000


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``, making its folder, so that a reader sees the old file or the whole new one, also
    after a kill."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with Replacement(path) as file:
        file.write(data)


def file_sha256(path: Path, cache_dir: Path | None = None) -> str:
    """Digest of the file's bytes, 64 hex digits.

    With ``cache_dir`` the digest is looked up there first and stored there afterwards. Raises
    ``UnreadableMedia`` naming the file where it cannot be read.
    """
    try:
        if cache_dir is None:
            return _hash(path)
        entry = _entry(path, cache_dir)
        known = _known(entry)
        if known is not None:
            return known
        _outlast_tick(path)
        entry = _entry(path, cache_dir)
        digest = _hash(path)
        changed = _entry(path, cache_dir) != entry
    except OSError as error:
        raise UnreadableMedia(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    if not changed:
        put(cache_dir, entry, digest.encode("ascii"))
    return digest


@contextmanager
def unchanged(path: Path, sha256: str, cache_dir: Path) -> Iterator[None]:
    """Around reading what is kept under the file's digest.

    Raises ``UnreadableMedia`` where the file has another one at the end of the block: it was replaced or written to
    meanwhile, and what was read may be of either.
    """
    yield
    if file_sha256(path, cache_dir) != sha256:
        raise UnreadableMedia(
            "was changed while it was read", where=str(path), remedy="wait until it is written, and try again"
        )


def _entry(path: Path, cache_dir: Path) -> Path:
    status = path.stat()
    identity = (
        f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0{status.st_dev}\0"
        f"{status.st_ino}"
    )
    name = hashlib.sha256(os.fsencode(identity)).hexdigest()
    return cache_dir / "digests" / name[:2] / name


def _known(entry: Path) -> str | None:
    try:
        found = entry.read_bytes()
    except OSError:
        return None
    with suppress(OSError):  # a folder that may only be read serves all the same
        # The digest is used as long as its file's entries are, and must not be the first to go.
        os.utime(entry)
    return found.decode("ascii") if _HEX.fullmatch(found) else None


def _outlast_tick(path: Path) -> None:
    """Wait until a further change would carry another stamp than the last one."""
    status = path.stat()
    age_ns = time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns)
    if 0 <= age_ns < _TICK_NS:
        time.sleep((_TICK_NS - age_ns) / 1e9)


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
