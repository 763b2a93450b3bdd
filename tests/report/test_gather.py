"""What a page says was sent, for runs with views, parts, video files, exchanged pictures and moved options."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from onlooker.catalog import load_benchmark
from onlooker.errors import InputError
from onlooker.models.request import Image, Reply, Request
from onlooker.models.scripted import ScriptedModel
from onlooker.records.bundle import Bundle
from onlooker.report.album import plan_album
from onlooker.report.browser import browse
from onlooker.report.content import AnswerView, JudgementView, Limits, Section
from onlooker.report.gather import gather_section, read_run
from onlooker.score.score import score_bundle
from tests.benchmarks.small_bundles import make_bundle, session_of


def reply(request: Request) -> Reply:
    for words, said in (
        ("JSON scores", '{"m0": 10, "m1": 80}'),
        ("Score", "7"),
        ("sentence", "The cup falls."),
        ("", "B"),
    ):
        if words in request.text:
            return Reply(said, "ok")
    raise AssertionError


def told(
    tmp_path: Path,
    family: str,
    *conditions: str,
    made: Bundle | None = None,
    judgements: str | None = None,
    most_items: int = 400,
) -> tuple[Section, list[Request], Bundle]:
    asked: list[Request] = []

    def script(request: Request) -> Reply:
        asked.append(request)
        return reply(request)

    bundle = made or make_bundle(tmp_path, family)
    (bundle.path / "ratings.jsonl").unlink()
    benchmark = load_benchmark(family)
    chosen = [benchmark.condition(name) for name in conditions]
    session = session_of(bundle, tmp_path / "run", ScriptedModel(script, script_id="s"), chosen, benchmark)
    session.concurrency = 1  # so that requests come in the order of the plan
    session.work()
    if judgements is not None:
        (tmp_path / "run" / "judgements.jsonl").write_text(judgements, encoding="utf-8")
    result = score_bundle(bundle, benchmark.scoring, [tmp_path / "run" / "predictions.jsonl"], [], draws=10)
    section = gather_section(
        bundle,
        benchmark,
        [read_run(tmp_path / "run")],
        scores=result.scores,
        graded=list(result.items),
        baselines={},
        notes=(f"no judgements in {tmp_path / 'run' / 'judgements.jsonl'}",),
        about={},
        cache_dir=tmp_path / "cache",
        most_items=most_items,
    )
    return section, asked, bundle


def answer(section: Section, item: str, condition: str) -> AnswerView:
    [found] = [a for view in section.items if view.item_id == item for a in view.answers if a.condition == condition]
    return found


def pictures(request: Request) -> list[str]:
    return [hashlib.sha256(part.jpeg).hexdigest() for part in request.parts if isinstance(part, Image)]


def shown(view: AnswerView) -> list[str]:
    return [hashlib.sha256(frame.jpeg).hexdigest() for frame in view.frames if frame.jpeg is not None]


@pytest.mark.parametrize("condition", ["matching", "matching_shuffled", "matching+frames_shuffled", "joint", "grouped"])
def test_views_are_shown_as_they_were_sent(tmp_path: Path, condition: str) -> None:
    section, asked, _ = told(tmp_path, "reactionbench", condition)
    item = "su" if condition.startswith("matching") else "iu"
    view = answer(section, item, condition)
    assert shown(view) == pictures(asked[0])
    names = [frame.of for frame in view.frames]
    if condition == "matching_shuffled":
        assert names[0] == "reaction, episode v"
    elif condition.startswith("matching"):
        assert names == ["reaction"] * 3 + [f"segment {letter}" for letter in "ABCD" for _ in range(2)]


def test_parts_are_shown_one_after_another(tmp_path: Path) -> None:
    section, asked, _ = told(tmp_path, "reactionbench", "independent")
    view = answer(section, "iu", "independent")
    assert view.raw == "[m0]\n7\n[m1]\n7"
    assert view.parsed == "m0: 7, m1: 7"
    assert view.prompt is not None
    assert view.prompt.count("Score (0-100):") == 2
    assert shown(view) == [*pictures(asked[0]), *pictures(asked[1])]
    assert [frame.of for frame in view.frames] == ["m0", "m0", "m1", "m1"]
    assert section.runs[0].calls == 6


def test_files_grey_pictures_and_moved_options_are_said(tmp_path: Path) -> None:
    conditions = ("matching_video", "matching+frames_blank", "matching+options_rotated_1")
    section, _, _ = told(tmp_path, "reactionbench", *conditions)
    assert [row.name for row in section.conditions] == list(conditions)
    files = answer(section, "su", "matching_video").files
    assert files[0] == "video file (reaction) 1.00 to 4.00\u202fs with sound"
    assert len(files) == 5
    blank = answer(section, "su", "matching+frames_blank").frames
    assert {(frame.jpeg, frame.status) for frame in blank} == {(None, "grey")}
    moved = answer(section, "su", "matching+options_rotated_1")
    assert (moved.raw, moved.parsed) == ("B", ("A",))
    assert moved.how_parsed == (
        "options were moved: D was shown as A, A was shown as B, B was shown as C, C was shown as D"
    )


def test_references_of_every_task_are_said(tmp_path: Path) -> None:
    section, _, _ = told(tmp_path, "reactionbench", "joint", "matching", "rationale")
    views = {view.item_id: view for view in section.items}
    assert views["iu"].reference == "m0: 2.71821, m1: 0.5"
    assert views["su"].options[1].text == "episode u, 2.00 to 4.00\u202fs"
    assert views["gu"].reference == "MARKREFERENCE-u falls\nMARKOTHER-u"


def test_a_wrong_video_is_shown_with_its_episode(tmp_path: Path) -> None:
    section, asked, _ = told(tmp_path, "sivbench", "origin+wrong_video", "origin+frames_reversed")
    view = answer(section, "x1", "origin+wrong_video")
    assert shown(view) == pictures(asked[0])
    assert {frame.of for frame in view.frames} == {"episode y"}
    turned = answer(section, "x1", "origin+frames_reversed")
    assert shown(turned) == pictures(asked[3])
    assert [frame.time_s for frame in turned.frames] == sorted(frame.time_s for frame in turned.frames)


def judged(judge: str, **fields: object) -> str:
    key = {"item": "gu", "model": "scripted", "condition": "rationale", "seed": None, "rubric": "grounded_rationale"}
    return json.dumps({**key, "judge": judge, "status": "ok", **fields}) + "\n"


def test_what_judges_said_stands_with_its_answer(tmp_path: Path) -> None:
    rows = judged("one", labels={"cue": 1, "link": 2, "faithful": 1}, explanation="Names the cup.")
    rows += judged("two", status="unparsed", labels=None, raw="I like it.")
    section, _, _ = told(tmp_path, "reactionbench", "rationale", judgements=rows)
    assert answer(section, "gu", "rationale").judgements == (
        JudgementView("one", "grounded_rationale", "cue: 1, link: 2, faithful: 1", "Names the cup."),
        JudgementView("two", "grounded_rationale", None, "unparsed: I like it."),
    )
    assert answer(section, "gv", "rationale").judgements == ()


def test_only_the_items_that_are_shown_are_gathered_and_the_others_counted(tmp_path: Path) -> None:
    section, _, _ = told(tmp_path, "reactionbench", "rationale", most_items=1)
    every, _, _ = told(tmp_path / "every", "reactionbench", "rationale")
    assert (len(section.items), every.items_left_out) == (1, 0)
    assert len(section.items) + section.items_left_out == len(every.items)
    assert browse(section, section.items, plan_album([], Limits()), "s").total == len(every.items)


def test_notes_name_no_folder_of_this_machine(tmp_path: Path) -> None:
    section, _, _ = told(tmp_path, "reactionbench", "rationale")
    assert section.notes == ("no judgements in run/judgements.jsonl",)


def test_two_videos_in_one_picture_are_both_named(tmp_path: Path) -> None:
    section, _, _ = told(tmp_path, "reactionbench", "matching_side_by_side")
    assert answer(section, "su", "matching_side_by_side").files[0] == (
        "video file (A, both) 1.00 to 4.00\u202fs, to its right episode u 0.00 to 2.00\u202fs without sound"
    )


def test_media_of_one_file_name_are_told_apart_by_their_bytes(tmp_path: Path) -> None:
    bundle = make_bundle(tmp_path, "reactionbench")
    for row in (episodes := [json.loads(line) for line in (bundle.path / "episodes.jsonl").read_text().splitlines()]):
        for key, declared in row["media"].items():
            moved = Path("media") / row["id"] / key / "clip.mp4"
            (bundle.path / moved).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(bundle.path / declared, bundle.path / moved)
            row["media"][key] = str(moved)
    (bundle.path / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in episodes))
    section, asked, _ = told(tmp_path, "reactionbench", "rationale", made=bundle)
    assert shown(answer(section, "gu", "rationale")) == pictures(asked[0])


@pytest.mark.parametrize("name", ["predictions.jsonl", "requests.jsonl", "judgements.jsonl"])
def test_rows_of_something_else_are_an_error(tmp_path: Path, name: str) -> None:
    told(tmp_path, "reactionbench", "rationale")
    (tmp_path / "run" / name).write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}, line 1: the row does not say item, model, condition and seed"):
        read_run(tmp_path / "run").requests({"gu"})


def test_a_call_about_several_items_is_one_call(tmp_path: Path) -> None:
    section, asked, _ = told(tmp_path, "sivbench", "origin_per_video")
    [row] = section.runs
    rows = [json.loads(line) for line in (tmp_path / "run" / "predictions.jsonl").read_text().splitlines()]
    assert row.calls == len(asked) < len(rows)
    assert row.seconds == pytest.approx(sum({one["batch"]: one["latency_s"] for one in rows}.values()))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("plan.json", b'{"items": []}', "plan.json: the file of a run says no bundle"),
        ("run.json", b"{}", "run.json: the file of a run says no onlooker"),
        ("predictions.jsonl", b'{"item": "\xff"}\n', "predictions.jsonl, line 1: not UTF-8"),
        ("judgements.jsonl", b"\n[]\n", "judgements.jsonl, line 2: expected a JSON object"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    told(tmp_path, "reactionbench", "rationale")
    (tmp_path / "run" / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        read_run(tmp_path / "run")
