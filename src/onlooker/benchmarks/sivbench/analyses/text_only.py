"""How far the words of the questions alone lead: accuracy without clips, and the questions that all or nearly all of
the k models get right.

Distance to chance: the mean of (credit - guess) over the questions, the guess of a question with k options being 1/k.
A model is right where its credit is full in every seed. "All" and "at least k-1" are shares of the questions that every
model owes; beside them stands what k independent guessers would reach: the mean of g^k and of g^k + k g^(k-1) (1 - g).
Paper: appendix C.3, table 8.
"""

from __future__ import annotations

from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import (
    SCOPES,
    chance_of,
    in_scope,
    named_condition,
    questions_of,
    right_items,
)
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, by_item, chosen_runs


def text_only_control(material: Material) -> Findings:
    """Accuracy and distance to chance of every model, and what they solve together."""
    runs = named_condition(material, chosen_runs(material), "text_only")
    guess = {item.id: chance_of(item) for item in questions_of(material)}
    right = {run.model: right_items(run) for run in runs}
    shared = [i for i in material.items if all(i in found for found in right.values())]
    k = len(runs)
    sheet = Sheet(material, material.items)
    for run in runs:
        found = by_item(run, lambda c: c.grade.credit)
        for scope in SCOPES:
            inside = in_scope(material, found, scope)
            columns = sheet.columns(inside)
            sheet.add((run.model, scope), columns.mean("", [found[i] for i in inside]))
            over = [None if (a := found[i]) is None else a - guess[i] for i in inside]
            sheet.add((run.model, scope, "over"), columns.mean("", over))
    for scope in SCOPES:
        inside = in_scope(material, shared, scope) if k > 1 else []
        counts = [sum(found[i] for found in right.values()) for i in inside]
        columns = sheet.columns(inside)
        sheet.add(("all", scope), columns.mean("", [float(c == k) for c in counts]))
        sheet.add(("nearly", scope), columns.mean("", [float(c >= k - 1) for c in counts]))
        sheet.add(("all by guessing", scope), columns.mean("", [guess[i] ** k for i in inside]))
        nearly = [guess[i] ** k + k * guess[i] ** (k - 1) * (1 - guess[i]) for i in inside]
        sheet.add(("nearly by guessing", scope), columns.mean("", nearly))
    solved = sheet.solve()
    together = {
        "all": f"all {k} of {k} models right",
        "all by guessing": "the same by guessing",
        "nearly": f"at least {k - 1} of {k} models right",
        "nearly by guessing": "the same by guessing",
    }
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        beyond = solved[run.model, "overall", "over"]
        rows.append((run.model, *(solved[run.model, scope].value for scope in SCOPES), *beyond.cells, beyond.n))
    rows += [
        (words, *(solved[name, scope].value for scope in SCOPES), None, None, None, solved[name, "overall"].n)
        for name, words in together.items()
    ]
    data: dict[str, Any] = {
        "condition": runs[0].condition,
        "models": {
            run.model: {
                scope: {
                    "accuracy": solved[run.model, scope].spell(),
                    "over_chance": solved[run.model, scope, "over"].spell(),
                }
                for scope in SCOPES
            }
            for run in runs
        },
        "together": {
            "models": k,
            **{name.replace(" ", "_"): {scope: solved[name, scope].spell() for scope in SCOPES} for name in together},
        },
    }
    notes = sheet.notes({key: one for key, one in solved.items() if k > 1 or key[0] not in together})
    if k < 2:
        notes.append("what models solve together is undefined: predictions of one model only")
    chance = sum(guess.values()) / len(guess)
    figure = Figure(
        "dots",
        f"Accuracy under {runs[0].condition}",
        SCOPES,
        tuple(
            Series(
                run.model,
                tuple(solved[run.model, scope].value for scope in SCOPES),
                tuple(solved[run.model, scope].low for scope in SCOPES),
                tuple(solved[run.model, scope].high for scope in SCOPES),
            )
            for run in runs
        ),
        "accuracy",
        percent=True,
        chance=chance,
    )
    heads = ("model or indicator", *SCOPES, "over chance", "low", "high", "n")
    return Findings(data, (Table("Without the clips", heads, tuple(rows)),), (figure,), tuple(notes))


ANALYSIS = Analysis(
    name="text_only",
    says="what the words of the questions alone give away, model by model and together",
    source="appendix C.3, table 8",
    run=text_only_control,
    options={**RUN_OPTIONS, "condition": "the condition without clips; text_only where absent"},
)
