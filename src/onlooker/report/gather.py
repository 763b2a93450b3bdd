"""From the files of runs to what a report says of one bundle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from onlooker.assets import file_sha256
from onlooker.errors import InputError, OnlookerError
from onlooker.media.cache import cached_sample
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.description import describe_condition
from onlooker.protocol.shown import OPTIONS_SHOWN
from onlooker.protocol.variation import JOINT
from onlooker.records.bundle import Bundle
from onlooker.records.private import Reference, load_references
from onlooker.records.public import MEDIA_KEYS, ChoiceItem, Episode, Item, MatchingItem, OpenItem
from onlooker.report.content import (
    AnswerView,
    BundleCard,
    ConditionRow,
    Failure,
    FamilyCard,
    FrameView,
    ItemView,
    JudgementView,
    Limits,
    MetricGroup,
    OptionView,
    RunRow,
    Section,
)
from onlooker.report.wording import evenly

if TYPE_CHECKING:
    from onlooker.protocol.condition import Condition

_Key = tuple[str, str, str, int | None]
_JUDGEMENTS = "judgements.jsonl"
_Rows = Mapping[_Key, tuple[dict[str, Any], ...]]


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run folder, read. Predictions and judgements are keyed by (item, model, condition, seed): one
    row, or one a part of the item, or one a judge and rubric."""

    folder: Path
    plan: dict[str, Any]
    card: dict[str, Any]
    predictions: _Rows
    judgements: _Rows
    failures: list[dict[str, Any]]

    @property
    def judgements_file(self) -> Path | None:
        """Where the judgements lie; None where there are none."""
        return self.folder / _JUDGEMENTS if self.judgements else None

    def requests(self, items: Collection[str]) -> _Rows:
        """What was sent about ``items``, keyed like the predictions; read now, as it is most of what a run wrote."""
        return _by_call(self.folder / "requests.jsonl", items)


def read_run(folder: Path) -> RunFiles:
    """The files that ``onlooker eval`` and ``onlooker judge`` wrote. Raises ``InputError`` where one of the run's is
    missing, or one is broken."""
    judgements = folder / _JUDGEMENTS
    return RunFiles(
        folder,
        _object(folder / "plan.json", ("bundle", "model", "conditions", "seeds", "items")),
        _object(folder / "run.json", ("onlooker", "python", "libraries")),
        _by_call(folder / "predictions.jsonl"),
        _by_call(judgements) if judgements.exists() else {},
        [row for _, row in _rows(folder / "failures.jsonl")],
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
    most_items: int = Limits().items_per_section,
) -> Section:
    """What a report says of these runs on one bundle.

    ``scores`` and ``graded`` are the content of ``scores.json`` and of ``--items-out``; ``about`` says in one line what
    a model is. Frames are sampled anew from the bundle's media (cached by content) and shown only if their digest is
    the one in ``requests.jsonl``: the report never shows a picture that the model did not get. At most ``most_items``
    items are gathered, evenly chosen in the bundle's order.
    """
    episodes = bundle.load_episodes()
    references = load_references(bundle)
    asked = _asked(benchmark, dict.fromkeys(name for run in runs for name in run.plan["conditions"]))
    album = _Album(bundle, episodes, cache_dir)
    items = bundle.load_items()
    planned = {item for run in runs for item in run.plan["items"]}
    owed = [item for item in items.values() if item.id in planned]
    chosen = [owed[place] for place in evenly(len(owed), most_items)]
    records = _records(runs, {item.id for item in chosen})
    outcomes: dict[str, list[tuple[_Key, Mapping[str, Any]]]] = {item.id: [] for item in chosen}
    for row in graded:
        if row["item"] in outcomes:
            outcomes[row["item"]].append(((row["item"], row["model"], row["condition"], row["seed"]), row))
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
        notes=tuple(_without_path(note, runs) for note in notes),
        failures=tuple(
            Failure(f["episode"], ", ".join(f["conditions"]), f["kind"], f["message"])
            for run in runs
            for f in run.failures
        ),
        items=tuple(
            _item(
                item,
                references.get(item.id),
                [_answer(key, row, records, album) for key, row in outcomes[item.id]],
            )
            for item in chosen
        ),
        items_left_out=len(owed) - len(chosen),
    )


@dataclass(frozen=True, slots=True)
class _Records:
    """What the runs hold about the items that are shown."""

    predictions: _Rows
    requests: _Rows
    judgements: _Rows


def _records(runs: Sequence[RunFiles], items: Collection[str]) -> _Records:
    """The rows of all runs. Each answer is of one run: scoring refuses a second one."""
    return _Records(
        {key: rows for run in runs for key, rows in run.predictions.items() if key[0] in items},
        {key: rows for run in runs for key, rows in run.requests(items).items()},
        {key: rows for run in runs for key, rows in run.judgements.items() if key[0] in items},
    )


def _without_path(note: str, runs: Sequence[RunFiles]) -> str:
    """The note with folders by their names: a page is passed on, and where it was made is nobody's business."""
    for run in runs:
        note = note.replace(str(run.folder), run.folder.name)
    return note


def _asked(benchmark: Benchmark, names: Iterable[str]) -> list[Condition]:
    """The conditions of these names, the family's own in its order, then the varied ones; strangers left out."""
    own = {condition.name: place for place, condition in enumerate(benchmark.conditions)}
    there = [name for name in names if name.partition(JOINT)[0] in own]
    place = len(own)
    return [benchmark.condition(name) for name in sorted(there, key=lambda name: own.get(name, place))]


def _run_rows(run: RunFiles, about: Mapping[str, str]) -> Iterable[RunRow]:
    model = run.plan["model"]
    for condition in run.plan["conditions"]:
        rows = [row for key, calls in run.predictions.items() if key[2] == condition for row in calls]
        # The rows of one call about several items have its name, each with the seconds of all.
        calls = {(row["seed"], row.get("batch") or place): row for place, row in enumerate(rows)}
        yield RunRow(
            model=model["name"],
            condition=condition,
            seeds=tuple(run.plan["seeds"]),
            started=_utc(run.card.get("started_at")),
            calls=len(calls),
            about=about.get(model["name"], ""),
            fingerprint=model["fingerprint"],
            seconds=_sum(row.get("latency_s") for row in calls.values()),
            input_tokens=_sum((row.get("usage") or {}).get("input_tokens") for row in rows),
            output_tokens=_sum((row.get("usage") or {}).get("output_tokens") for row in rows),
            cost_usd=_sum(row.get("cost_usd") for row in rows),
            served_models=tuple(sorted({row["served_model"] for row in rows if row.get("served_model")})),
            versions={"onlooker": run.card["onlooker"], "python": run.card["python"], **run.card["libraries"]},
        )


def _item(item: Item, reference: Reference | None, answers: Sequence[AnswerView]) -> ItemView:
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
        options=_options(item),
        labels={
            name: tuple(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in item.labels.items()
            if value is not None
        },
        reference=_right(reference),
        explanation=parts,
        cues=tuple(reference.cues or ()) if reference else (),
        answers=tuple(answers),
    )


def _right(reference: Reference | None) -> tuple[str, ...] | str | None:
    """What the bundle holds an answer against: option ids, or words."""
    if reference is None:
        return None
    if reference.answer is not None:
        return reference.answer if isinstance(reference.answer, str) else tuple(reference.answer)
    if reference.consensus is not None:
        return _numbers(reference.consensus)
    return "\n".join(reference.references) if reference.references else None


def _options(item: Item) -> tuple[OptionView, ...]:
    if isinstance(item, ChoiceItem):
        return tuple(OptionView(o.id, o.text) for o in item.options)
    if isinstance(item, MatchingItem):
        return tuple(
            OptionView(c.id, f"episode {c.episode}, {c.start_s:.2f} to {c.end_s:.2f}\u202fs") for c in item.candidates
        )
    return ()


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}: {value:g}" for name, value in values.items())


def _parsed_view(parsed: object) -> tuple[str, ...] | str | None:
    if isinstance(parsed, list):
        return tuple(parsed)
    if isinstance(parsed, dict):
        return _numbers(parsed)
    return parsed if isinstance(parsed, str) else None


def _answer(key: _Key, graded: Mapping[str, Any], records: _Records, album: _Album) -> AnswerView:
    predictions, requests = records.predictions.get(key, ()), records.requests.get(key, ())
    medias = [request.get("media") or {} for request in requests]
    transcript = next((m["transcript"].get("text") for m in medias if m.get("transcript")), None)
    sound = next((m["sound"] for m in medias if (m.get("sound") or {}).get("status") == "ok"), None)
    failed = next((row for row in predictions if row["status"] != "ok"), None)
    error = ((failed or {}).get("error") or {}).get("message")
    return AnswerView(
        model=key[1],
        condition=key[2],
        seed=key[3],
        outcome=graded["outcome"],
        credit=graded["credit"],
        parsed=_parsed_view(graded["parsed"]),
        how_parsed=_moved(predictions),
        raw=_joined(predictions, "raw"),
        status=(failed or predictions[0])["status"] if predictions else None,
        latency_s=_sum(row.get("latency_s") for row in predictions),
        error=error,
        prompt=_joined(requests, "text"),
        details=_details(requests),
        frames=tuple(frame for request in requests for frame in album.frames(request)),
        transcript=transcript,
        sound=None if sound is None else (sound["start_s"], sound["end_s"]),
        files=tuple(file for request in requests for file in _files(request)),
        judgements=tuple(map(_judgement, records.judgements.get(key, ()))),
    )


def _moved(predictions: Sequence[Mapping[str, Any]]) -> str | None:
    """Which options stood under which letters, where they were moved."""
    shown = next((row[OPTIONS_SHOWN] for row in predictions if row.get(OPTIONS_SHOWN)), None)
    if shown is None:
        return None
    return f"options were moved: {', '.join(f'{own} was shown as {letter}' for letter, own in shown.items())}"


def _judgement(row: Mapping[str, Any]) -> JudgementView:
    if row["status"] != "ok":
        why = (row.get("error") or {}).get("message") or row.get("raw") or "no reason on record"
        return JudgementView(row["judge"], row["rubric"], None, f"{row['status']}: {why}")
    labels = ", ".join(f"{name}: {value}" for name, value in (row.get("labels") or {}).items())
    return JudgementView(row["judge"], row["rubric"], labels, row.get("explanation"))


def _joined(rows: Sequence[Mapping[str, Any]], name: str) -> str | None:
    """The texts of an item's calls: as it is where there is one, each under its part where there are several."""
    texts = [(row.get("part"), row[name]) for row in rows if row.get(name) is not None]
    if not texts:
        return None
    return texts[0][1] if len(rows) == 1 else "\n".join(f"[{part}]\n{text}" for part, text in texts)


def _details(requests: Sequence[Mapping[str, Any]]) -> Mapping[str, object]:
    found = {str(row.get("part")): row["details"] for row in requests if row.get("details")}
    return next(iter(found.values()), {}) if len(requests) == 1 else found


def _files(request: Mapping[str, Any]) -> list[str]:
    """The video files that were sent, in words."""
    media = request.get("media") or {}
    found = []
    for name, view in {**(media.get("views") or {}), **({"": media} if media.get("video") else {})}.items():
        video = view.get("video")
        if video is not None:
            of = ", ".join(word for word in (request.get("part"), name) if word)
            heard = "with" if video["has_sound"] else "without"
            span = _span(video["start_s"], video["end_s"])
            beside = video.get("beside")
            if beside is not None:
                span += f", to its right episode {beside['episode']}"
                span += f" {_span(*beside['window'])}" if beside["window"] else ""
            found.append(f"video file{f' ({of})' if of else ''} {span} {heard} sound")
    return found


def _span(start_s: float, end_s: float) -> str:
    return f"{start_s:.2f} to {end_s:.2f}\u202fs"


class _Album:
    """The frames of requests, read once an episode and policy."""

    def __init__(self, bundle: Bundle, episodes: Mapping[str, Episode], cache_dir: Path) -> None:
        self._bundle, self._episodes, self._cache_dir = bundle, episodes, cache_dir
        self._known: dict[str, tuple[FrameView, ...]] = {}

    def frames(self, request: Mapping[str, Any]) -> tuple[FrameView, ...]:
        """The frames that stand in a row of ``requests.jsonl``, in the order in which they were sent."""
        media = request.get("media") or {}
        part, grey = request.get("part"), media.get("variation") == "frames_blank"
        if media.get("views"):
            orders = media.get("order") or {}
            return tuple(
                frame
                for name, view in media["views"].items()
                for frame in self._strip(
                    view, view["episode"], _of(part, name, _lent(view, request)), orders.get(name), grey=grey
                )
            )
        episode = media.get("episode", request.get("episode", ""))
        return self._strip(media, episode, _of(part, _lent(media, request)), media.get("order"), grey=grey)

    def _strip(
        self, shown: Mapping[str, Any], episode: str, of: str | None, order: Sequence[int] | None, *, grey: bool
    ) -> tuple[FrameView, ...]:
        record = shown.get("frames")
        if record is None:
            return ()
        key = json.dumps([episode, shown["medium"], shown["window"], record], sort_keys=True)
        if key not in self._known:
            self._known[key] = self._read(episode, shown, record)
        known = self._known[key]
        pictures = [known[n] for n in order] if order else known
        sent = [
            replace(slot, of=of, **({"jpeg": None, "status": "grey"} if grey else {"jpeg": p.jpeg, "status": p.status}))
            for slot, p in zip(known, pictures, strict=False)
        ]
        return (*sent, *(replace(missing, of=of) for missing in known[len(sent) :]))

    def _read(self, episode_id: str, media: Mapping[str, Any], record: Mapping[str, Any]) -> tuple[FrameView, ...]:
        jpegs: dict[str, bytes] = {}
        path = self._medium(episode_id, media["medium"], record["source_sha256"])
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

    def _medium(self, episode_id: str, named: str, sha256: str) -> Path | None:
        """The file of a medium: by its key, or by its file name as views record it, where two have one by its bytes."""
        episode = self._episodes.get(episode_id)
        if episode is None:
            return None
        if named in MEDIA_KEYS:
            return self._bundle.media_path(episode, named)
        paths = (self._bundle.media_path(episode, key) for key in MEDIA_KEYS)
        found = [path for path in paths if path is not None and path.name == named and path.is_file()]
        if len(found) > 1:
            found = [path for path in found if file_sha256(path) == sha256]
        return found[0] if found else None


def _lent(shown: Mapping[str, Any], request: Mapping[str, Any]) -> str | None:
    """The episode that something is of where it is another than the item's own."""
    episode = shown.get("episode", request.get("episode"))
    return None if episode == request.get("episode") else f"episode {episode}"


def _of(*words: str | None) -> str | None:
    """What a frame shows: the part asked about and the view, as far as there are any, each once."""
    return ", ".join(dict.fromkeys(word for word in words if word)) or None


def _by_call(path: Path, items: Collection[str] | None = None) -> _Rows:
    """The rows of each item's calls: one, or one a part. ``items``: of these only."""
    found: dict[_Key, list[dict[str, Any]]] = {}
    for number, row in _rows(path):
        if not row.keys() >= {"item", "model", "condition", "seed"}:
            raise InputError(
                "the row does not say item, model, condition and seed",
                where=f"{path}, line {number}",
                value=", ".join(row),
                remedy="name a folder that onlooker eval wrote",
            )
        if items is None or row["item"] in items:
            found.setdefault((row["item"], row["model"], row["condition"], row["seed"]), []).append(row)
    return {key: tuple(rows) for key, rows in found.items()}


def _rows(path: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, _parsed(line, f"{path}, line {number}")


def _object(path: Path, owed: Collection[str]) -> dict[str, Any]:
    with _opened(path) as file:
        found = _parsed(file.read(), str(path))
    lacking = [name for name in owed if name not in found]
    if lacking:
        raise InputError(
            f"the file of a run says no {lacking[0]}", where=str(path), remedy="name a folder that onlooker eval wrote"
        )
    return found


def _parsed(text: str, where: str) -> dict[str, Any]:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError("not UTF-8", where=where, remedy="run onlooker eval again: it writes the file anew") from error
    try:
        row = json.loads(text)
    except ValueError as error:
        raise InputError(
            f"not JSON ({error})", where=where, remedy="run onlooker eval again: it writes the file anew"
        ) from error
    if not isinstance(row, dict):
        raise InputError("expected a JSON object", where=where, value=row)
    return row


def _opened(path: Path) -> TextIO:
    """The file as text; bytes that are no UTF-8 become half characters, which no JSON text of ours has."""
    try:
        return path.open(encoding="utf-8", errors="surrogateescape", newline="\n")
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
