"""How numbers, times and foreign text are put on the page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from onlooker.report.content import Scale
from onlooker.report.results import Number

# Controls of direction can make a reader see another order than the one that is there. Their stand-ins hold no letter,
# so that the first letter of the text still decides its direction (``dir=auto``).
_DIRECTIONS = {
    0x202A: "[→]",  # left-to-right embedding
    0x202B: "[←]",  # right-to-left embedding
    0x202C: "[↑]",  # end of an embedding or override
    0x202D: "[⇒]",  # left-to-right override
    0x202E: "[⇐]",  # right-to-left override
    0x2066: "[⇢]",  # left-to-right isolate
    0x2067: "[⇠]",  # right-to-left isolate
    0x2068: "[⇄]",  # first strong isolate
    0x2069: "[⇡]",  # end of an isolate
}
# A page must be valid UTF-8 and HTML whatever a model replied: C0 controls (tab and newline stay), DEL and
# lone surrogates are shown as what they are.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_FOLD_CHARS = 220
_HEAD_CHARS = 150


def printable(text: str) -> str:
    """The text with control characters as pictures (``␀``), controls of direction as arrows, lone surrogates in hex.

    Letters of right-to-left scripts and the marks U+200E and U+200F stay as they are.
    """
    return _UNPRINTABLE.sub(_picture, text.replace("\r\n", "\n"))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _DIRECTIONS.get(code, f"\\u{code:04x}")


def named(text: str) -> str:
    """The text, or ``(empty)``, ``(blank)`` where there would be nothing to see."""
    if text.strip():
        return text
    return "(blank)" if text else "(empty)"


def shorten_apart(texts: Sequence[str], chars: int) -> tuple[str, ...]:
    """Each text on one line of at most about ``chars`` characters, cut in its middle; different texts stay different.

    What follows a last `` · `` (the condition) is kept whole. Texts that would look alike are numbered (``#2``).
    """
    seen: dict[str, dict[str, None]] = {}
    cut = [_cut(" ".join(printable(named(text)).split()), chars) for text in texts]
    for short, text in zip(cut, texts, strict=True):
        seen.setdefault(short, {})[text] = None
    return tuple(
        short if len(seen[short]) == 1 else f"{short} #{list(seen[short]).index(text) + 1}"
        for short, text in zip(cut, texts, strict=True)
    )


def _cut(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    front, mark, condition = text.rpartition(" · ")
    if not mark or len(condition) > 2 * chars // 3:
        front, mark, condition = text, "", ""
    room = max(3, chars - len(mark + condition) - 1)
    tail = room // 2
    return f"{front[: room - tail]}…{front[-tail:]}{mark}{condition}"


def fold(note: str) -> tuple[str, str | None]:
    """The beginning of a long note, which says what it is about, and the rest; None where the note is short."""
    if len(note) <= _FOLD_CHARS:
        return note, None
    colon = note.rfind(": ", 0, _HEAD_CHARS)
    end = colon + 1 if colon > _HEAD_CHARS // 5 else max(note.rfind(" ", 0, _HEAD_CHARS), 0) or _HEAD_CHARS
    return note[:end], note[end:].strip()


def figure_of(value: float, scale: Scale) -> str:
    """A score for people: a percentage with one decimal, or two decimals on its own scale."""
    return f"{value * 100:.1f}%" if scale == "percent" else f"{value:.2f}"


def interval_of(number: Number, scale: Scale) -> str | None:
    """``[61.2, 73.4]``; None where the interval is undefined."""
    if number.low is None or number.high is None:
        return None
    factor, places = (100, 1) if scale == "percent" else (1, 2)
    return f"[{number.low * factor:.{places}f}, {number.high * factor:.{places}f}]"


def score_of(number: Number, scale: Scale) -> str:
    """``67.5% [61.2, 73.4]``, or ``undefined`` (the reason is printed beside it by the template)."""
    if number.value is None:
        return "undefined"
    return " ".join(filter(None, (figure_of(number.value, scale), interval_of(number, scale))))


def sentence(text: str) -> str:
    """The text with its first letter large and all others as they are (``ip.rho0`` -> ``Ip.rho0``, ``MHP`` stays)."""
    return text[:1].upper() + text[1:]


def thousands(count: int | None) -> str:
    """``12,345``; ``unknown`` for None."""
    return "unknown" if count is None else f"{count:,}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 item``, ``1,200 items``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def cost_of(cost_usd: float | None) -> str:
    """``$1.20``, four decimals below ten cents; ``unknown`` for None."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:,.2f}" if cost_usd >= 0.1 or cost_usd == 0 else f"${cost_usd:.4f}"


def duration_of(seconds: float | None) -> str:
    """``42.0 s``, ``3 min 05 s``, ``2 h 10 min``; ``unknown`` for None."""
    if seconds is None:
        return "unknown"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def megabytes(size: int) -> str:
    """``1.2 MB`` (10^6 bytes)."""
    return f"{size / 1e6:.1f} MB"


def evenly(count: int, wanted: int) -> tuple[int, ...]:
    """At most ``wanted`` of the places 0..count-1, evenly spread with both ends; the middle one where one is wanted."""
    if wanted >= count:
        return tuple(range(count))
    if wanted <= 1:
        return (count // 2,) if wanted == 1 else ()
    return tuple((i * (count - 1) + (wanted - 1) // 2) // (wanted - 1) for i in range(wanted))
