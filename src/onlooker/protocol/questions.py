"""All questions of one video in one call: how they are put, and which stretch of the reply answers which."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from onlooker.errors import InputError
from onlooker.models.request import Text
from onlooker.protocol.choice import media_blocks
from onlooker.records.public import ChoiceItem
from onlooker.text.objects import find_object
from onlooker.text.outcome import Unparsed
from onlooker.text.thinking import strip_thinking

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.benchmark import Given
    from onlooker.protocol.condition import Condition
    from onlooker.protocol.prompt import PromptFolder
    from onlooker.records.public import Item

# A number that opens a line, as models write it: "1:", "1.", "**2)**", "- Q3:", "### Question 4", "\"5\":", "| 6 |",
# "Answer 7:", "8\uff1a".
_NUMBERED = re.compile(
    r"^[ \t>*_#\-\"'`{(\[|]*(?:(?:q(?:uestion)?|answer)[ \t]*)?(?P<number>\d{1,3})[\"'`]?[ \t]*"
    r"(?:[*_]{0,2}[:.)\]|\uff1a]|[*_]{1,2}(?=\s)|$)[*_]{0,2}[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
# The same in a reply of one line: "1: B, 2: A, 3: C".
_IN_ONE_LINE = re.compile(
    r"(?:^|(?<=[,;])[ \t]*)(?:q(?:uestion)?[ \t]*)?(?P<number>\d{1,3})[ \t]*[:.)\uff1a][ \t]*", re.IGNORECASE
)

# Under which a list of objects gives the question's number.
_NUMBER_KEYS = ("question", "number", "id", "index", "q")


def questions_prompt(
    prompts: PromptFolder, items: Sequence[Item], condition: Condition, given: Given, **fields: object
) -> tuple[Part, ...]:
    """The condition's prompt file filled with several choice questions, numbered from 1 in the order of ``items``.

    Fields and blocks are those of ``question_prompt``, with the block ``questions`` in place of ``question``,
    ``options`` and ``select``: every question with its options, and a word where all right ones are asked for.
    """
    asked: list[str] = []
    for number, item in enumerate(items, 1):
        if not isinstance(item, ChoiceItem):
            raise InputError("only choice questions share a call", where=f"item {item.id}", value=item.task)
        every = " (Name all right options.)" if item.select == "all" else ""
        listed = "\n".join(f"{option.id}. {option.text}" for option in item.options)
        asked.append(f"{number}: {item.question}{every}\n{listed}")
    blocks = {**media_blocks(given), "questions": (Text("\n\n".join(asked)),)}
    return prompts.render(condition.template, {"frame_count": len(given.frames), **fields}, blocks)


def split_answers(reply: str, items: Sequence[Item]) -> dict[str, str]:
    """{item id: the stretch of the reply that answers it}, unaltered; questions without an answer are left out.

    A JSON object with the numbers as keys answers by its values, also under one wrapping key; so does a list of objects
    with a number and an answer each. Else an answer reaches from the line that its number opens ("1: B", "**2)** C",
    "Question 3: A") to the line of the next; in a reply of one line to the next number behind a comma or semicolon.
    Numbers written in another way, or out of order, belong to the answer that they stand in (a list inside a reasoned
    answer); of several runs through the numbers (a draft, then the answers) the longest counts, of equally long ones
    the last. Thinking is no answer.
    """
    visible, _ = strip_thinking(reply)
    found = _from_object(visible, items)
    if found:
        return found
    marks = _longest_run(visible, len(items))
    if not marks:
        return {items[0].id: visible} if len(items) == 1 and visible.strip() else {}
    ends = [mark.start() for mark in marks[1:]] + [len(visible)]
    return {
        items[int(mark["number"]) - 1].id: visible[mark.end() : end].rstrip()
        for mark, end in zip(marks, ends, strict=True)
    }


def _longest_run(visible: str, count: int) -> list[re.Match[str]]:
    """The marks of the answers: numbers in one way of writing them, rising."""
    runs: list[list[re.Match[str]]] = []
    numbered = _NUMBERED if "\n" in visible.strip() else _IN_ONE_LINE
    for _, marks in groupby(sorted(numbered.finditer(visible), key=_style), key=_style):
        run: list[re.Match[str]] = []
        for mark in marks:
            number = int(mark["number"])
            if not 1 <= number <= count:
                continue
            if run and number <= int(run[-1]["number"]):
                if number != 1:
                    continue
                runs.append(run)
                run = []
            run.append(mark)
        if run:
            runs.append(run)
    most = max(map(len, runs), default=0)
    longest = [run for run in runs if len(run) == most]
    if not longest:
        return []
    colons = [run for run in longest if ":" in run[0].group()]  # the way that was asked for
    return (colons or longest)[-1]


def _style(mark: re.Match[str]) -> str:
    """How a number is written: everything of the mark but the number."""
    return mark.group().strip().replace(mark["number"], "1", 1).replace("\uff1a", ":")


def _from_object(visible: str, items: Sequence[Item]) -> dict[str, str]:
    by_number = {str(number): item.id for number, item in enumerate(items, 1)}
    named = {_bare(key): value for key, value in _answers(visible).items()}
    return {
        by_number[key]: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in named.items()
        if key in by_number and value is not None
    }


def _answers(visible: str) -> Mapping[str, Any]:
    """{number as written: answer} of an object, of the object under its only key, or of a list of objects."""
    listed = _list_in(visible)
    if not listed:
        found = find_object(visible) if "{" in visible else Unparsed("no_object")
        if isinstance(found, Unparsed):
            return {}
        wrapping = len(found.value) == 1 and not _bare(next(iter(found.value))).isdigit()
        inside = next(iter(found.value.values())) if wrapping else found.value
        if isinstance(inside, dict):
            return inside
        listed = inside if isinstance(inside, list) else []
    rows = [row for row in listed if isinstance(row, dict) and "answer" in row]
    return {str(row[key]): row["answer"] for row in rows for key in _NUMBER_KEYS if key in row}


def _list_in(visible: str) -> list[Any]:
    """The JSON list that the reply is, alone or in a fence; else an empty one."""
    try:
        found = json.loads(re.sub(r"^```\w*\n|\n```$", "", visible.strip()))
    except ValueError:
        return []
    return found if isinstance(found, list) else []


def _bare(key: str) -> str:
    return key.strip().lower().removeprefix("question").removeprefix("q").strip()
