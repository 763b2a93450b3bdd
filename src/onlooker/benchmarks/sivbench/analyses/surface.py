"""What the form of the questions gives away: lengths of options, places of answers, first words, and guessing rules.

No predictions are needed. Words stand between white space. The guessing rules take the option that is longest, the one
that is shortest, the one that shares most words with the question, or the place that most answers have (found on the
same questions, so slightly too good); options that tie share the guess. A rule's value is its expected credit on
questions with one right option; its advantage is the mean of (credit - 1/k), with an interval over resampled episodes.
Paper: appendix B.3, figure 17.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onlooker.benchmarks.sivbench.analyses.groups import chance_of, questions_of, right_of, whole_number, words
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import Sheet
from onlooker.records.public import ChoiceItem

TOP_WORDS = 10
RULES = ("longest option", "shortest option", "most words of the question", "most frequent place")
_WORD = re.compile(r"\w+")


def surface_statistics(material: Material) -> Findings:
    """Statistics of form, and what guessing rules make of it."""
    questions = questions_of(material)
    top = whole_number(material.options, "top", TOP_WORDS)
    places = _places(material, questions)
    lengths = [len(words(item.question)) for item in questions]
    first = Counter(_first_word(item.question) for item in questions)
    rules = _rules(material, questions)
    tables = (
        Table(
            "Options and answers by place",
            ("place", "options", "words an option", "answers", "share of the answers", "expected share"),
            tuple((p["place"], p["options"], p["words"], p["answers"], p["share"], p["expected"]) for p in places),
        ),
        Table(
            "Words a question",
            ("n", "mean", "SD", "least", "quartile 1", "median", "quartile 3", "most"),
            (tuple(_describe(lengths).values()),),
        ),
        Table(
            "First words",
            ("word", "questions", "share"),
            tuple((word, n, n / len(questions)) for word, n in _ordered(first)[:top]),
        ),
        rules[1],
    )
    data: dict[str, Any] = {
        "places": places,
        "right_words": rules[3],
        "question_words": _describe(lengths),
        "first_words": dict(_ordered(first)),
        "rules": rules[0],
    }
    histogram = Counter(lengths)
    span = range(min(lengths), max(lengths) + 1)
    labels = tuple(str(p["place"]) for p in places)
    figures = (
        Figure("bars", "Words an option", labels, (Series("words", tuple(p["words"] for p in places)),), "mean words"),
        Figure(
            "bars", "Place of the right answer", labels, (Series("answers", tuple(p["share"] for p in places)),),
            "share of the answers", percent=True,
        ),
        Figure(
            "lines", "Words a question", tuple(map(str, span)),
            (Series("questions", tuple(float(histogram[n]) for n in span)),), "questions",
        ),
        Figure(
            "bars", "First words", tuple(word for word, _ in _ordered(first)[:top]),
            (Series("questions", tuple(n / len(questions) for _, n in _ordered(first)[:top])),),
            "share of the questions", percent=True,
        ),
    )  # fmt: skip
    return Findings(data, tables, figures, tuple(rules[2]))


def _places(material: Material, questions: Sequence[ChoiceItem]) -> list[dict[str, Any]]:
    """Place by place: options, their mean words, right options; the share that evenly spread answers would have."""
    found = []
    right = [set(right_of(material, item)) for item in questions]
    total = sum(map(len, right))
    for k in range(max(len(item.options) for item in questions)):
        there = [
            (item.options[k], r, len(item.options))
            for item, r in zip(questions, right, strict=True)
            if k < len(item.options)
        ]
        answers = sum(option.id in r for option, r, _ in there)
        found.append(
            {
                "place": chr(ord("A") + k) if k < 26 else str(k + 1),
                "options": len(there),
                "words": sum(len(words(option.text)) for option, _, _ in there) / len(there),
                "answers": answers,
                "share": answers / total if total else None,
                "expected": sum(len(r) / count for _, r, count in there) / total if total else None,
            }
        )
    return found


def _rules(
    material: Material, questions: Sequence[ChoiceItem]
) -> tuple[dict[str, Any], Table, list[str], dict[str, float | None]]:
    single = [item for item in questions if item.select == "one" and len(right_of(material, item)) == 1]
    right = {item.id: right_of(material, item)[0] for item in single}
    at = Counter(_place(item, right[item.id]) for item in single)
    favourite = min(at, key=lambda place: (-at[place], place)) if at else 0
    scores: dict[str, Callable[[ChoiceItem], list[float]]] = {
        RULES[0]: lambda item: [len(words(o.text)) for o in item.options],
        RULES[1]: lambda item: [-len(words(o.text)) for o in item.options],
        RULES[2]: _shared_words,
        RULES[3]: lambda item: [float(k == favourite) for k in range(len(item.options))],
    }
    sheet = Sheet(material, right)
    columns = sheet.columns([item.id for item in single])
    guess = [chance_of(item) for item in single]
    for rule, score in scores.items():
        credit = [_credit(item, score(item), right[item.id]) for item in single]
        sheet.add((rule, "credit"), columns.mean("", credit))
        sheet.add((rule, "advantage"), columns.mean("", [c - g for c, g in zip(credit, guess, strict=True)]))
    of_right = [float(len(words(o.text))) for i in single for o in i.options if o.id == right[i.id]]
    of_wrong = [
        sum(len(words(o.text)) for o in i.options if o.id != right[i.id]) / (len(i.options) - 1)
        for i in single
        if len(i.options) > 1
    ]
    solved = sheet.solve()
    notes = sheet.notes(solved)
    if len(single) < len(questions):
        notes.append(f"{len(questions) - len(single)} questions with several right options are in no guessing rule")
    rows: list[tuple[Cell, ...]] = [
        (rule, solved[rule, "credit"].n, solved[rule, "credit"].value, *solved[rule, "advantage"].cells)
        for rule in RULES
    ]
    data = {rule: {what: solved[rule, what].spell() for what in ("credit", "advantage")} for rule in RULES}
    table = Table("Guessing rules", ("rule", "n", "credit", "over chance", "low", "high"), tuple(rows))
    means = {
        "right": sum(of_right) / len(of_right) if of_right else None,
        "wrong": sum(of_wrong) / len(of_wrong) if of_wrong else None,
    }
    return data, table, notes, means


def _credit(item: ChoiceItem, scores: Sequence[float], right: str) -> float:
    best = max(scores)
    leaders = [option.id for option, score in zip(item.options, scores, strict=True) if score == best]
    return (right in leaders) / len(leaders)


def _shared_words(item: ChoiceItem) -> list[float]:
    asked = set(_WORD.findall(item.question.lower()))
    return [float(len(asked & set(_WORD.findall(option.text.lower())))) for option in item.options]


def _place(item: ChoiceItem, option_id: str) -> int:
    return next(k for k, option in enumerate(item.options) if option.id == option_id)


def _first_word(question: str) -> str:
    found = _WORD.search(question.lower())
    return found[0] if found else ""


def _ordered(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _describe(lengths: Sequence[int]) -> dict[str, float | int | None]:
    low, middle, high = (float(q) for q in np.quantile(lengths, [0.25, 0.5, 0.75]))
    return {
        "n": len(lengths),
        "mean": float(np.mean(lengths)),
        "sd": float(np.std(lengths, ddof=1)) if len(lengths) > 1 else None,
        "least": min(lengths),
        "quartile_1": low,
        "median": middle,
        "quartile_3": high,
        "most": max(lengths),
    }


ANALYSIS = Analysis(
    name="surface",
    says="option lengths, answer places, first words, question lengths, rules that guess from them (no predictions)",
    source="appendix B.3, figure 17",
    run=surface_statistics,
    options={"top": f"how many first words are shown; {TOP_WORDS} where absent"},
)
