"""W14: one key, one action, refused when the form is made; and which keys there are."""

from __future__ import annotations

from typing import Any

import pytest

from onlooker.errors import InputError
from onlooker.protocol.form import Checks, Choice, Field, Form, ItemAnswer, OneOf, OptOut, Scale, keys_of

GOOD: dict[str, Any] = {"name": "f", "title": "F", "says": "", "tasks": ("choice",)}


def one_of(*choices: Choice) -> OneOf:
    return OneOf("a", "A", choices=choices)


@pytest.mark.parametrize(
    ("fields", "opt_outs", "words"),
    [
        ((one_of(Choice(1, "Yes", key="y"), Choice(0, "No", key="y")),), (), "two actions on one key: A Yes, and A No"),
        ((one_of(Choice(1, "First"), Choice(2, "Second", key="1")),), (), "two actions on one key: A First"),
        ((one_of(Choice(1, "Yes", key=".")),), (), "two actions on one key: a frame on, and A Yes"),
        ((one_of(Choice(1, "Yes", key="s")),), (OptOut("unclear", "Unclear", key="s"),), "Unclear, and A Yes"),
        ((ItemAnswer("a", "A"),), (OptOut("unclear", "Unclear", key="3"),), "an option, and to decline"),
        (
            (Checks("c", "C", criteria=(Choice("x", "X"),)), one_of(Choice(1, "Yes", key="y"))),
            (),
            "two actions on one key: yes, and A Yes",
        ),
        ((one_of(Choice(1, "Yes", key="Enter")),), (), "no key that a page can listen to"),
        ((one_of(Choice(1, "Yes", key="Y")),), (), "no key that a page can listen to"),
    ],
)
def test_two_actions_on_one_key_are_refused(fields: tuple[Field, ...], opt_outs: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Form(**GOOD, fields=fields, opt_outs=opt_outs)


def test_two_fields_may_share_a_key_since_one_at_a_time_listens() -> None:
    yes = Choice(1, "Yes", key="y")
    Form(**GOOD, fields=(OneOf("a", "A", choices=(yes,)), OneOf("b", "B", choices=(yes,))))


def test_the_digit_is_the_number_of_a_scale_and_the_place_elsewhere() -> None:
    scale = Scale("s", "S", anchors=tuple(Choice(n, str(n)) for n in range(4)))
    assert keys_of(scale) == ("0", "1", "2", "3")
    halves = Scale("s", "S", anchors=tuple(Choice(n / 2, str(n)) for n in range(3)))
    assert keys_of(halves) == ("1", "2", "3")
    many = one_of(*(Choice(f"c{n}", str(n)) for n in range(15)))
    assert keys_of(many) == (*"123456789", *[None] * 6)
    Form(**GOOD, fields=(many,))


def test_moments_that_are_asked_about_have_to_be_shown() -> None:
    with pytest.raises(InputError, match='add "moments" to shows'):
        Form(**GOOD, fields=(), playback="moments")
