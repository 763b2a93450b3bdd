"""From a folder of media files to a new bundle: each file probed once, transcripts found, nothing dropped silently."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from onlooker.errors import InputError, MediaError
from onlooker.media.card import MediaCard, probe
from onlooker.media.transcript import find_transcript, read_transcript
from onlooker.records.jsonl import write_text
from onlooker.records.public import Episode

MEDIA_SUFFIXES = frozenset(
    (  # noqa: SIM905 - a list of thirty lines would say no more
        ".mp4 .m4v .mov .mkv .webm .avi .flv .ts .mts .m2ts .mpg .mpeg .ogv .wmv .3gp .gif "
        ".wav .mp3 .m4a .flac .ogg .opus .aac"
    ).split()
)
"""What counts as a medium by its ending. What such a file really is, probing tells."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What became of a folder: the episodes written, and the files that could not be read, each with its reason."""

    episodes: tuple[Episode, ...]
    unreadable: tuple[tuple[Path, str], ...]


def new_bundle(
    bundle: Path,
    family: str,
    videos: Path,
    *,
    name: str | None = None,
    copy: bool = False,
    seen: Callable[[Path], None] = lambda _path: None,
) -> Intake:
    """Make ``bundle`` from the media files in ``videos`` and its subfolders.

    Media are linked into ``media/`` (copied with ``copy``). A file with a picture becomes ``media.video``, one without
    becomes ``media.audio``. What cannot be read makes no episode (or, a transcript, is not declared) and is listed in
    ``unreadable.jsonl`` with the reason. Raises ``InputError`` where ``bundle`` already holds a bundle, or ``videos``
    no medium.
    """
    if not videos.is_dir():
        raise InputError("no such folder", where=str(videos), remedy="give the folder that holds the videos")
    if (bundle / "bundle.yaml").exists():
        raise InputError("there is a bundle here already", where=str(bundle), remedy="choose another folder")
    files = sorted(p for p in videos.rglob("*") if p.suffix.lower() in MEDIA_SUFFIXES and not p.is_dir())
    if not files:
        raise InputError(
            "no media file in this folder", where=str(videos), remedy=f"it looks for {' '.join(sorted(MEDIA_SUFFIXES))}"
        )
    episodes: list[Episode] = []
    unreadable: list[tuple[Path, str]] = []
    ids = _ids(files, videos)
    (bundle / "media").mkdir(parents=True, exist_ok=True)
    for path in files:
        try:
            _check_name(path)
            card = probe(path)
        except MediaError as error:
            unreadable.append((path, error.what))
        else:
            transcript = find_transcript(path)
            if transcript is not None:
                try:
                    read_transcript(transcript)
                except InputError as error:
                    unreadable.append((transcript, error.what))
                    transcript = None
            episodes.append(_episode(ids[path], path, card, transcript, bundle, copy=copy))
        seen(path)
    card_text = yaml.safe_dump(
        {
            "name": name or bundle.resolve().name,
            "family": family,
            "version": "0.1.0",
            "license": "unknown",
            "description": f"made from {len(files)} media files",
        },
        sort_keys=False,
        allow_unicode=True,
    )
    write_text(bundle / "episodes.jsonl", "".join(f"{e.to_json()}\n" for e in episodes))
    for empty in ("items.jsonl", "references.jsonl"):
        write_text(bundle / empty, "")
    if unreadable:
        rows = ({"file": _shown(path.relative_to(videos)), "reason": reason} for path, reason in unreadable)
        write_text(bundle / "unreadable.jsonl", "".join(f"{json.dumps(r, ensure_ascii=False)}\n" for r in rows))
    write_text(bundle / "bundle.yaml", card_text)
    return Intake(tuple(episodes), tuple(unreadable))


def _check_name(path: Path) -> None:
    """Raise ``MediaError`` where the name is no text: it could not stand in a file of records."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError as error:
        raise MediaError("its name is not valid UTF-8", where=repr(path), remedy="rename the file") from error


def _episode(
    identity: str, path: Path, card: MediaCard, transcript: Path | None, bundle: Path, *, copy: bool
) -> Episode:
    media: dict[str, str] = {"video" if card.video else "audio": _place(path, bundle, copy=copy)}
    if transcript is not None:
        media["transcript"] = _place(transcript, bundle, copy=copy)
    row: dict[str, Any] = {
        "id": identity,
        "media": media,
        "duration_s": round(card.duration_s, 3),
        "lineage": {"source": None, "recording": path.name},
        "labels": {},
        "media_sha256": card.sha256,
    }
    return Episode.model_validate(row)


def _shown(path: Path) -> str:
    """The path as text; bytes that are none as escapes."""
    return os.fsencode(path.as_posix()).decode("utf-8", "backslashreplace")


def _place(path: Path, bundle: Path, *, copy: bool) -> str:
    inside = bundle.resolve()
    if inside in path.resolve().parents:
        return path.resolve().relative_to(inside).as_posix()
    target = bundle / "media" / path.name
    number = 1
    while target.exists() or target.is_symlink():
        number += 1
        target = bundle / "media" / f"{path.stem}-{number}{path.suffix}"
    if copy:
        shutil.copy2(path, target)
    else:
        target.symlink_to(os.path.relpath(path.resolve(), target.parent.resolve()))
    return target.relative_to(bundle).as_posix()


def _ids(files: Iterable[Path], root: Path) -> dict[Path, str]:
    """The file's name without its ending, as long as that is unique; else with its folder and ending."""
    files = list(files)
    stems = [p.stem for p in files]
    return {p: p.stem if stems.count(p.stem) == 1 else p.relative_to(root).as_posix() for p in files}
