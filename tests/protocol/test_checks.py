"""One benchmark with every fault that the checks are for; the sound ones are checked in tests/benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest

from onlooker.models.request import Image, Part, Text
from onlooker.protocol.benchmark import Benchmark, Given, Render
from onlooker.protocol.checks import check_benchmark
from onlooker.protocol.choice_scoring import choice_family
from onlooker.protocol.condition import Condition
from onlooker.protocol.metric import Metric
from onlooker.protocol.prompt import options_of, sounds, spoken, timed
from onlooker.protocol.scoring import Case, Parse, Scope
from onlooker.records.labels import LabelRules
from onlooker.records.public import ChoiceItem, Item

CLIP = Condition("clip", "", "", frames="uniform:4", sound=True)
WORDS = Condition("words", "", "")
OPTIONS = options_of("AB", ["a", "b"], "one")


def sound_render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    assert isinstance(item, ChoiceItem)
    heard = (Text("Sound: "), *sounds(given.sound)) if given.sound else ()
    return (*timed(given.frames), *heard, *spoken(given.transcript or ""), Text(item.question), *OPTIONS)


SOUND = Benchmark(
    family="made",
    title="",
    claims="",
    citation="",
    labels=LabelRules(closed={"skill": ("x", "y")}),
    conditions=(CLIP, WORDS),
    baseline="words",
    render=sound_render,
    scoring=choice_family("made", "skill", ["skill"]),
    tables=(),
)


def adding(*parts: Part) -> Render:
    return lambda item, condition, given: (*parts, *sound_render(item, condition, given))


def keeping(keep: Callable[[Part], bool]) -> Render:
    return lambda item, condition, given: tuple(filter(keep, sound_render(item, condition, given)))


def test_a_sound_benchmark_has_no_problem() -> None:
    assert check_benchmark(SOUND) == []
    spoken_of = replace(CLIP, name="spoken", transcript=True)
    assert check_benchmark(replace(SOUND, conditions=(CLIP, spoken_of, WORDS))) == []


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        ("From these frames:", ["condition words: the prompt speaks of 'frames', which is not given"]),
        # Under clip a model that takes no sound must not read of it either.
        (
            "Hear the audio.",
            [f"condition {c}: the prompt speaks of 'audio', which is not given" for c in ("clip", "words")],
        ),
        (
            "What is said:",
            [f"condition {c}: the prompt speaks of 'What is said', which is not given" for c in ("clip", "words")],
        ),
        (
            "Read the subtitles.",
            [f"condition {c}: the prompt speaks of 'subtitles', which is not given" for c in ("clip", "words")],
        ),
        ("The framework of a soundtrack", []),
    ],
)
def test_a_prompt_that_speaks_of_what_is_not_given(words: str, problems: list[str]) -> None:
    assert check_benchmark(replace(SOUND, render=adding(Text(words)))) == problems


def test_an_item_that_the_transcript_quotes_is_no_fault_of_the_prompt() -> None:
    assert check_benchmark(replace(SOUND, render=adding(Text("nice frames, good audio", material=True)))) == []


def test_media_that_are_lost() -> None:
    blind = keeping(lambda part: not isinstance(part, Image))
    assert check_benchmark(replace(SOUND, render=blind)) == [
        "condition clip: 3 frames or files are given and 0 sent, or in another order"
    ]


def test_frames_without_their_times() -> None:
    timeless = keeping(lambda part: not (isinstance(part, Text) and part.text.startswith("\n[")))
    assert check_benchmark(replace(SOUND, render=timeless)) == [
        f"condition clip: the frame at {t} s is not announced by its own time" for t in ("0.00", "0.63", "3.80")
    ]


def test_two_conditions_with_one_request() -> None:
    again = replace(WORDS, name="again")
    assert check_benchmark(replace(SOUND, conditions=(CLIP, WORDS, again))) == [
        "conditions words and again: the same request; let one go, or say same_as"
    ]
    assert check_benchmark(replace(SOUND, conditions=(CLIP, WORDS, replace(again, same_as="words")))) == []
    assert check_benchmark(replace(SOUND, conditions=(CLIP, WORDS, replace(again, same_as="clip")))) == [
        "conditions clip and again: same_as is said, but their requests differ",
        "conditions words and again: the same request; let one go, or say same_as",
    ]


def test_code_of_the_benchmark_that_raises_is_a_finding() -> None:
    def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
        return (Text(str(item.labels["place"])),)

    assert check_benchmark(replace(SOUND, render=render, conditions=(WORDS,))) == [
        "condition words: cannot be rendered: KeyError: 'place'"
    ]

    def metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
        raise ZeroDivisionError("by hand")

    broken = replace(SOUND.scoring, metrics=metrics)
    assert check_benchmark(replace(SOUND, scoring=broken)) == [
        "scoring a made-up question fails: ZeroDivisionError: by hand"
    ]


def test_a_parser_and_metrics_that_do_not_fit() -> None:
    letters = cast("Parse", lambda item, raw, part: raw[-1])
    assert check_benchmark(replace(SOUND, scoring=replace(SOUND.scoring, parse=letters))) == [
        "parse gives str, neither an Answer nor Unparsed"
    ]
    assert check_benchmark(replace(SOUND, main_metric="accuracy.macro")) == [
        "the main metric accuracy.macro is not among the metrics: accuracy, accuracy.skill.x"
    ]
    none = replace(SOUND.scoring, metrics=lambda cases, scope: [])
    assert check_benchmark(replace(SOUND, scoring=none)) == [
        "answer_metrics that metrics lacks: accuracy, accuracy.skill.x",
        "the main metric accuracy is not among the metrics: ",
    ]
