"""Which relation is taken for which, over the questions of relation inference (subtask RI).

Options become relations by the reference's extra field ``option_relations`` {option id: relation} where it is there,
else where the option's text names a relation and nothing else: lower case, hyphens and punctuation as spaces, without
"relationship", "and", articles and plural endings, in any order ("Child and parents" is parent-child). Questions whose
right option names no relation are left out, and options that name none are counted apart; so are replies without an
answer. Rows are right relations, columns chosen ones, over all runs and seeds looked at.

Shares are of the wrong answers that name a relation: "authority as equality" where the right relation is one of
authority ranking and the chosen one of equality matching, "equality as authority" the reverse, "within a model" where
both are of one relational model. Interval: 95 % percentiles over resampled episodes. Paper: section 3.4, figure 7.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onlooker.benchmarks.sivbench.analyses.groups import label_values, questions_of, right_of
from onlooker.benchmarks.sivbench.taxonomy import RELATIONAL_MODELS
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Figure, Findings, GradedRun, Material, Series, Table
from onlooker.protocol.sheet import RUN_OPTIONS, Sheet, chosen_runs, run_name
from onlooker.records.public import ChoiceItem

MODEL_OF = {relation: model for model, relations in RELATIONAL_MODELS.items() for relation in relations}
AUTHORITY, EQUALITY = "authority ranking", "equality matching"
SHARES = ("authority as equality", "equality as authority", "authority and equality confused", "within a model")
UNNAMED = "names no relation"
UNANSWERED = "no answer"
_DROPPED = {"relationship", "relation", "relationships", "and", "the", "a", "an", "of", "to", "or"}
_IRREGULAR = {"children": "child", "grandchildren": "grandchild"}


def relation_named(text: str) -> str | None:
    """The relation of the taxonomy that a text names and says nothing beside; None where it names none.

    >>> relation_named("Child and parents"), relation_named("They are friends")
    ('parent-child', None)
    """
    return _FORMS.get(_form(text))


def _form(text: str) -> frozenset[str]:
    found = [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _DROPPED and word != "s"]
    return frozenset(_IRREGULAR.get(word, word.removesuffix("s")) for word in found)


_FORMS = {_form(relation): relation for relation in MODEL_OF}


@dataclass(frozen=True, slots=True)
class _Question:
    item: ChoiceItem
    right: str
    relations: Mapping[str, str | None]


def relation_confusions(material: Material) -> Findings:
    """The confusion matrix of all runs together, and the shares of kinds of errors run by run."""
    runs = chosen_runs(material)
    questions, unmapped = _questions(material)
    chosen = [(run_name(run), q, relation) for run in runs for q, relation in _choices(run, questions)]
    counts = Counter((q.right, relation) for _, q, relation in chosen)
    further = sorted({name for pair in counts for name in pair} - set(MODEL_OF) - {UNNAMED, UNANSWERED})
    names = (*MODEL_OF, *further)
    sheet = Sheet(material, questions)
    for who in ("all runs", *map(run_name, runs)):
        wrong = [
            (q, relation)
            for run, q, relation in chosen
            if who in {run, "all runs"} and relation not in {q.right, UNNAMED, UNANSWERED}
        ]
        columns = sheet.columns([q.item.id for q, _ in wrong])
        kinds = [_kinds(q.right, relation) for q, relation in wrong]
        for share in SHARES:
            sheet.add((who, share), columns.mean("", [float(share in kind) for kind in kinds]), len(wrong))
    found = sheet.solve()
    chosen_as = (*names, UNNAMED, UNANSWERED)
    matrix: tuple[tuple[Cell, ...], ...] = tuple(
        (
            f"{k} {right}",
            *(counts[right, one] for one in chosen_as),
            sum(counts[right, one] for one in chosen_as),
        )
        for k, right in enumerate(names, start=1)
    )
    heads = ("right relation", *(str(k) for k in range(1, len(names) + 1)), UNNAMED, UNANSWERED, "n")
    shares: tuple[tuple[Cell, ...], ...] = tuple(
        (who, share, found[who, share].n, *found[who, share].cells)
        for who in ("all runs", *map(run_name, runs))
        for share in SHARES
    )
    notes = sheet.notes(found)
    if unmapped["right"]:
        notes.append(f"{unmapped['right']} questions left out: their right option names no relation")
    if unmapped["option"]:
        notes.append(f"{unmapped['option']} options of the {len(questions)} questions name no relation")
    data: dict[str, Any] = {
        "questions": len(questions),
        "unmapped": {"questions": unmapped["right"], "options": unmapped["option"]},
        "counts": {right: {one: counts[right, one] for one in chosen_as if counts[right, one]} for right in names},
        "shares": {
            who: {share: found[who, share].spell() for share in SHARES} for who in ("all runs", *map(run_name, runs))
        },
    }
    tables = (
        Table("Right relation (rows) and chosen relation (columns, numbered as the rows)", heads, matrix),
        Table("Kinds of errors", ("run", "share of the errors", "n", "value", "low", "high"), shares),
    )
    return Findings(data, tables, (_figure(counts, names),), tuple(notes))


def _questions(material: Material) -> tuple[dict[str, _Question], Counter[str]]:
    found: dict[str, _Question] = {}
    unmapped: Counter[str] = Counter()
    asked = [item for item in questions_of(material) if "RI" in label_values(material, item, "subtask")]
    if not asked:
        raise InputError("the bundle has no questions of the subtask RI", remedy="label them: subtask RI")
    for item in asked:
        reference = material.private[item.id].reference
        declared = {} if reference is None else reference.extra.get("option_relations", {})
        if not isinstance(declared, dict) or not all(isinstance(name, str) for name in declared.values()):
            raise InputError(
                "option_relations is not {option id: relation}", where=f"reference of {item.id}", value=declared
            )
        relations = {
            o.id: _spelled(declared[o.id]) if o.id in declared else relation_named(o.text) for o in item.options
        }
        right = [relations.get(option) for option in right_of(material, item)]
        if len(right) != 1 or right[0] is None:
            unmapped["right"] += 1
            continue
        unmapped["option"] += sum(relation is None for relation in relations.values())
        found[item.id] = _Question(item, right[0], relations)
    if not found:
        raise InputError(
            "no right option of a question of the subtask RI names a relation",
            remedy="give the references option_relations {option id: relation}",
        )
    return found, unmapped


def _spelled(name: str) -> str:
    return relation_named(name) or name


def _choices(run: GradedRun, questions: Mapping[str, _Question]) -> list[tuple[_Question, str]]:
    """The question and the relation chosen, for every seed and question that the run owes."""
    found = []
    for cases in run.by_seed.values():
        for case in cases:
            question = questions.get(case.item.id)
            if question is None:
                continue
            answer = case.reply.answer
            if answer is None or not isinstance(answer.value, tuple):
                found.append((question, UNANSWERED))
            else:
                named = [question.relations.get(option) for option in answer.value]
                found.append((question, named[0] if len(named) == 1 and named[0] else UNNAMED))
    return found


def _kinds(right: str, chosen: str) -> set[str]:
    a, b = MODEL_OF.get(right), MODEL_OF.get(chosen)
    kinds = set()
    if (a, b) == (AUTHORITY, EQUALITY):
        kinds |= {SHARES[0], SHARES[2]}
    if (a, b) == (EQUALITY, AUTHORITY):
        kinds |= {SHARES[1], SHARES[2]}
    if a is not None and a == b:
        kinds.add(SHARES[3])
    return kinds


def _figure(counts: Counter[tuple[str, str]], names: tuple[str, ...]) -> Figure:
    """Shares of a row's answers that name a relation; rows without one are undefined."""
    series = []
    for right in names:
        total = sum(counts[right, one] for one in names)
        series.append(Series(right, tuple(counts[right, one] / total if total else None for one in names)))
    blocks, start = [], 0
    for model, relations in RELATIONAL_MODELS.items():
        blocks.append((model, start, start + len(relations)))
        start += len(relations)
    title = "Chosen relation by right relation, share of a row"
    return Figure("heatmap", title, names, tuple(series), "share of answers", percent=True, blocks=tuple(blocks))


ANALYSIS = Analysis(
    name="relations",
    says="which relation is taken for which, and how often authority is read as equality",
    source="section 3.4, figure 7",
    run=relation_confusions,
    options=RUN_OPTIONS,
)
