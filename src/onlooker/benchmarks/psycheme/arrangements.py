"""Histories: each item's own, none, or that of another episode (paper, appendix J). Only items with a history count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onlooker.protocol.arrangement import Arranged, Donor, draw

if TYPE_CHECKING:
    from onlooker.protocol.arrangement import Arrange
    from onlooker.records.public import Episode, Item

_NO_HISTORY = "has no history"


def own_history(items: Sequence[Item], episodes: Mapping[str, Episode], seed: int | None) -> Arranged:  # noqa: ARG001
    """The items that have a history, unchanged."""
    return Arranged({i.id: i for i in items if i.history}, left_out=_without(items))


def no_history(items: Sequence[Item], episodes: Mapping[str, Episode], seed: int | None) -> Arranged:  # noqa: ARG001
    """The same items without it."""
    kept = {i.id: i.model_copy(update={"history": None}) for i in items if i.history}
    return Arranged(kept, left_out=_without(items))


def other_history(items: Sequence[Item], episodes: Mapping[str, Episode], seed: int | None) -> Arranged:  # noqa: ARG001
    """The same items, each with the history of an item of another episode, drawn by the seed.

    Every donor whose history differs is equally likely; two items may draw the same one.
    """
    having = [item for item in items if item.history]
    asked: dict[str, Item] = {}
    donors: dict[str, Donor] = {}
    left_out = _without(items)
    for item in having:
        others = [o for o in having if o.episode != item.episode and o.history != item.history]
        if not others:
            left_out[item.id] = "no other episode has another history"
            continue
        donor = min(others, key=lambda o: (draw("psycheme/other_history", seed, item.id, o.id), o.id))
        asked[item.id] = item.model_copy(update={"history": donor.history})
        donors[item.id] = Donor(donor.id, donor.episode)
    return Arranged(asked, donors, left_out)


def _without(items: Sequence[Item]) -> dict[str, str]:
    return {item.id: _NO_HISTORY for item in items if not item.history}


ARRANGEMENTS: Final[Mapping[str, Arrange]] = {
    "own_history": own_history,
    "no_history": no_history,
    "other_history": other_history,
}
