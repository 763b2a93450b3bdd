"""The plain files of a run, made from its ledger in the plan's order: the same ledger gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onlooker.records.jsonl import write_text
from onlooker.run.ledger import Entry, Ledger
from onlooker.run.plan import Plan

PREDICTIONS_NAME = "predictions.jsonl"
REQUESTS_NAME = "requests.jsonl"
FAILURES_NAME = "failures.jsonl"
CARD_NAME = "run.json"


def export(plan: Plan, ledger: Ledger, run_dir: Path, card: dict[str, Any]) -> None:
    """Write ``predictions.jsonl``, ``requests.jsonl``, ``failures.jsonl`` and ``run.json``, each by atomic replacement.

    ``failures.jsonl`` has one row a medium that could not be delivered, with the items that lost by it.
    """
    entries = {entry.key: entry for entry in ledger.entries()}
    ordered = [entries[key] for key in plan.calls() if key in entries]
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
