"""Which option a reply means by its words, where it names no letter."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

from onlooker.text.characters import WORD, fold, plain
from onlooker.text.labels import Labels

MIN_SIMILARITY = 0.8
MIN_LEAD = 0.1
_MAX_COMPARED_CHARS = 2_000  # similarity takes quadratic time; a longer reply is no option's text
NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|hardly|barely|non|pas|nicht|kein\w*|ne)\b|n't\b"
    r"|不|没|沒|非|无|無|未|别",
    re.IGNORECASE,
)
_WORDS = re.compile(rf"[{WORD}']+|[^\s{WORD}]+")
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
# Words that may stand around an option's text without changing what is said: "She is unhappy", "Score 1.5".
_FRAME_WORDS = (
    "a an the this that these those it its he she they we i you his her their is are was were be been being am has have"
    " seems seem feels feel looks look appears appear feeling to of in at as both all man woman boy girl person people"
    " child couple speaker viewer relationship emotion attitude score rating value number option answer choice final"
    " correct best would say think believe choose select my so therefore thus clearly definitely there here"
    " 他 她 它 他们 她们 是 很 我 认为 觉得 选 选择 答案 应该 这 那"
)
_FRAME = frozenset(_FRAME_WORDS.split())


def normalised(text: str) -> str:
    """Case, width, spaces, decoration and outer punctuation taken away."""
    folded = " ".join(plain(text).casefold().replace("’", "'").split())
    return _strip_punctuation(folded)


def _strip_punctuation(text: str) -> str:
    start, end = 0, len(text)
    while start < end and _is_punctuation(text[start]):
        start += 1
    while end > start and _is_punctuation(text[end - 1]):
        end -= 1
    return text[start:end]


def _is_punctuation(char: str) -> bool:
    return char.isspace() or char in "$`~^|=+<>" or unicodedata.category(char).startswith("P")


def equal_option(reply: str, labels: Labels) -> str | None:
    """The one option whose text equals the reply after normalisation; None if none or several do."""
    wanted = normalised(reply)
    # Texts of punctuation only ("?!") have no normal form: they are compared as they are.
    hits = [
        (known, text)
        for known, text in zip(labels.ids, labels.texts, strict=True)
        if text.strip() and (reply.strip() == text.strip() or (wanted and normalised(text) == wanted))
    ]
    exact = [hit for hit in hits if reply.strip() == hit[1].strip()]
    hits = exact or hits
    return hits[0][0] if len(hits) == 1 else None


def framed_option(reply: str, labels: Labels) -> str | None:
    """The one option that a short sentence consists of, beside words of the closed list ``_FRAME``: its id.

    The longest option counts where one is part of another ("very happy" over "happy"); two different
    options in the sentence are none.
    """
    text = plain(reply).strip()
    if len(text) > 2 * max((len(option) for option in labels.texts), default=0) + 60:
        return None
    folded = fold(text)
    spans: list[tuple[int, int, str]] = []
    for known, wording in labels.wordings.items():
        for start, end in wording.spans(text, folded):
            if not any(earlier <= start and end <= later for earlier, later, _ in spans):
                spans.append((start, end, known))
    if len({known for _, _, known in spans}) != 1:
        return None
    rest = text
    for start, end, _ in spans:
        rest = rest[:start] + " " * (end - start) + rest[end:]
    words = _WORDS.findall(rest.casefold())
    outside = [word for word in words if not all(_is_punctuation(char) for char in word)]
    return spans[0][2] if all(word in _FRAME for word in outside) else None


def nearest_option(reply: str, labels: Labels) -> str | None:
    """The option of nearest text: similarity (difflib's ratio) >= 0.8 and 0.1 ahead of the next.

    No match: one text is part of the other, one negates what the other states, or their numbers differ.
    """
    wanted = normalised(reply)
    if not wanted or len(wanted) > _MAX_COMPARED_CHARS:
        return None
    options = [normalised(text) for text in labels.texts]
    scores = [_similarity(wanted, option) for option in options]
    best = max(range(len(scores)), key=lambda at: scores[at], default=None)
    if best is None or scores[best] < MIN_SIMILARITY:
        return None
    if any(scores[best] - score < MIN_LEAD for at, score in enumerate(scores) if at != best):
        return None
    return labels.ids[best] if _same_claim(wanted, options[best]) else None


def _similarity(a: str, b: str) -> float:
    if not a or not b or len(b) > _MAX_COMPARED_CHARS:
        return 0.0
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    at_most = matcher.real_quick_ratio()  # by length alone
    return at_most if at_most < MIN_SIMILARITY - MIN_LEAD else matcher.ratio()


def _same_claim(reply: str, option: str) -> bool:
    if reply in option or option in reply:
        return False
    if len(NEGATIONS.findall(reply)) != len(NEGATIONS.findall(option)):
        return False
    return _NUMBERS.findall(reply) == _NUMBERS.findall(option)
