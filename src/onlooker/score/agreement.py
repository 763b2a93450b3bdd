"""Agreement of the raters in a ratings file, under one rubric."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from onlooker.protocol.agreement import AgreementResult, agreement
from onlooker.records.jsonl import read_rows
from onlooker.records.private import Rating
from onlooker.stats.agreement import Level


def rater_agreement(ratings: Path, rubric: str) -> AgreementResult:
    """Alpha, kappa, unanimity and pairs over the units (item, unit) of a ratings file (``protocol.agreement``).

    InputError where a row is wrong, a rater rated a unit twice, and where nobody rated under the rubric.
    """
    rows = ((f"{row.file}, line {row.line}", row.record) for row in read_rows(ratings, Rating))
    return agreement(rows, rubric, str(ratings))


def agreement_rows(result: AgreementResult, level: Level) -> Iterator[tuple[str, str]]:
    """(name, value) as text, the alpha of ``level`` first; a dash where undefined."""
    report = result.report
    lead = f"alpha.{level}"
    for name in [lead, *(name for name in report if name != lead)]:
        value = report[name]
        if name == "step_share":
            yield name, ", ".join(f"{step} {100 * share:.1f} %" for step, share in value.items()) or "-"
        elif value is None:
            yield name, "-"
        else:
            yield name, f"{value:.3f}" if isinstance(value, float) else str(value)
