"""What a call is given where items or media are exchanged: whose media, which stretch, by which pool of donors."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.benchmarks.psycheme.protocol import BENCHMARK as PSYCHEME
from onlooker.benchmarks.reactionbench.protocol import BENCHMARK as REACTIONBENCH
from onlooker.benchmarks.sivbench.protocol import BENCHMARK as SIVBENCH
from onlooker.models.request import Reply
from onlooker.models.scripted import ScriptedModel
from onlooker.protocol.benchmark import Benchmark
from onlooker.records.bundle import Bundle
from onlooker.run.delivery import Delivery, want_of
from onlooker.run.plan import Call, Parameters, Plan, make_plan, reason_to_ask_none
from onlooker.score.score import score_bundle
from tests.benchmarks.small_bundles import WATCHES, make_bundle, session_of


@pytest.fixture(scope="module")
def psycheme(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return make_bundle(tmp_path_factory.mktemp("bundles"), "psycheme")


def plan_of(bundle: Bundle, benchmark: Benchmark, condition: str, limit: int | None = None) -> Plan:
    return make_plan(
        bundle,
        benchmark,
        list(bundle.items())[:limit],
        model_name="m",
        fingerprint={},
        conditions=[benchmark.condition(condition)],
    )


def first(plan: Plan) -> Call:
    return next(plan.calls())


@pytest.mark.parametrize("variation", ["frames_reversed", "paraphrase_1", "again_1", "no_sound"])
def test_another_history_leaves_the_episode_its_own(psycheme: Bundle, variation: str) -> None:
    """The donor of a history lends its words, never its media: whatever else of the condition is varied."""
    call = first(plan_of(psycheme, PSYCHEME, f"mismatched+{variation}"))
    assert call.donor is not None
    assert call.donor.episode != call.items[0].episode
    want = want_of(PSYCHEME, call)
    assert (want.episode, want.stands_in) == (call.items[0].episode, False)


@pytest.mark.parametrize(
    ("benchmark", "condition"),
    [(PSYCHEME, "mismatched"), (REACTIONBENCH, "matching_shuffled"), (SIVBENCH, "origin+wrong_video")],
)
def test_donors_are_the_same_however_many_items_are_asked(tmp_path: Path, benchmark: Benchmark, condition: str) -> None:
    bundle = make_bundle(tmp_path, benchmark.family)
    whole = {call.label: call.donor for call in plan_of(bundle, benchmark, condition).calls()}
    few = plan_of(bundle, benchmark, condition, 2)
    asked = {call.label: call.donor for call in few.calls()}
    assert asked
    assert asked == {label: whole[label] for label in asked}
    named = {item for by_seed in few.document["arranged"][condition].values() for item in by_seed["donors"]}
    assert named <= {item.id for item in list(bundle.items())[:2]}
    reason = reason_to_ask_none(
        benchmark,
        benchmark.condition(condition),
        list(bundle.items())[:2],
        bundle.load_episodes(),
        list(bundle.items()),
    )
    assert reason is None


def test_items_that_a_condition_does_not_ask_are_not_missing(psycheme: Bundle, tmp_path: Path) -> None:
    """Three of four items have a history: under ``none`` three are owed, and none is counted as wrong unasked."""
    model = ScriptedModel(lambda _request: Reply('{"answer": ["A"], "G": "she frowns"}', "ok"), script_id="a")
    conditions = [PSYCHEME.condition(name) for name in ("question_only", "none")]
    session_of(psycheme, tmp_path / "run", model, conditions, PSYCHEME).work()
    (psycheme.path / "ratings.jsonl").unlink()
    files = [tmp_path / "run" / "predictions.jsonl"]
    scores = score_bundle(psycheme, PSYCHEME.scoring, files, draws=10).scores["models"]["scripted"]
    counts = {name: scores[name]["coverage"]["items"] for name in scores}
    assert counts == {"question_only": 4, "none": 3}
    assert scores["none"]["coverage"]["missing"] == 0


def test_a_wrong_video_for_all_questions_of_a_clip_is_a_whole_one(tmp_path: Path) -> None:
    """The first question of clip x has a window; the call for all of them has none, and neither has its stand-in."""
    bundle = make_bundle(tmp_path, "sivbench")
    per_video = want_of(SIVBENCH, first(plan_of(bundle, SIVBENCH, "origin_per_video+wrong_video")))
    assert (per_video.episode, per_video.window) == ("y", None)
    alone = want_of(SIVBENCH, first(plan_of(bundle, SIVBENCH, "origin+wrong_video")))
    assert (alone.episode, alone.window) == ("y", (0.5, 1.5))


def test_the_sound_of_an_episode_is_heard_once(psycheme: Bundle, tmp_path: Path) -> None:
    """Sound of its own goes beside the picture, whose file then carries none; else the file carries it."""
    delivery = Delivery(psycheme, tmp_path / "cache", WATCHES, Parameters())
    episodes = psycheme.load_episodes()
    full = PSYCHEME.condition("full")
    for name, in_file, beside in (("heard", True, False), ("dubbed", False, True)):
        given = delivery.deliver(episodes[name], full, None).given
        assert given.video is not None
        assert (given.video.has_sound, given.sound is not None) == (in_file, beside), name
        assert given.transcript is None


def test_the_words_stand_in_where_an_episode_has_no_sound(psycheme: Bundle, tmp_path: Path) -> None:
    """PsycheMME, D.2: the transcript is the fallback for sound that cannot be had, by model or by episode."""
    silent = psycheme.load_episodes()["silent"]
    delivery = Delivery(psycheme, tmp_path / "cache", WATCHES, Parameters())
    for name in ("full", "single_image"):
        given = delivery.deliver(silent, PSYCHEME.condition(name), None).given
        assert given.transcript == "[0.0-1.5] Words of silent.", name
    assert delivery.deliver(silent, PSYCHEME.condition("visual_only"), None).given.transcript is None
    spoken = delivery.deliver(psycheme.load_episodes()["spoken"], PSYCHEME.condition("full"), None).given
    assert (spoken.video, spoken.frames, spoken.transcript) == (None, (), None)
    assert spoken.sound is not None
