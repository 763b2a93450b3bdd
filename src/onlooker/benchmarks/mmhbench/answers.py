"""How a reply to an MMHBench question is read."""

from __future__ import annotations

from onlooker.protocol.scoring import Answer, choices_read
from onlooker.records.public import Item
from onlooker.text.outcome import Unparsed


def parse(item: Item, raw: str, part: str | None) -> Answer | Unparsed:  # noqa: ARG001
    """The option chosen, or why there is none."""
    return choices_read("mmhbench", item, raw, near_text=False)
