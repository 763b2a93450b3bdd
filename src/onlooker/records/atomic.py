"""Replacing a file in one step, so that readers and kills never meet half of it."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from onlooker.errors import InputError


class Replacement:
    """A temporary file in the folder of ``path`` that takes its place if the block ends well."""

    def __init__(self, path: Path) -> None:
        # A link stays a link: what it leads to is replaced.
        self.path = Path(os.path.realpath(path))
        self.temporary = self.path.with_name(f".{self.path.name}.{secrets.token_hex(6)}.tmp")

    def __enter__(self) -> IO[bytes]:
        if self.path.is_dir():
            raise InputError("is a folder", where=str(self.path), remedy="name a file")
        try:
            self.file = self.temporary.open("xb")
        except OSError as error:
            raise unwritable(self.path, error) from error
        return self.file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with self.file:
                if error is None:
                    self.file.flush()
                    os.fsync(self.file.fileno())
            if error is None:
                self.temporary.replace(self.path)
                sync_folder(self.path.parent)
        finally:
            self.temporary.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    # Some systems cannot open a folder; there the rename is as durable as the system makes it.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def unwritable(path: Path, error: OSError) -> InputError:
    """What to tell the user when the system does not let ``path`` be opened for writing."""
    return InputError(
        f"cannot be written: {error.strerror}",
        where=str(path),
        remedy="create the folder, or name another one",
    )
