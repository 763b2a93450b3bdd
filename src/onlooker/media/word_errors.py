"""How many words of a reference a transcript got wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True, slots=True)
class WordErrors:
    """The fewest changes that make the reference of ``words`` words into the hypothesis: words said otherwise, left
    out, and put in."""

    words: int
    substituted: int
    deleted: int
    inserted: int

    @property
    def rate(self) -> float | None:
        """Word error rate: all three over ``words``; above 1 where much was put in, None without a reference."""
        return (self.substituted + self.deleted + self.inserted) / self.words if self.words else None


def normalised_words(text: str) -> list[str]:
    """Words without capitals and punctuation; numbers stay as they are spelt."""
    return [word.replace("’", "'") for word in _WORD.findall(text.casefold())]


def count_word_errors(reference: str, hypothesis: str) -> WordErrors:
    """Compare two texts by their ``normalised_words``.

    Of alignments with equally few errors the one with the most substitutions counts. Levenshtein distance over words;
    time and memory grow with the product of both lengths.
    """
    want, have = normalised_words(reference), normalised_words(hypothesis)
    # A row of (errors, substituted, deleted, inserted) a word of the reference; the fewest errors win.
    row = [(n, 0, 0, n) for n in range(len(have) + 1)]
    for place, word in enumerate(want, 1):
        above, row = row, [(place, 0, place, 0)]
        for n, other in enumerate(have, 1):
            errors, subs, dels, ins = above[n - 1]
            aligned = above[n - 1] if word == other else (errors + 1, subs + 1, dels, ins)
            errors, subs, dels, ins = above[n]
            deleted = (errors + 1, subs, dels + 1, ins)
            errors, subs, dels, ins = row[n - 1]
            inserted = (errors + 1, subs, dels, ins + 1)
            row.append(min(aligned, deleted, inserted, key=lambda cell: cell[0]))
    _, subs, dels, ins = row[-1]
    return WordErrors(len(want), subs, dels, ins)
