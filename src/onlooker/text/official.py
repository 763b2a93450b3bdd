"""SIV-Bench's published answer rule, faults included, to compare our scores with printed ones.

Never use it for a result of our own. It takes the first capital letter of the reply that is an option, so
"Because she smiles, the answer is C" is read as B; where there is none, the option of nearest text counts, and an
option whose text is part of the reply is taken as certain, so "They are not friends" becomes "friends".
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from onlooker.text.outcome import Parsed, Unparsed

_MAX_COMPARED_CHARS = 2_000


def parse_official_sivbench(
    reply: str, option_ids: Sequence[str], option_texts: Sequence[str]
) -> Parsed[tuple[str]] | Unparsed:
    """The option by the published rule (SIV-Bench, section "Evaluation"; the authors' scorer).

    1. the first character of the reply that is one of the (one-letter) ids, wherever it stands, also inside
    a word; 2. the first option whose text is contained in the reply, or the reply in it; 3. the option of
    highest ``difflib`` ratio, the first one on a tie, whatever the ratio is. Blank replies are ``empty``.
    Only the first 2,000 characters are compared in 3.
    """
    if not reply.strip():
        return Unparsed("empty")
    letter = next((char for char in reply if char in option_ids), None)
    if letter is not None:
        return Parsed((letter,), "first_capital")
    if not option_ids:
        return Unparsed("no_verdict")
    said = reply.strip().casefold()
    wanted = [text.strip().casefold() for text in option_texts]
    for known, text in zip(option_ids, wanted, strict=True):
        if text and (text in said or said in text):
            return Parsed((known,), "nearest_text")
    said = said[:_MAX_COMPARED_CHARS]
    ratios = [SequenceMatcher(None, said, text[:_MAX_COMPARED_CHARS], autojunk=False).ratio() for text in wanted]
    return Parsed((option_ids[ratios.index(max(ratios))],), "nearest_text")
