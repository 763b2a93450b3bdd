"""The digest that says which bundle a result came from."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from onlooker.errors import InputError

BUNDLE_FILES: Final = (
    "bundle.yaml",
    "episodes.jsonl",
    "items.jsonl",
    "ratings.jsonl",
    "references.jsonl",
)
"""In the order of the alphabet; media are not part of the digest."""


def bundle_sha256(path: Path) -> str:
    """SHA-256, 64 hexadecimal digits, over the bytes of the bundle's five files; a file that is
    absent is left out.

    It is what the shell says inside the folder:
    ``sha256sum bundle.yaml episodes.jsonl items.jsonl ratings.jsonl references.jsonl | sha256sum``,
    so that a line "digest, two spaces, name" stands for each file. InputError if there is no
    ``bundle.yaml``.
    """
    if not (path / BUNDLE_FILES[0]).is_file():
        raise InputError("no such file", where=str(path / BUNDLE_FILES[0]), remedy="name a bundle")
    listing = hashlib.sha256()
    for name in BUNDLE_FILES:
        if (path / name).is_file():
            with (path / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            listing.update(f"{digest}  {name}\n".encode())
    return listing.hexdigest()
