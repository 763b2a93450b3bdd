"""Every condition of every family: distinct, rendered without private words, and unchanged unless reviewed."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.catalog import families, load_benchmark
from onlooker.models.request import Text
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.checks import check_benchmark
from onlooker.protocol.description import describe_text, specimen_request

GOLDEN = Path(__file__).parent.parent / "golden"
ASKING = [b for b in map(load_benchmark, families()) if b.conditions]


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
def test_the_rules_for_every_benchmark_hold(benchmark: Benchmark) -> None:
    """Distinct requests, frames after their own times, nothing lost, nothing named that is not given."""
    assert check_benchmark(benchmark) == []


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
def test_the_effective_protocol_is_the_reviewed_one(benchmark: Benchmark) -> None:
    """A change of protocol shows as a change of this file. Regenerate it with:

    onlooker describe FAMILY > tests/golden/FAMILY.txt
    """
    golden = (GOLDEN / f"{benchmark.family}.txt").read_text(encoding="utf-8")
    assert describe_text(benchmark, benchmark.conditions).rstrip("\n") == golden.rstrip("\n")


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
def test_a_prompt_speaks_only_of_what_is_given(benchmark: Benchmark) -> None:
    for condition in benchmark.conditions:
        words = "".join(p.text for p in specimen_request(benchmark, condition) if isinstance(p, Text)).lower()
        assert ("frame" in words) == (condition.frames is not None), condition.name
        assert ("the sound of the clip" in words) == condition.sound, condition.name
        assert ("what is said" in words) == condition.transcript, condition.name
        assert "subtitle" not in words, condition.name
