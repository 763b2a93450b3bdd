"""How families with questions fill their prompt files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.errors import InputError
from onlooker.protocol.prompt import PromptFolder, filmed, options_of, sounds, spoken, timed
from onlooker.records.public import ChoiceItem, OpenItem

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.benchmark import Given
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item


def choice_prompt(
    prompts: PromptFolder, item: Item, condition: Condition, given: Given, **fields: object
) -> tuple[Part, ...]:
    """``question_prompt`` for a family that asks choice questions only; ``InputError`` for an item of another task."""
    if not isinstance(item, ChoiceItem):
        raise InputError("this family asks choice questions only", where=f"item {item.id}", value=item.task)
    return question_prompt(prompts, item, condition, given, **fields)


def question_prompt(
    prompts: PromptFolder, item: ChoiceItem | OpenItem, condition: Condition, given: Given, **fields: object
) -> tuple[Part, ...]:
    """The condition's prompt file filled from the item and what is given, and from nothing else.

    Fields: ``question``, ``frame_count``, ``select`` (None for an open question) and the family's own ``fields``.
    Blocks: ``options`` (none for an open question), ``frames``, ``video`` and ``sound`` (empty where not given), and
    where words are given ``transcript`` (empty where nobody was heard; else not defined).
    """
    blocks = media_blocks(given)
    values = {"question": item.question, "frame_count": len(given.frames), "select": None, **fields}
    if isinstance(item, ChoiceItem):
        values["select"] = item.select
        listed = item.options
        blocks["options"] = options_of([o.id for o in listed], [o.text for o in listed], item.select)
    return prompts.render(condition.template, values, blocks)


def media_blocks(given: Given) -> dict[str, tuple[Part, ...]]:
    """The blocks ``frames``, ``video``, ``sound`` and, where words are given, ``transcript``."""
    blocks = {"frames": timed(given.frames), "video": filmed(given.video), "sound": sounds(given.sound)}
    if given.transcript is not None:
        blocks["transcript"] = spoken(given.transcript)
    return blocks
