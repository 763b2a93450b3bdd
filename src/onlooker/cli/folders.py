"""Where the command line keeps what can be made again, and what it never writes over."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from onlooker.assets import cache_folder
from onlooker.errors import InputError


def cache_dir() -> Path:
    """Media read once, kept by content: a folder in the cache that holds the assets too (see ``onlooker.assets``)."""
    folder = cache_folder() / "media"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the cache folder cannot be made ({error.strerror})",
            where=str(folder),
            remedy="let the environment variable ONLOOKER_CACHE name a folder that you may write to",
        ) from error
    return folder


def keep_apart(outputs: Iterable[Path | None], inputs: Iterable[Path], option: str) -> None:
    """Raise ``InputError`` where an output is an input or is named twice: nothing is lost by a slip."""
    kept = {path.resolve() for path in inputs}
    seen: set[Path] = set()
    for output in outputs:
        if output is None:
            continue
        place = output.resolve()
        if place in kept:
            raise InputError(
                "this would be written over what is read", where=option, value=str(output), remedy="name another place"
            )
        if place in seen:
            raise InputError("two outputs have one name", where=option, value=str(output), remedy="name another place")
        seen.add(place)


def keep_files_apart(outputs: Iterable[Path | None], inputs: Iterable[Path], option: str) -> None:
    """As ``keep_apart`` for outputs that are files: neither a folder nor one of the files inside an input folder."""
    outputs, inputs = list(outputs), list(inputs)
    for output in outputs:
        if output is not None and output.is_dir():
            raise InputError("this is a folder; name a file", where=option, value=str(output))
    inside = [file for path in inputs if path.is_dir() for file in path.iterdir() if file.name in _READ_FILES]
    keep_apart(outputs, [*inputs, *inside], option)


_READ_FILES = frozenset(
    (
        *("bundle.yaml", "episodes.jsonl", "items.jsonl", "references.jsonl", "ratings.jsonl"),
        *("plan.json", "ledger.sqlite", "predictions.jsonl", "requests.jsonl", "failures.jsonl", "run.json"),
    )
)
