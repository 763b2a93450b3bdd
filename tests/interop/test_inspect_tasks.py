"""Our protocols as tasks of Inspect: the same requests, the same grades, every sample in the denominator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from onlooker.catalog import load_benchmark
from onlooker.errors import InputError, MissingAsset
from onlooker.models.request import Image, Modality, Options, Reply, Request, Text
from onlooker.models.scripted import ScriptedModel
from onlooker.records.bundle import open_bundle
from onlooker.run.delivery import Delivery
from onlooker.run.execute import Session
from onlooker.run.plan import Parameters, make_plan
from tests.interop.making import MAKERS, Piece, inspect, pieces, said, siv, write_rows

pytest.importorskip("inspect_ai")

if TYPE_CHECKING:
    from inspect_ai import Task
    from inspect_ai.log import EvalLog
    from inspect_ai.model import ChatMessage, ModelOutput

TASKS = {"sivbench": "siv_bench", "mmhbench": "mmhbench", "psycheme": "psycheme", "reactionbench": "reactionbench"}
ACCEPTS: frozenset[Modality] = frozenset(("text", "image"))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("INSPECT_DISPLAY", "none")


def task(family: str, bundle: Path, condition: str | None = None, seed: int | None = None) -> Task:
    from onlooker.interop import inspect_registry

    made: Task = getattr(inspect_registry, TASKS[family])(bundle=str(bundle), condition=condition, seed=seed)
    return made


def ran_here(
    bundle: Path, condition: str, seed: int | None, folder: Path
) -> tuple[list[Request], list[dict[str, Any]]]:
    """The requests that ``onlooker eval`` sends for a model that takes words and pictures, and its predictions."""
    sent: list[Request] = []

    def script(request: Request) -> Reply:
        sent.append(request)
        return Reply("Answer: A", "ok")

    model = ScriptedModel(script, script_id="keeps", accepts=ACCEPTS)
    opened = open_bundle(bundle)
    benchmark = load_benchmark(opened.card.family)
    parameters = Parameters()
    plan = make_plan(
        opened,
        benchmark,
        list(opened.items()),
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=[benchmark.condition(condition)],
        seeds=(seed,),
        parameters=parameters,
    )
    delivery = Delivery(opened, folder / "cache", ACCEPTS, parameters)
    Session(plan, benchmark, model, delivery, opened.load_episodes(), folder / "run", concurrency=1).work()
    lines = (folder / "run" / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    return sent, [json.loads(line) for line in lines]


def spelled(request: Request) -> list[Piece]:
    """The parts of a request of ours, neighbouring words joined as every provider of ours joins them."""
    found: list[Piece] = []
    for part in request.parts:
        if isinstance(part, Image):
            found.append(("image", part.jpeg))
            continue
        assert isinstance(part, Text | Options)
        before = found.pop()[1] if found and found[-1][0] == "text" else ""
        assert isinstance(before, str)
        found.append(("text", before + part.text))
    return found


@pytest.mark.parametrize(
    ("family", "condition", "seed"),
    [
        ("sivbench", "origin", None),
        ("sivbench", "text_only", None),
        ("sivbench", "cot", 7),
        ("sivbench", "origin+options_rotated_1", None),
        ("sivbench", "origin+frames_reversed", None),
        ("mmhbench", "both", None),
        ("mmhbench", "transcript_only", None),
        ("psycheme", "full", None),
        ("psycheme", "none", None),
        ("psycheme", "mismatched", 42),
        ("reactionbench", "joint", None),
        ("reactionbench", "grouped", None),
        ("reactionbench", "matching", None),
        ("reactionbench", "rationale", None),
    ],
)
def test_the_model_gets_what_our_own_run_sends(family: str, condition: str, seed: int | None, tmp_path: Path) -> None:
    bundle = MAKERS[family](tmp_path / "bundle")
    sent, rows = ran_here(bundle, condition, seed, tmp_path)
    got: list[list[Piece]] = []

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        assert [message.role for message in messages] == ["user"]
        got.append(pieces(messages[0]))
        return said("Answer: A")

    log = inspect(task(family, bundle, condition, seed), reply, tmp_path / "logs", max_samples=1)
    assert log.status == "success"
    assert got == [spelled(request) for request in sent]
    assert any(kind == "image" for kind, _ in got[0]) == (condition not in ("text_only", "transcript_only"))
    assert log.samples is not None
    for sample, row in zip(log.samples, rows, strict=True):
        own = sample.metadata["onlooker"]
        assert sample.id == row["item"]
        assert {name: own[name] for name in ("prompt_sha256", "media_sha256", "seed")} == {
            name: row[name] for name in ("prompt_sha256", "media_sha256", "seed")
        }
        assert own.get("options_shown") == row.get("options_shown")
    asked = load_benchmark(family).condition(condition)
    assert log.eval.metadata is not None
    assert log.eval.metadata["onlooker"].get("not_sent") == (["json_object"] if asked.json_object else None)
    config = log.plan.config
    assert (config.temperature, config.seed) == (0.0, seed)
    assert config.max_tokens == asked.max_output_tokens


def graded(log: EvalLog) -> dict[str, tuple[object, str]]:
    """{item: (value, outcome)}."""
    found: dict[str, tuple[object, str]] = {}
    for sample in log.samples or []:
        assert sample.scores is not None
        score = sample.scores["graded"]
        assert score.metadata is not None
        found[str(sample.id)] = (score.value, score.metadata["outcome"])
    return found


def test_every_sample_stays_in_the_denominator(tmp_path: Path) -> None:
    bundle = siv(tmp_path / "bundle", lost=True)

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        words = str(pieces(messages[0]))
        if "Which colour, 4?" in words:
            raise RuntimeError("the server is gone")
        replies = [said("(A)"), said("Because she smiles, it is C."), said("  "), said("Answ", "max_tokens")]
        number = next(n for n in range(6) if f"Which colour, {n}?" in words)
        return said("I cannot", "content_filter") if number == 5 else replies[number]

    log = inspect(task("sivbench", bundle), reply, tmp_path / "logs", max_samples=1)
    assert log.status == "success"
    assert graded(log) == {
        "q0": (1.0, "scored"),
        "q1": (0.0, "scored"),
        "q2": (0.0, "empty"),
        "q3": (0.0, "truncated"),
        "q4": (0.0, "error"),
        "q5": (0.0, "refused"),
        "q6": (0.0, "error"),
    }
    assert log.results is not None
    metrics = log.results.scores[0].metrics
    assert metrics["credit"].value == pytest.approx(1 / 7)


def test_moved_options_are_moved_back_before_grading(tmp_path: Path) -> None:
    bundle = siv(tmp_path / "bundle")
    condition = "text_only+options_rotated_1"
    log = inspect(task("sivbench", bundle, condition), lambda messages: said("Answer: B"), tmp_path / "logs")
    # Rotated by one, the text of A ("red", the right one) stands under B.
    assert set(graded(log).values()) == {(1.0, "scored")}


def test_what_has_no_credit_is_unscored_with_its_reason(tmp_path: Path) -> None:
    bundle = MAKERS["reactionbench"](tmp_path / "bundle")
    profile = '{"m0": 5, "m1": 40, "m2": 80}'
    log = inspect(task("reactionbench", bundle, "joint"), lambda messages: said(profile), tmp_path / "logs")
    (sample,) = log.samples or []
    assert sample.scores is not None
    score = sample.scores["graded"]
    assert score.reason == "no answer credit"
    assert score.metadata is not None
    assert score.metadata["points"]["rho0"] == 1.0
    log = inspect(task("reactionbench", bundle, "rationale"), lambda messages: said("She is glad."), tmp_path / "logs")
    (sample,) = log.samples or []
    assert sample.scores is not None
    assert sample.scores["graded"].reason == "unjudged"


@pytest.mark.parametrize("family", list(TASKS))
def test_no_answer_reaches_a_sample_or_the_model(family: str, tmp_path: Path) -> None:
    bundle = MAKERS[family](tmp_path / "bundle")
    seen: list[str] = []

    def reply(messages: list[ChatMessage]) -> ModelOutput:
        seen.append(str(messages))
        return said("Answer: A")

    made = task(family, bundle)
    samples = "".join(sample.model_dump_json() for sample in made.dataset)
    log = inspect(made, reply, tmp_path / "logs")
    assert "SECRET" not in samples + "".join(seen)
    assert all(sample.target == "" for sample in made.dataset)
    assert log.samples


def test_a_bundle_without_answers_is_asked_and_not_scored(tmp_path: Path) -> None:
    bundle = siv(tmp_path / "bundle")
    (bundle / "references.jsonl").unlink()
    log = inspect(task("sivbench", bundle, "text_only"), lambda messages: said("A"), tmp_path / "logs")
    assert log.status == "success"
    assert [sample.output.completion for sample in log.samples or []] == ["A"] * 6
    assert not any(sample.scores for sample in log.samples or [])


def test_pictures_are_not_logged(tmp_path: Path) -> None:
    bundle = siv(tmp_path / "bundle")
    log = inspect(task("sivbench", bundle), lambda messages: said("A"), tmp_path / "logs")
    assert "data:image/jpeg" not in log.model_dump_json()


@pytest.mark.parametrize(
    ("family", "condition", "words"),
    [
        ("sivbench", "origin_per_video", "calls of a video"),
        ("reactionbench", "independent", "calls of a part"),
        ("reactionbench", "joint_video", "shows a video file"),
        ("psycheme", "mismatched", "drawn by a seed"),
        ("sivbench", "no_such", "no condition of this name"),
    ],
)
def test_what_inspect_cannot_ask_is_refused_at_once(family: str, condition: str, words: str, tmp_path: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    bundle = MAKERS[family](tmp_path / "bundle")
    with pytest.raises(PrerequisiteError, match=words) as refused:
        task(family, bundle, condition)
    assert isinstance(refused.value.__cause__, InputError)


@pytest.mark.parametrize(
    ("given", "words"),
    [({}, "no bundle is named"), ({"bundle": 2026}, "2026: no such folder"), ({"seed": "x"}, "whole number")],
)
def test_what_stands_behind_t_is_refused_in_one_line(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Inspect hands over whatever YAML makes of it."""
    from inspect_ai._util.error import PrerequisiteError

    from onlooker.interop import inspect_registry

    named = {"bundle": str(siv(tmp_path / "bundle"))} if "seed" in given else {}
    with pytest.raises(PrerequisiteError, match=words):
        inspect_registry.siv_bench(**(named | given))


def test_a_part_that_is_not_there_stops_the_task_and_costs_no_sample(tmp_path: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    bundle = MAKERS["mmhbench"](tmp_path / "bundle")
    rows = [{"id": name, "media": {"video": f"media/{name}.mp4"}} for name in ("red", "blue")]
    write_rows(bundle / "episodes.jsonl", rows)
    # The clip with sound has no transcript, and the cache of this test no speech recognition.
    with pytest.raises(PrerequisiteError, match="whisper") as refused:
        task("mmhbench", bundle, "transcript_only")
    assert isinstance(refused.value.__cause__, MissingAsset)


def test_a_task_is_of_its_own_family(tmp_path: Path) -> None:
    from inspect_ai._util.error import PrerequisiteError

    from onlooker.interop.inspect_registry import any_family

    bundle = siv(tmp_path / "bundle")
    with pytest.raises(PrerequisiteError, match="another family"):
        task("mmhbench", bundle)
    assert len(any_family(bundle=str(bundle)).dataset) == 6
