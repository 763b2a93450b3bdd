"""How a reply to a SIV-Bench question is read: the letter first, else the option of nearest text
(section 3.1).
"""

from __future__ import annotations

from onlooker.protocol.scoring import Answer, choices_read
from onlooker.records.public import Item
from onlooker.text.outcome import Unparsed


def parse(item: Item, raw: str, part: str | None) -> Answer | Unparsed:  # noqa: ARG001
    """The option chosen, or why there is none."""
    return choices_read("sivbench", item, raw, near_text=True)
