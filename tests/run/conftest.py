"""A small bundle on made clips, and the session that asks about it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.sivbench.protocol import BENCHMARK
from onlooker.models.request import Model
from onlooker.protocol.benchmark import Benchmark
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.run.delivery import Delivery
from onlooker.run.execute import Session
from onlooker.run.plan import Parameters, make_plan
from onlooker.run.shards import Shard
from tests.media.making import coloured, tone, write


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    """Two readable episodes (one with sound), one empty file, one file that is not there; five items."""
    folder = tmp_path / "bundle"
    (folder / "media").mkdir(parents=True)
    write(folder / "media" / "red.mp4", [coloured((255, 0, 0))] * 30, rate=10, sounds=[tone(440, 3.0)])
    write(folder / "media" / "视频 😀 #1.mp4", [coloured((0, 0, 255))] * 20, rate=10)
    (folder / "media" / "empty.mp4").write_bytes(b"")
    (folder / "bundle.yaml").write_text("name: small\nfamily: sivbench\nversion: '1'\n", encoding="utf-8")
    media = {"red": "red.mp4", "blue": "视频 😀 #1.mp4", "empty": "empty.mp4", "gone": "gone.mp4"}
    write_rows(folder / "episodes.jsonl", [{"id": i, "media": {"video": f"media/{name}"}} for i, name in media.items()])
    write_rows(
        folder / "items.jsonl",
        [
            {
                "id": f"q{n}",
                "episode": episode,
                "task": "choice",
                "question": f"Which colour is this, {n}?",
                "options": [{"id": "A", "text": "red"}, {"id": "B", "text": "blue"}],
                "select": "one",
                "labels": {"dimension": "SSU", "subtask": "EP"},
            }
            for n, episode in enumerate(["red", "red", "blue", "empty", "gone"])
        ],
    )
    write_rows(folder / "references.jsonl", [{"item": f"q{n}", "answer": ["A"]} for n in range(5)])
    return open_bundle(folder)


@pytest.fixture
def session(bundle: Bundle, tmp_path: Path) -> Callable[..., Session]:
    """Makes a session of a model on the bundle: ``session(model, "origin", "text_only")``."""

    def make(
        model: Model,
        *conditions: str,
        run: str = "run",
        benchmark: Benchmark = BENCHMARK,
        seeds: Sequence[int | None] = (None,),
        shard: Shard | None = None,
        **options: Any,
    ) -> Session:
        parameters = Parameters()
        plan = make_plan(
            bundle,
            benchmark,
            list(bundle.items()),
            model_name=model.name,
            fingerprint=model.fingerprint,
            conditions=[benchmark.condition(name) for name in conditions],
            seeds=seeds,
            parameters=parameters,
            shard=shard,
        )
        delivery = Delivery(bundle, tmp_path / "cache", model.accepts, parameters)
        return Session(plan, benchmark, model, delivery, bundle.load_episodes(), tmp_path / run, **options)

    return make
