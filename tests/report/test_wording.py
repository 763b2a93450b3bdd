"""Numbers and foreign text as the page prints them."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import bidirectional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.report.content import Scale
from onlooker.report.results import Number
from onlooker.report.wording import (
    cost_of,
    counted,
    duration_of,
    evenly,
    figure_of,
    fold,
    interval_of,
    named,
    printable,
    sentence,
    shorten_apart,
)


@pytest.mark.parametrize(
    ("value", "scale", "expected"),
    [(0.675, "percent", "67.5%"), (0.0, "percent", "0.0%"), (1.0, "percent", "100.0%"), (3.4, "own", "3.40")],
)
def test_scores_are_percentages_with_one_decimal_or_on_their_own_scale(
    value: float, scale: Scale, expected: str
) -> None:
    assert figure_of(value, scale) == expected


def test_an_interval_stands_in_brackets_and_an_undefined_one_is_none() -> None:
    assert interval_of(Number(0.675, 0.612, 0.734, 40), "percent") == "[61.2, 73.4]"
    assert interval_of(Number(3.4, 3.1, 3.8, 21), "own") == "[3.10, 3.80]"
    assert interval_of(Number(1.0, None, None, 1), "percent") is None


def test_an_unknown_price_is_never_zero() -> None:
    assert [cost_of(c) for c in (None, 0.0, 0.0123, 12.5)] == ["unknown", "$0.00", "$0.0123", "$12.50"]


def test_times_round_up_to_the_next_unit() -> None:
    assert [duration_of(s) for s in (None, 4.04, 59.6, 119.6, 7800)] == [
        "unknown",
        "4.0 s",
        "59.6 s",
        "2 min 00 s",
        "2 h 10 min",
    ]


def test_only_the_first_letter_grows() -> None:
    assert [sentence(t) for t in ("raw.capability.G", "MHP role", "")] == ["Raw.capability.G", "MHP role", ""]


def test_counts_have_the_right_noun() -> None:
    assert [counted(n, "item") for n in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]


def test_control_characters_and_lone_surrogates_are_shown() -> None:
    assert printable("a\x00b\x1b[1m\x7f\ud83d\r\n\tc") == "a␀b␛[1m␡\\ud83d\n\tc"


def test_controls_of_direction_are_shown_without_a_letter_and_marks_stay() -> None:
    shown = printable("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert shown == "[→][←][↑][⇒][⇐][⇢][⇠][⇄][⇡]"
    assert not {bidirectional(c) for c in shown} & {"L", "R", "AL", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI"}
    assert printable("שלום\u200f مرحبا\u200e") == "שלום\u200f مرحبا\u200e"


def test_an_empty_text_has_a_name() -> None:
    assert [named(t) for t in ("", " \n", "x ")] == ["(empty)", "(blank)", "x "]


def test_names_are_cut_in_the_middle_and_keep_their_condition() -> None:
    names = [f"scripted:Qwen3-VL-235B-A22B-Instruct-v{k}.jsonl · {c}" for k in (1, 2) for c in ("origin", "cot")]
    assert shorten_apart(names, 32) == (
        "scripted:Qw…ct-v1.jsonl · origin",
        "scripted:Qwen…uct-v1.jsonl · cot",
        "scripted:Qw…ct-v2.jsonl · origin",
        "scripted:Qwen…uct-v2.jsonl · cot",
    )
    twins = ["a" * 50 + digit + "b" * 50 for digit in "12"]
    assert shorten_apart([*twins, "c"], 10) == ("aaaaa…bbbb #1", "aaaaa…bbbb #2", "c")


@given(st.lists(st.text("ab ·", max_size=40), unique=True), st.integers(8, 30))
def test_different_names_stay_different(names: list[str], chars: int) -> None:
    short = shorten_apart(names, chars)
    assert len(set(short)) == len(names)
    assert all("\n" not in s for s in short)


def test_a_note_is_folded_after_what_it_is_about() -> None:
    assert fold("short: note") == ("short: note", None)
    assert fold("m, origin: left out because undefined there: " + "a, " * 99)[0] == (
        "m, origin: left out because undefined there:"
    )
    head, rest = fold("word " * 60)
    assert len(head) <= 150
    assert rest is not None
    assert f"{head} {rest}".split() == ["word"] * 60
    assert fold("x" * 300) == ("x" * 150, "x" * 150)


@given(st.text(st.characters(codec=None)))
def test_every_text_becomes_valid_utf_8_without_control_characters(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    assert not any(ord(c) < 32 and c not in "\n\t" for c in shown)


@given(st.integers(0, 500), st.integers(0, 80))
def test_evenly_chosen_places_are_distinct_in_order_and_reach_both_ends(count: int, wanted: int) -> None:
    places = evenly(count, wanted)
    assert len(places) == min(count, wanted)
    assert list(places) == sorted(set(places))
    if wanted >= 2 and count:
        assert (places[0], places[-1]) == (0, count - 1)
        steps = [b - a for a, b in pairwise(places)]
        assert not steps or max(steps) - min(steps) <= 1


def test_twelve_of_sixty_four_frames() -> None:
    assert evenly(64, 12) == (0, 6, 11, 17, 23, 29, 34, 40, 46, 52, 57, 63)
