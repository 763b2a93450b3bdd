"""One live process a run folder. The system frees the lock of a dead owner, so a killed run never blocks the next."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from onlooker.errors import RunLocked


@contextmanager
def locked(run_dir: Path) -> Iterator[None]:
    """Hold the folder. Raises ``RunLocked`` where another live process holds it."""
    path = run_dir / ".lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip()
            raise RunLocked(
                f"another process ({owner or 'unknown'}) works in this run folder",
                where=str(run_dir),
                remedy="wait for it, stop it, or choose another --out",
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode("ascii"))
        yield
    finally:
        os.close(descriptor)
