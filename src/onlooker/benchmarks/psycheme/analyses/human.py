"""People's answers, scored like a model's: each annotator, pooled, and by capability.

A person's answers come from ``ratings.jsonl`` under the rubric ``human_answer`` (value: the reply, as ids of options,
or the credit as a number 0, 0.5 or 1), or from predictions whose model name begins with ``human`` (one name a person).
Micro pools all responses, macro is the mean of the capabilities' pooled accuracies. Opt-outs and null values do not
count.
Paper: appendix K, tables 5, 27, 28.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from onlooker.benchmarks.psycheme.analyses.groups import capabilities
from onlooker.benchmarks.psycheme.scoring import FAMILY, capability_of
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.protocol.scoring import Private, Reply, exact_credit
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, by_item, chosen_runs, run_name
from onlooker.records.public import ChoiceItem, Item
from onlooker.text.outcome import Unparsed

RUBRIC: Final = "human_answer"
PREFIX: Final = "human"
CREDITS: Final = (0, 0.5, 1)


@dataclass(frozen=True, slots=True)
class Response:
    """One person's answer to one question."""

    person: str
    item: str
    credit: float


def human_baseline(material: Material) -> Findings:
    """Accuracy of every person, pooled (micro), over capabilities (macro) and by capability; and of the models on the
    same questions."""
    responses = human_responses(material)
    if not responses:
        raise InputError(
            "no answers of people",
            remedy=f"ratings under the rubric {RUBRIC}, or predictions of models named {PREFIX}...",
        )
    asked = [item for item in material.items if item in {one.item for one in responses}]
    sheet = Sheet(material, asked)
    columns = sheet.columns([one.item for one in responses])
    points = [one.credit for one in responses]
    groups = [capability_of(material.items[one.item]) for one in responses]
    there = capabilities(material.items[item] for item in asked)
    people = sorted({one.person for one in responses})
    for person in people:
        sheet.add(("person", person), columns.mean("", [r.credit if r.person == person else None for r in responses]))
    pooled = columns.mean("", points)
    sheet.add(("pooled", "micro"), pooled)
    sheet.add(("pooled", "macro"), columns.macro("", points, groups, there))
    for one in there:
        own = [credit if group == one else None for credit, group in zip(points, groups, strict=True)]
        sheet.add(("capability", one), columns.mean("", own))
    models = [run for run in (chosen_runs(material) if material.runs else []) if not run.model.startswith(PREFIX)]
    for run in models:
        of = by_item(run, lambda case: case.grade.credit)
        # One row a human response, so that model and people are weighed by the same questions.
        metric = columns.mean("", [of.get(one.item) for one in responses])
        sheet.add(("model", run_name(run)), metric)
        sheet.subtract(("model minus people", run_name(run)), metric, _where(columns, points, responses, of))
    found = sheet.solve()
    questions = {one: len({r.item for r in responses if capability_of(material.items[r.item]) == one}) for one in there}
    data: dict[str, Any] = {"questions": len(asked), "questions_by_capability": questions}
    for (kind, name), cell in found.items():
        data.setdefault(kind, {})[name] = cell.spell()
    rows: list[tuple[Cell, ...]] = []
    for person in people:
        right = sum(r.credit for r in responses if r.person == person)
        rows.append((person, found["person", person].n, right, *found["person", person].cells))
    rows.append(("pooled micro", found["pooled", "micro"].n, sum(points), *found["pooled", "micro"].cells))
    rows.append(("capability macro", found["pooled", "macro"].n, None, *found["pooled", "macro"].cells))
    heads = ("raw", "low", "high")
    tables = [
        Table("Answers of people", ("annotator", "responses", "credit", *heads), tuple(rows)),
        Table(
            "Answers of people by capability",
            ("capability", "questions", "responses", *heads),
            tuple((one, questions[one], found["capability", one].n, *found["capability", one].cells) for one in there),
        ),
    ]
    if models:
        tables.append(
            Table(
                "Models on the same questions",
                ("run", "n", "raw", "minus people", "low", "high"),
                tuple(
                    (name, one.n, one.value, *found["model minus people", name].cells)
                    for (kind, name), one in found.items()
                    if kind == "model"
                ),
            )
        )
    return Findings(data, tuple(tables), (), tuple(sheet.notes(found)))


def human_responses(material: Material) -> list[Response]:
    """Every answer of a person, from ratings and from predictions. InputError where a rating is no reply and no
    credit, and where a person answered a question twice."""
    found = [
        Response(rating.rater, item, _credit(material.items[item], private, rating.value, rating.rater))
        for item, private in material.private.items()
        for rating in private.ratings
        if rating.rubric == RUBRIC and rating.opt_out is None and rating.value is not None
    ]
    for run in material.runs:
        if run.model.startswith(PREFIX):
            credit = by_item(run, lambda case: None if case.outcome == "missing" else case.grade.credit)
            found += [Response(run.model, item, value) for item, value in credit.items() if value is not None]
    seen: set[tuple[str, str]] = set()
    for one in found:
        if (one.person, one.item) in seen:
            raise InputError("a person answered a question twice", where=f"item {one.item}", value=one.person)
        seen.add((one.person, one.item))
    return found


def _credit(item: Item, private: Private, value: float | str, rater: str) -> float:
    where = f"ratings.jsonl, item {item.id}, rater {rater}, rubric {RUBRIC}"
    if isinstance(value, str) and isinstance(item, ChoiceItem):
        read = FAMILY.parse(item, value, None)
        # As for a model: a reply that is not understood is a wrong one.
        answer = None if isinstance(read, Unparsed) else read
        return exact_credit(private, Reply("scored" if answer else "unparsed", answer, {}, judged=False))
    if isinstance(value, str | bool) or value not in CREDITS:
        raise InputError(
            "expected a reply to a choice question, or a credit", where=where, value=value, remedy="0, 0.5 or 1"
        )
    return float(value)


def _where(columns: Any, points: Sequence[float], responses: Sequence[Response], of: dict[str, float | None]) -> Any:
    """People's mean over the responses to the questions that the model has a credit for."""
    return columns.mean("", [c if of.get(r.item) is not None else None for c, r in zip(points, responses, strict=True)])


ANALYSIS = Analysis(
    name="human",
    says="people's answers: each annotator, pooled, by capability, and models on the same questions",
    source="appendix K, tables 5, 27, 28",
    run=human_baseline,
    options=RUN_OPTIONS,
)
