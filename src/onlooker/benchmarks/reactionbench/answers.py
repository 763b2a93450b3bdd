"""How a ReactionBench reply is read: a profile of moments, one number, a candidate, or a
rationale.
"""

from __future__ import annotations

from onlooker.protocol.scoring import Answer, no_such_task
from onlooker.records.public import IntensityItem, Item, MatchingItem, RationaleItem
from onlooker.text.choices import visible_text
from onlooker.text.matching import parse_matching
from onlooker.text.numbers import parse_intensity, parse_number
from onlooker.text.outcome import Unparsed

LIKELIHOODS = (1, 10)
"""The scale on which candidates are rated one by one (paper, appendix C.8)."""


def parse(item: Item, raw: str, part: str | None) -> Answer | Unparsed:
    """What the reply says, or why it says nothing.

    ``part``: the moment that this call was for (0 to 100), or the candidate whose likelihood it asked for (1 to 10);
    None where one call was for all.
    """
    if isinstance(item, RationaleItem):
        text = visible_text(raw)
        return text if isinstance(text, Unparsed) else Answer(text.strip())
    if isinstance(item, MatchingItem):
        if part is not None:
            likelihood = parse_number(raw, *LIKELIHOODS)
            return likelihood if isinstance(likelihood, Unparsed) else Answer(likelihood.value)
        chosen = parse_matching(raw, [candidate.id for candidate in item.candidates])
        return chosen if isinstance(chosen, Unparsed) else Answer(chosen.value, repaired=chosen.repaired)
    if not isinstance(item, IntensityItem):
        raise no_such_task("reactionbench", item)
    if part is not None:
        number = parse_number(raw)
        return number if isinstance(number, Unparsed) else Answer(number.value)
    profile = parse_intensity(raw, [moment.id for moment in item.moments])
    return profile if isinstance(profile, Unparsed) else Answer(profile.value, repaired=profile.repaired)
