"""A run's plan: which calls it owes, frozen to ``plan.json`` with the digests that make two runs comparable."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import onlooker
from onlooker.errors import InputError
from onlooker.protocol.arrangement import Donor
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.protocol.description import describe_condition
from onlooker.protocol.variation import arrange_variation
from onlooker.records.bundle import Bundle
from onlooker.records.digest import asked_sha256, bundle_sha256
from onlooker.records.jsonl import write_text
from onlooker.records.public import Episode, Item
from onlooker.run.ledger import CallKey, Ledger
from onlooker.run.shards import Shard

PLAN_NAME = "plan.json"
_T = TypeVar("_T")
# What may change between two sessions of a run without changing what is asked.
_FREE = frozenset(("bundle.path", "bundle.name", "bundle.version", "bundle.sha256", "onlooker"))


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is the same for all calls of a run. ``max_side_px`` of a frame, ``jpeg_quality`` 1-95, temperature >= 0.

    ``top_p`` in (0, 1] and ``thinking_tokens`` >= 0 are left to the model where they are None; ``max_video_side_px`` of
    a video file, None: as it is.
    """

    temperature: float = 0.0
    max_side_px: int = 512
    jpeg_quality: int = 90
    top_p: float | None = None
    thinking_tokens: int | None = None
    max_video_side_px: int | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The items as one condition asks them by one seed: {id: item}, {id: who stands in}, {id: options as shown}."""

    items: Mapping[str, Item]
    donors: Mapping[str, Donor]
    shown: Mapping[str, Mapping[str, str]]
    left_out: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a run and the rows that it answers: one, or those of all ``items`` of a video (``calls="video"``).

    ``items`` are as the condition asks them. ``donor``: who stands in; ``shown``: {option id as shown: its own id},
    where the condition moves options.
    """

    keys: tuple[CallKey, ...]
    items: tuple[Item, ...]
    condition: Condition
    donor: Donor | None = None
    shown: Mapping[str, str] | None = None

    @property
    def label(self) -> str:
        """What the call is for, for people: condition, item (or episode), part, seed."""
        key = self.keys[0]
        what = f"episode {self.items[0].episode}" if self.condition.calls == "video" else key.item
        words = (key.condition, what, key.part, None if key.seed is None else f"seed {key.seed}")
        return " ".join(word for word in words if word is not None)


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls that a run owes, in the order of its exports. ``document`` is ``plan.json``."""

    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]
    parameters: Parameters
    document: dict[str, Any]
    arrangements: Mapping[tuple[str, int | None], Asked] = field(default_factory=dict)

    def rows(self) -> Iterator[CallKey]:
        """Every row that the run owes."""
        return planned_rows(self.document)

    def calls(self) -> Iterator[Call]:
        """Condition by condition, then item by item: neighbours share an episode and so its frames."""
        own = {item.id: item for item in self.items}
        for condition in self.conditions:
            keys = list(_rows_of(self.document, condition.name))
            if condition.calls != "video":
                for key in keys:
                    asked = self.arrangements.get((condition.name, key.seed))
                    if asked is None:
                        yield Call((key,), (own[key.item],), condition)
                    else:
                        donor, shown = asked.donors.get(key.item), asked.shown.get(key.item)
                        yield Call((key,), (asked.items[key.item],), condition, donor, shown)
                continue
            videos: dict[tuple[str, int | None], list[CallKey]] = {}
            for key in keys:
                videos.setdefault((own[key.item].episode, key.seed), []).append(key)
            for group in videos.values():
                asked = self.arrangements.get((condition.name, group[0].seed))
                items = tuple((asked.items if asked else own)[key.item] for key in group)
                donor = asked.donors.get(group[0].item) if asked else None
                yield Call(tuple(group), items, condition, donor)


def planned_rows(document: Mapping[str, Any]) -> Iterator[CallKey]:
    """The rows that a ``plan.json`` owes, in the order of the exports."""
    for condition in document["conditions"]:
        yield from _rows_of(document, condition)


def _rows_of(document: Mapping[str, Any], condition: str) -> Iterator[CallKey]:
    parts = document.get("parts", {}).get(condition, {})
    seeds = document.get("own_seeds", {}).get(condition, document["seeds"])
    for item in document.get("owed", {}).get(condition, document["items"]):
        for part in parts.get(item, (None,)):
            for seed in seeds:
                yield CallKey(item, part, condition, seed)


def make_plan(
    bundle: Bundle,
    benchmark: Benchmark,
    items: Sequence[Item],
    *,
    model_name: str,
    fingerprint: Mapping[str, str],
    conditions: Sequence[Condition],
    seeds: Sequence[int | None] = (None,),
    parameters: Parameters | None = None,
    shard: Shard | None = None,
    episodes: Mapping[str, Episode] | None = None,
) -> Plan:
    """The plan for these items under these conditions, or that of one ``shard`` of it (which may owe nothing).

    ``episodes``: those of the bundle, where the caller has read them. Conditions that are drawn by seeds of their own
    use these where none are asked for. Raises ``InputError`` where there is nothing to ask, or a condition or a seed is
    named twice.
    """
    parameters = parameters or Parameters()
    names = [c.name for c in conditions]
    if not items:
        raise InputError("no item to ask", where=str(bundle.path), remedy="fill items.jsonl, or widen the selection")
    if len(set(names)) < len(names):
        raise InputError("a condition is named twice", value=names)
    if len(set(seeds)) < len(seeds):
        raise InputError("a seed is named twice: the same question would be paid for twice", value=list(seeds))
    own_seeds = {c.name: list(c.seeds) for c in conditions if c.seeds and list(seeds) == [None]}
    everybody = bundle.load_episodes() if episodes is None else episodes
    # Who stands in for whom does not depend on how many of the items are asked.
    all_items = list(bundle.load_items().values()) if any(_changes(c) for c in conditions) else []
    arranged: dict[tuple[str, int | None], Asked] = {}
    owes: dict[str, list[Item]] = {}
    for condition in conditions:
        owed = [item for item in items if benchmark.scoring.owes(condition.name, item)]
        reasons: dict[str, str] = {}
        if _changes(condition):
            for seed in own_seeds.get(condition.name, seeds):
                asked = arrange(benchmark, condition, owed, everybody, seed, all_items)
                arranged[condition.name, seed] = asked
                reasons |= asked.left_out
            owed = [item for item in owed if item.id not in reasons]
        if not owed:
            why = next(iter(reasons.values()), None)
            raise InputError(
                f"the condition {condition.name} is for none of the items" + (f": each {why}" if why else ""),
                where=str(bundle.path),
                value=sorted({item.task for item in items}),
                remedy="choose a condition that is for the items of the bundle",
            )
        owes[condition.name] = owed
    # An episode belongs to one shard: its media are read on one machine, and what one call asks stays together.
    chosen = tuple(item for item in items if shard is None or shard.holds(item.episode))
    settings = {name: value for name, value in dataclasses.asdict(parameters).items() if value is not None}
    document = _owed(benchmark, conditions, chosen, owes) | {
        "bundle": {
            "name": bundle.card.name,
            "family": bundle.card.family,
            "version": bundle.card.version,
            "sha256": bundle_sha256(bundle.path),
            "asked_sha256": asked_sha256(bundle.path),
            "path": str(bundle.path.resolve()),
        },
        "model": {"name": model_name, "fingerprint": dict(fingerprint)},
        "conditions": {c.name: describe_condition(benchmark, c)["sha256"] for c in conditions},
        "seeds": list(seeds),
        "parameters": settings,
        "onlooker": onlooker.__version__,
    }
    if own_seeds:
        document["own_seeds"] = own_seeds
    if arranged:
        document["arranged"] = _spelled(arranged)
    if shard is not None:
        whole = _owed(benchmark, conditions, items, owes)
        document["shard"] = {"number": shard.number, "count": shard.count, "whole": whole}
    return Plan(chosen, tuple(conditions), parameters, document, arranged)


def _changes(condition: Condition) -> bool:
    """Whether the condition changes items, or what stands in for what."""
    return condition.arrangement is not None or condition.variation is not None


def reason_to_ask_none(
    benchmark: Benchmark,
    condition: Condition,
    items: Sequence[Item],
    episodes: Mapping[str, Episode],
    pool: Sequence[Item] = (),
) -> str | None:
    """Why the condition asks none of these items; None where it asks some. ``pool``: see ``arrange``."""
    owed = [item for item in items if benchmark.scoring.owes(condition.name, item)]
    if not owed:
        return "it is for none of the items' tasks"
    asked = arrange(benchmark, condition, owed, episodes, condition.seeds[0] if condition.seeds else None, pool)
    return None if asked.items else f"each item {next(iter(asked.left_out.values()), 'is left out')}"


def arrange(
    benchmark: Benchmark,
    condition: Condition,
    items: Sequence[Item],
    episodes: Mapping[str, Episode],
    seed: int | None,
    pool: Sequence[Item] = (),
) -> Asked:
    """The items as the condition asks them: first by its arrangement, then by its variation.

    ``pool``: all items of the bundle, which may stand in though they are not asked; none: those asked only.
    """
    wanted = {item.id for item in items}
    donors: dict[str, Donor] = {}
    left_out: dict[str, str] = {}
    further = [item for item in pool if benchmark.scoring.owes(condition.name, item) and item.episode in episodes]
    asked = further or list(items)
    if condition.arrangement is not None:
        first = benchmark.arrangements[condition.arrangement](asked, episodes, seed)
        donors |= first.donors
        left_out |= first.left_out
        asked = list(first.items.values())
    second, shown = arrange_variation(condition, asked, episodes)
    donors |= second.donors
    left_out |= second.left_out
    return Asked(_only(second.items, wanted), _only(donors, wanted), _only(shown, wanted), _only(left_out, wanted))


def _only(found: Mapping[str, _T], wanted: Collection[str]) -> dict[str, _T]:
    return {item: value for item, value in found.items() if item in wanted}


def _spelled(arranged: Mapping[tuple[str, int | None], Asked]) -> dict[str, Any]:
    """Who stands in for whom, which options moved and what is not asked, as ``plan.json`` has it."""
    found: dict[str, Any] = {}
    for (condition, seed), asked in arranged.items():
        body = {
            "donors": {item: donor.name_for(item) for item, donor in asked.donors.items()},
            "options_shown": {item: dict(shown) for item, shown in asked.shown.items()},
            "left_out": dict(asked.left_out),
        }
        by_seed = found.setdefault(condition, {})
        by_seed["" if seed is None else str(seed)] = {name: value for name, value in body.items() if value}
    return found


def _owed(
    benchmark: Benchmark, conditions: Sequence[Condition], items: Sequence[Item], owes: Mapping[str, Sequence[Item]]
) -> dict[str, Any]:
    """What a plan says of its items: ``items``, ``owed`` by condition where not all are, ``parts`` where there are any.

    The last two only where they say something, so that a plan of before they were known stays the same plan.
    """
    owed: dict[str, list[str]] = {}
    parts: dict[str, dict[str, list[str]]] = {}
    inside = {item.id for item in items}
    for condition in conditions:
        own = [item for item in owes[condition.name] if item.id in inside]
        if len(own) < len(items):
            owed[condition.name] = [item.id for item in own]
        if condition.calls == "part" and benchmark.part_calls is not None:
            parts[condition.name] = {item.id: list(benchmark.part_calls.names(item, condition)) for item in own}
    listed = {"owed": owed, "parts": parts}
    return {"items": [item.id for item in items]} | {name: value for name, value in listed.items() if value}


def whole_plan(document: Mapping[str, Any]) -> dict[str, Any]:
    """The plan that a shard is a part of: what all shards together owe. A plan without shards is its own."""
    rest = {name: value for name, value in document.items() if name not in ("items", "owed", "parts", "shard")}
    shard = document.get("shard")
    listed = shard["whole"] if shard else {n: document[n] for n in ("items", "owed", "parts") if n in document}
    return {**listed, **rest}


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What two plans differ in, in words; nothing where they ask the same."""
    return sorted(_differences(before, now))


def freeze(plan: Plan, run_dir: Path, ledger: Ledger) -> None:
    """Write ``plan.json`` and keep the plan in the ledger, or check that those there are the same plan.

    Raises ``InputError`` that names every difference: answers to two plans never share a folder. Corrected references,
    another place of the bundle or another version of onlooker make no difference to what is asked.
    """
    path = run_dir / PLAN_NAME
    for before, where in ((ledger.plan(), ledger.path), (read_plan_document(path) if path.exists() else None, path)):
        found = [] if before is None else differences(before, plan.document)
        if found:
            raise InputError(
                f"this folder holds a run of another plan: {'; '.join(found)}",
                where=str(where),
                remedy=_remedy(before or {}, plan.document),
            )
    ledger.keep_plan(plan.document)
    write_text(path, json.dumps(plan.document, ensure_ascii=False, indent=2) + "\n")


def _remedy(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What to do about another plan; a model that is described by other fields was described by another onlooker."""
    old, new = (plan.get("model", {}) for plan in (before, now))
    if old.get("name") == new.get("name") and old.get("fingerprint", {}).keys() != new.get("fingerprint", {}).keys():
        return (
            f"that run was begun by another onlooker ({before.get('onlooker', 'unknown')}), which described the model "
            "otherwise: choose another --out (its answers stay and can be scored), or finish it with that one"
        )
    return "choose another --out, or repeat the options of that run"


def read_plan_document(path: Path) -> dict[str, Any]:
    """``plan.json`` as written by ``freeze``. Raises ``InputError`` where it is missing or no JSON object."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError("no run here", where=str(path), remedy="onlooker eval BUNDLE --model M --out RUN") from error
    except ValueError as error:
        raise InputError(f"not JSON ({error})", where=str(path)) from error
    if not isinstance(document, dict):
        raise InputError("expected one JSON object", where=str(path), value=document)
    return document


def _differences(before: Mapping[str, Any], now: Mapping[str, Any], place: str = "") -> Iterable[str]:
    for key in before.keys() | now.keys():
        where = f"{place}{key}"
        old, new = before.get(key), now.get(key)
        if where in _FREE or old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            yield from _differences(old, new, f"{where}.")
        elif isinstance(old, list) and isinstance(new, list):
            yield f"{where} is another list ({len(old)} entries there, {len(new)} here)"
        else:
            yield f"{where} is {old!r} there and {new!r} here"
