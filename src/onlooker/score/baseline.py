"""What a guesser scores on a bundle: by chance, and by always naming the most frequent place of the
answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from onlooker.protocol.ground import Ground, load_ground
from onlooker.protocol.scoring import Case, Family, Grade, Private, Reply, Scope, choices_of
from onlooker.records.bundle import Bundle
from onlooker.records.public import ChoiceItem, Item
from onlooker.score.score import DRAWS, SEED, check_draws, spell
from onlooker.stats.cluster import cluster_weights, estimate
from onlooker.stats.interval import LEVEL
from onlooker.stats.seeds import generator

Places = frozenset[int]
_NO_REPLY = Reply("scored", None, {}, judged=False)


def baselines(
    bundle: Bundle,
    family: Family,
    *,
    items: Collection[str] | None = None,
    draws: int = DRAWS,
    seed: int = SEED,
) -> dict[str, dict[str, dict[str, Any]]]:
    """{"chance": metrics, "majority": metrics}, named and spelled as in ``scores.json``, on the
    draws of the scores.

    chance    the expected credit of a uniform guess: 1/k of k options, 1/(2^k - 1) where all that
              hold are asked
    majority  always the place (first, second, ...) where the references most often have the answer,
              counted apart for questions with one answer, with all that hold, and for matching; the
              first such place of equals
    Over ``items`` (ids; all where None). Items without options have neither, and only metrics of the answer alone are
    there.
    """
    check_draws(draws)
    ground = load_ground(bundle)
    if items is not None:
        asked = {item: ground.items[item] for item in ground.items if item in items}
        ground = replace(ground, items=asked)
    favourite = _favourites(ground)

    def majority(item: Item, private: Private) -> float:
        return float(_places(item, private) == favourite.get(_kind(item)))

    return {
        "chance": _metrics(ground, family, lambda item, _: chance_credit(item), draws, seed),
        "majority": _metrics(ground, family, majority, draws, seed),
    }


def chance_credit(item: Item) -> float:
    """The expected credit of a uniform guess among the answers that the item allows."""
    k = len(choices_of(item))
    return 1 / (2**k - 1) if isinstance(item, ChoiceItem) and item.select == "all" else 1 / k


def _metrics(
    ground: Ground,
    family: Family,
    credit: Callable[[Item, Private], float],
    draws: int,
    seed: int,
) -> dict[str, dict[str, Any]]:
    owed = tuple(ground.items)
    clusters = ground.clusters(owed)
    cases = []
    for item in ground.items.values():
        private = ground.private[item.id]
        grade = Grade(credit(item, private) if choices_of(item) else None)
        episode = ground.episodes[item.episode]
        cases.append(Case(item, episode, clusters[item.episode], private, _NO_REPLY, grade))
    found = family.answer_metrics(cases, Scope("", tuple(ground.items.values()), judged=False))
    weights = cluster_weights(len(clusters), draws, generator("score/episodes", seed))
    estimates = estimate([metric.statistic for metric in found], weights, LEVEL)
    return {m.name: spell(m, e) for m, e in zip(found, estimates, strict=True)}


def _favourites(ground: Ground) -> dict[str, Places]:
    counts: dict[str, Counter[Places]] = {}
    for item in ground.items.values():
        if choices_of(item):
            places = _places(item, ground.private[item.id])
            counts.setdefault(_kind(item), Counter())[places] += 1
    return {
        kind: min(counted, key=lambda places: (-counted[places], _first(places))) for kind, counted in counts.items()
    }


def _kind(item: Item) -> str:
    return f"choice {item.select}" if isinstance(item, ChoiceItem) else item.task


def _places(item: Item, private: Private) -> Places:
    answer = private.reference.answer if private.reference is not None else None
    right = answer if isinstance(answer, tuple) else ()
    return frozenset(i for i, option in enumerate(choices_of(item)) if option.id in right)


def _first(places: Places) -> Sequence[int]:
    return sorted(places)
