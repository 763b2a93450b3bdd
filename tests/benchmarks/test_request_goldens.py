"""The exact parts of every request of every condition, for a tiny bundle of each family; the same in two processes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.small_bundles import GOLDEN, documents


def test_requests_are_the_reviewed_ones_in_every_process(tmp_path: Path) -> None:
    """A change of what is sent shows as a change of these files. Write them anew with:

    python -m tests.benchmarks.small_bundles FOLDER --write
    """
    there = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.small_bundles", str(tmp_path / "there")],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": "77"},
        cwd=Path(__file__).parents[2],
    )
    here = dict(documents(tmp_path / "here"))
    assert there.communicate()[0] == "".join(here.values()).encode()
    assert there.returncode == 0
    for family, document in here.items():
        assert not re.search(r"\b1 frames|\bone frames", document), family
        assert document == (GOLDEN / f"requests_{family}.json").read_text(encoding="utf-8"), family
