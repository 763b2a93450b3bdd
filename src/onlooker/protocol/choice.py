"""How families with choice questions fill their prompt files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.errors import InputError
from onlooker.protocol.prompt import PromptFolder, options_of, sounds, spoken, timed
from onlooker.records.public import ChoiceItem

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.benchmark import Given
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item


def choice_prompt(
    prompts: PromptFolder, item: Item, condition: Condition, given: Given, **fields: object
) -> tuple[Part, ...]:
    """The condition's prompt file filled from the item and what is given, and from nothing else.

    Fields: ``question``, ``frame_count``, ``select`` and the family's own ``fields``. Blocks: ``options``, ``frames``
    and ``sound`` (empty where not given), and for a condition with a transcript ``transcript`` (empty where nobody was
    heard; not defined for other conditions).
    """
    if not isinstance(item, ChoiceItem):
        raise InputError("this family asks choice questions only", where=f"item {item.id}", value=item.task)
    blocks = {"frames": timed(given.frames), "sound": sounds(given.sound)}
    if given.transcript is not None:
        blocks["transcript"] = spoken(given.transcript)
    return prompts.render(
        condition.template,
        {
            "question": item.question,
            "frame_count": len(given.frames),
            "select": item.select,
            **fields,
        },
        {**blocks, "options": options_of([o.id for o in item.options], [o.text for o in item.options], item.select)},
    )
