"""Judging stored answers: a second pass that asks no evaluated model anything.

Every reply that a rubric is for becomes one request, blind to the name of the model that gave it. A judge's reply that
is no judgement is asked for once more, with what was wrong; both stay on record. Nothing is clamped or guessed: what is
still no judgement is ``unparsed``, and a judge that does not answer leaves ``error`` rows that the next pass asks anew.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onlooker.errors import InputError, ModelError, QuotaExhausted
from onlooker.judge.blinding import without_name
from onlooker.models.gateway import Answered, Gateway
from onlooker.models.kinship import are_kin
from onlooker.models.request import Request
from onlooker.protocol.answered import Run, Seed, read_reply
from onlooker.protocol.ground import Ground
from onlooker.protocol.judging import Judging
from onlooker.protocol.scoring import Family, Private, Reply
from onlooker.protocol.shown import OPTIONS_SHOWN, mapped_back, relabelled, relabelled_private
from onlooker.records.public import Item
from onlooker.records.results import Judgement, Prediction, read_judgements
from onlooker.text.choices import visible_text
from onlooker.text.outcome import Unparsed

JUDGEMENTS_NAME = "judgements.jsonl"

# A judge's reply that holds words is an answer to keep, whatever it is worth; an empty one may be asked for again.
_KEPT = frozenset(("ok", "truncated", "refused"))


@dataclass(frozen=True, slots=True)
class Task:
    """One reply to judge. ``item``, ``private`` and ``reply`` name options as the model saw them: where they were
    moved, its words speak of them so. ``shown``: {option id as shown: its own id} there.
    """

    item: Item
    private: Private
    model: str
    condition: str
    seed: Seed
    reply: Reply
    words: str
    shown: Mapping[str, str] | None = None

    @property
    def key(self) -> tuple[str, str, str, Seed]:
        """Whose reply it is."""
        return self.item.id, self.model, self.condition, self.seed


@dataclass(slots=True)
class Tally:
    """What came of one rubric. ``spared``: {why no judge was needed: replies}."""

    rubric: str
    judged: int = 0
    unparsed: int = 0
    repaired: int = 0
    errors: int = 0
    hits: int = 0
    left: int = 0
    reason: str | None = None
    spared: Counter[str] = field(default_factory=Counter)

    @property
    def asked(self) -> int:
        """Replies that needed a judge."""
        return self.judged + self.unparsed + self.errors + self.left

    @property
    def coverage(self) -> float | None:
        """The share of them with a valid judgement; None where no reply needed one."""
        return self.judged / self.asked if self.asked else None


@dataclass(slots=True)
class JudgeSession:
    """One judge on the stored answers of some runs.

    ``advance`` hears of every reply that is done, with True where the judge failed; ``begin`` of every rubric and its
    number of replies, before the first call.
    """

    ground: Ground
    family: Family
    runs: Sequence[Run]
    gateway: Gateway
    earlier: Sequence[Judgement] = ()
    limit: int | None = None
    workers: int = 8
    begin: Callable[[str, int], None] = lambda rubric, number: None  # noqa: ARG005
    advance: Callable[[bool], None] = lambda failed: None  # noqa: ARG005
    rows: list[dict[str, Any]] = field(default_factory=list)
    stopped: str | None = None
    _labels: dict[tuple[str, str, str, Seed], dict[str, Mapping[str, Any]]] = field(default_factory=dict)

    async def judge(self, rubrics: Sequence[Judging]) -> list[Tally]:
        """Ask for every rubric in turn; a later one sees the labels of those before. ``rows`` holds the judgements.

        A judge out of quota stops it: what is judged is kept, the rest is counted as ``left``.
        """
        name = self.gateway.name
        for row in self.earlier:
            rubric = self.family.rubric(row.rubric)
            valid = row.status == "ok" and row.labels is not None and rubric is not None
            if row.judge == name and valid and rubric and rubric.accepts(row.labels, self.ground.items[row.item]):
                self._labels.setdefault((row.item, row.model, row.condition, row.seed), {})[row.rubric] = (
                    row.labels or {}
                )
        tallies = []
        for judging in rubrics:
            tally = Tally(judging.rubric.name)
            tallies.append(tally)
            waiting = deque(self._tasks(judging, tally))
            self.begin(judging.rubric.name, len(waiting))
            await asyncio.gather(*(self._worker(judging, waiting, tally) for _ in range(self.workers)))
            tally.left = len(waiting)
        return tallies

    def _tasks(self, judging: Judging, tally: Tally) -> list[Task]:
        found = []
        for run in self.runs:
            for seed in run.seeds:
                for item_id in run.owed:
                    task = self._task(run, seed, item_id)
                    if task is None:
                        continue
                    spared = judging.spared(task.item, task.private, task.reply, task.words)
                    if spared is not None:
                        tally.spared[spared] += 1
                    else:
                        found.append(task)
        return found if self.limit is None else found[: self.limit]

    def _task(self, run: Run, seed: Seed, item_id: str) -> Task | None:
        calls = {
            part: call.model_copy(update={"raw": without_name(call.raw, run.model)})
            for part, call in run.calls.get((seed, item_id), {}).items()
        }
        if not calls:
            return None
        item, private = self.ground.items[item_id], self.ground.private[item_id]
        outcome, answer = read_reply(self.family, item, calls)
        shown = calls[None].extra.get(OPTIONS_SHOWN) if None in calls else None
        if shown is not None:
            item, private = relabelled(item, shown), relabelled_private(private, shown)
            letters = {own: letter for letter, own in shown.items()}
            answer = None if answer is None else mapped_back(answer, letters)
        labels = self._labels.get((item_id, run.model, run.condition, seed), {})
        reply = Reply(outcome, answer, labels, judged=True)
        return Task(item, private, run.model, run.condition, seed, reply, _words(calls), shown)

    async def _worker(self, judging: Judging, waiting: deque[Task], tally: Tally) -> None:
        while waiting and self.stopped is None:
            task = waiting.popleft()
            try:
                row = await self._one(judging, task, tally)
            except QuotaExhausted as error:
                self.stopped = self.stopped or str(error)
                waiting.append(task)
                return
            self.rows.append(row)
            tally.judged += row["status"] == "ok"
            tally.unparsed += row["status"] == "unparsed"
            tally.errors += row["status"] == "error"
            if row["status"] == "ok":
                self._labels.setdefault(task.key, {})[judging.rubric.name] = row["labels"]
            self.advance(row["status"] == "error")

    async def _one(self, judging: Judging, task: Task, tally: Tally) -> dict[str, Any]:
        item = task.item
        request = judging.request(item, task.private, task.reply, task.words)
        row: dict[str, Any] = {
            "item": item.id,
            "model": task.model,
            "condition": task.condition,
            "seed": task.seed,
            "judge": self.gateway.name,
            "rubric": judging.rubric.name,
            "labels": None,
            "explanation": None,
            "status": "error",
            "raw": None,
        }
        label = f"{item.id} {task.condition}{'' if task.seed is None else f' {task.seed}'}"
        try:
            first = await self._ask(request, label)
            read = judging.read(first.reply.text, item)
            asked = [first]
            if isinstance(read, Unparsed):
                row["first_raw"], row["first_reason"] = first.reply.text, read.reason
                again = judging.repair_request(request, first.reply.text, read.reason, item)
                asked.append(await self._ask(again, f"{label} (repair)"))
                read = judging.read(asked[-1].reply.text, item)
        except QuotaExhausted:
            raise
        except ModelError as error:
            tally.reason = str(error)
            return row | {"error": {"kind": type(error).__name__, "message": str(error)}}
        last = asked[-1]
        tally.hits += all(one.hit for one in asked)
        row |= {
            "raw": last.reply.text,
            "prompt_sha256": last.digests.prompt,
            "served_model": last.reply.served_model,
            "usage": {
                "input_tokens": _sum([one.reply.input_tokens for one in asked]),
                "output_tokens": _sum([one.reply.output_tokens for one in asked]),
            },
            "cost_usd": _sum([one.reply.cost_usd for one in asked]),
        }
        if isinstance(read, Unparsed):
            return row | {"status": "unparsed", "reason": read.reason}
        tally.repaired += read.repaired or len(asked) > 1
        return row | {
            "status": "ok",
            "labels": read.value if task.shown is None else judging.mapped_back(read.value, task.shown),
            "explanation": judging.explanation(last.reply.text),
            "repaired": read.repaired or len(asked) > 1,
        }

    async def _ask(self, request: Request, label: str) -> Answered:
        return await self.gateway.ask(request, label=label, accept=lambda reply: reply.status in _KEPT)


def kin_warnings(judge: str, models: Sequence[str]) -> list[str]:
    """One warning for every judged model of the judge's own family: judges tend to favour their kin."""
    return [
        f"the judge {judge} and the judged model {model} are of one family: its labels may favour it"
        for model in sorted(set(models))
        if are_kin(judge, model)
    ]


def joined_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of a judgements file with ``rows`` in place of those about the same, all in one stable order.

    An ``error`` row never takes the place of a judgement that is there.
    """
    before = read_judgements([path]) if path.exists() else []
    joined = {_key(row): dict(row) for row in rows}
    for old in before:
        key = (old.item, old.model, old.condition, old.seed, old.rubric, old.judge)
        if key not in joined or (joined[key]["status"] == "error" and old.status != "error"):
            joined[key] = old.model_dump(mode="json")
    return [joined[key] for key in sorted(joined, key=lambda key: tuple(map(repr, key)))]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return (row["item"], row["model"], row["condition"], row["seed"], row["rubric"], row["judge"])


def choose_rubrics(judging: Sequence[Judging], names: Sequence[str], family: str) -> list[Judging]:
    """The family's rubrics of these names, in its own order; all of them where none is named. Else ``InputError``."""
    known = {one.rubric.name: one for one in judging}
    if not known:
        raise InputError(f"{family} has nothing for a judge to do", remedy="score its predictions as they are")
    strangers = sorted(set(names) - set(known))
    if strangers:
        raise InputError(
            f"{family} has no such rubric", where="--rubric", value=strangers[0], remedy=f"one of {', '.join(known)}"
        )
    return [one for name, one in known.items() if not names or name in names]


def _words(calls: Mapping[str | None, Prediction]) -> str:
    texts = [visible_text(call.raw) for call in calls.values()]
    return "\n".join(text.strip() for text in texts if not isinstance(text, Unparsed))


def _sum(values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
