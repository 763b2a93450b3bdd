"""Every condition of every family: distinct, rendered without private words, and unchanged unless reviewed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from onlooker.catalog import families, load_benchmark
from onlooker.models.request import Image, Modality, Text
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.checks import check_benchmark
from onlooker.protocol.condition import Gives
from onlooker.protocol.description import describe_text
from onlooker.protocol.specimen import specimens

GOLDEN = Path(__file__).parent.parent / "golden"
ASKING = [b for b in map(load_benchmark, families()) if b.conditions]
SEES: tuple[Modality, ...] = ("text", "image")
HEARS: tuple[Modality, ...] = ("text", "image", "sound")
WATCHES: tuple[Modality, ...] = ("text", "image", "sound", "video")


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


NAMED = {
    ("sivbench", condition)
    for one in ("origin", "with_subtitles", "without_text", "no_audio", "text_only", "cot")
    for condition in (one, f"{one}_per_video")
} | {
    *(
        ("psycheme", c)
        for c in ["full", "question_only", "asr_only", "visual_only", "single_image", "matched", "none", "mismatched"]
    ),
    *(("reactionbench", f"joint{c}") for c in ("", "_legacy_time", "_video")),
    *(("reactionbench", c) for c in ("grouped", "independent", "rationale")),
    *(("reactionbench", f"rationale_{c}") for c in ("stimulus_only", "shuffled")),
    ("reactionbench", "matching"),
    *(
        ("reactionbench", f"matching_{c}")
        for c in ("per_option", "side_by_side", "stimulus_only", "shuffled", "cross_video", "video")
    ),
    *(("mmhbench", f"frames_{n}") for n in (0, 1, 2, 4, 8, 16, 32, 64)),
    *(("mmhbench", c) for c in ("both", "question_only", "video_only", "transcript_only", "bolt")),
}
"""The names that FORMATS fixes (section 4, condition names)."""


def test_every_condition_of_the_contract_is_there() -> None:
    there = {(b.family, condition.name) for b in ASKING for condition in b.conditions}
    assert NAMED - there == set()
    assert there - NAMED == {("mmhbench", "both_reasoned")}, "one more: it asks for the reasoning that is judged"


@pytest.mark.parametrize("benchmark", ASKING, ids=lambda b: b.family)
@pytest.mark.parametrize("accepts", [SEES, HEARS, WATCHES], ids=["sees", "hears", "watches"])
def test_a_prompt_speaks_only_of_what_is_given(benchmark: Benchmark, accepts: tuple[Modality, ...]) -> None:
    for condition in benchmark.conditions:
        if condition.video == "required" and "video" not in accepts:
            continue
        for one in specimens(benchmark, condition, accepts):
            words = "".join(p.text for p in one.parts(benchmark, condition) if isinstance(p, Text)).lower()
            framed = any(isinstance(part, Image) for part in one.shown)
            assert ("frame" in words) == framed, condition.name
            assert ("the sound of the" in words) == (one.given.sound is not None), condition.name
            assert ("what is said" in words) == (one.given.transcript is not None), condition.name
            assert "subtitle" not in words, condition.name


def test_budgets_of_reactionbench_are_those_of_its_table_10() -> None:
    benchmark = load_benchmark("reactionbench")
    caps = {c.name: c.max_output_tokens for c in benchmark.conditions}
    assert (caps["joint"], caps["independent"], caps["grouped"]) == (320, 8, 320)
    assert (caps["matching"], caps["matching_per_option"], caps["matching_side_by_side"]) == (48, 8, 8)
    assert caps["rationale"] == caps["rationale_shuffled"] == caps["rationale_stimulus_only"] == 80
    frames = {}
    for name in ("joint", "grouped", "independent", "matching", "rationale"):
        condition = benchmark.condition(name)
        for one in specimens(benchmark, condition, SEES):
            assert benchmark.views is not None
            frames[name] = [view.frames for view in benchmark.views(one.item, condition, one.part, None)]
    assert frames["joint"] == ["fps:1:64"]
    assert frames["independent"] == ["fps:1:12"]
    assert frames["grouped"] == ["fps:1:12"] * 2
    assert frames["matching"] == ["fps:1:12", *["fps:1:6"] * 4]
    assert frames["rationale"] == ["fps:1:12"] * 2


def test_times_that_would_tell_the_answer_are_not_told() -> None:
    """Reaction and stimulus run on one clock: a time beside a frame, or in the words, would give the match away."""
    benchmark = load_benchmark("reactionbench")
    for condition in benchmark.conditions:
        if not condition.name.startswith(("matching", "rationale")):
            continue
        for one in specimens(benchmark, condition, WATCHES):
            words = "".join(p.text for p in one.parts(benchmark, condition) if isinstance(p, Text))
            assert not re.search(r"\d\.\d", words), condition.name


def test_psycheme_takes_picture_and_sound_each_by_itself() -> None:
    """Appendix D.2: native where the model takes it, else frames and the words spoken."""
    full = load_benchmark("psycheme").condition("full")
    found = {accepts: full.gives(accepts) for accepts in (SEES, HEARS, WATCHES, ("text", "image", "video"))}
    assert found[SEES] == Gives(frames=True, video=False, video_sound=False, sound=False, transcript=True)
    assert found[HEARS] == Gives(frames=True, video=False, video_sound=False, sound=True, transcript=False)
    assert found[WATCHES] == Gives(frames=False, video=True, video_sound=True, sound=False, transcript=False)
    silent = Gives(frames=False, video=True, video_sound=False, sound=False, transcript=True)
    assert found["text", "image", "video"] == silent
