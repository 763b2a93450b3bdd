"""A benchmark on disk, as model-facing code opens it: card, episodes, items, media. Never answers
or ratings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import TypeVar

import yaml
from pydantic import ValidationError

from onlooker.errors import InputError
from onlooker.records.jsonl import read_rows
from onlooker.records.problem import Problem, explain
from onlooker.records.public import ITEM, MEDIA_KEYS, BundleCard, Episode, Item, MediaKey

CARD_FILE = "bundle.yaml"
EPISODES_FILE = "episodes.jsonl"
ITEMS_FILE = "items.jsonl"

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The folder ``path`` and what its ``bundle.yaml`` says."""

    path: Path
    card: BundleCard

    def episodes(self) -> Iterator[Episode]:
        """The episodes in their order, streaming. InputError at the first bad row."""
        return (row.record for row in read_rows(self.path / EPISODES_FILE, Episode))

    def items(self) -> Iterator[Item]:
        """The items in their order, streaming. InputError at the first bad row."""
        return (row.record for row in read_rows(self.path / ITEMS_FILE, ITEM))

    def load_episodes(self) -> dict[str, Episode]:
        """{id: episode}. InputError also at an id that is used twice."""
        found: dict[str, Episode] = {}
        for row in read_rows(self.path / EPISODES_FILE, Episode):
            _add(found, row.record.id, row.record, f"{row.file}, line {row.line}, id")
        return found

    def load_items(self) -> dict[str, Item]:
        """{id: item}. InputError also at an id that is used twice."""
        found: dict[str, Item] = {}
        for row in read_rows(self.path / ITEMS_FILE, ITEM):
            _add(found, row.record.id, row.record, f"{row.file}, line {row.line}, id")
        return found

    def media_path(self, episode: Episode, key: MediaKey) -> Path | None:
        """Where the medium ``key`` of ``episode`` lies or would lie; None if the episode declares
        none.

        The file need not exist: media may be fetched by the user. InputError for a path that is not
        relative to the bundle or climbs out of it. A symbolic link inside the bundle may lead
        anywhere: its maker put it there.
        """
        if key not in MEDIA_KEYS:
            raise InputError("no such medium", value=key, remedy=f"use one of {', '.join(MEDIA_KEYS)}")
        declared: str | None = getattr(episode.media, key)
        if declared is None:
            return None
        wrong = media_path_fault(declared)
        if wrong is not None:
            raise InputError(
                wrong,
                where=f"{self.path / EPISODES_FILE}, episode {episode.id!r}, media.{key}",
                value=declared,
                remedy="put the file or a link to it inside the bundle and name it from there",
            )
        return self.path / declared


def _add(found: dict[str, _T], key: str, value: _T, where: str) -> None:
    if key in found:
        raise InputError("id is used twice", where=where, value=key, remedy="give every row its own id")
    found[key] = value


def media_path_fault(declared: str) -> str | None:
    """What is wrong with a declared media path as text, None if it is sound: relative, and never
    upward.
    """
    if not declared.strip() or "\0" in declared:
        return "expected a path relative to the bundle"
    windows = PureWindowsPath(declared)
    if declared.startswith("/") or windows.drive or windows.root:
        return "expected a path relative to the bundle, not an absolute one"
    if ".." in windows.parts:
        return "expected a path inside the bundle, not one that climbs out with '..'"
    return None


def open_bundle(path: Path) -> Bundle:
    """The bundle in the folder ``path``. InputError if the folder or ``bundle.yaml`` is missing or
    wrong.
    """
    card, problems = read_card(path, str(path / CARD_FILE))
    if card is None:
        raise problems[0].error()
    return Bundle(path, card)


def read_card(path: Path, name: str = CARD_FILE) -> tuple[BundleCard | None, list[Problem]]:
    """The card of the bundle in the folder ``path``, or None and every problem of the file.

    The problems call the file ``name``.
    """
    try:
        found = _read_yaml(path)
        return BundleCard.model_validate(found), []
    except ValidationError as error:
        return None, explain(error, found, name, None)
    except FileNotFoundError:
        if path.is_dir():
            remedy = "a bundle has a bundle.yaml with name, family, version, license, description"
            return None, [Problem(name, None, None, "no such file", remedy=remedy)]
        remedy = "name the folder of a bundle"
        return None, [Problem(str(path), None, None, "no such folder", remedy=remedy)]
    except OSError as error:
        return None, [Problem(name, None, None, f"cannot be read: {error.strerror}")]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        cause = getattr(error, "problem", None) or getattr(error, "reason", "cannot be understood")
        remedy = "write plain YAML, saved as UTF-8"
        return None, [Problem(name, line, None, f"not valid YAML: {cause}", remedy=remedy)]


def _read_yaml(path: Path) -> object:
    return yaml.safe_load((path / CARD_FILE).read_text(encoding="utf-8-sig"))
