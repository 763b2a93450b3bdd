"""Runs an analysis of a family: files -> graded answers -> what the family's analysis finds in them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Findings, GradedRun, Material
from onlooker.protocol.scoring import Family
from onlooker.records.bundle import Bundle
from onlooker.records.public import Item
from onlooker.records.results import Judgement, read_judgements
from onlooker.score.score import Graded, check_draws, draws_notes, grade_files, judged_notes, run_notes
from onlooker.score.unused import empty_files

_SHOWN_IDS = 10


def analyze(
    bundle: Bundle,
    family: Family,
    analysis: Analysis,
    prediction_files: Sequence[Path] = (),
    judgement_files: Sequence[Path] = (),
    *,
    draws: int,
    seed: int,
    options: Mapping[str, str],
    judge: str | None = None,
) -> Findings:
    """What ``analysis`` finds in these predictions and judgements.

    ``judge`` is the one whose labels count in the grades. Where several judged under one rubric and none is named, the
    grades hold no judged labels at all (a note says so), and the analysis has every judge's rows to compare. The notes
    of the findings begin with the rules that moved a grade. Raises ``InputError`` for anything wrong in the files, for
    an option that the analysis does not have, and for findings that are not plain finite numbers.
    """
    check_draws(draws)
    check_options(analysis, options)
    judgements = read_judgements(judgement_files)
    contested = [] if judge is not None else _contested(judgements, family)
    counted = () if contested else judgement_files
    ground, judged, graded = grade_files(bundle, family, prediction_files, counted, judge)
    _refuse_strangers(judgements, ground.items)
    material = Material(
        items=ground.items,
        episodes=ground.episodes,
        private=ground.private,
        runs=[_graded_run(g) for g in graded],
        judgements=judgements,
        draws=draws,
        seed=seed,
        options=dict(options),
    )
    found = analysis.run(material)
    for where, value in _odd_values(found):
        raise InputError(
            f"the analysis {analysis.name} of {family.name} found what cannot be written as plain JSON",
            where=where,
            value=value,
            remedy="report it to whoever offers the analysis: undefined is None",
        )
    notes = [*draws_notes(draws), *empty_files(prediction_files, judgement_files)]
    notes += [f"{g.run.model}, {g.run.condition}: {line}" for g in graded for line in run_notes(g, family)]
    notes += [line for line in judged_notes(judged, graded) if "without predictions" in line]
    notes += [
        f"several judges under the rubric {rubric} ({', '.join(judges)}) and none named: "
        "no grade holds a judged label (--judge names the one that counts)"
        for rubric, judges in contested
    ]
    return Findings(found.data, found.tables, found.figures, (*notes, *found.notes))


def find_analysis(analyses: Sequence[Analysis], family: str, name: str) -> Analysis:
    """The analysis of that name. Raises ``InputError`` that lists the names there are."""
    for analysis in analyses:
        if analysis.name == name:
            return analysis
    names = ", ".join(a.name for a in analyses) or "none is built yet"
    raise InputError(f"{family} has no analysis of this name", value=name, remedy=f"one of {names}")


def check_options(analysis: Analysis, options: Mapping[str, str]) -> None:
    """InputError at an option that the analysis does not declare."""
    for name in options:
        if name not in analysis.options:
            there = ", ".join(sorted(analysis.options)) or "none: it takes no options"
            raise InputError(
                f"the analysis {analysis.name} has no option of this name", value=name, remedy=f"one of {there}"
            )


def _graded_run(graded: Graded) -> GradedRun:
    run = graded.run
    raw: dict[int | None, dict[str, str]] = {seed: {} for seed in run.seeds}
    inside = frozenset(run.owed)
    for (seed, item), parts in run.calls.items():
        if item in inside and None in parts:
            raw[seed][item] = parts[None].raw
    return GradedRun(run.model, run.condition, graded.by_seed, raw)


def _contested(judgements: Sequence[Judgement], family: Family) -> list[tuple[str, list[str]]]:
    """The family's rubrics under which several judges wrote, with their names."""
    judges: dict[str, set[str]] = defaultdict(set)
    for row in judgements:
        if family.rubric(row.rubric) is not None:
            judges[row.rubric].add(row.judge)
    return [(rubric, sorted(names)) for rubric, names in sorted(judges.items()) if len(names) > 1]


def _refuse_strangers(judgements: Sequence[Judgement], items: Mapping[str, Item]) -> None:
    strangers = sorted({row.item for row in judgements} - set(items))
    if strangers:
        raise InputError(
            f"judgements of items that the bundle does not have ({len(strangers)} ids)",
            value=", ".join(strangers[:_SHOWN_IDS]),
            remedy="analyse the bundle that the run was made on, or correct the ids",
        )


def _odd_values(found: Findings) -> Iterator[tuple[str, object]]:
    yield from _odd_in(found.data, "data")
    for k, table in enumerate(found.tables, start=1):
        yield from _odd_in(table.rows, f"table {k} ({table.title})")
        for row in table.rows:
            if len(row) != len(table.columns):
                yield f"table {k} ({table.title})", row
    for k, figure in enumerate(found.figures, start=1):
        for series in figure.series:
            yield from _odd_in((series.values, series.low, series.high), f"figure {k}, {series.name}")


def _odd_in(value: object, where: str) -> Iterator[tuple[str, object]]:
    """What JSON cannot hold: NaN, infinities, numbers of other packages, keys that are no text."""
    match value:
        case None | bool() | str():
            return
        case int() | float() if type(value) in {int, float} and math.isfinite(value):
            return
        case Mapping():
            for key, inner in value.items():
                if not isinstance(key, str):
                    yield where, key
                yield from _odd_in(inner, f"{where}.{key}")
        case list() | tuple():
            for k, inner in enumerate(value):
                yield from _odd_in(inner, f"{where}[{k}]")
        case _:
            yield where, value
