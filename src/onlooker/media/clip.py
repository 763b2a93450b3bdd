"""A stretch of video as a file of its own, and what was done to get it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from onlooker.errors import InputError, OnlookerError
from onlooker.media.digest import file_sha256, unchanged
from onlooker.media.store import entry_path, grew, kept
from onlooker.records.atomic import Replacement


@dataclass(frozen=True, slots=True)
class Clip:
    """A video file made from ``start_s`` to ``end_s`` of its source, both in seconds from the source's first frame.

    ``sha256`` and ``size_bytes`` are those of the file ``path``, ``sources_sha256`` those of the media it was made
    from, ``source_sha256`` of the first of them, whose clock counts. ``frames``: pictures in it; ``first_pts_s`` (0)
    and ``last_pts_s``: their times on its own clock, ``duration_s`` its length. ``bit_rate``: bits a second of the
    whole file. ``picture`` and ``sound`` say what was done to either, ``why``: why the picture was not copied.
    ``fps``: frames a second, on the average.

    Damage is stated, never painted over: ``missing``: frames of the source that could not be decoded, the one before
    stays on screen; ``corrupt``: frames in the file that may show damage (None: a copy, which is not
    decoded); ``lost_s``: seconds of the window asked for
    in which no frame is known.
    """

    path: Path
    sha256: str
    size_bytes: int
    start_s: float
    end_s: float
    sources_sha256: tuple[str, ...]
    has_sound: bool
    width_px: int
    height_px: int
    fps: float
    frames: int
    last_pts_s: float
    duration_s: float
    bit_rate: int
    picture: Literal["copied", "re-encoded"]
    sound: Literal["none", "copied", "re-encoded"]
    why: str | None = None
    missing: int = 0
    corrupt: int | None = 0
    first_pts_s: float = 0.0
    lost_s: float = 0.0
    mime: str = "video/mp4"

    @property
    def source_sha256(self) -> str:
        return self.sources_sha256[0]

    @property
    def method(self) -> Literal["copied", "re-encoded"]:
        """``copied`` where neither picture nor sound was encoded anew."""
        return "re-encoded" if "re-encoded" in {self.picture, self.sound} else "copied"

    def placed(self, path: Path) -> Clip:
        """The same clip under another name."""
        return replace(self, path=path)


@contextmanager
def replacing(out: Path, sources: Sequence[Path]) -> Iterator[Path]:
    """A temporary file that takes the place of ``out`` if the block ends well; the folder of ``out`` is made.

    Raises ``InputError`` where ``out`` is a folder or one of the ``sources``, and ``OnlookerError`` where the system
    does not let it be written (a full disk, a missing permission).
    """
    if out.exists() and out.resolve() in {path.resolve() for path in sources}:
        raise InputError("would replace its own source", where=str(out), remedy="name another file")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        replacement = Replacement(out)
        with replacement:
            yield replacement.temporary
    except OSError as error:
        raise OnlookerError(
            f"cannot be written ({error.strerror or error})",
            where=str(out),
            remedy="make room, or name a place that can be written",
        ) from error


def kept_clip(
    cache_dir: Path, request: Sequence[object], sources: Mapping[Path, str], make: Callable[[Path], Clip]
) -> Clip:
    """The clip for ``request`` (JSON values that say all that decides it) from the cache, or by ``make``, which writes
    it to the path that it is given. A clip that was removed or damaged is made anew. ``sources``: the files it is made
    from, and their digests; raises ``UnreadableMedia`` where one changes meanwhile."""
    entry = entry_path(cache_dir, "clips", request, "mp4")

    def made() -> bytes:
        with ExitStack() as steady:
            for path, sha256 in sources.items():
                steady.enter_context(unchanged(path, sha256, cache_dir))
            clip = make(entry)
        grew(cache_dir, clip.size_bytes)
        facts = {**asdict(clip), "path": entry.name}
        return json.dumps(facts).encode()

    facts = json.loads(kept(cache_dir, "clips", request, made))
    if not entry.is_file() or file_sha256(entry) != facts["sha256"]:
        facts = json.loads(made())
    with suppress(OSError):  # a folder that may only be read serves all the same
        os.utime(entry)
    return Clip(**{**facts, "path": entry, "sources_sha256": tuple(facts["sources_sha256"])})


def measured(path: Path, duration_s: float) -> tuple[str, int, int]:
    """SHA-256, size in bytes and bit rate of a file that was just written."""
    size = path.stat().st_size
    return file_sha256(path), size, round(size * 8 / duration_s) if duration_s > 0 else size * 8
