"""Run folders of one plan, from several machines, put together as if one had asked everything."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.records.jsonl import write_text
from onlooker.run.export import export, open_ledger, run_card
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.lock import locked
from onlooker.run.plan import PLAN_NAME, differences, planned_rows, whole_plan

_NEW_NAME = f".{LEDGER_NAME}.new"
SHARD_FOLDERS = "shard-*-of-*"


@dataclass(frozen=True, slots=True)
class Merged:
    """What came out: rows that the plan owes, that are there, that have no final answer; absent shards."""

    owed: int
    there: int
    left: int
    absent: tuple[str, ...]


def shard_folder(out: Path, number: int, count: int) -> Path:
    """Where shard ``number`` of ``count`` works below the run folder that all of them name."""
    return out / f"shard-{number}-of-{count}"


def merge(runs: Sequence[Path], out: Path) -> Merged:
    """Write the union of ``runs`` into the run folder ``out`` (which may be one of them, and may be there already).

    A folder of shards stands for its shards. Every row that two runs hold has to be the same answer to the same call:
    a difference raises ``InputError`` that names it, and ``out`` stays as it was. Attempts and costs of all runs are
    kept, once each, also when the same runs are merged again.
    """
    sources = [folder for run in runs for folder in _sources(run)]
    if (out / LEDGER_NAME).is_file() and out.resolve() not in {s.resolve() for s in sources}:
        sources.insert(0, out)
    out.mkdir(parents=True, exist_ok=True)
    with locked(out):
        plan, absent = _common_plan(sources)
        new = out / _NEW_NAME
        _remove(new)
        ledger = Ledger(new)
        try:
            for source in sources:
                _add(ledger, source)
            ledger.keep_plan(plan)
        except BaseException:
            ledger.close()
            _remove(new)
            raise
        ledger.close()
        for suffix in ("-wal", "-shm"):  # of the old file: SQLite would take them for the new one's
            (out / f"{LEDGER_NAME}{suffix}").unlink(missing_ok=True)
        new.replace(out / LEDGER_NAME)  # in one step: killed at any moment, one of the two ledgers is there
        write_text(out / PLAN_NAME, json.dumps(plan, ensure_ascii=False, indent=2) + "\n")
        ledger = Ledger(out / LEDGER_NAME)
        try:
            export(planned_rows(plan), ledger, out, run_card())
            finished = ledger.finished()
        finally:
            ledger.close()
    rows = list(planned_rows(plan))
    left = sum(not finished.get(key, False) for key in rows)
    return Merged(len(rows), sum(key in finished for key in rows), left, absent)


def _sources(run: Path) -> list[Path]:
    """The folder itself where it has a ledger, and the shards below it."""
    found = [run] if (run / LEDGER_NAME).is_file() else []
    found += sorted(path.parent for path in run.glob(f"{SHARD_FOLDERS}/{LEDGER_NAME}"))
    if not found:
        raise InputError("no ledger here", where=str(run), remedy="name the folder that onlooker eval --out made")
    return found


def _common_plan(sources: Sequence[Path]) -> tuple[dict[str, Any], tuple[str, ...]]:
    plan: dict[str, Any] | None = None
    there: dict[int, set[int]] = {}
    for source in sources:
        ledger = open_ledger(source)
        try:
            document = ledger.plan()
        finally:
            ledger.close()
        if document is None:
            raise InputError("this ledger has no plan: nothing was asked yet", where=str(source))
        whole = whole_plan(document)
        if plan is None:
            plan = whole
        found = differences(plan, whole)
        if found:
            raise InputError(
                f"this is a run of another plan than {sources[0]}: {'; '.join(found)}",
                where=str(source),
                remedy="merge runs of the same bundle, model, conditions, seeds and parameters",
            )
        if "shard" in document:
            there.setdefault(document["shard"]["count"], set()).add(document["shard"]["number"])
    assert plan is not None, "_sources gives one at least"
    absent = [
        f"{n}/{count}" for count, numbers in sorted(there.items()) for n in range(1, count + 1) if n not in numbers
    ]
    return plan, tuple(absent)


def _add(ledger: Ledger, source: Path) -> None:
    other = open_ledger(source)
    try:
        for entry in other.entries():
            before = ledger.entry(entry.key)
            if before is None or (entry.final and not before.final):
                ledger.record(entry)
            elif entry.final and before.final:
                same = ("raw", "status", "prompt_sha256", "media_sha256")
                if before.call_sha256 != entry.call_sha256 or any(
                    before.prediction[name] != entry.prediction[name] for name in same
                ):
                    raise InputError(
                        f"item {entry.key.item} (condition {entry.key.condition}, part {entry.key.part}, seed "
                        f"{entry.key.seed}) was answered otherwise in another of the runs",
                        where=str(source),
                        value=entry.prediction["raw"],
                        remedy="merge runs that do not overlap, or score them apart",
                    )
        ledger.absorb(other)
    finally:
        other.close()


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
