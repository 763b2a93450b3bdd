"""Every condition of every family: distinct, rendered without private words, and unchanged unless reviewed."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from onlooker.catalog import families, load_benchmark
from onlooker.models.request import Image, Options, Text
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.description import describe_condition, describe_text, specimen_request
from onlooker.records.public import ChoiceItem

GOLDEN = Path(__file__).parent.parent / "golden"
ASKING = [b for b in map(load_benchmark, families()) if b.conditions]


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
def test_no_two_conditions_render_the_same_request(benchmark: Benchmark) -> None:
    for one, two in itertools.combinations(benchmark.conditions, 2):
        same = [describe_condition(benchmark, c)["prompts"] for c in (one, two)]
        declared = two.same_as == one.name or (one.same_as == two.name)
        assert (same[0] == same[1]) == declared, f"{one.name} and {two.name}"


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


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
def test_frames_are_announced_by_their_own_times(benchmark: Benchmark) -> None:
    item = ChoiceItem.model_validate(
        {
            "id": "i",
            "episode": "e",
            "task": "choice",
            "question": "Q?",
            "select": "one",
            "options": [{"id": "A", "text": "a"}, {"id": "B", "text": "b"}],
        }
    )
    times = (0.0, 0.633, 3.8)
    condition = next(c for c in benchmark.conditions if c.frames)
    parts = benchmark.render(
        item, condition, Given(tuple(Image(b"", t, "s") for t in times), None, "" if condition.transcript else None)
    )
    before = [parts[n - 1] for n, part in enumerate(parts) if isinstance(part, Image)]
    assert before == [Text("\n[0.00 s]\n"), Text("\n[0.63 s]\n"), Text("\n[3.80 s]\n")]
    assert any(isinstance(p, Options) for p in parts)
