"""How fast replies to choice questions are read.

``python benchmarks/parse_speed.py [QUESTIONS]``: that many (5,000) distinct questions, ten short replies each, model by
model, so that no question is met again before all others were; then replies of 100 kB made to be slow to read. Prints
CPU seconds (the machine may be shared), and their ratio to a naive ``re.search(r"[A-E]")`` over the same replies, which
is what many scorers do and which reads "Because" as B.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections.abc import Callable, Iterable

from onlooker.text import Unparsed, parse_choice, parse_matching

Question = tuple[list[str], list[str]]

_VERBS = ("ignores", "comforts", "teases", "envies", "thanks", "doubts", "copies", "warns")
_SHORT = (  # {id} and {text} of an option of the question
    *("{id}", "{id}.", "({id})", "**{id}**", "Answer: {id}", "{id}. {text}", "{text}."),
    *('{{"answer": "{id}", "G": "looks away", "W": null}}', "The correct answer is **{id}**."),
    "I cannot tell from the video whether she likes him or not.",
)
_LONG_BYTES = 100_000
# Units that are repeated: cue after cue, list after list, bracket after bracket.
_UNITS = (
    *("A ", "A, ", "answer A, ", "answer is ", "The answer could be A or B. ", "not A but ", "<answer>", "so A, "),
    *("选", "答", "答案是", "A和", "답|", "*A", "\\D", "(A)", "A. happy\n", "A,\n", "happy, ", "( ", "{", '{"a":', '"'),
    *("<think>", '{"answer": "', " ", "Yes, "),
)


def questions(count: int) -> list[Question]:
    """Made-up questions of four or five options, each with texts of its own."""
    draw = random.Random(1)  # noqa: S311  nothing is secret
    made = []
    for number in range(count):
        ids = list("ABCDE"[: 4 + number % 2])
        made.append((ids, [f"The person in scene {number} {verb} the other" for verb in draw.sample(_VERBS, len(ids))]))
    return made


def cpu_s(work: Callable[[], object]) -> float:
    """The CPU seconds of ``work``."""
    start = time.process_time()
    work()
    return time.process_time() - start


def read_all(rows: Iterable[tuple[Question, str]]) -> int:
    """How many of the replies parse."""
    return sum(not isinstance(parse_choice(reply, *question, "one"), Unparsed) for question, reply in rows)


def short_replies(count: int) -> None:
    """Time ten models over ``count`` questions."""
    asked = questions(count)
    rows = []
    for model in range(len(_SHORT)):
        for number, (ids, texts) in enumerate(asked):
            form, at = _SHORT[(model + number) % len(_SHORT)], (3 * model + number) % len(ids)
            rows.append(((ids, texts), form.format(id=ids[at], text=texts[at])))
    took_s = cpu_s(lambda: read_all(rows))
    naive_s = cpu_s(lambda: [re.search(r"[A-E]", reply) for _, reply in rows])
    print(f"short: {len(rows):,} replies to {count:,} questions, {read_all(rows):,} parsed")  # noqa: T201
    print(f"  {took_s:.2f} CPU-s, {len(rows) / took_s:,.0f} replies/s, {took_s / naive_s:.0f} x naive")  # noqa: T201


def long_replies() -> None:
    """Time each unit, repeated, as a reply to a choice and to a matching question."""
    ids, texts = list("ABCD"), ["happy", "unhappy", "angry", "calm"]
    took: list[tuple[float, float, str]] = []
    for unit in _UNITS:
        reply = "Hm. " + unit * (_LONG_BYTES // len(unit.encode()))
        choice_s = max(cpu_s(lambda: parse_choice(reply, ids, texts, select)) for select in ("one", "all"))  # noqa: B023
        took.append((choice_s, cpu_s(lambda: parse_matching(reply, ids)), unit))  # noqa: B023
    prose = "She looks at him, and the others go on with what they were doing. " * (_LONG_BYTES // 66)
    print(f"long: {len(_UNITS)} replies of {_LONG_BYTES // 1000} kB, CPU-s as choice and as matching")  # noqa: T201
    for choice_s, matching_s, unit in sorted(took, reverse=True)[:5]:
        print(f"  {choice_s:.2f}  {matching_s:.2f}  {unit!r}")  # noqa: T201
    plain_s = cpu_s(lambda: parse_choice(prose, ids, texts, "one"))
    naive_s = cpu_s(lambda: re.findall(r"[A-E]", prose))
    print(f"  {plain_s:.2f}  prose, {plain_s / naive_s:.0f} x naive (all capitals A-E)")  # noqa: T201


if __name__ == "__main__":
    short_replies(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    long_replies()
