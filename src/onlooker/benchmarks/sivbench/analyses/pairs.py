"""One condition against another on the questions that both answered, model by model and dimension by dimension.

The difference is the mean of (credit there - credit under the base), seeds averaged question by question first; its
interval resamples episodes, all differences on the same draws. McNemar: exact, two-sided, on full credit. Holm's
adjustment is over all tests of the table. The relative change is the difference over the base's accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from onlooker.benchmarks.sivbench.analyses.groups import SCOPES, in_scope
from onlooker.errors import InputError
from onlooker.protocol.analysis import Cell, GradedRun, Material, Table
from onlooker.protocol.sheet import Found, Sheet, answered, by_item, common_items, run_name
from onlooker.stats.cluster import Difference, Mean
from onlooker.stats.multiplicity import holm
from onlooker.stats.paired import McNemar, mcnemar

HEADS = (
    "model",
    "condition",
    "questions of",
    "n",
    "base",
    "there",
    "difference",
    "low",
    "high",
    "relative",
    "p",
    "Holm p",
)
EVERYONE = "mean of models"


@dataclass(frozen=True, slots=True)
class Change:
    """``base`` and ``there`` are accuracies, ``difference`` is there - base. A mean of models has no test."""

    model: str
    condition: str
    scope: str
    base: float | None
    there: float | None
    difference: Found
    test: McNemar | None
    holm_p: float | None

    @property
    def relative(self) -> float | None:
        """The difference as a share of the base's accuracy; None where that is 0 or undefined."""
        return self.difference.value / self.base if self.difference.value is not None and self.base else None

    @property
    def row(self) -> tuple[Cell, ...]:
        """As the table shows it."""
        values = (self.difference.n, self.base, self.there, *self.difference.cells, self.relative)
        return (self.model, self.condition, self.scope, *values, self.test.p if self.test else None, self.holm_p)

    def spell(self) -> dict[str, object]:
        """As JSON."""
        return {
            "model": self.model,
            "condition": self.condition,
            "scope": self.scope,
            "base": self.base,
            "there": self.there,
            "difference": self.difference.spell(),
            "relative": self.relative,
            "mcnemar": None
            if self.test is None
            else {
                "there_only": self.test.a_only,
                "base_only": self.test.b_only,
                "p": self.test.p,
                "holm_p": self.holm_p,
            },
        }


@dataclass(slots=True)
class Changes:
    """What was found, in the order of the table."""

    changes: list[Change]
    notes: list[str] = field(default_factory=list)

    def table(self, title: str) -> Table:
        """All changes."""
        return Table(title, HEADS, tuple(change.row for change in self.changes))

    def of(self, condition: str, model: str) -> list[Change]:
        """Those of one model and condition, by scope."""
        return [c for c in self.changes if (c.condition, c.model) == (condition, model)]


def compare_conditions(
    material: Material, runs: Sequence[GradedRun], base: str, others: Sequence[str], *, everyone: bool
) -> Changes:
    """The changes of every model that has the base and another condition.

    ``everyone`` adds the mean of the models' differences where there are several. InputError where no model has both.
    """
    pairs = [
        (there, run)
        for run in runs
        if run.condition == base
        for there in runs
        if there.model == run.model and there.condition in others
    ]
    if not pairs:
        raise InputError(
            f"no model has predictions under {base} and under one of {', '.join(others)}",
            value=", ".join(run_name(run) for run in runs),
            remedy="name predictions of both with --predictions",
        )
    pairs.sort(key=lambda pair: (others.index(pair[0].condition), pair[0].model))
    notes = []
    sheet = Sheet(material, material.items)
    tests: dict[tuple[str, str, str], McNemar] = {}
    differences: dict[tuple[str, str], dict[str, Difference]] = {}
    for there, run in pairs:
        shared, left = common_items(material, (there, run), answered)
        if left:
            notes.append(
                f"{there.model}: {left} questions not answered under both {base} and {there.condition} left out"
            )
        a, b = (by_item(one, lambda c: c.grade.credit) for one in (there, run))
        for scope in SCOPES:
            inside = in_scope(material, shared, scope)
            key = (there.model, there.condition, scope)
            columns = sheet.columns(inside)
            above, below = columns.mean("", [a[i] for i in inside]), columns.mean("", [b[i] for i in inside])
            sheet.add((*key, "there"), above)
            sheet.add((*key, "base"), below)
            sheet.subtract((*key, "difference"), above, below)
            differences.setdefault((there.condition, scope), {})[there.model] = Difference(
                above.statistic, below.statistic
            )
            tests[key] = mcnemar(
                sum(a[i] == 1 and b[i] != 1 for i in inside), sum(b[i] == 1 and a[i] != 1 for i in inside)
            )
    means = {key: parts for key, parts in differences.items() if everyone and len(parts) > 1}
    for (condition, scope), parts in means.items():
        items = in_scope(material, material.items, scope)
        sheet.add((EVERYONE, condition, scope, "difference"), Mean(tuple(parts.values())), len(items))
    found = sheet.solve()
    adjusted = dict(zip(tests, holm([test.p for test in tests.values()]).values, strict=True))
    changes = [
        Change(
            *key,
            found[*key, "base"].value,
            found[*key, "there"].value,
            found[*key, "difference"],
            test,
            adjusted[key],
        )
        for key, test in tests.items()
    ]
    changes += [
        Change(
            EVERYONE,
            condition,
            scope,
            _mean([found[model, condition, scope, "base"].value for model in parts]),
            _mean([found[model, condition, scope, "there"].value for model in parts]),
            found[EVERYONE, condition, scope, "difference"],
            None,
            None,
        )
        for (condition, scope), parts in means.items()
    ]
    notes += sheet.notes({key: one for key, one in found.items() if key[3] == "difference"})
    notes.append(f"Holm's adjustment is over the {len(tests)} tests of the table")
    return Changes(changes, notes)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
