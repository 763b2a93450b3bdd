"""Characters of a reply: what makes a word, and the forms of one letter that count as the same."""

from __future__ import annotations

# Letters that make a neighbour part of a word: Latin, Greek, Cyrillic, Armenian, digits. Not CJK, Thai, Hangul
# and the like, which are written up against a letter ("所以选B吧").
WORD = r"0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u058f\u1e00-\u1fff"


def _one_to_one() -> dict[int, str]:
    """Full-width, enclosed and mathematical letters and digits to ASCII, one character to one character.

    Unicode's NFKC would do more, but it changes lengths (so that places in the text no longer agree)
    and takes quadratic time on long runs of combining marks.
    """
    table = {0x3000: " ", 0xA0: " ", 0x200B: " ", 0xFEFF: " ", 0x2019: "'"}
    table |= {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    for start in (0x24B6, 0x1F130, 0x1F150, 0x1F170):  # circled, squared, negative circled, negative squared
        table |= {start + offset: chr(0x41 + offset) for offset in range(26)}
    table |= {0x24D0 + offset: chr(0x61 + offset) for offset in range(26)}
    table |= {0x249C + offset: chr(0x61 + offset) for offset in range(26)}  # parenthesised small letters
    for block in range(13):  # mathematical bold, italic, script ...: capitals, then small letters
        table |= {0x1D400 + 52 * block + offset: chr(0x41 + offset) for offset in range(26)}
        table |= {0x1D41A + 52 * block + offset: chr(0x61 + offset) for offset in range(26)}
    table |= {0x2460 + offset: chr(0x31 + offset) for offset in range(9)}
    table |= {0xFE0F: " ", 0x20E3: " "}  # variation selector and keycap of emoji letters
    return table


_TABLE = _one_to_one()
# Small letters with one capital between them, as ``re.IGNORECASE`` has them: the first stands for the others.
_SAME_CAPITAL = (
    "iı sſ µμ \u0345\u03b9\u1fbe \u0390\u1fd3 \u03b0\u1fe3 βϐ εϵ θϑ κϰ πϖ ρϱ ςσ φϕ"
    " \u0432\u1c80 \u0434\u1c81 \u043e\u1c82 \u0441\u1c83 \u0442\u1c84\u1c85 \u044a\u1c86 \u0463\u1c87"
    " \u1c88\ua64b \u1e61\u1e9b \ufb05\ufb06"
)
_FOLDS = str.maketrans({other: same[0] for same in _SAME_CAPITAL.split() for other in same[1:]})


def plain(text: str) -> str:
    """The text with full-width and enclosed letters as ASCII; as long as the original."""
    return text if text.isascii() else text.translate(_TABLE)


def fold(text: str) -> str:
    """The text without case, equal where ``re.IGNORECASE`` matches; as long as the original."""
    if text.isascii():
        return text.lower()
    return text.replace("İ", "i").lower().translate(_FOLDS)  # "İ".lower() alone is two characters long
