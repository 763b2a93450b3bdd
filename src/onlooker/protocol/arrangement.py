"""What a condition changes about items before anything is asked: fixed beforehand, from public data alone.

Another viewer's reaction in place of the right one, another episode's history, distractors from other videos, options
in another order: who stands in for whom follows from the items, the episodes and a seed, stands in ``plan.json``, and
never depends on answers or predictions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onlooker.records.public import Episode, Item


@dataclass(frozen=True, slots=True)
class Donor:
    """What stands in for an item's own: the ``item`` it was taken from, its episode, and the stretch in seconds."""

    item: str
    episode: str
    window: tuple[float, float] | None = None

    def name_for(self, item: str) -> str:
        """How records name it beside the item that it stands in for: its item, or its episode where it has none."""
        return self.item if self.item != item else self.episode


@dataclass(frozen=True, slots=True)
class Arranged:
    """Items as a condition asks them.

    items     {id: item as asked}, those that are asked, in the order of the bundle
    donors    {id: who stands in}
    left_out  {id: why the condition does not ask it}
    """

    items: Mapping[str, Item]
    donors: Mapping[str, Donor] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)


Arrange = Callable[["Sequence[Item]", "Mapping[str, Episode]", "int | None"], Arranged]
"""(items, episodes, seed) -> the items as asked. Pure, and the same in every process."""


def draw(purpose: str, seed: int | None, *names: str) -> int:
    """A number from SHA-256 of a named purpose, a seed and names: what orders things at random, the same everywhere."""
    words = "\x1f".join((purpose, "" if seed is None else str(seed), *names))
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big")
