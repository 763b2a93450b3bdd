"""The published JSON Schemas are those of the types."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.records.schema import schema_text, schemas

FOLDER = Path(__file__).parents[2] / "docs" / "schemas"


@pytest.mark.parametrize("name", sorted(schemas()))
def test_schema_is_current(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert text == schema_text(schemas()[name]), "run: python -m onlooker.records.schema docs/schemas"


def test_no_schema_is_left_over() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(schemas())


def test_schema_says_what_is_required() -> None:
    item = schemas()["item"]
    assert item["discriminator"]["propertyName"] == "task"
    choice = item["$defs"]["ChoiceItem"]
    assert choice["required"] == ["id", "episode", "task", "question", "options", "select"]
    assert choice["properties"]["options"]["minItems"] == 1
    assert schemas()["prediction"]["required"] == ["item", "model", "condition", "raw", "status"]
