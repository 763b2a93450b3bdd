"""Fixtures of the record tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.records.made_bundle import MadeBundle


@pytest.fixture
def made(tmp_path: Path) -> MadeBundle:
    return MadeBundle(tmp_path / "bundle")


@pytest.fixture
def jsonl(tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes bytes to ``rows.jsonl``."""

    def write(content: bytes) -> Path:
        path = tmp_path / "rows.jsonl"
        path.write_bytes(content)
        return path

    return write
