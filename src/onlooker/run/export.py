"""The plain files of a run, made from its ledger in the plan's order: the same ledger gives the same bytes."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onlooker
from onlooker.errors import InputError
from onlooker.records.jsonl import write_text
from onlooker.run.ledger import LEDGER_NAME, CallKey, Entry, Ledger
from onlooker.run.lock import locked

PREDICTIONS_NAME = "predictions.jsonl"
REQUESTS_NAME = "requests.jsonl"
FAILURES_NAME = "failures.jsonl"
CARD_NAME = "run.json"
_LIBRARIES = ("av", "numpy", "openai", "xllamacpp", "faster-whisper", "onnxruntime", "rapidocr")


def export_folder(run_dir: Path) -> int:
    """Make the plain files of a run folder anew from its ledger, as after kill -9. Returns the finished calls.

    Raises ``InputError`` where the folder holds no ledger, ``RunLocked`` where a process works in it.
    """
    path = run_dir / LEDGER_NAME
    if not path.is_file():
        raise InputError("no ledger here", where=str(path), remedy="name the folder that onlooker eval --out made")
    with locked(run_dir):
        ledger = Ledger(path)
        try:
            document = ledger.plan()
            if document is None:
                raise InputError("this ledger has no plan: nothing was asked yet", where=str(path))
            calls = [
                CallKey(item, None, condition, seed)
                for condition in document["conditions"]
                for item in document["items"]
                for seed in document["seeds"]
            ]
            export(calls, ledger, run_dir, run_card())
            return len(ledger.finished())
        finally:
            ledger.close()


def run_card() -> dict[str, Any]:
    """Versions of what runs here."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"onlooker": onlooker.__version__, "python": platform.python_version(), "libraries": versions}


def export(calls: Iterable[CallKey], ledger: Ledger, run_dir: Path, card: dict[str, Any]) -> None:
    """Write ``predictions.jsonl``, ``requests.jsonl``, ``failures.jsonl`` and ``run.json``, each by atomic replacement.

    ``failures.jsonl`` has one row a medium that could not be delivered, with the items that lost by it.
    """
    entries = {entry.key: entry for entry in ledger.entries()}
    ordered = [entries[key] for key in calls if key in entries]
    write_text(run_dir / PREDICTIONS_NAME, _lines(e.prediction for e in ordered))
    write_text(run_dir / REQUESTS_NAME, _lines(e.request for e in ordered))
    write_text(run_dir / FAILURES_NAME, _lines(_failures(ordered)))
    write_text(run_dir / CARD_NAME, json.dumps({**card, **ledger.totals()}, ensure_ascii=False, indent=2) + "\n")


def _failures(entries: list[Entry]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in entries:
        error = entry.prediction.get("error")
        if not error or error["kind"] == "model":
            continue
        episode = entry.request["episode"]
        row = rows.setdefault(
            (episode, error["kind"], error["message"]),
            {"episode": episode, **error, "conditions": [], "items": []},
        )
        for name, value in (("conditions", entry.key.condition), ("items", entry.key.item)):
            if value not in row[name]:
                row[name].append(value)
    return list(rows.values())


def _lines(rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
