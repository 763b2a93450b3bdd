"""SHA-256 of files, remembered in a side table so that a warm run hashes nothing.

The table maps (absolute path, size, mtime in ns, inode) to a digest; a replaced or rewritten file
differs in at least one of them and is hashed anew. One small file an entry, written atomically: any
number of processes may share it.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from onlooker.errors import UnreadableMedia
from onlooker.records.atomic import Replacement

_HEX_DIGITS = 64


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
        status = path.stat()
        if cache_dir is None:
            return _hash(path)
        identity = f"{path.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}"
        entry = cache_dir / "digests" / hashlib.sha256(os.fsencode(identity)).hexdigest()
        if entry.is_file():
            known = entry.read_text("ascii", errors="replace").strip()
            if len(known) == _HEX_DIGITS:
                return known
        digest = _hash(path)
        after = path.stat()
        if (after.st_size, after.st_mtime_ns) == (status.st_size, status.st_mtime_ns):
            write_atomically(entry, digest.encode("ascii"))
    except OSError as error:
        raise UnreadableMedia(f"cannot be read ({error.strerror or error})", where=str(path)) from error
    return digest


def _hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
