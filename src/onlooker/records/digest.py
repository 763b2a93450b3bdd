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

ASKED_FILES: Final = ("episodes.jsonl", "items.jsonl")


def bundle_sha256(path: Path) -> str:
    """SHA-256, 64 hexadecimal digits, over the bytes of the bundle's five files; a file that is
    absent is left out.

    It is what the shell says inside the folder:
    ``sha256sum bundle.yaml episodes.jsonl items.jsonl ratings.jsonl references.jsonl | sha256sum``,
    so that a line "digest, two spaces, name" stands for each file. InputError if there is no
    ``bundle.yaml``.
    """
    return _digest(path, BUNDLE_FILES)


def asked_sha256(path: Path) -> str:
    """The same over ``episodes.jsonl`` and ``items.jsonl`` alone: what a model was asked about.

    A corrected reference changes the bundle, but not what was asked: old answers can be scored anew.
    """
    return _digest(path, ASKED_FILES)


def _digest(path: Path, names: tuple[str, ...]) -> str:
    if not (path / BUNDLE_FILES[0]).is_file():
        raise InputError("no such file", where=str(path / BUNDLE_FILES[0]), remedy="name a bundle")
    listing = hashlib.sha256()
    for name in names:
        if (path / name).is_file():
            with (path / name).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            listing.update(f"{digest}  {name}\n".encode())
    return listing.hexdigest()
