"""How a reply to a SIV-Bench question is read: the letter first, else the option of nearest text (section 3.1)."""

from __future__ import annotations

from typing import Final

from onlooker.protocol.choice_scoring import choice_parser
from onlooker.protocol.scoring import Answer, OtherParser, no_such_task
from onlooker.records.public import ChoiceItem, Item
from onlooker.text.official import parse_official_sivbench
from onlooker.text.outcome import Unparsed

parse: Final = choice_parser("sivbench", near_text=True)


def parse_official(item: Item, raw: str, part: str | None) -> Answer | Unparsed:  # noqa: ARG001 - one call an item
    """The option by the rule of the authors' scorer; ``onlooker.text.official`` says what is wrong with it."""
    if not isinstance(item, ChoiceItem):
        raise no_such_task("sivbench", item)
    read = parse_official_sivbench(raw, [o.id for o in item.options], [o.text for o in item.options])
    return read if isinstance(read, Unparsed) else Answer(read.value)


OFFICIAL: Final = OtherParser(
    parse_official,
    "the published rule with known faults (the first capital that is an option's letter, else any option's text inside "
    "the reply, else the nearest), for comparison with printed scores only; every item owed still counts",
)
