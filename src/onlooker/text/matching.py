"""Stimulus-reaction matching: which candidate segment a reply names (ReactionBench, appendix C.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onlooker.text.choices import parse_choice, visible_text
from onlooker.text.labels import Labels, labels_of, plain
from onlooker.text.outcome import Parsed, Unparsed

_WINDOW_CHARS = 40
_DENIED = re.compile(
    r"(?:(?:\brather\s+than|\binstead\s+of|\bunlike)\b[^.,;:!?\n]{0,30}\Z|(?:\b(?:not|neither|nor|no|never|without|than|unlike|except|between)|n't|不是|不|没有|非)"
    r"(?:\s+(?:be|match|fit|in|with|from|for|to|by|of))?[\s,:*(\"']*(?:segments?|candidates?|options?|clips?)?[\s*(\"']*\Z)",
    re.IGNORECASE,
)


def parse_matching(reply: str, candidate_ids: Sequence[str]) -> Parsed[tuple[str]] | Unparsed:
    """The one candidate that a reply names, as a tuple of one id.

    First the rules of every choice question (object, explicit verdict); where these find nothing, the
    paper's: the last standalone capital, optionally after "segment". The pronoun "I", an article "A" and
    a letter that is denied ("not B", "between B and C") are not standalone capitals in this sense.
    """
    parsed = parse_choice(reply, candidate_ids, [""] * len(candidate_ids), "one")
    if isinstance(parsed, Parsed):
        return Parsed((parsed.value[0],), parsed.how, parsed.repaired)
    visible = visible_text(reply)
    if parsed.reason != "no_verdict" or isinstance(visible, Unparsed):
        return parsed
    labels = labels_of(tuple(candidate_ids), ("",) * len(candidate_ids))
    last = _last_mention(plain(visible), labels)
    return parsed if last is None else Parsed((last,), "last_mention")


def _last_mention(text: str, labels: Labels) -> str | None:
    last: str | None = None
    at = 0
    while (mention := labels.mention.search(text, at)) is not None:
        reading = labels.read(text, mention.start())
        at = max(mention.end(), reading.end if reading else 0)
        if mention["id"] not in labels.ids or reading is None:
            continue
        before = text[max(0, mention.start() - _WINDOW_CHARS) : mention.start()]
        named = re.search(r"(?:segments?|candidates?|clips?|options?)[\s*(\"'`]*\Z", before, re.IGNORECASE)
        word = mention["id"] in ("A", "I") and re.match(r"\s+[a-z]", text[mention.end() : mention.end() + 3])
        if (word and not named) or _DENIED.search(before):
            continue
        # "B and C", "B or C": named together, neither is chosen.
        last = reading.ids[0] if len(reading.ids) == 1 else None
    return last
