"""An option's text in a reply, compared as text, against the pattern that says the same."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from onlooker.text.characters import WORD, fold, plain
from onlooker.text.wordings import Wording


def pattern(text: str) -> re.Pattern[str]:
    body = plain(text).strip()
    words = r"\s+".join(re.escape(word) for word in body.rstrip(".。").split() or [body])
    before = rf"(?<![{WORD}])" if re.match(rf"[{WORD}]", body) else ""
    after = rf"(?![{WORD}])(?!\.\d)(?!-[{WORD}])" if re.search(rf"[{WORD}]\W*\Z", body) else ""
    return re.compile(before + words + after, re.IGNORECASE)


_OPTIONS = st.sampled_from(
    [*("happy", "very happy", "1", "1.5", "She is LATE.", "退后一步", "a man, waving!", "naïve İ", "..."), "ﬆ Σας"]
)
_PIECES = st.sampled_from(
    [*("happy", "un", "very", " ", "\n", "  ", "1", ".", "5", "-", "SHE", "is", "late", "退后一步", "a", "man,"), "ΣΑΣ"]
)


@settings(max_examples=500)
@given(
    _OPTIONS | st.text(min_size=1, max_size=6).filter(str.strip), st.lists(_PIECES | st.text(max_size=2), max_size=9)
)
@example("very happy", ["VERY \n happy", "happy"])
@example("She is LATE.", ["she is late"])
def test_the_same_places_as_a_pattern(option: str, pieces: list[str]) -> None:
    for reply in ("".join(pieces), "".join([*pieces, option, *pieces]), " ".join([*pieces, option.upper()])):
        text = plain(reply)
        found = [match.span() for match in pattern(option).finditer(text)]
        assert list(Wording(option).spans(text, fold(text))) == found


def test_folding_is_that_of_the_regular_expressions() -> None:
    cased = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).lower() != chr(code).upper()]
    assert len(cased) > 2_500
    for char in cased:
        alike = {char, *char.lower(), *char.upper(), *char.title(), *char.casefold()}
        compiled = re.compile(re.escape(char), re.IGNORECASE)
        for other in alike:
            assert (fold(other) == fold(char)) == (compiled.fullmatch(other) is not None), (char, other)


@pytest.mark.parametrize(
    ("option", "reply", "spans"),
    [
        ("happy", "unhappy, happy-go-lucky, Happy.", [(25, 30)]),
        ("1", "1.5 and 1", [(8, 9)]),
        ("don't know", "I don’t   know", [(2, 14)]),
        ("very happy.", "Very\nhappy!", [(0, 10)]),
    ],
)
def test_worked_places(option: str, reply: str, spans: list[tuple[int, int]]) -> None:
    text = plain(reply)
    assert list(Wording(option).spans(text, fold(text))) == spans
