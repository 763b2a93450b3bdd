"""One input setting less another on the questions that both answered, overall and by perspective.

The gain is the mean over questions of (credit under a - credit under b), seeds averaged first; intervals resample
episodes, all on the same draws. McNemar: exact, two-sided, on full credit; Holm's adjustment is over all tests of the
table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onlooker.benchmarks.mmhbench.analyses.groups import SCOPES, credit_of, in_scope, labels_by_item, owed
from onlooker.protocol.analysis import Cell, GradedRun, Material, Table
from onlooker.protocol.sheet import Found, Sheet, answered, common_items
from onlooker.stats.multiplicity import holm
from onlooker.stats.paired import McNemar, mcnemar

HEADS = (
    "model",
    "gain",
    "questions of",
    "n",
    "difference",
    "low",
    "high",
    "only a right",
    "only b right",
    "p",
    "Holm p",
)
Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Gains:
    """``accuracy`` {(model, setting, scope): found}; ``gain``, ``tests``, ``holm`` by (model, "a - b", scope)."""

    accuracy: Mapping[Key, Found]
    gain: Mapping[Key, Found]
    tests: Mapping[Key, McNemar]
    holm: Mapping[Key, float | None]
    notes: tuple[str, ...]

    def tables(self, what: str) -> tuple[Table, Table]:
        """Accuracies and gains."""
        rows: list[tuple[Cell, ...]] = [(*key, one.n, *one.cells) for key, one in self.accuracy.items()]
        gains: list[tuple[Cell, ...]] = [
            (*key, one.n, *one.cells, self.tests[key].a_only, self.tests[key].b_only, self.tests[key].p, self.holm[key])
            for key, one in self.gain.items()
        ]
        return (
            Table(f"Accuracy by {what}", ("model", what, "questions of", "n", "accuracy", "low", "high"), tuple(rows)),
            Table(f"Paired gains between {what}s", HEADS, tuple(gains)),
        )

    def spell(self) -> dict[str, object]:
        """As JSON: {model: {accuracy: {setting: {scope}}, gain: {"a - b": {scope}}}}."""
        data: dict[str, dict[str, dict[str, dict[str, object]]]] = {}
        for (model, name, scope), one in self.accuracy.items():
            data.setdefault(model, {}).setdefault("accuracy", {}).setdefault(name, {})[scope] = one.spell()
        for (model, name, scope), one in self.gain.items():
            test = self.tests[model, name, scope]
            data.setdefault(model, {}).setdefault("gain", {}).setdefault(name, {})[scope] = {
                "difference": one.spell(),
                "mcnemar": {"a_only": test.a_only, "b_only": test.b_only, "p": test.p},
                "holm_p": self.holm[model, name, scope],
            }
        return dict(data)


def compare_settings(
    material: Material, settings: Mapping[str, Mapping[str, GradedRun]], pairs: Sequence[tuple[str, str]]
) -> Gains:
    """``settings`` {model: {setting: run}}; ``pairs`` (a, b) are compared in every model that has both."""
    runs = [run for by_name in settings.values() for run in by_name.values()]
    perspectives = labels_by_item(runs, "perspective")
    sheet = Sheet(material, owed(material, runs))
    tests: dict[Key, McNemar] = {}
    notes = []
    for model, by_name in settings.items():
        credit = {name: credit_of(run) for name, run in by_name.items()}
        for name, found in credit.items():
            for scope in SCOPES:
                inside = in_scope(perspectives, found, scope)
                sheet.add(("accuracy", model, name, scope), sheet.columns(inside).mean("", [found[i] for i in inside]))
        for a, b in pairs:
            if a not in by_name or b not in by_name:
                notes.append(f"{model}: no gain {a} - {b}, predictions of both are needed")
                continue
            shared, left = common_items(material, (by_name[a], by_name[b]), answered)
            if left:
                notes.append(f"{model}, {a} - {b}: {left} questions not answered under both left out")
            x, y = credit[a], credit[b]
            for scope in SCOPES:
                inside = in_scope(perspectives, shared, scope)
                key = (model, f"{a} - {b}", scope)
                sheet.add(("gain", *key), sheet.columns(inside).mean("", [x[i] - y[i] for i in inside]))
                tests[key] = mcnemar(
                    sum(x[i] == 1 and y[i] != 1 for i in inside), sum(y[i] == 1 and x[i] != 1 for i in inside)
                )
    solved = sheet.solve()
    adjusted = dict(zip(tests, holm([test.p for test in tests.values()]).values, strict=True))
    return Gains(
        {key[1:]: one for key, one in solved.items() if key[0] == "accuracy"},
        {key[1:]: one for key, one in solved.items() if key[0] == "gain"},
        tests,
        adjusted,
        (*notes, *sheet.notes(solved)),
    )
