"""SHA-256 of files, remembered in a side table so that a warm run hashes nothing.

The table maps (absolute path, size, mtime in ns, inode) to a digest; a replaced or rewritten file
differs in at least one of them and is hashed anew. One small file an entry, written atomically: any
number of processes may share it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from onlooker.errors import UnreadableMedia

_BLOCK_BYTES = 1 << 20
_HEX_DIGITS = 64


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that a reader sees the old file or the whole new one, also
    after a kill."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # Opened by hand: files of tempfile are readable by their owner alone, whatever the umask says.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with temporary.open("xb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
