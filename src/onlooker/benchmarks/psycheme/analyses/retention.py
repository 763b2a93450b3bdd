"""Credit that is left after each stage of verification, and where the rest is lost.

For an answer with credit a, informative rationale c, evidence weight e and logic weight l, the stages are a, ac,
ac e/1.2 and v = ac e l/1.44; the losses 1 - a, a(1 - c), ac(1 - e/1.2), ac e/1.2 (1 - l/1.2) and v add up to 1. Stages
and losses are macro over capabilities; retention is sum v over sum a; the distribution of v weighs questions equally.
Paper: eqs. 4-6, appendix D.5, table 2, fig. 5.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capabilities, lowest
from onlooker.benchmarks.psycheme.scoring import STAGES, metrics
from onlooker.protocol.analysis import Analysis, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Found, Sheet, chosen_runs, run_name

PARTS: Final = ("stage.", "loss.", "retention.")
BINS: Final = ("0", "to 1/4", "to 1/2", "to 3/4", "below 1", "1")
"""Where a verified credit falls: 0, above the one before and up to this, 1."""


def retention(material: Material) -> Findings:
    """Stages, losses and retention of every run, and the capability of lowest retention."""
    runs = chosen_runs(material)
    sheets = [Sheet(material, {c.item.id for cases in run.by_seed.values() for c in cases}) for run in runs]
    found: dict[str, dict[str, Found]] = {}
    notes: list[str] = []
    for run, sheet in zip(runs, sheets, strict=True):
        for name, metric in sheet.metrics(run, metrics).items():
            if name.startswith(PARTS):
                sheet.add(name, metric)
        found[run_name(run)] = solved = sheet.solve()
        notes += [f"{run_name(run)}: {note}" for note in sheet.notes(solved)]
    names = capabilities(material.items.values())
    lowest_of = {
        run: lowest({n: _value(one, f"retention.capability.{n}") for n in names}) for run, one in found.items()
    }
    data: dict[str, Any] = {
        run: {name: one.spell() for name, one in solved.items()} | {"lowest_retention": lowest_of[run]}
        for run, solved in found.items()
    }
    for run in runs:
        data[run_name(run)]["distribution"] = _distribution(run)
    spread = {run: one["distribution"] for run, one in data.items()}
    rows = tuple((run, *shares.values()) for run, shares in spread.items())
    tables = (
        _stage_table(found),
        _retention_table(found, names),
        Table("Share of questions by verified credit", ("run", *BINS), rows),
    )
    bars = tuple(Series(run, tuple(shares.values())) for run, shares in spread.items())
    figure = Figure("bars", "Questions by verified credit", BINS, bars, "share of questions", percent=True)
    return Findings(data, tables, (*_figures(found, names), figure), tuple(notes))


def _distribution(run: GradedRun) -> dict[str, float | None]:
    """{bin: share of the questions whose v is defined}, over all seeds."""
    values = [v for cases in run.by_seed.values() for c in cases if (v := c.grade.verified) is not None]
    # A product of weights may miss a bound by a rounding error.
    counts = Counter(math.ceil(round(4 * v, 9)) if v < 1 - 1e-9 else len(BINS) - 1 for v in values)
    return {name: counts[k] / len(values) if values else None for k, name in enumerate(BINS)}


def _value(found: dict[str, Found], name: str) -> float | None:
    return found[name].value if name in found else None


def _stage_table(found: dict[str, dict[str, Found]]) -> Table:
    shown = [*(f"stage.{s}" for s in STAGES), *(f"loss.{s}" for s in STAGES)]
    rows = [(run, one["stage.logic"].n, *(one[name].value for name in shown)) for run, one in found.items()]
    return Table("Credit left after each stage, and lost at it (macro)", ("run", "n", *shown), tuple(rows))


def _retention_table(found: dict[str, dict[str, Found]], names: list[str]) -> Table:
    rows = []
    for run, one in found.items():
        for label in ("pooled", *(f"capability.{name}" for name in names)):
            cell = one.get(f"retention.{label}")
            if cell is not None:
                rows.append((run, label.removeprefix("capability."), cell.n, *cell.cells))
    return Table("Retention: verified over raw credit", ("run", "capability", "n", "value", "low", "high"), tuple(rows))


def _figures(found: dict[str, dict[str, Found]], names: list[str]) -> tuple[Figure, ...]:
    steps = ("full credit", *(f"lost at {stage}" for stage in STAGES), "verified")
    falls = [_fall(run, one) for run, one in found.items()]
    lines = []
    for run, one in found.items():
        cells = [one.get(f"retention.capability.{name}") for name in names]
        ends = [tuple(None if c is None else getattr(c, end) for c in cells) for end in ("value", "low", "high")]
        lines.append(Series(run, *ends))
    stages = [Series(run, tuple(one[f"stage.{stage}"].value for stage in STAGES)) for run, one in found.items()]
    return (
        Figure("lines", "Credit left after each stage", STAGES, tuple(stages), "credit", percent=True),
        Figure("waterfall", "Where credit is lost", steps, tuple(falls), "share of credit", percent=True),
        Figure("heatmap", "Retention by capability", tuple(names), tuple(lines), "retention", percent=True),
    )


def _fall(run: str, found: dict[str, Found]) -> Series:
    """From full credit through the losses, with a minus, to what is verified."""
    losses, kept = [found[f"loss.{stage}"] for stage in STAGES], found["stage.logic"]

    def minus(value: float | None) -> float | None:
        return None if value is None else -value

    return Series(
        run,
        (1.0, *(minus(loss.value) for loss in losses), kept.value),
        (None, *(minus(loss.high) for loss in losses), kept.low),
        (None, *(minus(loss.low) for loss in losses), kept.high),
    )


ANALYSIS = Analysis(
    name="retention",
    says="credit left after each stage of verification, losses, and retention by capability",
    source="eqs. 4-6, appendix D.5, table 2, figure 5",
    run=retention,
    options=RUN_OPTIONS,
)
