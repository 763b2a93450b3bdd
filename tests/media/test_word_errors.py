"""Word error rates that can be counted on the fingers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.media.word_errors import WordErrors, count_word_errors

TEXTS = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "errors"),
    [
        ("the cat sat", "The cat, sat!", WordErrors(3, 0, 0, 0)),
        ("the cat sat", "the bat sat", WordErrors(3, 1, 0, 0)),
        ("the cat sat", "cat sat", WordErrors(3, 0, 1, 0)),
        ("the cat sat", "the cat sat down", WordErrors(3, 0, 0, 1)),
        ("I don't know", "I don’t", WordErrors(3, 0, 1, 0)),
        ("", "uh", WordErrors(0, 0, 0, 1)),
        ("a b c d", "", WordErrors(4, 0, 4, 0)),
        ("what is that", "that is what", WordErrors(3, 2, 0, 0)),
    ],
)
def test_hand_worked_cases(reference: str, hypothesis: str, errors: WordErrors) -> None:
    assert count_word_errors(reference, hypothesis) == errors


def test_the_rate() -> None:
    assert count_word_errors("the cat sat", "a cat").rate == pytest.approx(2 / 3)
    assert count_word_errors("a", "a b c").rate == 2.0
    assert count_word_errors("", "").rate is None


@given(TEXTS, TEXTS)
def test_errors_account_for_the_lengths_and_swap_with_the_sides(one: str, other: str) -> None:
    found, back = count_word_errors(one, other), count_word_errors(other, one)
    assert found.words - found.deleted + found.inserted == back.words
    total = found.substituted + found.deleted + found.inserted
    assert total == back.substituted + back.deleted + back.inserted
    assert (total == 0) == (one == other)
