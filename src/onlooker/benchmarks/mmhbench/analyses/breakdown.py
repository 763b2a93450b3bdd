"""Accuracy by perspective, role of who asks and who answers, topic and length of the video, and crossed by perspective.

First less third: the difference of the two accuracies, of different questions, on the same draws of episodes. Unread
replies count as wrong; a question without a label is in none of its groups. Crossed tables take a question's topic (or
duration) and perspective together; questioner and responder are crossed with each other. Intervals: 95 % percentiles.
Paper: section 4.2, table 2; section 4.4, table 5.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.mmhbench.analyses.groups import GROUPS, credit_of, labels_by_item, owed
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Found, Sheet, chosen_runs, run_name

CROSSED = (("topic", "perspective"), ("duration", "perspective"), ("questioner", "responder"))


def breakdown(material: Material) -> Findings:
    """Accuracy of every run in every group, and in pairs of groups."""
    runs = chosen_runs(material)
    labels = {label: labels_by_item(runs, label) for label in GROUPS}
    sheet = Sheet(material, owed(material, runs))
    for run in runs:
        name, credit = run_name(run), credit_of(run)

        def mean(inside: list[str], credit: dict[str, float] = credit) -> Any:
            return sheet.columns(inside).mean("", [credit[i] for i in inside])

        sheet.add((name, "overall"), mean(list(credit)))
        for label, values in GROUPS.items():
            for value in values:
                sheet.add((name, label, value), mean([i for i in credit if value in labels[label][i]]))
        first, third = (mean([i for i in credit if one in labels["perspective"][i]]) for one in ("first", "third"))
        sheet.subtract((name, "first - third"), first, third)
        for a, b in CROSSED:
            for x in GROUPS[a]:
                for y in GROUPS[b]:
                    sheet.add((name, a, x, b, y), mean([i for i in credit if x in labels[a][i] and y in labels[b][i]]))
    found = sheet.solve()
    tables = [_main(found, [run_name(run) for run in runs])]
    tables += [_crossed(found, [run_name(run) for run in runs], a, b) for a, b in CROSSED]
    data: dict[str, Any] = {}
    for (name, *path), one in found.items():
        crossed = len(path) == 4
        steps = ["crossed", f"{path[0]} and {path[2]}", path[1], path[3]] if crossed else path
        place = data.setdefault(name, {})
        for step in steps[:-1]:
            place = place.setdefault(step, {})
        place[steps[-1]] = one.spell()
    notes = sheet.notes({key: one for key, one in found.items() if len(key) < 5})
    empty = sum(one.n == 0 for key, one in found.items() if len(key) == 5)
    if empty:
        notes.append(f"{empty} crossed groups hold no question: undefined")
    notes += [
        f"{missing} questions without a {label} are in none of its groups"
        for label, of in labels.items()
        if (missing := sum(not values for values in of.values()))
    ]
    figures = tuple(_figure(found, [run_name(run) for run in runs], label) for label in GROUPS)
    return Findings(data, tuple(tables), figures, tuple(notes))


def _main(found: dict[Any, Found], names: list[str]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        rows.append((name, "overall", "", found[name, "overall"].n, *found[name, "overall"].cells))
        rows += [
            (name, label, value, found[name, label, value].n, *found[name, label, value].cells)
            for label, values in GROUPS.items()
            for value in values
        ]
        gap = found[name, "first - third"]
        rows.append((name, "perspective", "first - third", gap.n, *gap.cells))
    return Table("Accuracy by group", ("run", "by", "group", "n", "accuracy", "low", "high"), tuple(rows))


def _crossed(found: dict[Any, Found], names: list[str], a: str, b: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (name, x, y, one.n, *one.cells)
        for name in names
        for x in GROUPS[a]
        for y in GROUPS[b]
        for one in [found[name, a, x, b, y]]
    ]
    return Table(f"Accuracy by {a} and {b}", ("run", a, b, "n", "accuracy", "low", "high"), tuple(rows))


def _figure(found: dict[Any, Found], names: list[str], label: str) -> Figure:
    series = tuple(
        Series(
            name,
            tuple(found[name, label, value].value for value in GROUPS[label]),
            tuple(found[name, label, value].low for value in GROUPS[label]),
            tuple(found[name, label, value].high for value in GROUPS[label]),
        )
        for name in names
    )
    return Figure("dots", f"Accuracy by {label}", tuple(GROUPS[label]), series, "accuracy", percent=True)


ANALYSIS = Analysis(
    name="breakdown",
    says="accuracy by perspective, questioner, responder, topic and duration; first person less third",
    source="tables 2 and 5",
    run=breakdown,
    options=RUN_OPTIONS,
)
