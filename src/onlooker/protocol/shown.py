"""Options under other ids than their own: how an item looked to a model, and what its answer means for the item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from onlooker.errors import InputError
from onlooker.records.public import ChoiceItem, MatchingItem

if TYPE_CHECKING:
    from onlooker.protocol.scoring import Answer, Private
    from onlooker.records.public import Item

OPTIONS_SHOWN = "options_shown"
"""The field of a prediction row that holds {id as shown: the option's own id}, where options were moved."""


def relabelled(item: Item, shown: Mapping[str, str]) -> Item:
    """The item with its options (or candidates) in the order of ``shown``, each under the id that it was shown under.

    Raises ``InputError`` where ``shown`` is no one-to-one map of the item's ids.
    """
    listed = item.options if isinstance(item, ChoiceItem) else item.candidates if isinstance(item, MatchingItem) else ()
    own = {one.id: one for one in listed}
    if not own or sorted(shown.values()) != sorted(own):
        raise InputError(
            f"{OPTIONS_SHOWN} does not name each option of the item once", where=f"item {item.id}", value=dict(shown)
        )
    moved = tuple(own[its_own].model_copy(update={"id": letter}) for letter, its_own in shown.items())
    return item.model_copy(update={"options" if isinstance(item, ChoiceItem) else "candidates": moved})


def relabelled_private(private: Private, shown: Mapping[str, str]) -> Private:
    """What scorers see of an item, its option ids those that the options were shown under."""
    reference = private.reference
    if reference is None:
        return private
    letters = {own: letter for letter, own in shown.items()}
    update: dict[str, object] = {}
    if isinstance(reference.answer, tuple):
        update["answer"] = tuple(sorted(letters.get(one, one) for one in reference.answer))
    explanation = reference.explanation
    if explanation is not None and not isinstance(explanation, str) and explanation.options:
        moved = {letters.get(own, own): why for own, why in explanation.options.items()}
        update["explanation"] = explanation.model_copy(update={"options": dict(sorted(moved.items()))})
    return replace(private, reference=reference.model_copy(update=update))


def mapped_back(answer: Answer, shown: Mapping[str, str]) -> Answer:
    """The answer with the options' own ids."""
    value = answer.value
    return replace(answer, value=tuple(shown[letter] for letter in value)) if isinstance(value, tuple) else answer
