"""Items of several calls, and calls for several items: a toy benchmark that asks by option and by video."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from onlooker.benchmarks.sivbench.protocol import BENCHMARK
from onlooker.errors import InputError
from onlooker.models.request import Image, Part, Reply, Request, Text
from onlooker.models.scripted import ScriptedModel
from onlooker.protocol.benchmark import Benchmark, Given, PartCalls, VideoCalls
from onlooker.protocol.condition import Condition
from onlooker.records.public import ChoiceItem, Item
from onlooker.run.execute import Session
from onlooker.run.export import export_folder
from onlooker.run.ledger import LEDGER_NAME, Ledger
from tests.run.test_session import rows, without_times

MakeSession = Callable[..., Session]


def _names(item: Item, condition: Condition) -> tuple[str, ...]:
    assert isinstance(item, ChoiceItem)
    return tuple(option.id for option in item.options)


def _render_part(item: Item, condition: Condition, given: Given, part: str) -> tuple[Part, ...]:
    assert isinstance(item, ChoiceItem)
    return (*given.frames, Text(f"{item.question} Is it {part}? ({condition.name}, {len(given.frames)} frames)"))


def _window(item: Item, condition: Condition, part: str) -> tuple[float, float] | None:
    return {"A": (0.0, 1.0), "B": (1.0, 2.0)}[part]


def _render_video(items: Sequence[Item], condition: Condition, given: Given) -> tuple[Part, ...]:
    return (*given.frames, Text("\n".join(f"{item.id}: {getattr(item, 'question', '')}" for item in items)))


def _split(raw: str, items: Sequence[Item]) -> Mapping[str, str]:
    lines = dict(line.split(": ", 1) for line in raw.splitlines() if ": " in line)
    return {item.id: lines[item.id] for item in items if item.id in lines}


TOY: Benchmark = dataclasses.replace(
    BENCHMARK,
    conditions=(
        Condition("by_option", "option by option", "t", frames="uniform:2", calls="part"),
        Condition("per_video", "all questions of a video at once", "t", frames="uniform:2", calls="video"),
        Condition("words_per_video", "the same without pictures", "t", calls="video"),
    ),
    baseline=None,
    part_calls=PartCalls(_names, _render_part, _window),
    video_calls=VideoCalls(_render_video, _split),
)


def answering(script: Callable[[Request], str], asked: list[Request] | None = None) -> ScriptedModel:
    def answer(request: Request) -> Reply:
        if asked is not None:
            asked.append(request)
        text = script(request)
        return Reply(text, "ok" if text else "empty", 10, 4)

    return ScriptedModel(answer, script_id="toy")


def test_an_item_of_several_calls_has_a_row_for_each_part(session: MakeSession) -> None:
    asked: list[Request] = []
    made = session(answering(lambda r: r.text[-30:], asked), "by_option", benchmark=TOY, seeds=[1, 2])
    outcome = made.work()
    # Three items are readable, two options each, two seeds.
    assert (outcome.asked, outcome.failed_media, outcome.left) == (20, 8, 8)
    predictions = rows(made.run_dir / "predictions.jsonl")
    assert [(p["item"], p["part"], p["seed"]) for p in predictions[:5]] == [
        ("q0", "A", 1),
        ("q0", "A", 2),
        ("q0", "B", 1),
        ("q0", "B", 2),
        ("q1", "A", 1),
    ]
    assert len({(p["item"], p["part"], p["seed"]) for p in predictions}) == len(predictions) == 20
    assert predictions[2]["raw"].endswith("Is it B? (by_option, 2 frames)"[-30:])
    # Each part is shown its own window.
    times = {
        request.text.split("Is it ")[1][0]: [p.time_s for p in request.parts if isinstance(p, Image)]
        for request in asked
    }
    assert all(time_s < 1.0 for time_s in times["A"])
    assert all(1.0 <= time_s < 2.0 for time_s in times["B"])
    plan = made.plan.document
    assert plan["parts"] == {"by_option": {f"q{n}": ["A", "B"] for n in range(5)}}


def test_one_call_answers_all_questions_of_a_video(session: MakeSession) -> None:
    asked: list[Request] = []

    def script(request: Request) -> str:
        return "\n".join(f"{line.split(':')[0]}: Answer {line.split(':')[0]}" for line in request.text.splitlines())

    made = session(answering(script, asked), "per_video", benchmark=TOY)
    outcome = made.work()
    assert len(asked) == 2  # the red and the blue clip; two cannot be read
    assert (outcome.asked, outcome.failed_media, outcome.left) == (4, 2, 2)
    one, two, three, *_ = rows(made.run_dir / "predictions.jsonl")
    assert [p["raw"] for p in (one, two, three)] == ["Answer q0", "Answer q1", "Answer q2"]
    assert one["batch"] == two["batch"] != three["batch"]
    ledger = Ledger(made.run_dir / LEDGER_NAME)
    assert {e.prediction.get("batch") for e in ledger.entries() if e.final} == {
        t["call_sha256"] for t in ledger.book.tries()
    }
    totals = ledger.totals()
    ledger.close()
    assert one["usage"] == {"input_tokens": 10, "output_tokens": 4}
    assert two["usage"] == {"input_tokens": None, "output_tokens": None}
    assert (one["cost_usd"], two["cost_usd"]) == (0.0, None)
    assert (totals["attempts"], totals["input_tokens"]) == (2, 20)


def test_a_question_that_the_reply_of_its_video_leaves_out_is_empty(session: MakeSession) -> None:
    made = session(answering(lambda request: "q1: B\nq2: A"), "per_video", benchmark=TOY)
    made.work()
    found = {p["item"]: (p["raw"], p["status"]) for p in rows(made.run_dir / "predictions.jsonl")}
    assert found["q0"] == ("", "empty")
    assert found["q1"] == ("B", "ok")


def test_a_truncated_reply_of_a_video_leaves_its_last_questions_truncated(session: MakeSession) -> None:
    model = ScriptedModel(lambda request: Reply("q0: A\n", "truncated"), script_id="t")
    made = session(model, "per_video", benchmark=TOY)
    made.work()
    found = {p["item"]: (p["raw"], p["status"]) for p in rows(made.run_dir / "predictions.jsonl")}
    assert found["q0"] == ("A", "truncated")
    assert found["q1"] == ("", "truncated")


def test_a_finished_video_is_not_asked_again_and_exports_come_out_the_same(session: MakeSession) -> None:
    names = ("by_option", "per_video", "words_per_video")
    script = lambda request: "q0: A\nq1: B\nq2: A\nq3: A\nq4: B"  # noqa: E731
    made = session(answering(script), *names, benchmark=TOY)
    made.work()
    asked: list[Request] = []
    again = session(answering(script, asked), *names, benchmark=TOY)
    outcome = again.work()
    assert asked == []
    assert outcome.left == 4 + 2  # the parts and the rows of the two media that cannot be read
    files = ("predictions.jsonl", "requests.jsonl", "failures.jsonl")
    before = {name: rows(made.run_dir / name) for name in files}
    export_folder(made.run_dir)
    after = {name: rows(made.run_dir / name) for name in files}
    assert before == after
    assert len(before["predictions.jsonl"]) == 10 + 5 + 5


def test_calls_of_a_kind_that_nothing_declares_are_refused() -> None:
    condition = Condition("by_option", "option by option", "t", calls="part")
    with pytest.raises(InputError, match="part_calls says nothing"):
        dataclasses.replace(BENCHMARK, conditions=(condition,), baseline=None)


def test_a_condition_owes_only_the_items_it_is_for(session: MakeSession) -> None:
    scoring = dataclasses.replace(BENCHMARK.scoring, owes=lambda condition, item: item.id in ("q0", "q2"))
    benchmark = dataclasses.replace(BENCHMARK, scoring=scoring)
    made = session(answering(lambda request: "A"), "text_only", benchmark=benchmark)
    assert made.work().asked == 2
    assert made.plan.document["owed"] == {"text_only": ["q0", "q2"]}
    assert [p["item"] for p in rows(made.run_dir / "predictions.jsonl")] == ["q0", "q2"]
    nothing: dict[str, Any] = {"owes": lambda condition, item: False}
    with pytest.raises(InputError, match="for none of the items"):
        session(
            answering(lambda request: "A"),
            "text_only",
            benchmark=dataclasses.replace(BENCHMARK, scoring=dataclasses.replace(scoring, **nothing)),
        )


def test_parts_and_videos_survive_without_times(session: MakeSession) -> None:
    """Two undisturbed runs of the same plan write the same rows, times aside."""
    script = lambda request: "q0: A\nq1: B"  # noqa: E731
    found = []
    for run in ("one", "two"):
        made = session(answering(script), "by_option", "per_video", benchmark=TOY, run=run)
        made.work()
        found.append([without_times(row) for row in rows(made.run_dir / "predictions.jsonl")])
    assert found[0] == found[1]
