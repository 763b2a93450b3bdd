"""What a parser hands back: a value with the rule that found it, or a stated reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

T_co = TypeVar("T_co", covariant=True)

How = Literal[
    "object",  # the field of a JSON object
    "verdict",  # words that declare an answer: "the answer is B", \boxed{B}, "Option B is right"
    "letter",  # the reply, its start or its last line is the option's letter
    "option_text",  # the option's own text, equal after normalisation
    "nearest_text",  # the option whose text is nearest (only where the family asks for it)
    "last_mention",  # matching: the last standalone letter
    "first_capital",  # the published SIV-Bench rule, kept for comparison only
    "number",  # the one number of the reply
]

Reason = Literal[
    "empty",  # blank reply
    "unclosed_thinking",  # nothing but reasoning that was cut off
    "only_thinking",  # closed reasoning and nothing after it
    "no_verdict",  # words, but none that declare an answer
    "unknown_option",  # the declared answer is not an option of this question
    "several_for_one",  # two or more options where one was asked
    "undecided",  # "A or B" where all that hold were asked
    "no_object",  # no JSON object where one was owed
    "bad_json",  # an object that is cut off
    "no_answer",  # the object has no usable `answer`
    "missing_label",  # a judge's object without a label of its rubric
    "missing_moment",  # an intensity object without a moment of the item
    "not_a_number",
    "not_a_label",
    "out_of_range",
    "no_number",
    "several_numbers",
]


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T_co]):
    """A value, the rule that found it, and whether JSON had to be repaired on the way.

    ``repaired`` is also true for sound JSON inside a fence, inside prose or beside a second object.
    """

    value: T_co
    how: How
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Unparsed:
    """No value, and why. Never turned into a guess."""

    reason: Reason
