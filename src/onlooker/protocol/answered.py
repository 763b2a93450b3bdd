"""Predictions and judgements as a run left them: read, checked against the bundle, sorted by what
they are about.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from onlooker.errors import InputError
from onlooker.protocol.scoring import Answer, Family, Labels
from onlooker.protocol.shown import OPTIONS_SHOWN, mapped_back, relabelled
from onlooker.records.digest import asked_sha256
from onlooker.records.jsonl import read_rows
from onlooker.records.public import Item
from onlooker.records.results import Judgement, Outcome, Prediction, plan_path, read_plan
from onlooker.text.outcome import Unparsed

_SHOWN_IDS = 10
Seed = int | None
_Row = TypeVar("_Row", Prediction, Judgement)


@dataclass(frozen=True, slots=True)
class Run:
    """One model under one condition.

    seeds     those that occur, None first
    owed      the ids of the items that count, in the order of the bundle
    calls     {(seed, item id): {part: prediction}}
    not_owed  rows of items that this condition does not owe; they are left out
    """

    model: str
    condition: str
    seeds: tuple[Seed, ...]
    owed: tuple[str, ...]
    calls: Mapping[tuple[Seed, str], Mapping[str | None, Prediction]]
    not_owed: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgements that count.

    valid   {(model, condition, seed, item id): {rubric: labels}}
    about   the (model, condition) pairs that have judgements at all, valid or not
    unused  {rubric: rows} under rubrics that the family does not have
    """

    valid: Mapping[tuple[str, str, Seed, str], Mapping[str, Labels]]
    about: frozenset[tuple[str, str]]
    unused: Mapping[str, int]


def refuse_other_questions(bundle: Path, files: Sequence[Path]) -> None:
    """InputError where a ``plan.json`` beside a predictions file says that other episodes or items were asked about.

    Plans without a digest pass: other tools write them too. Corrected references make no difference.
    """
    asked = asked_sha256(bundle)
    for file in files:
        plan = read_plan(file)
        card = plan.extra.get("bundle") if plan is not None else None
        before = card.get("asked_sha256") if isinstance(card, dict) else None
        if before not in (None, asked):
            raise InputError(
                "the episodes or items of the bundle have changed since these questions were asked",
                where=str(plan_path(file)),
                value=before,
                remedy=f"bring {bundle} back to that state, or run onlooker eval into a new folder",
            )


def read_runs(files: Sequence[Path], family: Family, items: Mapping[str, Item]) -> list[Run]:
    """Every model and condition in the prediction ``files``, sorted by name.

    A ``plan.json`` beside a file narrows what its models owe, by its ``owed`` also what one condition owes: items
    without a history, a donor or options are not asked where these are exchanged. InputError at a bad row, at two rows
    of one (item, part, model, condition, seed), at ids that the bundle does not have, at a part that the item does not
    have.
    """
    rows = _read(files, Prediction, ("item", "part", "model", "condition", "seed"))
    _refuse_strangers(rows, items, "predictions")
    plans = {file: _planned(file, items) for file in files}
    calls: dict[tuple[str, str], dict[tuple[Seed, str], dict[str | None, Prediction]]] = {}
    sources: dict[tuple[str, str], set[Path]] = defaultdict(set)
    for row, where, file in rows:
        _check_part(row, where, family, items[row.item])
        run = (row.model, row.condition)
        sources[run].add(file)
        parts = calls.setdefault(run, {}).setdefault((row.seed, row.item), {})
        if parts and (row.part is None) != (None in parts):
            raise InputError(
                "an item answered both in one call and in parts",
                where=where,
                value=row.item,
                remedy="keep one kind of rows for an item, model, condition and seed",
            )
        parts[row.part] = row
    runs = []
    for model, condition in sorted(calls):
        kept = calls[model, condition]
        planned: set[str] = set()
        for file in sources[model, condition]:
            everything, narrowed = plans[file]
            planned |= narrowed.get(condition, everything)
        owed = tuple(i for i, item in items.items() if i in planned and family.owes(condition, item))
        inside = set(owed)
        extra = sum(len(parts) for (_, item), parts in kept.items() if item not in inside)
        seeds = sorted({seed for seed, _ in kept}, key=lambda s: (s is not None, s or 0))
        runs.append(Run(model, condition, tuple(seeds), owed, kept, extra))
    return runs


def read_judged(files: Sequence[Path], family: Family, items: Mapping[str, Item], judge: str | None) -> Judged:
    """The judgements in ``files`` under the family's rubrics, of ``judge`` where one is named.

    InputError at a bad row, at a second judgement of one (item, model, condition, seed, rubric) by
    the same judge, at ids that the bundle does not have, at several judges under one rubric where
    none is named, at a judge who is not there.
    """
    rows = _read(files, Judgement, ("item", "model", "condition", "seed", "rubric", "judge"))
    _refuse_strangers(rows, items, "judgements")
    valid: dict[tuple[str, str, Seed, str], dict[str, Labels]] = defaultdict(dict)
    about: set[tuple[str, str]] = set()
    unused: dict[str, int] = defaultdict(int)
    judges: dict[str, set[str]] = defaultdict(set)
    for row, _, _ in rows:
        judges[row.rubric].add(row.judge)
    everyone = sorted({row.judge for row, _, _ in rows})
    if judge is not None and files and judge not in everyone:
        raise InputError("no judgements by this judge", value=judge, remedy=f"one of {everyone}")
    for row, where, _ in rows:
        rubric = family.rubric(row.rubric)
        if rubric is None:
            unused[row.rubric] += 1
            continue
        if judge is None and len(judges[row.rubric]) > 1:
            raise InputError(
                f"several judges under the rubric {row.rubric}",
                where=where,
                value=sorted(judges[row.rubric]),
                remedy="name the one that counts with --judge",
            )
        if judge is not None and row.judge != judge:
            continue
        about.add((row.model, row.condition))
        if row.status == "ok" and row.labels is not None and rubric.accepts(row.labels, items[row.item]):
            valid[row.model, row.condition, row.seed, row.item][row.rubric] = row.labels
    return Judged(valid, frozenset(about), unused)


def read_reply(family: Family, item: Item, calls: Mapping[str | None, Prediction]) -> tuple[Outcome, Answer | None]:
    """The outcome of an item's call or calls, and the answer where it is ``scored``.

    An item of several calls has the outcome of its first part, in the order of the item, that
    failed.
    """
    if not calls:
        return "missing", None
    if None in calls:
        return _read_call(family, item, calls[None])
    numbers: dict[str, float] = {}
    repaired = False
    for part in family.parts(item):
        if part not in calls:
            return "missing", None
        outcome, answer = _read_call(family, item, calls[part])
        if answer is None:
            return outcome, None
        assert isinstance(answer.value, int | float), "a part of an item is answered with one number"
        numbers[part] = float(answer.value)
        repaired = repaired or answer.repaired
    return "scored", Answer(numbers, repaired=repaired)


def _read_call(family: Family, item: Item, call: Prediction) -> tuple[Outcome, Answer | None]:
    if call.status in {"empty", "refused", "error"}:
        return call.status, None
    if call.status == "ok" and not call.raw.strip():
        return "empty", None
    shown = call.extra.get(OPTIONS_SHOWN)
    answer = family.parse(item if shown is None else relabelled(item, shown), call.raw, call.part)
    if isinstance(answer, Unparsed):
        return ("truncated" if call.status == "truncated" else "unparsed"), None
    return "scored", answer if shown is None else mapped_back(answer, shown)


def _read(files: Sequence[Path], kind: type[_Row], names: tuple[str, ...]) -> list[tuple[_Row, str, Path]]:
    first: dict[tuple[object, ...], str] = {}
    found = []
    for file in files:
        for row in read_rows(file, kind):
            where = f"{row.file}, line {row.line}"
            key = tuple(getattr(row.record, name) for name in names)
            if key in first:
                spelled = ", ".join(f"{n} {v}" for n, v in zip(names, key, strict=True) if v is not None)
                raise InputError(
                    f"a second row for {spelled}; the first is {first[key]}",
                    where=where,
                    remedy="keep one of the two rows",
                )
            first[key] = where
            found.append((row.record, where, file))
    return found


def _refuse_strangers(rows: Iterable[tuple[_Row, str, Path]], items: Mapping[str, Item], noun: str) -> None:
    strangers: dict[str, str] = {}
    for row, where, _ in rows:
        if row.item not in items:
            strangers.setdefault(row.item, where)
    if strangers:
        raise InputError(
            f"{noun} of items that the bundle does not have ({len(strangers)} ids)",
            where=next(iter(strangers.values())),
            value=_some(sorted(strangers)),
            remedy="score against the bundle that the run was made on, or correct the ids",
        )


def _planned(file: Path, items: Mapping[str, Item]) -> tuple[set[str], dict[str, set[str]]]:
    """The items that a plan beside the file owes, and {condition: items} where a condition asks fewer of them."""
    plan = read_plan(file)
    if plan is None:
        return set(items), {}
    narrowed = {condition: set(listed) for condition, listed in plan.owed.items()}
    strangers = sorted(set(plan.items).union(*narrowed.values()) - set(items))
    if strangers:
        raise InputError(
            f"plan of items that the bundle does not have ({len(strangers)} ids)",
            where=f"{file.parent / 'plan.json'}, items",
            value=_some(strangers),
            remedy="score against the bundle that the run was planned on",
        )
    return set(plan.items), narrowed


def _check_part(row: Prediction, where: str, family: Family, item: Item) -> None:
    if row.part is not None and row.part not in family.parts(item):
        parts = ", ".join(family.parts(item))
        raise InputError(
            f"item {item.id} has no such part",
            where=f"{where}, part",
            value=row.part,
            remedy=f"one of {parts}" if parts else "null: this item is answered in one call",
        )


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _SHOWN_IDS
    return ", ".join(ids[:_SHOWN_IDS]) + (f" and {more} more" if more > 0 else "")
