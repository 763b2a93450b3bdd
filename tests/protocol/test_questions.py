"""Splitting one reply into the answers to several questions; each stretch is then read as any reply."""

from __future__ import annotations

import pytest

from onlooker.benchmarks.sivbench.answers import parse
from onlooker.protocol.questions import split_answers
from onlooker.protocol.scoring import Answer
from onlooker.records.public import ITEM
from tests.score.made import choice

ITEMS = [ITEM.validate_python(choice(f"q{n}", "e")) for n in (1, 2, 3)]


def letters(reply: str) -> list[str | None]:
    """What the scorer reads for each question; None where there is no answer or none that can be read."""
    found = split_answers(reply, ITEMS)
    read = [parse(item, found[item.id], None) if item.id in found else None for item in ITEMS]
    return [one.value[0] if isinstance(one, Answer) and isinstance(one.value, tuple) else None for one in read]


@pytest.mark.parametrize(
    "reply",
    [
        "1: B. option number 2\n2: C. option number 3\n3: A. option number 1",
        "1. B\n2. C\n3. A",
        "**1:** B\n**2:** C\n**3:** A",
        "**1)** B. option number 2\n\n**2)** C\n\n**3)** A",
        "Here are the answers:\n\nQ1: B\nQ2: C\nQ3: A",
        "Question 1: B\nQuestion 2: C\nQuestion 3: A",
        "### Question 1\nB\n### Question 2\nC\n### Question 3\nA",
        "- 1: B\n- 2: C\n- 3: A",
        '{"1": "B", "2": "C. option number 3", "3": "A"}',
        '```json\n{"Q1": "B", "Q2": "C", "Q3": "A"}\n```',
        "<think>1: A\n2: A\n3: A</think>1: B\n2: C\n3: A",
        "1: She smiles.\nAnswer: B. option number 2\n2: Two reasons:\n1. he waits\n2. he nods\nAnswer: C\n3: Answer: A",
        "1: A\n2: A\n3: A\nOn reflection:\n1: B\n2: C\n3: A",
        '[{"question": 1, "answer": "B"}, {"question": 2, "answer": "C"}, {"question": 3, "answer": "A"}]',
        '```json\n{"answers": {"1": "B", "2": "C", "3": "A"}}\n```',
        '{"answers": [{"id": "Q1", "answer": "B"}, {"id": "Q2", "answer": "C"}, {"id": "Q3", "answer": "A"}]}',
        "| Question | Answer |\n|---|---|\n| 1 | B. option number 2 |\n| 2 | C |\n| 3 | A |",
        "Answer 1: B\nAnswer 2: C\nAnswer 3: A",
        "1\uff1aB\n2\uff1aC\n3:A",
        "1: B, 2: C. option number 3; 3: A",
    ],
)
def test_forms_of_a_full_reply(reply: str) -> None:
    assert letters(reply) == ["B", "C", "A"]


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("1: B\n3: A", ["B", None, "A"]),
        ("2: C", [None, "C", None]),
        ("1: B\n2: C or A\n3: A", ["B", None, "A"]),
        ("1: B\n2: C\n3: A\n4: D", ["B", "C", "A"]),
        ("B, C, A", [None, None, None]),
        ('["B", "C", "A"]', [None, None, None]),
        ('{"2": ["C"]}', [None, "C", None]),
        ("1: B. they met in 2, 3: A", ["B", None, "A"]),
        ("", [None, None, None]),
        ("<think>1: B\n2: C", [None, None, None]),
        ("1: B\n2: C\n3:", ["B", "C", None]),
    ],
)
def test_what_is_not_there_is_not_made_up(reply: str, read: list[str | None]) -> None:
    assert letters(reply) == read


def test_a_clip_with_one_question_needs_no_number() -> None:
    assert split_answers("B. option number 2", ITEMS[:1]) == {"q1": "B. option number 2"}
