"""Sampled frames as files: one JPEG a frame and ``frames.json``."""

from __future__ import annotations

import json
import re
from pathlib import Path

from onlooker.errors import InputError
from onlooker.media.digest import write_atomically
from onlooker.media.frames import Sampled

_FRAME_FILE = re.compile(r"\d{5,}\.jpg")


def write_frames(sampled: Sampled, out_dir: Path) -> Path:
    """Write one JPEG a frame and ``frames.json``, which lists ``file``, ``index``, ``time_s``,
    ``pts_s`` (and ``status`` of damaged ones); return its path.

    The list is written after the pictures and atomically, so it never names a file that is not there. Pictures that
    the ``frames.json`` of an earlier call lists are removed; nothing else in the folder is touched. Raises
    ``InputError`` where ``out_dir`` cannot be written or holds a ``frames.json`` of somebody else.
    """
    target = out_dir / "frames.json"
    rows: list[dict[str, object]] = []
    try:
        if out_dir.exists() and not out_dir.is_dir():
            raise InputError("is a file, not a folder", where=str(out_dir), remedy="name a folder for the frames")
        former = _listed_files(target)
        for frame in sampled.frames:
            name = f"{frame.index:05d}.jpg"
            write_atomically(out_dir / name, frame.jpeg)
            row = {"file": name, "index": frame.index, "time_s": frame.time_s, "pts_s": frame.pts_s}
            rows.append(row if frame.status == "ok" else {**row, "status": frame.status})
        write_atomically(target, (json.dumps(rows, indent=1) + "\n").encode())
        for name in former - {str(row["file"]) for row in rows}:
            (out_dir / name).unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"frames cannot be written here ({error.strerror or error})",
            where=str(out_dir),
            remedy="name a folder that can be written",
        ) from error
    return target


def _listed_files(listing: Path) -> set[str]:
    """Names of the pictures that the listing of an earlier call holds; empty without one."""
    if not listing.exists():
        return set()
    try:
        names = [row["file"] for row in json.loads(listing.read_bytes())]
        is_ours = all(_FRAME_FILE.fullmatch(name) for name in names)
    except (ValueError, TypeError, KeyError, RecursionError):
        names, is_ours = [], False
    if not is_ours:
        raise InputError(
            "is not a list of frames that this command wrote, and is not overwritten",
            where=str(listing),
            remedy="name another folder",
        )
    return set(names)
