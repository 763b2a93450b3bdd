"""What the filters of the item browser offer, and how an item names its own share of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onlooker.report.content import ItemView

_MAX_CHOICES = 60  # a label with more values than this is not a filter but free text: the search finds it


@dataclass(frozen=True, slots=True)
class Choice:
    """A filter with the values that occur, and how often."""

    name: str
    values: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer. An item names its own by their places here, since no text survives a page unchanged."""

    models: tuple[str, ...]
    conditions: tuple[str, ...]
    labels: tuple[Choice, ...]

    def answers_json(self, item: ItemView, verdicts: Sequence[str]) -> str:
        """[model, condition, verdict] of each answer."""
        return json.dumps(
            [
                [self.models.index(answer.model), self.conditions.index(answer.condition), verdict]
                for answer, verdict in zip(item.answers, verdicts, strict=True)
            ]
        )

    def labels_json(self, item: ItemView) -> str:
        """For each label its values."""
        return json.dumps(
            [
                [place for place, (value, _) in enumerate(choice.values) if value in label_values(item, choice.name)]
                for choice in self.labels
            ]
        )


def choices_of(items: Sequence[ItemView]) -> Choices:
    """Models, conditions and label values that occur, in order."""
    return Choices(
        models=tuple(dict.fromkeys(a.model for item in items for a in item.answers)),
        conditions=tuple(dict.fromkeys(a.condition for item in items for a in item.answers)),
        labels=_label_choices(items),
    )


def label_values(item: ItemView, label: str) -> tuple[str, ...]:
    """The item's values of a label; none where it has no such label."""
    value = item.labels.get(label, ())
    return (value,) if isinstance(value, str) else tuple(value)


def _label_choices(items: Iterable[ItemView]) -> tuple[Choice, ...]:
    found: dict[str, Counter[str]] = {}
    for item in items:
        for name in item.labels:
            found.setdefault(name, Counter()).update(set(label_values(item, name)))
    return tuple(
        Choice(name, tuple(sorted(counts.items()))) for name, counts in found.items() if 1 < len(counts) <= _MAX_CHOICES
    )
