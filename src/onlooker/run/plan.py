"""A run's plan: which calls it owes, frozen to ``plan.json`` with the digests that make two runs comparable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onlooker
from onlooker.errors import InputError
from onlooker.protocol.benchmark import Benchmark
from onlooker.protocol.condition import Condition
from onlooker.protocol.description import describe_condition
from onlooker.records.bundle import Bundle
from onlooker.records.digest import asked_sha256, bundle_sha256
from onlooker.records.jsonl import write_text
from onlooker.records.public import Item
from onlooker.run.ledger import CallKey, Ledger

PLAN_NAME = "plan.json"
# What may change between two sessions of a run without changing what is asked.
_FREE = frozenset(("bundle.path", "bundle.name", "bundle.version", "bundle.sha256", "onlooker"))


@dataclass(frozen=True, slots=True)
class Parameters:
    """What is the same for all calls of a run. ``max_side_px`` of a frame, ``jpeg_quality`` 1-95, temperature >= 0."""

    temperature: float = 0.0
    max_side_px: int = 512
    jpeg_quality: int = 90


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls that a run owes, in the order of its exports."""

    items: tuple[Item, ...]
    conditions: tuple[Condition, ...]
    seeds: tuple[int | None, ...]
    parameters: Parameters
    document: dict[str, Any]

    def calls(self) -> Iterable[CallKey]:
        """Condition by condition, then item by item: neighbours share an episode and so its frames."""
        for condition in self.conditions:
            for item in self.items:
                for seed in self.seeds:
                    yield CallKey(item.id, None, condition.name, seed)


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
) -> Plan:
    """The plan for these items under these conditions.

    Raises ``InputError`` where there is nothing to ask, or a condition or a seed is named twice.
    """
    parameters = parameters or Parameters()
    names = [c.name for c in conditions]
    if not items:
        raise InputError("no item to ask", where=str(bundle.path), remedy="fill items.jsonl, or widen the selection")
    if len(set(names)) < len(names):
        raise InputError("a condition is named twice", value=names)
    if len(set(seeds)) < len(seeds):
        raise InputError("a seed is named twice: the same question would be paid for twice", value=list(seeds))
    document = {
        "items": [item.id for item in items],
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
        "parameters": {
            "temperature": parameters.temperature,
            "max_side_px": parameters.max_side_px,
            "jpeg_quality": parameters.jpeg_quality,
        },
        "onlooker": onlooker.__version__,
    }
    return Plan(tuple(items), tuple(conditions), tuple(seeds), parameters, document)


def freeze(plan: Plan, run_dir: Path, ledger: Ledger) -> None:
    """Write ``plan.json`` and keep the plan in the ledger, or check that those there are the same plan.

    Raises ``InputError`` that names every difference: answers to two plans never share a folder. Corrected references,
    another place of the bundle or another version of onlooker make no difference to what is asked.
    """
    path = run_dir / PLAN_NAME
    for before, where in ((ledger.plan(), ledger.path), (read_plan_document(path) if path.exists() else None, path)):
        differences = [] if before is None else sorted(_differences(before, plan.document))
        if differences:
            raise InputError(
                f"this folder holds a run of another plan: {'; '.join(differences)}",
                where=str(where),
                remedy="choose another --out, or repeat the options of that run",
            )
    ledger.keep_plan(plan.document)
    write_text(path, json.dumps(plan.document, ensure_ascii=False, indent=2) + "\n")


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
