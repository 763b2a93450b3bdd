"""From the files of runs to what a report says of one bundle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, OnlookerError
from onlooker.media.cache import cached_sample
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.description import describe_condition
from onlooker.records.bundle import Bundle
from onlooker.records.private import Reference, load_references
from onlooker.records.public import ChoiceItem, Episode, Item, OpenItem
from onlooker.report.content import (
    AnswerView,
    BundleCard,
    ConditionRow,
    Failure,
    FamilyCard,
    FrameView,
    ItemView,
    MetricGroup,
    OptionView,
    RunRow,
    Section,
)

_Key = tuple[str, str, str, int | None]


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run folder, read. Predictions and requests are keyed by (item, model, condition, seed)."""

    folder: Path
    plan: dict[str, Any]
    card: dict[str, Any]
    predictions: dict[_Key, dict[str, Any]]
    requests: dict[_Key, dict[str, Any]]
    failures: list[dict[str, Any]]


def read_run(folder: Path) -> RunFiles:
    """The files that ``onlooker eval`` wrote. Raises ``InputError`` where one is missing or broken."""
    return RunFiles(
        folder,
        _object(folder / "plan.json"),
        _object(folder / "run.json"),
        _by_call(folder / "predictions.jsonl"),
        _by_call(folder / "requests.jsonl"),
        list(_rows(folder / "failures.jsonl")),
    )


def gather_section(
    bundle: Bundle,
    benchmark: Benchmark,
    runs: Sequence[RunFiles],
    *,
    scores: Mapping[str, Any],
    graded: Iterable[Mapping[str, Any]],
    baselines: Mapping[str, Mapping[str, Mapping[str, object]]],
    notes: Sequence[str],
    about: Mapping[str, str],
    cache_dir: Path,
) -> Section:
    """What a report says of these runs on one bundle.

    ``scores`` and ``graded`` are the content of ``scores.json`` and of ``--items-out``; ``about`` says in one line what
    a model is. Frames are sampled anew from the bundle's media (cached by content) and shown only if their digest is
    the one in ``requests.jsonl``: the report never shows a picture that the model did not get.
    """
    episodes = bundle.load_episodes()
    references = load_references(bundle)
    asked = [c for c in benchmark.conditions if any(c.name in run.plan["conditions"] for run in runs)]
    outcome = {(row["item"], row["model"], row["condition"], row["seed"]): row for row in graded}
    album = _Album(bundle, episodes, cache_dir)
    items = bundle.load_items()
    return Section(
        bundle=BundleCard(
            name=bundle.card.name,
            family=bundle.card.family,
            version=bundle.card.version,
            license=bundle.card.license or "not stated",
            description=bundle.card.description or "",
            sha256=scores["bundle"]["sha256"],
            items=len(items),
            episodes=len(episodes),
        ),
        family=FamilyCard(benchmark.title, benchmark.claims, benchmark.citation),
        scores=scores,
        main_metric=benchmark.main_metric,
        question_only=benchmark.baseline if any(c.name == benchmark.baseline for c in asked) else None,
        baselines=baselines,
        groups=tuple(
            MetricGroup(table.title, table.prefix, "own" if table.own_scale else "percent", table.names)
            for table in benchmark.tables
        ),
        conditions=tuple(
            ConditionRow(
                c.name,
                c.says,
                c.frames,
                c.sound,
                c.transcript,
                describe_condition(benchmark, c)["sha256"],
                c.max_output_tokens,
            )
            for c in asked
        ),
        runs=tuple(row for run in runs for row in _run_rows(run, about)),
        notes=tuple(notes),
        failures=tuple(
            Failure(f["episode"], ", ".join(f["conditions"]), f["kind"], f["message"])
            for run in runs
            for f in run.failures
        ),
        items=tuple(
            _item(
                item,
                references.get(item.id),
                [_answer(key, row, runs, album) for key, row in outcome.items() if key[0] == item.id],
            )
            for item in items.values()
            if any(item.id in run.plan["items"] for run in runs)
        ),
    )


def _run_rows(run: RunFiles, about: Mapping[str, str]) -> Iterable[RunRow]:
    model = run.plan["model"]
    for condition in run.plan["conditions"]:
        rows = [row for key, row in run.predictions.items() if key[2] == condition]
        yield RunRow(
            model=model["name"],
            condition=condition,
            seeds=tuple(run.plan["seeds"]),
            started=_utc(run.card.get("started_at")),
            calls=len(rows),
            about=about.get(model["name"], ""),
            fingerprint=model["fingerprint"],
            seconds=_sum(row.get("latency_s") for row in rows),
            input_tokens=_sum((row.get("usage") or {}).get("input_tokens") for row in rows),
            output_tokens=_sum((row.get("usage") or {}).get("output_tokens") for row in rows),
            cost_usd=_sum(row.get("cost_usd") for row in rows),
            served_models=tuple(sorted({row["served_model"] for row in rows if row.get("served_model")})),
            versions={"onlooker": run.card["onlooker"], "python": run.card["python"], **run.card["libraries"]},
        )


def _item(item: Item, reference: Reference | None, answers: Sequence[AnswerView]) -> ItemView:
    answer = reference.answer if reference else None
    explanation = reference.explanation if reference else None
    parts: str | dict[str, str] | None = None
    if isinstance(explanation, str) or explanation is None:
        parts = explanation
    else:
        parts = {
            name: text
            for name, text in (
                ("key event", explanation.key_event),
                ("mechanism", explanation.mechanism),
                *((f"option {i}", text) for i, text in (explanation.options or {}).items()),
            )
            if text is not None
        }
    return ItemView(
        item_id=item.id,
        episode_id=item.episode,
        question=item.question if isinstance(item, ChoiceItem | OpenItem) else item.task,
        options=tuple(OptionView(o.id, o.text) for o in item.options) if isinstance(item, ChoiceItem) else (),
        labels={
            name: tuple(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in item.labels.items()
            if value is not None
        },
        reference=tuple(answer) if isinstance(answer, tuple | list) else answer,
        explanation=parts,
        cues=tuple(reference.cues or ()) if reference else (),
        answers=tuple(answers),
    )


def _answer(key: _Key, graded: Mapping[str, Any], runs: Sequence[RunFiles], album: _Album) -> AnswerView:
    prediction: Mapping[str, Any] = next((run.predictions[key] for run in runs if key in run.predictions), {})
    request: Mapping[str, Any] = next((run.requests[key] for run in runs if key in run.requests), {})
    media = request.get("media") or {}
    parsed = graded["parsed"]
    sound = media.get("sound") or {}
    return AnswerView(
        model=key[1],
        condition=key[2],
        seed=key[3],
        outcome=graded["outcome"],
        credit=graded["credit"],
        parsed=tuple(parsed) if isinstance(parsed, list) else parsed if isinstance(parsed, str) else None,
        raw=prediction.get("raw"),
        status=prediction.get("status"),
        latency_s=prediction.get("latency_s"),
        error=(prediction.get("error") or {}).get("message"),
        prompt=request.get("text"),
        details=request.get("details") or {},
        frames=album.frames(request),
        transcript=(media.get("transcript") or {}).get("text"),
        sound=(sound["start_s"], sound["end_s"]) if sound.get("status") == "ok" else None,
    )


class _Album:
    """The frames of requests, read once an episode and policy."""

    def __init__(self, bundle: Bundle, episodes: Mapping[str, Episode], cache_dir: Path) -> None:
        self._bundle, self._episodes, self._cache_dir = bundle, episodes, cache_dir
        self._known: dict[str, tuple[FrameView, ...]] = {}

    def frames(self, request: Mapping[str, Any]) -> tuple[FrameView, ...]:
        """The frames that stand in a row of ``requests.jsonl``."""
        media = request.get("media") or {}
        record = media.get("frames")
        if record is None:
            return ()
        key = json.dumps([request["episode"], media["medium"], media["window"], record], sort_keys=True)
        if key not in self._known:
            self._known[key] = self._read(request["episode"], media, record)
        return self._known[key]

    def _read(self, episode_id: str, media: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[FrameView, ...]:
        jpegs: dict[str, bytes] = {}
        episode = self._episodes.get(episode_id)
        path = self._bundle.media_path(episode, media["medium"]) if episode else None
        if path is not None and path.is_file():
            try:
                sampled = cached_sample(
                    self._cache_dir,
                    path,
                    record["policy"],
                    window=tuple(media["window"]) if media["window"] else None,
                    max_side_px=record["max_side_px"],
                    jpeg_quality=record["jpeg_quality"],
                )
            except OnlookerError:
                # The medium was readable when it was asked about and is not now: the frames are shown as not kept.
                sampled = None
            jpegs = (
                {}
                if sampled is None
                else {hashlib.sha256(frame.jpeg).hexdigest(): frame.jpeg for frame in sampled.frames}
            )
        return tuple(
            FrameView(jpegs.get(f["jpeg_sha256"]), f["time_s"], f["pts_s"], f["status"]) for f in record["shown"]
        ) + tuple(FrameView(None, time_s, None, "missing") for time_s in record["missing_s"])


def _by_call(path: Path) -> dict[_Key, dict[str, Any]]:
    return {(row["item"], row["model"], row["condition"], row["seed"]): row for row in _rows(path)}


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line:
            yield _parsed(line, f"{path}, line {number}")


def _object(path: Path) -> dict[str, Any]:
    return _parsed(_text(path), str(path))


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(text)
    except ValueError as error:
        raise InputError(
            f"not JSON ({error})", where=where, remedy="run onlooker eval again: it writes the file anew"
        ) from error
    if not isinstance(row, dict):
        raise InputError("expected a JSON object", where=where, value=row)
    return row


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(
            "no such file", where=str(path), remedy="onlooker eval BUNDLE --model M --out RUN writes it"
        ) from error


def _sum(values: Iterable[Any]) -> Any:
    """The sum of what is known; None where nothing is known, since an unknown is no zero."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _utc(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
