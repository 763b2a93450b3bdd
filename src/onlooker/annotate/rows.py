"""Answers as rows of the contract files: ratings, judgements, decisions. Pure; pseudonyms only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from onlooker.annotate.cases import Case
from onlooker.annotate.events import Event
from onlooker.annotate.work import Work
from onlooker.protocol.form import Answer, Checks, Decision, Field, Form, ItemAnswer, ManyOf
from onlooker.records.public import ChoiceItem, IntensityItem


def timestamp(at: float) -> str:
    """ISO 8601 in UTC, to the second: finer times tell more about a person than any analysis needs."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rating_rows(form: Form, case: Case, work: Work) -> Iterator[dict[str, Any]]:
    """The ratings in one person's standing answer: one a field with a rubric and unit, its further fields beside it.

    The unit is the moment, the item, or the case where a reply is rated; then ``model``, ``condition`` and ``seed`` of
    the reply stand beside it. An opt-out gives the same rows without values.
    """
    reply = {name: case.hidden[name] for name in ("model", "condition", "seed") if name in case.hidden}
    beside = {**reply, **_beside(form, work.answer or {})}
    for field in form.fields:
        if field.rubric is None:
            continue
        for unit, given in _units(field, case, work):
            for rubric, value in _values(field, case, given):
                if value is None and work.opt_out is None:
                    continue  # a field that was not asked, or left blank where it may be
                row: dict[str, Any] = {"item": case.item.id, "unit": unit, "rater": work.rater, "rubric": rubric}
                row |= {"value": value, "opt_out": work.opt_out}
                if work.at is not None:
                    row["at"] = timestamp(work.at)
                if work.seconds is not None:
                    row["seconds"] = work.seconds
                yield {**row, **beside}


def judgement_rows(form: Form, case: Case, work: Work) -> Iterator[dict[str, Any]]:
    """A person's grades of a reply as a judgement whose judge is ``human:PSEUDONYM``; none for an opt-out."""
    if work.answer is None:
        return
    labels = {f.name: work.answer[f.name] for f in form.fields if f.rubric is not None and f.name in work.answer}
    yield {
        "item": case.item.id,
        "model": case.hidden["model"],
        "condition": case.hidden["condition"],
        "seed": case.hidden["seed"],
        "judge": f"human:{work.rater}",
        "rubric": form.rubric,
        "labels": labels,
        "explanation": None,
        "status": "ok",
        "raw": None,
        **_beside(form, work.answer),
    }


def decision_row(
    decision: Decision, case: Case, works: Sequence[Work], ruling: Event | None, overlap: int
) -> dict[str, Any] | None:
    """What the reviewers of an item decided: {item, decision, reasons, reviewers, at}; None while it is open.

    An expert's ruling decides. Else the rule does, once all ``overlap`` reviewers have answered; an opt-out leaves the
    case open, for an expert.
    """
    if ruling is not None and ruling.body:
        answer = ruling.body["answer"]
        return {
            "item": case.item.id,
            "decision": decision.verdict(answer),
            "reasons": _reasons(decision, [answer]),
            "reviewers": [ruling.rater],
            "at": timestamp(ruling.at),
            "adjudicated": True,
        }
    answers = [work.answer for work in works if work.answer is not None]
    if len(answers) < (1 if decision.rule == "one" else overlap):
        return None
    word = _combined(decision, [decision.verdict(answer) for answer in answers])
    if word is None:
        return None
    return {
        "item": case.item.id,
        "decision": word,
        "reasons": _reasons(decision, answers),
        "reviewers": sorted(work.rater for work in works if work.answer is not None),
        "at": timestamp(max(work.at for work in works if work.at is not None)),
        "adjudicated": False,
    }


def _combined(decision: Decision, words: Sequence[str]) -> str | None:
    if decision.rule == "one":
        return words[0]
    if decision.rule == "majority":
        return next((word for word in decision.words if 2 * words.count(word) > len(words)), None)
    return max(words, key=decision.words.index)


def _reasons(decision: Decision, answers: Iterable[Answer]) -> list[Any]:
    found: dict[Any, None] = {}
    for answer in answers:
        for name in decision.reasons:
            value = answer.get(name)
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    found[one] = None
    return list(found)


def _beside(form: Form, answer: Answer) -> dict[str, Any]:
    """The fields without a rubric, as further fields of the row."""
    return {f.name: answer[f.name] for f in form.fields if f.rubric is None and f.name in answer}


def _units(field: Field, case: Case, work: Work) -> Iterator[tuple[str, Any]]:
    given = (work.answer or {}).get(field.name)
    if field.per == "moment" and isinstance(case.item, IntensityItem):
        values: Mapping[str, Any] = given or {}
        yield from ((moment.id, values.get(moment.id)) for moment in case.item.moments)
    else:
        yield (case.id if case.hidden else case.item.id), given


def _values(field: Field, case: Case, given: Any) -> Iterator[tuple[str, Any]]:
    """(rubric, value): a number, words, or None; lists as their members joined by ", "."""
    rubric = field.rubric
    assert rubric is not None
    match field:
        case Checks():
            answers = given or {}
            for one in field.criteria:
                yes = answers.get(one.value)
                yield f"{rubric}.{one.value}", None if yes is None else int(yes)
        case ItemAnswer():
            if isinstance(case.item, ChoiceItem):
                yield rubric, None if given is None else ", ".join(given)
            else:
                yield f"{rubric}_words", given
        case ManyOf():
            yield rubric, None if given is None else ", ".join(str(one) for one in given)
        case _:
            yield rubric, given
