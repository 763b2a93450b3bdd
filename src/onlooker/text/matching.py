"""Stimulus-reaction matching: which candidate segment a reply names (ReactionBench, appendix C.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onlooker.text.characters import plain
from onlooker.text.choices import parse_choice, visible_text
from onlooker.text.labels import Labels, Reading
from onlooker.text.outcome import Parsed, Unparsed

_WINDOW_CHARS = 40
_NAMED = re.compile(r"(?:segments?|candidates?|clips?|options?)[\s*(\"'`]*\Z", re.IGNORECASE)
_GOES_ON = re.compile(r"\s{1,2}[a-z]")
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
    labels = Labels(tuple(candidate_ids), ("",) * len(candidate_ids))
    last = _last_mention(plain(visible), labels)
    return parsed if last is None else Parsed((last,), "last_mention")


def _last_mention(text: str, labels: Labels) -> str | None:
    mentions: list[tuple[re.Match[str], Reading]] = []
    at = 0
    while (mention := labels.mention.search(text, at)) is not None:
        reading = labels.read(text, mention.start())
        at = max(mention.end(), reading.end if reading else 0)
        if mention["id"] in labels.ids and reading is not None:
            mentions.append((mention, reading))
    for mention, reading in reversed(mentions):
        before = text[max(0, mention.start() - _WINDOW_CHARS) : mention.start()]
        word = mention["id"] in ("A", "I") and _GOES_ON.match(text, mention.end())
        if not (word and not _NAMED.search(before)) and not _DENIED.search(before):
            # "B and C", "B or C": named together, neither is chosen.
            return reading.ids[0] if len(reading.ids) == 1 else None
    return None
