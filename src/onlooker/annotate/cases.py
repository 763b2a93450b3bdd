"""What a study asks about: its cases, chosen and drawn once, the same for the same files and seed.

A case is an item, or one model's reply to an item. Who wrote the reply and how a judge scored it is ``hidden``: it goes
from here to the export and never to a page; the case's id says nothing about it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from onlooker.annotate.study import Sample, Study
from onlooker.errors import InputError
from onlooker.protocol.form import Form
from onlooker.records.bundle import Bundle
from onlooker.records.public import Episode, Item
from onlooker.records.results import Judgement, Prediction, read_judgements, read_predictions

CaseKind: TypeAlias = Literal["plain", "warm_up", "gold"]


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to ask about. ``shown``: further words that the form may show (``reply``, ``verdict``); ``hidden``:
    {model, condition, seed, score} of a reply, empty for an item."""

    id: str
    item: Item
    kind: CaseKind = "plain"
    shown: Mapping[str, Any] = field(default_factory=dict)
    hidden: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cases:
    """All cases of a study in their order, by id, with the episodes that they show."""

    by_id: Mapping[str, Case]
    episodes: Mapping[str, Episode]

    @property
    def ordinary(self) -> list[str]:
        """Ids of the cases that the study is about: neither warm-up nor gold."""
        return [case.id for case in self.by_id.values() if case.kind == "plain"]


def rank(purpose: str, seed: int, name: str) -> str:
    """A place in an order that is random in its look and the same in every process: SHA-256 of what is named."""
    return hashlib.sha256(f"onlooker/annotate/{purpose}/{seed}/{name}".encode()).hexdigest()


def gather_cases(bundle: Bundle, study: Study, form: Form, folder: Path) -> Cases:
    """The cases of a study. ``folder``: where the paths in ``replies`` begin.

    Raises ``InputError`` for ids and labels that the bundle does not have, and where nothing is left to ask.
    """
    items = bundle.load_items()
    special = [*study.warm_up, *(study.gold.answers if study.gold else ())]
    _check_ids([*(study.items.ids or ()), *(special if form.asks_about == "item" else ())], items, study)
    chosen = [item for item in items.values() if _is_chosen(item, study, form)]
    if form.asks_about == "reply":
        assert study.replies is not None, "check_against has seen to it"
        found = _reply_cases(study, form, {item.id: item for item in chosen}, folder)
    else:
        found = [Case(item.id, item) for item in chosen]
        there = {case.id for case in found}
        found += [Case(one, items[one]) for one in special if one not in there]
    known = {case.id for case in found}
    if lost := [one for one in special if one not in known]:
        raise InputError("no case of this id", where=f"study {study.name}, warm_up or gold", value=lost[0])
    plain = [case for case in found if case.id not in special]
    if study.items.sample is not None:
        plain = draw(plain, study.items.sample, study.seed)
    if not plain:
        raise InputError(
            f"no item of the bundle is left to ask about with the form {form.name}",
            where=f"study {study.name}, items",
            remedy=f"the form is for {', '.join(form.tasks)}; widen tasks, labels or ids",
        )
    kinds: dict[str, CaseKind] = {**dict.fromkeys(study.warm_up, "warm_up")}
    kinds |= dict.fromkeys(study.gold.answers if study.gold else (), "gold")
    by_id = {case.id: case for case in found}
    special_cases = [Case(i, by_id[i].item, kinds[i], by_id[i].shown, by_id[i].hidden) for i in special]
    return Cases({case.id: case for case in [*special_cases, *plain]}, bundle.load_episodes())


def draw(cases: Sequence[Case], sample: Sample, seed: int) -> list[Case]:
    """At most ``sample.each`` cases of every stratum, in the order of ``cases``."""
    strata: dict[tuple[str, ...], list[Case]] = defaultdict(list)
    for case in cases:
        strata[tuple(stratum(case, name, sample.score_cuts) for name in sample.strata)].append(case)
    taken = {
        case.id
        for words, members in strata.items()
        for case in sorted(members, key=lambda c: rank(f"sample/{'/'.join(words)}", seed, c.id))[: sample.each]
    }
    return [case for case in cases if case.id in taken]


def stratum(case: Case, name: str, score_cuts: Sequence[float] = ()) -> str:
    """The stratum of a case under one of the names that ``Sample`` lists. Raises ``InputError`` for no such label."""
    if name == "score":
        score = case.hidden.get("score")
        return "unscored" if score is None else str(bisect_right(sorted(score_cuts), score))
    if name in {"model", "condition"}:
        return str(case.hidden.get(name))
    if name in {"task", "episode"}:
        return str(getattr(case.item, name))
    if name not in case.item.labels:
        raise InputError(
            f"item {case.item.id} has no such label",
            where="items.sample.strata",
            value=name,
            remedy="name a label of all",
        )
    return str(case.item.labels[name])


def _check_ids(ids: Iterable[str], items: Mapping[str, Item], study: Study) -> None:
    for one in ids:
        if one not in items:
            raise InputError("the bundle has no item of this id", where=f"study {study.name}", value=one)


def _is_chosen(item: Item, study: Study, form: Form) -> bool:
    wanted = study.items
    if item.task not in form.tasks or (form.needs_moments and item.task != "intensity"):
        return False
    if wanted.ids is not None and item.id not in wanted.ids:
        return False
    if wanted.tasks is not None and item.task not in wanted.tasks:
        return False
    return all(_has_label(item, name, values) for name, values in wanted.labels.items())


def _has_label(item: Item, name: str, values: Sequence[object]) -> bool:
    value = item.labels.get(name)
    return any(one in values for one in (value if isinstance(value, list) else [value]))


def _reply_cases(study: Study, form: Form, items: Mapping[str, Item], folder: Path) -> list[Case]:
    """A case for every reply that says something: an empty or failed one is never sent to a person, nor one without a
    verdict where the verdict is what people are asked about."""
    replies = study.replies
    assert replies is not None, "asked for"
    judged = _judged(read_judgements([folder / path for path in replies.judgements]), study)
    cases = []
    for row in read_predictions([folder / path for path in replies.predictions]):
        if row.item in items and row.status in {"ok", "truncated"} and row.raw.strip():
            verdict = judged.get(_reply(row))
            hidden = {"model": row.model, "condition": row.condition, "seed": row.seed, "score": _total(verdict)}
            if verdict is None and "verdict" in form.private:
                continue
            shown = {"reply": row.raw, "verdict": _decided(verdict)}
            name = rank("case", study.seed, "/".join(str(one) for one in _reply(row)))[:16]
            cases.append(Case(f"c-{name}", items[row.item], "plain", shown, hidden))
    return cases


def _judged(rows: Sequence[Judgement], study: Study) -> dict[tuple[object, ...], Judgement]:
    replies = study.replies
    assert replies is not None, "asked for"
    counted = [
        row
        for row in rows
        if row.status == "ok"
        and (replies.rubric is None or row.rubric == replies.rubric)
        and (replies.judge is None or row.judge == replies.judge)
    ]
    found: dict[tuple[object, ...], Judgement] = {}
    for row in counted:
        before = found.setdefault(_reply(row), row)
        if before is not row:
            raise InputError(
                f"two judgements of one reply: {before.judge}/{before.rubric} and {row.judge}/{row.rubric}",
                where=f"study {study.name}, replies",
                remedy="name rubric and judge",
            )
    return found


def _reply(row: Prediction | Judgement) -> tuple[object, ...]:
    return (row.item, row.model, row.condition, row.seed)


def _decided(row: Judgement | None) -> dict[str, Any] | None:
    """The judge's labels, and its reasons where it gave some; never who it is."""
    if row is None:
        return None
    return {**(row.labels or {}), **({"explanation": row.explanation} if row.explanation else {})}


def _total(row: Judgement | None) -> float | None:
    """The sum of the judge's numbers; None where there are none."""
    numbers = [v for v in (row.labels or {}).values() if isinstance(v, int | float)] if row is not None else []
    return float(sum(numbers)) if numbers else None
