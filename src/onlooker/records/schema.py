"""The records as JSON Schema: ``python -m onlooker.records.schema docs/schemas`` writes one file a
type.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from onlooker.records.jsonl import write_text
from onlooker.records.private import Rating, Reference
from onlooker.records.public import ITEM, BundleCard, Episode
from onlooker.records.results import Judgement, Plan, Prediction

_ADAPTERS: Final[dict[str, TypeAdapter[Any]]] = {
    "bundle": TypeAdapter(BundleCard),
    "episode": TypeAdapter(Episode),
    "item": ITEM,
    "reference": TypeAdapter(Reference),
    "rating": TypeAdapter(Rating),
    "prediction": TypeAdapter(Prediction),
    "judgement": TypeAdapter(Judgement),
    "plan": TypeAdapter(Plan),
}


def schemas() -> dict[str, dict[str, Any]]:
    """{name of the record: its JSON Schema, draft 2020-12}."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: head | adapter.json_schema() for name, adapter in _ADAPTERS.items()}


def schema_text(schema: dict[str, Any]) -> str:
    """A schema as its file spells it."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def write_schemas(folder: Path) -> None:
    """Write every schema to ``folder`` as ``<name>.json``."""
    for name, schema in schemas().items():
        write_text(folder / f"{name}.json", schema_text(schema))


if __name__ == "__main__":
    write_schemas(Path(sys.argv[1]))
