"""From the rows of a run to graded cases, one for each item owed."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onlooker.errors import InputError
from onlooker.protocol.scoring import Answer, Case, Family, Private, Reply, Scope, choices_of
from onlooker.records.bundle import Bundle
from onlooker.records.private import REFERENCES_FILE, Rating, Reference, load_references, read_ratings
from onlooker.records.public import Episode, Item
from onlooker.records.results import Outcome, Prediction
from onlooker.records.rules import SCORED_BY_REFERENCE
from onlooker.score.inputs import Judged, Run, Seed
from onlooker.text.outcome import Unparsed

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


Replies = Mapping[tuple[Seed, str], tuple[Outcome, Answer | None]]
"""{(seed, item id): outcome and answer}."""


def read_replies(runs: Sequence[Run], family: Family, ground: Ground) -> list[Replies]:
    """The replies of each run to the items that it owes."""
    found: list[dict[tuple[Seed, str], tuple[Outcome, Answer | None]]] = [{} for _ in runs]
    owed = [frozenset(run.owed) for run in runs]
    # Item by item through all runs: a parser makes its patterns for a question once.
    for item_id, item in ground.items.items():
        for run, inside, replies in zip(runs, owed, found, strict=True):
            if item_id in inside:
                for seed in run.seeds:
                    calls = run.calls.get((seed, item_id), {})
                    replies[seed, item_id] = read_reply(family, item, calls)
    return list(found)


def grade_run(
    run: Run, seed: Seed, replies: Replies, family: Family, ground: Ground, judged: Judged
) -> tuple[list[Case], Scope]:
    """The cases of one seed in the order of the items owed, and what they stand for."""
    clusters = ground.clusters(run.owed)
    about = (run.model, run.condition) in judged.about
    cases = []
    for item_id in run.owed:
        item = ground.items[item_id]
        outcome, answer = replies[seed, item_id]
        labels = judged.valid.get((run.model, run.condition, seed, item_id), {})
        reply = Reply(outcome, answer, labels, about)
        private = ground.private[item_id]
        grade = family.grade(item, private, reply)
        episode = ground.episodes[item.episode]
        cases.append(Case(item, episode, clusters[item.episode], private, reply, grade))
    return cases, Scope(run.condition, tuple(ground.items.values()), about)


def read_reply(family: Family, item: Item, calls: Mapping[str | None, Prediction]) -> tuple[Outcome, Answer | None]:
    """The outcome of an item's call or calls, and the answer where it is ``scored``.

    An item of several calls has the outcome of its first part, in the order of the item, that
    failed.
    """
    if not calls:
        return "missing", None
    if None in calls:
        return _read_call(family, item, calls[None])
    numbers: dict[str, float] = {}
    repaired = False
    for part in family.parts(item):
        if part not in calls:
            return "missing", None
        outcome, answer = _read_call(family, item, calls[part])
        if answer is None:
            return outcome, None
        assert isinstance(answer.value, int | float), "a part of an item is answered with one number"
        numbers[part] = float(answer.value)
        repaired = repaired or answer.repaired
    return "scored", Answer(numbers, repaired=repaired)


def _read_call(family: Family, item: Item, call: Prediction) -> tuple[Outcome, Answer | None]:
    if call.status in {"empty", "refused", "error"}:
        return call.status, None
    if call.status == "ok" and not call.raw.strip():
        return "empty", None
    answer = family.parse(item, call.raw, call.part)
    if isinstance(answer, Unparsed):
        return ("truncated" if call.status == "truncated" else "unparsed"), None
    return "scored", answer
