"""Model-facing records cannot reach the private ones, not even through another module."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["public", "bundle", "jsonl", "results", "problem", "digest", "labels"])
def test_private_is_not_loaded(module: str) -> None:
    code = f"import sys, onlooker.records.{module}; print('onlooker.records.private' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"


def test_importing_onlooker_loads_no_pydantic() -> None:
    code = "import sys, onlooker; print('pydantic' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert said.stdout == "False\n"
