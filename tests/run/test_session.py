from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.sivbench.protocol import BENCHMARK
from onlooker.errors import InputError, QuotaExhausted
from onlooker.models.request import Image, Reply, Request, Sound
from onlooker.models.scripted import ScriptedModel
from onlooker.records.bundle import Bundle
from onlooker.run.execute import Session
from onlooker.run.export import export_folder
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.plan import make_plan

MakeSession = Callable[..., Session]


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def without_times(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != "latency_s"}


class Noting(ScriptedModel):
    """Answers with the first option and keeps every request; fails when told to."""

    def __init__(self, **options: Any) -> None:
        super().__init__(lambda request: Reply("A", "ok", 7, 1), script_id="noting", **options)
        self.asked: list[Request] = []
        self.stop_after: int | None = None

    async def ask(self, request: Request) -> Reply:
        await asyncio.sleep(0)
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise QuotaExhausted("out of quota")
        self.asked.append(request)
        return await super().ask(request)


def test_every_item_has_a_row_and_every_unreadable_medium_one_record(session: MakeSession) -> None:
    made = session(Noting(), "origin")
    outcome = made.work()
    assert (outcome.asked, outcome.failed_media, outcome.failed_calls, outcome.left) == (5, 2, 0, 2)
    predictions = rows(made.run_dir / "predictions.jsonl")
    assert [(p["item"], p["status"], p["raw"]) for p in predictions] == [
        ("q0", "ok", "A"),
        ("q1", "ok", "A"),
        ("q2", "ok", "A"),
        ("q3", "error", ""),
        ("q4", "error", ""),
    ]
    # Nothing was sent for the last two, so there is nothing to digest.
    assert [p["prompt_sha256"] is None for p in predictions] == [False, False, False, True, True]
    assert [p["media_sha256"] is None for p in predictions] == [False, False, False, True, True]
    failures = rows(made.run_dir / "failures.jsonl")
    assert [(f["episode"], f["kind"], f["items"], f["conditions"]) for f in failures] == [
        ("empty", "UnreadableMedia", ["q3"], ["origin"]),
        ("gone", "MediaError", ["q4"], ["origin"]),
    ]
    assert "empty.mp4" in failures[0]["message"]
    assert "0 bytes" in failures[0]["message"]
    assert "no such file" in failures[1]["message"]


def test_what_was_sent_is_what_is_recorded(session: MakeSession) -> None:
    model = Noting()
    made = session(model, "origin")
    made.work()
    request = next(r for r in model.asked if "Which colour is this, 0?" in r.text)
    images = [part for part in request.parts if isinstance(part, Image)]
    sounds = [part for part in request.parts if isinstance(part, Sound)]
    row = rows(made.run_dir / "requests.jsonl")[0]
    assert row["text"] == request.text
    shown = row["media"]["frames"]["shown"]
    assert [round(f["pts_s"], 6) for f in shown] == [round(i.time_s, 6) for i in images]
    assert len(images) == 16
    assert all(i.source_sha256 == row["media"]["frames"]["source_sha256"] for i in images)
    assert len(sounds) == 1
    prediction = rows(made.run_dir / "predictions.jsonl")[0]
    assert prediction["prompt_sha256"] == request.prompt_sha256()
    assert prediction["media_sha256"] == request.media_sha256()
    assert prediction["usage"] == {"input_tokens": 7, "output_tokens": 1}


def test_a_model_is_sent_nothing_it_does_not_take(session: MakeSession) -> None:
    model = Noting(accepts=frozenset({"text", "image"}))
    session(model, "origin").work()
    assert model.asked
    assert not any(isinstance(part, Sound) for request in model.asked for part in request.parts)
    assert not any("sound" in request.text for request in model.asked)


def test_a_finished_call_is_never_asked_again_and_the_files_come_out_the_same(session: MakeSession) -> None:
    undisturbed = session(Noting(), "origin", "text_only", run="one")
    undisturbed.work()
    first = Noting()
    first.stop_after = 3
    outcome = session(first, "origin", "text_only", run="two", concurrency=1).work()
    assert outcome.stopped == "out of quota"
    assert len(first.asked) == 3
    second = Noting()
    disturbed = session(second, "origin", "text_only", run="two")
    disturbed.work()
    counts = Counter(r.prompt_sha256() + r.media_sha256() for r in (*first.asked, *second.asked))
    assert set(counts.values()) == {1}
    for name in ("predictions.jsonl", "requests.jsonl", "failures.jsonl", "plan.json"):
        one, two = (
            [without_times(row) for row in rows(s.run_dir / name)]
            if name.endswith("l")
            else [json.loads((s.run_dir / name).read_text())]
            for s in (undisturbed, disturbed)
        )
        assert one == two, name


def test_a_mended_medium_is_asked_about_when_the_run_goes_on(session: MakeSession, bundle: Bundle) -> None:
    session(Noting(), "origin").work()
    good, bad = bundle.path / "media" / "red.mp4", bundle.path / "media" / "empty.mp4"
    bad.write_bytes(good.read_bytes())
    again = Noting()
    outcome = session(again, "origin").work()
    assert [request.text.count("Which colour is this, 3?") for request in again.asked] == [1]
    assert outcome.left == 1  # the file that is not there


def test_a_seed_or_a_condition_named_twice_is_refused_before_anything_is_asked(
    session: MakeSession, bundle: Bundle
) -> None:
    with pytest.raises(InputError, match="a condition is named twice"):
        session(Noting(), "origin", "origin")
    with pytest.raises(InputError, match="a seed is named twice"):
        make_plan(
            bundle,
            BENCHMARK,
            list(bundle.items()),
            model_name="m",
            fingerprint={},
            conditions=[BENCHMARK.conditions[0]],
            seeds=[1, 1],
        )


def test_another_plan_does_not_share_the_folder(session: MakeSession, bundle: Bundle) -> None:
    session(Noting(), "origin").work()
    with pytest.raises(InputError, match=r"another plan: conditions\.text_only is None there"):
        session(Noting(), "origin", "text_only").work()
    items = bundle.path / "items.jsonl"
    items.write_text(items.read_text().replace("Which", "What"))
    with pytest.raises(InputError, match=r"bundle\.asked_sha256"):
        session(Noting(), "origin").work()


def test_paid_answers_are_not_lost_with_a_file_of_the_folder(session: MakeSession) -> None:
    """Case R09: without its ledger a run is not started anew, and without its plan it is still the same run."""
    made = session(Noting(), "origin")
    made.work()
    plan, ledger = made.run_dir / "plan.json", made.run_dir / LEDGER_NAME
    plan.unlink()
    with pytest.raises(InputError, match=r"another plan: conditions\.text_only"):
        session(Noting(), "origin", "text_only").work()
    again = Noting()
    session(again, "origin").work()
    assert again.asked == []
    assert plan.exists()
    kept = ledger.read_bytes()
    for lost in (b"", None):
        ledger.write_bytes(lost) if lost is not None else ledger.unlink()
        with pytest.raises(InputError, match="the ledger is gone"):
            session(Noting(), "origin").work()
    ledger.write_bytes(kept)
    session(Noting(), "origin").work()


def test_a_run_does_not_mix_two_versions_of_a_clip(session: MakeSession, bundle: Bundle) -> None:
    first = Noting()
    first.stop_after = 1
    session(first, "origin", concurrency=1).work()
    clip = bundle.path / "media" / "red.mp4"
    other = (bundle.path / "media" / "视频 😀 #1.mp4").read_bytes()
    kept = clip.read_bytes()
    clip.write_bytes(other)
    outcome = session(Noting(), "origin").work()
    assert outcome.failed_media == 3
    failures = rows(session(Noting(), "origin").run_dir / "failures.jsonl")
    assert "has changed since other questions of this run were asked" in failures[0]["message"]
    clip.write_bytes(kept)
    assert session(Noting(), "origin").work().failed_media == 2


def test_exports_are_made_anew_from_the_ledger(session: MakeSession) -> None:
    made = session(Noting(), "origin")
    made.work()
    before = {name: (made.run_dir / name).read_bytes() for name in ("predictions.jsonl", "requests.jsonl")}
    for name in before:
        (made.run_dir / name).unlink()
    assert export_folder(made.run_dir) == 5
    assert {name: (made.run_dir / name).read_bytes() for name in before} == before
    with pytest.raises(InputError, match="no ledger here"):
        export_folder(made.run_dir.parent)


@pytest.mark.parametrize("part", ["video bytes", "option order", "condition"])
def test_a_changed_input_is_another_call(session: MakeSession, bundle: Bundle, part: str) -> None:
    """Case R02: the digest of a call covers what is sent."""

    def digests(run: str, condition: str = "origin") -> dict[str, str | None]:
        made = session(Noting(), condition, run=run)
        made.work()
        ledger = Ledger(made.run_dir / LEDGER_NAME)
        found = {entry.key.item: entry.call_sha256 for entry in ledger.entries() if entry.final}
        ledger.close()
        return found

    before = digests("one")
    assert digests("same") == before
    if part == "video bytes":
        (bundle.path / "media" / "red.mp4").write_bytes((bundle.path / "media" / "视频 😀 #1.mp4").read_bytes())
        after = digests("two")
        assert {i for i in before if before[i] != after[i]} == {"q0", "q1"}
    elif part == "option order":
        items = bundle.path / "items.jsonl"
        swapped = '"options": [{"id": "A", "text": "blue"}, {"id": "B", "text": "red"}]'
        items.write_text(
            items.read_text().replace('"options": [{"id": "A", "text": "red"}, {"id": "B", "text": "blue"}]', swapped)
        )
        assert set(digests("two").values()).isdisjoint(before.values())
    else:
        assert set(digests("two", "text_only").values()).isdisjoint(before.values())


def test_two_models_or_endpoints_never_share_a_call(session: MakeSession) -> None:
    """Case R01."""
    seen: dict[str, set[str | None]] = {}
    for name in ("one", "two"):
        model = ScriptedModel(lambda request: Reply("A", "ok"), script_id=name)
        made = session(model, "text_only", run=name)
        made.work()
        ledger = Ledger(made.run_dir / LEDGER_NAME)
        seen[name] = {entry.call_sha256 for entry in ledger.entries()}
        ledger.close()
    assert seen["one"].isdisjoint(seen["two"])
