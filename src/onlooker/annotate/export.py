"""What people said, as files: ratings or judgements, decisions, and where a study stands."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from onlooker.annotate.adjudicating import last_rulings
from onlooker.annotate.events import Event
from onlooker.annotate.rows import decision_row, judgement_rows, rating_rows, timestamp
from onlooker.annotate.submitting import Desk
from onlooker.annotate.work import DONE, Work, apply
from onlooker.errors import InputError
from onlooker.records.atomic import Replacement
from onlooker.records.jsonl import write_rows

Format: TypeAlias = Literal["jsonl", "csv"]
FORMATS: Final[tuple[Format, ...]] = ("jsonl", "csv")

# What a spreadsheet takes for the start of a formula (OWASP, CSV injection).
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Exported:
    """Rows by the name of their file, without its ending."""

    files: Mapping[str, Sequence[Mapping[str, Any]]]


def collect(desk: Desk, *, history: bool = False, surplus: bool = False, special: bool = False) -> Exported:
    """The rows of all files of one moment.

    ratings (or judgements)  the standing answers to ordinary cases; with ``surplus`` also answers beyond the overlap,
                             with ``special`` warm-up and gold, both marked
    history     every answer ever given, in order, on request
    cases       for replies: which case is whose, for the study's owner
    decisions   where the form decides
    """
    name = desk.form.records
    with desk.store.database.snapshot():
        works = [work for work in desk.store.works() if _counts(desk, work, surplus=surplus, special=special)]
        files: dict[str, Sequence[Mapping[str, Any]]] = {name: [row for work in works for row in _rows(desk, work)]}
        if history:
            files["history"] = list(_history(desk))
        if desk.form.asks_about == "reply":
            files["cases"] = [
                {"case": case.id, "item": case.item.id, **case.hidden} for case in desk.cases.by_id.values()
            ]
        if desk.form.decision is not None:
            files["decisions"] = list(_decisions(desk, works))
        rulings = last_rulings(desk)
        if rulings:
            files["adjudications"] = [_ruling_row(desk, event) for event in rulings.values()]
    return Exported(files)


def _counts(desk: Desk, work: Work, *, surplus: bool, special: bool) -> bool:
    case = desk.cases.by_id.get(work.case)
    if case is None or (case.kind != "plain" and not special):
        return False
    return work.state in DONE or (surplus and work.state == "surplus")


def _rows(desk: Desk, work: Work) -> Iterator[dict[str, Any]]:
    case = desk.cases.by_id[work.case]
    rows = judgement_rows if desk.form.records == "judgements" else rating_rows
    for row in rows(desk.form, case, work):
        if work.state == "surplus":
            row["surplus"] = True
        if case.kind != "plain":
            row["kind"] = case.kind
        yield row


def _history(desk: Desk) -> Iterator[dict[str, Any]]:
    """Every answer as it was given, also those changed later; those that a withdrawal took out are gone."""
    works: dict[tuple[str, str], Work | None] = {}
    for event in desk.store.events("assigned", "answered", "changed", "opted_out"):
        if event.rater is None or event.case is None:
            continue
        place = (event.rater, event.case)
        works[place] = work = apply(works.get(place), event)
        if event.kind != "assigned" and event.body and work is not None and event.case in desk.cases.by_id:
            for row in _rows(desk, work):
                yield {**row, "event": event.kind, "version": event.seq}


def _decisions(desk: Desk, works: Sequence[Work]) -> Iterator[dict[str, Any]]:
    assert desk.form.decision is not None
    by_case: dict[str, list[Work]] = {}
    for work in works:
        if work.state in DONE:
            by_case.setdefault(work.case, []).append(work)
    rulings = last_rulings(desk)
    for case_id in desk.cases.ordinary:
        case = desk.cases.by_id[case_id]
        own = sorted(by_case.get(case_id, ()), key=lambda work: work.version)
        row = decision_row(desk.form.decision, case, own, rulings.get(case_id), desk.study.overlap)
        if row is not None:
            yield row


def _ruling_row(desk: Desk, event: Event) -> dict[str, Any]:
    assert event.case is not None
    assert event.body is not None
    return {
        "item": desk.cases.by_id[event.case].item.id,
        "case": event.case,
        "expert": event.rater,
        "answer": event.body["answer"],
        "says": event.body.get("says"),
        "at": timestamp(event.at),
    }


def write_export(
    exported: Exported, out: Path, formats: Sequence[Format], *, neutralise: bool = False
) -> dict[str, int]:
    """Write every file in every format into the folder ``out``; return {file name: rows}. Each is replaced in one step.

    ``neutralise``: cells of the CSV that a spreadsheet would run get an apostrophe in front; on request only, since it
    changes what was typed.
    """
    if out.exists() and not out.is_dir():
        raise InputError("this is a file; name a folder", where="--out", value=str(out))
    out.mkdir(parents=True, exist_ok=True)
    written: dict[str, int] = {}
    for name, rows in exported.files.items():
        for one in formats:
            path = out / f"{name}.{one}"
            if one == "jsonl":
                write_rows(path, rows)
            else:
                with Replacement(path) as file:
                    file.write(csv_text(rows, neutralise=neutralise).encode())
            written[path.name] = len(rows)
    return written


def csv_text(rows: Sequence[Mapping[str, Any]], *, neutralise: bool = False) -> str:
    """The rows as CSV (RFC 4180: lines end with CR LF, quotes doubled): text as it is, an empty cell for null, anything
    that is neither as JSON. One column a field, in order of appearance."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(row.get(name), neutralise=neutralise) for name in columns])
    return out.getvalue()


def _cell(value: Any, *, neutralise: bool) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if neutralise and value.startswith(_FORMULA) else value
