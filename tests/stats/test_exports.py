"""What the package offers: everything is written down, every example runs, every result is frozen."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

from onlooker import stats

MODULES = [f"onlooker.stats.{module.name}" for module in pkgutil.iter_modules(stats.__path__)]
DOCUMENT = (Path(__file__).parents[2] / "docs" / "statistics.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", stats.__all__)
def test_every_exported_name_is_documented(name: str) -> None:
    assert re.search(rf"`{name}`", DOCUMENT), f"docs/statistics.md does not name {name}"


def test_the_document_names_no_function_that_is_gone() -> None:
    first_cells = re.findall(r"^\| `(\w+)`", DOCUMENT, re.MULTILINE)
    assert set(first_cells) <= set(stats.__all__)
    assert len(first_cells) == len(set(first_cells))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_run(module: str) -> None:
    assert doctest.testmod(importlib.import_module(module)).failed == 0


def test_results_are_frozen() -> None:
    for name in stats.__all__:
        found = getattr(stats, name)
        if dataclasses.is_dataclass(found):
            assert found.__dataclass_params__.frozen, name  # type: ignore[union-attr]
