"""The worked list: one row a reply, in every decoration, language and JSON form met so far."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.text import (
    Parsed,
    parse_choice,
    parse_intensity,
    parse_matching,
    parse_psycheme,
)

_ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("replies.jsonl").read_text(encoding="utf-8").split("\n")
    if line
]


def _parse(row: dict[str, Any]) -> Any:
    ids = [known for known, _ in row["options"]]
    texts = [text for _, text in row["options"]]
    reply = row["reply"]
    parsed: Any
    match row["kind"]:
        case "choice" | "choice_near":
            near = row["kind"] == "choice_near"
            parsed = parse_choice(reply, ids, texts, row["select"], near_text=near)
        case "matching":
            parsed = parse_matching(reply, ids)
        case "intensity":
            parsed = parse_intensity(reply, row["moments"])
        case "psycheme_choice":
            parsed = parse_psycheme(reply, task="choice", option_ids=ids, option_texts=texts, select=row["select"])
        case "psycheme_open":
            parsed = parse_psycheme(reply, task="open")
    if not isinstance(parsed, Parsed):
        return None
    value = parsed.value.answer if row["kind"].startswith("psycheme") else parsed.value
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: f"{row['kind']}-{row['reply'][:40]!r}")
def test_worked_reply(row: dict[str, Any]) -> None:
    assert _parse(row) == row["parsed"]
