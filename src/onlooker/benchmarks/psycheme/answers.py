"""How a PsycheMME reply is read: one JSON object with ``answer`` and the eight rationale fields."""

from __future__ import annotations

from onlooker.protocol.scoring import Answer, no_such_task
from onlooker.records.public import ChoiceItem, Item, OpenItem
from onlooker.text.outcome import Unparsed
from onlooker.text.rationales import parse_psycheme


def parse(item: Item, raw: str, part: str | None) -> Answer | Unparsed:  # noqa: ARG001
    """The options chosen or the open answer, with the rationale fields; or why there is none."""
    if isinstance(item, ChoiceItem):
        read = parse_psycheme(
            raw,
            task="choice",
            option_ids=[option.id for option in item.options],
            option_texts=[option.text for option in item.options],
            select=item.select,
        )
    elif isinstance(item, OpenItem):
        read = parse_psycheme(raw, task="open")
    else:
        raise no_such_task("psycheme", item)
    if isinstance(read, Unparsed):
        return read
    return Answer(read.value.answer, rationale=read.value.fields, repaired=read.repaired)
