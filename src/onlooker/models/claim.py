"""One process at a time asks one call: a claim is a lock on a small file, which the system frees when its owner dies.

No clock, no heartbeat and no process number is trusted: a killed owner frees its claims at once, a jump of the clock
frees none, and a number that another process has got since means nothing.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from onlooker.errors import OnlookerError


class Claim:
    """The right to ask one call, held until ``release`` or the death of the process."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, folder: Path, call: str) -> Claim | None:
        """The claim to ``call`` (its digest); None where another owner, here or in another process, has it.

        Raises ``OnlookerError`` where the folder cannot be written or the system has no file left to open.
        """
        path = folder / call
        while True:
            try:
                descriptor = _open(path)
            except OSError as error:
                raise OnlookerError(
                    f"a call cannot be claimed ({error.strerror}); what is finished is kept",
                    where=str(folder),
                    remedy="make room, mend the permissions or ask fewer calls at a time, then run again",
                ) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            # An owner that released it in the meantime has removed the file: then this one is nobody's any more.
            with suppress(FileNotFoundError):
                if path.stat().st_ino == os.fstat(descriptor).st_ino:
                    return cls(path, descriptor)
            os.close(descriptor)

    def release(self) -> None:
        """Let others ask it, or find its answer."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        os.close(self._descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
