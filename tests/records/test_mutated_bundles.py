"""Whatever is wrong with a bundle, validation answers with problems of one printable line, never with an exception."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from onlooker.records.labels import LabelRules
from onlooker.records.problem import Problem
from onlooker.records.validate import validate_bundle
from tests.records.made_bundle import MadeBundle

RULES = {
    "fam": LabelRules(
        closed={"capability": ("G",), "perspective": ("first",)},
        required=("capability",),
        parents={"subtask": ("dimension", {"AR": "SSU"})},
    )
}
JUNK: list[Any] = [
    None, True, 5, -1, 1.5, "", "A", "e1", "x" * 300, "\ud800", " ", "\u2028", [], {}, ["A"], [None],
    [{}], {"a": 1}, [{"id": "A"}], 10**30, 1e308, float("nan"), float("inf"), "choice",
    {"str": {"x": 1}}, "a/" * 200, "media/\n",
]  # fmt: skip
NAMES = ["str", "list[str]", "choice", "int", "task", "media", "video", "tuple[str, ...]"]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from paths(inner, (*path, number))


def mutate(row: dict[str, Any], draw: random.Random) -> Any:
    row = json.loads(json.dumps(row))
    path = draw.choice(list(paths(row)))
    if not path:
        return draw.choice(JUNK)
    holder: Any = row
    for step in path[:-1]:
        holder = holder[step]
    chance = draw.random()
    if chance < 0.2 and isinstance(holder, dict):
        del holder[path[-1]]
    elif chance < 0.3 and isinstance(holder, dict):
        holder[draw.choice(NAMES)] = draw.choice(JUNK)
    else:
        holder[path[-1]] = draw.choice(JUNK)
    return row


def test_every_answer_is_a_list_of_lines(made: MadeBundle) -> None:
    draw = random.Random(1)
    found: list[Problem] = []
    for _ in range(500):
        spoilt = MadeBundle(made.folder)
        for _ in range(draw.randint(1, 3)):
            rows: list[Any] = getattr(spoilt, draw.choice(["episodes", "items", "references", "ratings"]))
            number = draw.randrange(len(rows))
            rows[number] = mutate(rows[number], draw) if isinstance(rows[number], dict) else None
        found += validate_bundle(spoilt.write(), RULES)
    assert len(found) > 500
    assert all(str(problem).isprintable() for problem in found)
    assert all(str(problem.error()).isprintable() for problem in found)
