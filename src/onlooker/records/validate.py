"""``onlooker validate``: every problem of a bundle, not only the first. Streams; memory grows with
the ids only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter
from pydantic_core import from_json

from onlooker.records.bias import AnswerBias
from onlooker.records.bundle import (
    CARD_FILE,
    EPISODES_FILE,
    ITEMS_FILE,
    media_path_fault,
    read_card,
)
from onlooker.records.fields import StrayFields
from onlooker.records.jsonl import Row, scan_rows
from onlooker.records.labels import LabelRules
from onlooker.records.private import RATINGS_FILE, REFERENCES_FILE, Rating, Reference
from onlooker.records.problem import ABSENT, Problem
from onlooker.records.public import ITEM, MEDIA_KEYS, BundleCard, Episode
from onlooker.records.rules import (
    SCORED_BY_REFERENCE,
    EpisodeFacts,
    ItemFacts,
    Place,
    episode_problems,
    facts_of,
    item_problems,
    rating_problems,
    reference_problems,
)

T = TypeVar("T")
F = TypeVar("F")

_NO_RULES: Final = LabelRules()


def validate_bundle(path: Path, families: Mapping[str, LabelRules] | None = None) -> list[Problem]:
    """Every problem of the bundle in the folder ``path``, errors and warnings, in the order of
    files and lines.

    ``families``: {family name: what it asks of labels}. Records know no benchmark, so the caller
    says which families there are; without it any family name passes and labels are free. The bundle
    is valid if no problem is an error.
    """
    try:
        # Not the folder's own state: that can be read without the right to enter it.
        (path / CARD_FILE).lstat()
    except PermissionError as error:
        remedy = "let this user read and enter the folder"
        return [Problem(str(path), None, None, f"cannot be read: {error.strerror}", remedy=remedy)]
    except OSError:
        pass  # what is missing is said below
    card, problems = read_card(path)
    if not path.is_dir():
        return problems
    return problems + list(_Validation(path, card, families).run())


def has_errors(problems: list[Problem]) -> bool:
    """Whether any of the problems makes the bundle invalid."""
    return any(problem.severity == "error" for problem in problems)


class _Validation:
    """One pass over the files of a bundle. What earlier files say is kept as facts by id."""

    def __init__(self, path: Path, card: BundleCard | None, families: Mapping[str, LabelRules] | None) -> None:
        self.path = path
        self.card = card
        self.families = families
        self.labels = _NO_RULES
        if card is not None and families is not None:
            self.labels = families.get(card.family, _NO_RULES)
        self.episodes: dict[str, EpisodeFacts] = {}
        self.items: dict[str, ItemFacts] = {}
        self.references: dict[str, int] = {}
        self.bias = AnswerBias()
        # Intensity items whose consensus has to come from ratings.
        self.without_consensus: dict[str, int] = {}

    def run(self) -> Iterator[Problem]:
        yield from self._check_card()
        yield from self._check_episodes()
        yield from self._check_items()
        yield from self._check_references()
        yield from self._check_ratings()

    def _scan(
        self, file: str, kind: type[T] | TypeAdapter[T], rejected: Callable[[bytes], None] | None
    ) -> Iterator[Row[T] | Problem]:
        return scan_rows(self.path / file, kind, name=file, repeated_keys=True, rejected=rejected)

    def _check_card(self) -> Iterator[Problem]:
        card = self.card
        if card is None:
            return
        strays = StrayFields(CARD_FILE)
        strays.add(card, None)
        yield from strays.problems()
        if self.families is not None and card.family not in self.families:
            remedy = f"use one of {', '.join(sorted(self.families))}"
            yield Problem(CARD_FILE, None, "family", "unknown family", card.family, remedy)
        if not card.license:
            remedy = "say under which licence others may use the bundle"
            message = "no licence is stated"
            yield Problem(CARD_FILE, None, "license", message, ABSENT, remedy, "warning")

    def _check_episodes(self) -> Iterator[Problem]:
        bare: list[tuple[int, str]] = []
        missing: list[tuple[int, str]] = []
        folders: list[tuple[int, str]] = []
        strays = StrayFields(EPISODES_FILE)
        rejected = _remember(self.episodes, EpisodeFacts(0, None))
        for row in self._scan(EPISODES_FILE, Episode, rejected):
            if isinstance(row, Problem):
                yield row
                continue
            episode, place = row.record, Place(EPISODES_FILE, row.line)
            facts = EpisodeFacts(row.line, episode.duration_s)
            yield from _add(self.episodes, episode.id, facts, place, lambda known: known.line)
            yield from episode_problems(episode, place, self.labels)
            strays.add(episode, row.line)
            declared = [name for key in MEDIA_KEYS if (name := getattr(episode.media, key)) is not None]
            if not declared:
                bare.append((row.line, episode.id))
            for name in declared:
                if media_path_fault(name) is None:
                    if not _is_there(self.path / name):
                        missing.append((row.line, name))
                    elif (self.path / name).is_dir():
                        folders.append((row.line, name))
        yield from strays.problems()
        remedy = "name the files under media; without them only conditions of text can be run"
        yield from _media_warning(bare, "episode has no media", "episodes have no media", remedy)
        remedy = "name the file inside it"
        yield from _media_warning(folders, "declared medium is a folder", "declared media are folders", remedy)
        one, many = "declared media file is not in the bundle", "declared media files are not in the bundle"
        remedy = "fetch the media before a run; scoring does not need them"
        yield from _media_warning(missing, one, many, remedy)

    def _check_items(self) -> Iterator[Problem]:
        intensity: dict[str, int] = {}
        strays = StrayFields(ITEMS_FILE)
        rejected = _remember(self.items, ItemFacts(0, None))
        for row in self._scan(ITEMS_FILE, ITEM, rejected):
            if isinstance(row, Problem):
                yield row
                continue
            item, place = row.record, Place(ITEMS_FILE, row.line)
            facts = facts_of(item, row.line)
            yield from _add(self.items, item.id, facts, place, lambda known: known.line)
            yield from item_problems(item, place, self.episodes, self.labels)
            strays.add(item, row.line)
            if item.task != "intensity":
                continue
            self.without_consensus.setdefault(item.id, row.line)
            if item.episode in intensity:
                before = intensity[item.episode]
                message = f"a second intensity item of this episode, after line {before}"
                remedy = "put all moments of a video into one item"
                yield place.problem("episode", message, item.episode, remedy)
            intensity.setdefault(item.episode, row.line)
        yield from strays.problems()
        if not self.items and _is_there(self.path / ITEMS_FILE):
            yield Problem(ITEMS_FILE, None, None, "the bundle has no items", severity="warning")

    def _check_references(self) -> Iterator[Problem]:
        strays = StrayFields(REFERENCES_FILE)
        rejected = _remember(self.references, 0, "item")
        for row in self._scan(REFERENCES_FILE, Reference, rejected):
            if isinstance(row, Problem):
                yield row
                continue
            reference, place = row.record, Place(REFERENCES_FILE, row.line)
            yield from _add(self.references, reference.item, row.line, place, lambda line: line, field="item")
            strays.add(reference, row.line)
            item = self.items.get(reference.item)
            if item is None:
                yield _dangling(place, reference.item)
                continue
            if reference.consensus is not None:
                self.without_consensus.pop(reference.item, None)
            yield from reference_problems(reference, item, place)
            self._count_answer(reference, item)
        yield from strays.problems()
        if not _is_there(self.path / REFERENCES_FILE):
            return
        yield from self._items_without_reference()
        for message in self.bias.warnings():
            yield Problem(REFERENCES_FILE, None, "answer", message, severity="warning")

    def _count_answer(self, reference: Reference, item: ItemFacts) -> None:
        answer = reference.answer
        if item.task not in {"choice", "matching"} or not item.one or not isinstance(answer, tuple):
            return
        if len(answer) == 1 and answer[0] in item.ids:
            self.bias.add(item.ids.index(answer[0]), len(item.ids), item.lengths)

    def _items_without_reference(self) -> Iterator[Problem]:
        if not self.references and self.items:
            message = "no item has a reference: the bundle can be run, not scored"
            yield Problem(REFERENCES_FILE, None, None, message, severity="warning")
            return
        for name, item in self.items.items():
            if item.task in SCORED_BY_REFERENCE and name not in self.references:
                yield Problem(
                    ITEMS_FILE,
                    item.line,
                    "id",
                    "the item has no row in references.jsonl",
                    name,
                    "add its answer, or leave the item out",
                )

    def _check_ratings(self) -> Iterator[Problem]:
        if os.path.lexists(self.path / RATINGS_FILE):
            yield from self._check_rating_rows()
        if self.without_consensus and self.references:
            names = iter(self.without_consensus.items())
            name, line = next(names)
            count = len(self.without_consensus)
            yield Problem(
                ITEMS_FILE,
                None,
                None,
                f"{'1 intensity item has' if count == 1 else f'{count} intensity items have'} "
                f"neither a consensus nor ratings, the first on line {line}",
                name,
                "they cannot be scored: rate them, or leave them out",
                "warning",
            )

    def _check_rating_rows(self) -> Iterator[Problem]:
        strays = StrayFields(RATINGS_FILE)
        seen: dict[tuple[str, str, str, str], int] = {}
        for row in self._scan(RATINGS_FILE, Rating, None):
            if isinstance(row, Problem):
                yield row
                continue
            rating, place = row.record, Place(RATINGS_FILE, row.line)
            strays.add(rating, row.line)
            key = (rating.item, rating.unit, rating.rater, rating.rubric)
            if key in seen:
                message = f"the same rater on the same unit and rubric as on line {seen[key]}"
                yield place.problem("rater", message, rating.rater, "keep one of the two ratings")
            seen.setdefault(key, row.line)
            item = self.items.get(rating.item)
            if item is None:
                yield _dangling(place, rating.item)
                continue
            if rating.rubric == "intensity" and _counts(rating, item):
                self.without_consensus.pop(rating.item, None)
            yield from rating_problems(rating, item, place)
        yield from strays.problems()


def _media_warning(found: list[tuple[int, str]], one: str, many: str, remedy: str) -> Iterator[Problem]:
    """One warning for all the (line, name) of one fault."""
    if found:
        line, name = found[0]
        message = f"{len(found)} {one if len(found) == 1 else many}, the first on line {line}"
        yield Problem(EPISODES_FILE, None, "media", message, name, remedy, "warning")


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # such as a name that is too long for the system
        return False


def _counts(rating: Rating, item: ItemFacts) -> bool:
    """Whether the rating enters a raw mean: a number for a moment (FORMATS, section 4)."""
    return isinstance(rating.value, int | float) and rating.unit in item.ids


def _dangling(place: Place, item: str) -> Problem:
    return place.problem("item", "no item has this id", item, "add the item to items.jsonl, or correct the id")


def _add(
    known: MutableMapping[str, F],
    key: str,
    value: F,
    place: Place,
    line_of: Callable[[F], int],
    *,
    field: str = "id",
) -> Iterator[Problem]:
    """Note ``key``, or say that an earlier line has it."""
    if key not in known:
        known[key] = value
        return
    line = line_of(known[key])
    where = f"line {line}" if line else "an earlier line"
    yield place.problem(field, f"{where} has the same {field}", key, "keep one row for each")


def _remember(known: MutableMapping[str, F], value: F, field: str = "id") -> Callable[[bytes], None]:
    """Note the id of a row that is refused, so that rows which name it are not called dangling."""

    def note(source: bytes) -> None:
        try:
            row = from_json(source)
        except ValueError:
            return
        key = row.get(field) if isinstance(row, dict) else None
        if isinstance(key, str):
            known.setdefault(key, value)

    return note
