"""The cache is filled beforehand by the same code that a run delivers with; one bad file never stops it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.benchmarks.mmhbench.protocol import BENCHMARK as MMHBENCH
from onlooker.benchmarks.sivbench.protocol import BENCHMARK as SIVBENCH
from onlooker.cli.main import main
from onlooker.errors import InputError
from onlooker.media import cache, digest
from onlooker.models.request import Modality
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.run.delivery import Delivery, query_of
from onlooker.run.plan import Parameters, make_plan
from onlooker.run.prepare import Load, Means, loads, prepare
from onlooker.run.shards import Shard, parse_shard
from tests.media.making import coloured, tone, write

ALL: frozenset[Modality] = frozenset({"text", "image", "sound"})
COLOURS = """
import io
import numpy as np
from PIL import Image
class Encoder:
    name, fingerprint = "colours", "1"
    def embed_texts(self, texts):
        return [[float(name in text) for name in ("red", "green", "blue")] for text in texts]
    def embed_images(self, jpegs):
        return [np.asarray(Image.open(io.BytesIO(j)).convert("RGB")).mean(axis=(0, 1)) for j in jpegs]
"""


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("worked again")


def planned(bundle: Bundle, benchmark: Benchmark, *conditions: Condition) -> list[Load]:
    plan = make_plan(bundle, benchmark, list(bundle.items()), model_name="", fingerprint={}, conditions=conditions)
    return loads(plan, benchmark, bundle.load_episodes())


def forbid_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on whatever is not in the cache is an error."""
    monkeypatch.setattr(digest, "_hash", refuse)
    for name in ("sample", "probe", "read_sound", "transcribe"):
        monkeypatch.setattr(cache, name, refuse)
    monkeypatch.setattr(cache.keyframes, "embed_query", refuse)  # type: ignore[attr-defined]


def test_a_run_after_it_only_hits(bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conditions = [SIVBENCH.condition("origin"), SIVBENCH.condition("text_only")]
    work = planned(bundle, SIVBENCH, *conditions)
    assert [load.episode.id for load in work] == ["red", "blue", "empty", "gone"]
    assert [len(load.wants) for load in work] == [1, 1, 1, 1]  # two questions about red look at one thing
    means = Means(bundle, tmp_path / "cache", ALL, Parameters())
    done = prepare(work, means, 2)
    assert (done.episodes, done.wants) == (4, 4)
    assert [(f.episode, f.conditions, f.kind) for f in done.failures] == [
        ("empty", ("origin",), "UnreadableMedia"),
        ("gone", ("origin",), "MediaError"),
    ]
    assert "is empty (0 bytes)" in done.failures[0].message
    forbid_work(monkeypatch)
    delivery = Delivery(bundle, tmp_path / "cache", ALL, Parameters())
    episodes = bundle.load_episodes()
    red = delivery.deliver(episodes["red"], conditions[0], None).given
    assert len(red.frames) > 1
    assert red.sound is not None
    assert delivery.deliver(episodes["blue"], conditions[0], None).given.frames
    again = prepare(work[:2], means, 1)
    assert (again.episodes, again.failures) == (2, [])


def red_blue_bundle(folder: Path) -> Bundle:
    """One episode, six seconds: red, then blue; two questions, one of them about a window."""
    (folder / "media").mkdir(parents=True)
    pictures = [coloured((255, 0, 0))] * 30 + [coloured((0, 0, 255))] * 30
    write(folder / "media" / "a.mp4", pictures, rate=10, sounds=[tone(440, 6)])
    (folder / "media" / "a.srt").write_text("1\n00:00:00,200 --> 00:00:01,000\nWords.\n")
    (folder / "bundle.yaml").write_text("name: small\nfamily: mmhbench\nversion: '1'\n")
    episode = {"id": "a", "media": {"video": "media/a.mp4", "transcript": "media/a.srt"}}
    (folder / "episodes.jsonl").write_text(json.dumps(episode) + "\n")
    item = {
        "episode": "a",
        "task": "choice",
        "select": "one",
        "options": [{"id": "A", "text": "yes"}, {"id": "B", "text": "no"}],
    }
    rows: list[dict[str, Any]] = [
        {"id": "1", "question": "Is it red?", **item},
        {"id": "2", "question": "Is it blue?", "window": {"start_s": 1.0, "end_s": 5.0}, **item},
    ]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_bundle(folder)


def test_key_frames_are_prepared_question_by_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = red_blue_bundle(tmp_path / "bundle")
    (tmp_path / "colour_space.py").write_text(COLOURS)
    monkeypatch.syspath_prepend(str(tmp_path))
    bolt = MMHBENCH.condition("bolt")
    work = planned(bundle, MMHBENCH, bolt)
    assert [(look.window, look.query) for look in work[0].wants] == [
        (None, "Is it red?"),
        ((1.0, 5.0), "Is it blue?"),
    ]
    means = Means(bundle, tmp_path / "cache", ALL, Parameters(), "colour_space:Encoder")
    assert prepare(work, means, 1).failures == []
    forbid_work(monkeypatch)
    from onlooker.media.encoders import open_encoder

    delivery = Delivery(bundle, tmp_path / "cache", ALL, Parameters(), encoder=open_encoder("colour_space:Encoder"))
    items = bundle.load_items()
    red = delivery.deliver(bundle.load_episodes()["a"], bolt, None, query_of(items["1"], bolt))
    assert [f.time_s for f in red.given.frames] == pytest.approx([0, 1, 2, 3, 4, 5])  # all there are
    chosen = red.record["frames"]["chosen_by"]
    assert (chosen["encoder"], chosen["query"], chosen["candidates"]) == ("colours", "Is it red?", 6)
    assert chosen["similarities"] == pytest.approx([1, 1, 1, 0, 0, 0], abs=0.05)
    blue = delivery.deliver(bundle.load_episodes()["a"], bolt, (1.0, 5.0), query_of(items["2"], bolt))
    assert [f.time_s for f in blue.given.frames] == pytest.approx([1, 2, 3, 4])


def test_no_encoder_or_no_question_is_an_error(tmp_path: Path) -> None:
    bundle = red_blue_bundle(tmp_path / "bundle")
    bolt = MMHBENCH.condition("bolt")
    delivery = Delivery(bundle, tmp_path / "cache", ALL, Parameters())
    with pytest.raises(InputError, match="needs the question and an image-text encoder"):
        delivery.deliver(bundle.load_episodes()["a"], bolt, None, "Is it red?")
    item = bundle.load_items()["1"]
    assert query_of(item, bolt) == "Is it red?"
    assert query_of(item, MMHBENCH.condition("both")) is None


@given(st.sets(st.text(min_size=1, max_size=8), max_size=30), st.integers(1, 12))
def test_shards_are_disjoint_and_together_everything(ids: set[str], count: int) -> None:
    """Case D02: also more parts than episodes, and parts that get none."""
    parts = [{i for i in ids if Shard(n, count).holds(i)} for n in range(1, count + 1)]
    assert set().union(*parts) == ids
    assert sum(map(len, parts)) == len(ids)


def test_shards_depend_on_the_id_alone() -> None:
    """SHA-256 of "a" begins ca978112ca1bbdca: odd or even, and so on, for ever."""
    assert int("ca978112ca1bbdca", 16) % 4 == 2
    assert [Shard(n, 4).holds("a") for n in (1, 2, 3, 4)] == [False, False, True, False]
    assert parse_shard("3/4") == Shard(3, 4)
    for wrong in ("0/4", "5/4", "1", "a/b", "1/0", "-1/4"):
        with pytest.raises(InputError, match="a shard is i/n"):
            parse_shard(wrong)


def shell(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "onlooker.cli.main", *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "ONLOOKER_CACHE": str(folder)},
        timeout=120,
        check=False,
    )


def test_the_command_ends_with_a_table_of_failures(
    bundle: Bundle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    code = main(["prepare", str(bundle.path), "--for", "origin", "text_only", "--jobs", "2"])
    printed = capsys.readouterr()
    assert code == 1
    assert "2 of 4 episodes prepared for origin, text_only" in printed.out
    assert "UnreadableMedia" in printed.out
    assert "gone.mp4: no such file" in printed.out
    assert "prepared: 4 of 4" in printed.err
    assert "2 failed" in printed.err
    assert main(["prepare", str(bundle.path), "--for", "text_only"]) == 0
    assert "0 of 0 episodes" in capsys.readouterr().out
    for wrong, what in (
        (["--for", "bolt"], "no condition of this name"),
        (["--for", "without_text"], "no episode of the bundle has the medium"),
        (["--for", "origin", "--shard", "3/2"], "--shard"),
        (["--for", "origin", "--encoder", "nothing"], "unknown encoder"),
    ):
        assert main(["prepare", str(bundle.path), *wrong]) == 1
        assert what in capsys.readouterr().err


def test_all_conditions_that_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = red_blue_bundle(tmp_path / "bundle")
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "cache"))
    assert main(["prepare", str(bundle.path), "--for", "all", "--jobs", "1"]) == 0
    printed = capsys.readouterr()
    assert "bolt is left out: the condition bolt chooses frames by their likeness" in printed.err
    assert "1 of 1 episodes prepared for both, " in printed.out
    assert main(["cache"]) == 0
    assert "frames" in capsys.readouterr().out
    assert main(["cache", "--verify"]) == 0
    assert "0 were damaged" in capsys.readouterr().out
    assert main(["cache", "--limit", "1"]) == 0
    assert main(["cache", "--limit", "some"]) == 1
    capsys.readouterr()
    assert main(["cache", "--clear"]) == 0
    out = capsys.readouterr().out
    assert "limit 20 GB (ONLOOKER_CACHE_LIMIT)" in out
    assert not list((tmp_path / "cache" / "media").rglob("*.entry"))


def test_stopped_by_kill_it_goes_on_where_it_was(tmp_path: Path) -> None:
    """Processes whose owner is killed end, and the next call makes only what is not there."""
    folder = tmp_path / "bundle"
    red_blue_bundle(folder)
    names = [f"clip{n}" for n in range(12)]
    for number, name in enumerate(names):
        write(folder / "media" / f"{name}.mp4", [coloured((number * 20, 0, 0), 320, 240)] * 60, rate=10)
    (folder / "episodes.jsonl").write_text(
        "".join(json.dumps({"id": n, "media": {"video": f"media/{n}.mp4"}}) + "\n" for n in names)
    )
    row = json.loads((folder / "items.jsonl").read_text().splitlines()[0])
    (folder / "items.jsonl").write_text("".join(json.dumps({**row, "id": n, "episode": n}) + "\n" for n in names))
    command = [sys.executable, "-m", "onlooker.cli.main", "prepare", str(folder), "--for", "frames_32", "--jobs", "2"]
    environment = {**os.environ, "ONLOOKER_CACHE": str(tmp_path / "cache")}
    killed = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
    frames = tmp_path / "cache" / "media" / "frames"
    deadline = time.monotonic() + 60
    while not list(frames.rglob("*.entry")) and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    time.sleep(0.5)
    before = {p: p.stat().st_ino for p in frames.rglob("*.entry")}
    assert before
    ended = shell(tmp_path / "cache", *command[3:])
    assert ended.returncode == 0, ended.stderr
    assert "12 of 12 episodes prepared" in ended.stdout
    after = {p: p.stat().st_ino for p in frames.rglob("*.entry")}
    assert len(after) == 12
    assert {p: after[p] for p in before} == before  # what was there is not made again


def test_two_shards_fill_one_cache(bundle: Bundle, tmp_path: Path) -> None:
    for name in ("empty", "gone"):
        shutil.copy(bundle.path / "media" / "red.mp4", bundle.path / "media" / f"{name}.mp4")
    done = [
        shell(tmp_path / "c", "prepare", str(bundle.path), "--for", "origin", "--shard", f"{n}/3") for n in (1, 2, 3)
    ]
    assert [d.returncode for d in done] == [0, 0, 0]
    totals = [int(d.stdout.split(" of ")[1].split()[0]) for d in done]
    assert sum(totals) == 4
    # Three of the files are one by content.
    assert len(list((tmp_path / "c" / "media" / "frames").rglob("*.entry"))) == 2
