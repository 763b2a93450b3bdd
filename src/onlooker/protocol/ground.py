"""A bundle as those see it who may see both sides of the wall: items, episodes, references, ratings."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.protocol.scoring import Private, choices_of
from onlooker.records.bundle import Bundle
from onlooker.records.private import REFERENCES_FILE, Rating, Reference, load_references, read_ratings
from onlooker.records.public import Episode, Item
from onlooker.records.rules import SCORED_BY_REFERENCE

_SHOWN_IDS = 10


@dataclass(frozen=True, slots=True)
class Ground:
    """A bundle as a scorer sees it, both sides of the wall."""

    items: Mapping[str, Item]
    episodes: Mapping[str, Episode]
    private: Mapping[str, Private]

    def clusters(self, item_ids: tuple[str, ...]) -> dict[str, int]:
        """{episode id: number} of the episodes that these items belong to, in the order of the
        bundle.
        """
        used = {self.items[item].episode for item in item_ids}
        return {episode: n for n, episode in enumerate(e for e in self.episodes if e in used)}


def load_ground(bundle: Bundle) -> Ground:
    """Items, episodes, references and ratings of a bundle. InputError at the first dangling id, where items that need a
    reference have none, and at a question whose answer is not among its options."""
    items = bundle.load_items()
    episodes = bundle.load_episodes()
    for item in items.values():
        if item.episode not in episodes:
            raise InputError(
                f"item {item.id} belongs to an episode that is not there",
                where=str(bundle.path / "items.jsonl"),
                value=item.episode,
                remedy="onlooker validate lists every problem of a bundle",
            )
    references = _references(bundle, items)
    for item in items.values():
        _check_answer(item, references.get(item.id), bundle)
    ratings: dict[str, list[Rating]] = defaultdict(list)
    for row in read_ratings(bundle):
        ratings[row.record.item].append(row.record)
    private = {item: Private(references.get(item), tuple(ratings.get(item, ()))) for item in items}
    return Ground(items, episodes, private)


def _references(bundle: Bundle, items: Mapping[str, Item]) -> dict[str, Reference]:
    """{item id: reference}. InputError where one is missing: its item would be wrong whatever the reply."""
    path = bundle.path / REFERENCES_FILE
    there = os.path.lexists(path)
    found = load_references(bundle) if there else {}
    needed = [item.id for item in items.values() if item.task in SCORED_BY_REFERENCE]
    without = [item for item in needed if item not in found]
    if not there or (without and not found):
        raise InputError(
            "the bundle is without references: it can be run, not scored",
            where=str(path),
            remedy="get the file from whoever keeps it back, or send them the predictions",
        )
    if without:
        more = len(without) - _SHOWN_IDS
        raise InputError(
            f"{len(without)} of {len(needed)} items that need a reference have none",
            where=str(path),
            value=", ".join(without[:_SHOWN_IDS]) + (f" and {more} more" if more > 0 else ""),
            remedy="add their rows, or leave the items out of items.jsonl",
        )
    return found


def _check_answer(item: Item, reference: Reference | None, bundle: Bundle) -> None:
    """InputError where a question with options has no right one: every reply would be wrong."""
    ids = {option.id for option in choices_of(item)}
    answer = None if reference is None else reference.answer
    if ids and not (isinstance(answer, tuple) and answer and ids.issuperset(answer)):
        raise InputError(
            f"item {item.id} has no answer among its options",
            where=str(bundle.path / "references.jsonl"),
            value=answer,
            remedy="a list of option ids; onlooker validate lists every problem of a bundle",
        )
