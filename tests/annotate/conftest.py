"""Both databases, for every test that asks for ``database``."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from onlooker.annotate.database import Database, open_database

from . import cluster
from .made import make_bundle

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """Address of a real server; skipped only where its binary is absent."""
    pytest.importorskip("psycopg", reason="the driver of PostgreSQL is not installed: pip install onlooker[postgresql]")
    if not cluster.is_installed():
        pytest.skip(cluster.ABSENT)
    with cluster.cluster() as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "study.sqlite")
    return str(request.getfixturevalue("postgresql"))


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    """An empty database; in PostgreSQL a schema of its own for every test."""
    opened = open_database(address, f"test {next(_NUMBERS)}")
    yield opened
    opened.close()


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return make_bundle(tmp_path / "bundle")
