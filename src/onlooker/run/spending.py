"""The cost ledger: what runs asked and paid, by serving path, model and role."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.models.book import BOOK_NAME, CallBook, Spending
from onlooker.run.ledger import LEDGER_NAME, Ledger
from onlooker.run.merge import SHARD_FOLDERS


def collect(places: Iterable[Path]) -> list[Spending]:
    """What the books of these folders (or files) hold together, one row for each serving path, model and role.

    A folder has a run's ledger, or a book of calls as constructions and caches keep it, or shards that are not merged
    yet. A file that is named twice counts once. Raises ``InputError``.
    """
    found: dict[tuple[str, str, str], Spending] = {}
    files = [path for place in places for path in _files(place)]
    for path in {path.resolve(): path for path in files}.values():
        for row in _read(path):
            key = (row.path, row.model, row.role)
            found[key] = _together(found[key], row) if key in found else row
    return [found[key] for key in sorted(found)]


def total(rows: Iterable[Spending]) -> Spending | None:
    """All rows as one; None where there is none."""
    whole: Spending | None = None
    for row in rows:
        nameless = replace(row, path="all", model="all", role="all")
        whole = nameless if whole is None else _together(whole, nameless)
    return whole


def document(rows: list[Spending]) -> dict[str, Any]:
    """As JSON values; ``cost_usd`` null is unknown, never nothing."""
    whole = total(rows)
    return {
        "calls": [asdict(row) for row in rows],
        "total": None if whole is None else {k: v for k, v in asdict(whole).items() if k not in _NAMES},
    }


_NAMES = ("path", "model", "role")


def _read(path: Path) -> list[Spending]:
    if path.name == LEDGER_NAME:
        ledger = Ledger(path)
        try:
            return ledger.book.spending()
        finally:
            ledger.close()
    book = CallBook(path)
    try:
        return book.spending()
    finally:
        book.close()


def _files(place: Path) -> list[Path]:
    candidates = [place] if place.is_file() else [place / LEDGER_NAME, place / BOOK_NAME]
    for path in candidates:
        if path.is_file():
            return [path]
    shards = sorted(place.glob(f"{SHARD_FOLDERS}/{LEDGER_NAME}"))
    if shards:
        return shards
    raise InputError(
        "no ledger here",
        where=str(place),
        remedy=f"name a run folder, or another one with {LEDGER_NAME} or {BOOK_NAME}",
    )


def _together(a: Spending, b: Spending) -> Spending:
    return Spending(
        *(a.path, a.model, a.role),
        *(a.calls + b.calls, a.attempts + b.attempts, a.failed + b.failed, a.hits + b.hits),
        *(_sum(a.input_tokens, b.input_tokens), _sum(a.output_tokens, b.output_tokens)),
        _sum(a.cached_tokens, b.cached_tokens),
        _sum_usd(a.cost_usd, b.cost_usd),
        a.unpriced + b.unpriced,
        a.seconds + b.seconds,
    )


def _sum(a: int | None, b: int | None) -> int | None:
    """What is known of both together; None where nothing is."""
    return a if b is None else b if a is None else a + b


def _sum_usd(a: float | None, b: float | None) -> float | None:
    return a if b is None else b if a is None else a + b
