"""Transcripts for the episodes of a bundle that have none: one bad file never stops it, and it goes on where it was
stopped."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from onlooker.errors import InputError, MediaError, ModelError, QuotaExhausted
from onlooker.media.transcript import Transcript, read_transcript, write_transcript
from onlooker.records.bundle import EPISODES_FILE, Bundle
from onlooker.records.jsonl import Row, read_rows, write_rows
from onlooker.records.public import Episode, MediaKey

FOLDER = "media/transcripts"
# What is listened to, in this order.
_HEARD: tuple[MediaKey, ...] = ("audio", "video", "reaction")
# Names of files have at most 255 bytes nearly everywhere; a temporary one is 24 longer.
_LONGEST_NAME_BYTES = 200
_CUT_NAME_BYTES = 100
_PLAIN_NAME = re.compile(r"[\w][\w .-]*")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one episode: the ``path`` of its transcript relative to the bundle and the ``transcript``, or why
    there is none (``failure``). ``is_new``: it was made now and not found from an earlier call."""

    episode: str
    path: str | None
    transcript: Transcript | None
    is_new: bool
    failure: str | None


def transcribe_bundle(
    bundle: Bundle, recognise: Callable[[Path], Transcript], *, folder: str = FOLDER
) -> Iterator[Outcome]:
    """One outcome for every episode that names no transcript and has something to hear, as soon as it is there.

    Transcripts are written to ``folder`` (relative to the bundle) as JSON, named after the episode; one that is there
    and can be read is kept, whoever made it. ``recognise``: ``transcribe`` with its settings. What is wrong with a
    file, or a refusal of the model, is that episode's failure; ``QuotaExhausted`` and missing parts stop it all.
    """
    for episode in bundle.episodes():
        if episode.media.transcript is not None:
            continue
        heard = next((path for key in _HEARD if (path := bundle.media_path(episode, key)) is not None), None)
        if heard is not None:
            yield _outcome(bundle, episode, heard, recognise, folder)


def write_episodes(bundle: Bundle, outcomes: Iterable[Outcome], out: Path) -> int:
    """Write ``episodes.jsonl`` with the transcripts named in it to ``out``; other rows stay as they are, byte for byte.
    Returns how many rows name a new one."""
    paths = {o.episode: o.path for o in outcomes if o.path is not None}
    rows: list[Row[Episode] | dict[str, Any]] = []
    for row in read_rows(bundle.path / EPISODES_FILE, Episode):
        if row.record.id in paths:
            document = json.loads(row.source)
            document["media"] = {**document.get("media", {}), "transcript": paths[row.record.id]}
            rows.append(document)
        else:
            rows.append(row)
    write_rows(out, rows)
    return sum(isinstance(row, dict) for row in rows)


def _outcome(
    bundle: Bundle, episode: Episode, heard: Path, recognise: Callable[[Path], Transcript], folder: str
) -> Outcome:
    path = f"{folder}/{_file_name(episode.id)}.json"
    target = bundle.path / path
    try:
        if target.is_file():
            return Outcome(episode.id, path, read_transcript(target), is_new=False, failure=None)
        transcript = recognise(_present(heard))
        write_transcript(transcript, target)
    except QuotaExhausted:
        raise
    except (MediaError, ModelError, InputError) as error:
        return Outcome(episode.id, None, None, is_new=False, failure=str(error))
    return Outcome(episode.id, path, transcript, is_new=True, failure=None)


def _file_name(episode: str) -> str:
    """The id where it is a plain name, else quoted; what no file system takes is cut and told apart by its digest."""
    name = episode if _PLAIN_NAME.fullmatch(episode) else quote(episode, safe="")
    if len(name.encode()) <= _LONGEST_NAME_BYTES:
        return name
    digest = hashlib.sha256(episode.encode()).hexdigest()
    return f"{name.encode()[:_CUT_NAME_BYTES].decode(errors='ignore')}-{digest}"


def _present(path: Path) -> Path:
    if not path.is_file():
        raise MediaError("no such file", where=str(path), remedy="fetch it, or correct episodes.jsonl")
    return path
