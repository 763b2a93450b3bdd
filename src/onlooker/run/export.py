"""The plain files of a run, made from its ledger in the plan's order: the same ledger gives the same bytes."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import onlooker
from onlooker.errors import InputError
from onlooker.records.atomic import Replacement
from onlooker.records.jsonl import write_text
from onlooker.run.ledger import LEDGER_NAME, CallKey, Ledger
from onlooker.run.lock import locked
from onlooker.run.plan import planned_rows

PREDICTIONS_NAME = "predictions.jsonl"
REQUESTS_NAME = "requests.jsonl"
FAILURES_NAME = "failures.jsonl"
CARD_NAME = "run.json"
_LIBRARIES = (
    *("av", "numpy", "openai", "anthropic", "google-genai", "transformers", "xllamacpp"),
    *("faster-whisper", "onnxruntime", "rapidocr"),
)


def open_ledger(run_dir: Path) -> Ledger:
    """The ledger of a run folder. Raises ``InputError`` where the folder holds none."""
    path = run_dir / LEDGER_NAME
    if not path.is_file():
        raise InputError("no ledger here", where=str(path), remedy="name the folder that onlooker eval --out made")
    return Ledger(path)


def export_folder(run_dir: Path) -> int:
    """Make the plain files of a run folder anew from its ledger, as after kill -9. Returns the finished calls.

    Raises ``InputError`` where the folder holds no ledger, ``RunLocked`` where a process works in it.
    """
    if not run_dir.is_dir():
        raise InputError("no such folder", where=str(run_dir))
    with locked(run_dir):
        ledger = open_ledger(run_dir)
        try:
            document = ledger.plan()
            if document is None:
                raise InputError("this ledger has no plan: nothing was asked yet", where=str(ledger.path))
            export(planned_rows(document), ledger, run_dir, run_card())
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


def export(rows: Iterable[CallKey], ledger: Ledger, run_dir: Path, card: dict[str, Any]) -> None:
    """Write ``predictions.jsonl``, ``requests.jsonl``, ``failures.jsonl`` and ``run.json``, each by atomic replacement.

    Row by row, so that memory does not grow with the run. ``failures.jsonl`` has one row a medium that could not be
    delivered, with the items that lost by it.
    """
    failures: dict[tuple[str, str, str], dict[str, Any]] = {}
    with ExitStack() as files:
        predictions, requests = (
            files.enter_context(Replacement(run_dir / name)) for name in (PREDICTIONS_NAME, REQUESTS_NAME)
        )
        for key in rows:
            row = ledger.written(key)
            if row is None:
                continue
            predictions.write(f"{row.prediction}\n".encode())
            requests.write(f"{row.request}\n".encode())
            if not row.final:
                _count_failure(failures, key, json.loads(row.prediction), json.loads(row.request))
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in failures.values())
    write_text(run_dir / FAILURES_NAME, lines)
    write_text(run_dir / CARD_NAME, json.dumps({**card, **ledger.totals()}, ensure_ascii=False, indent=2) + "\n")


def _count_failure(
    rows: dict[tuple[str, str, str], dict[str, Any]], key: CallKey, prediction: dict[str, Any], request: dict[str, Any]
) -> None:
    error = prediction.get("error")
    if not error or error["kind"] == "model":
        return
    episode = request["episode"]
    row = rows.setdefault(
        (episode, error["kind"], error["message"]), {"episode": episode, **error, "conditions": [], "items": []}
    )
    for name, value in (("conditions", key.condition), ("items", key.item)):
        if value not in row[name]:
            row[name].append(value)
