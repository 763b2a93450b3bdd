"""Where the command line keeps what can be made again."""

from __future__ import annotations

from pathlib import Path

from onlooker.assets import cache_folder


def cache_dir() -> Path:
    """Media read once, kept by content: a folder in the cache that holds the assets too (see ``onlooker.assets``)."""
    folder = cache_folder() / "media"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
