"""What the models of one condition reach together."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onlooker.errors import InputError
from onlooker.protocol.ground import Ground
from onlooker.protocol.scoring import Case, Family, choices_of, labels_of
from onlooker.records.bundle import Bundle
from onlooker.score.score import Graded, grade_files
from onlooker.score.unused import empty_files
from onlooker.stats.voting import count_votes


@dataclass(frozen=True, slots=True)
class VoteResult:
    """``report`` is the content of ``vote.json``; ``notes`` say what was left out, and why."""

    report: dict[str, Any]
    notes: list[str]


def vote_models(
    bundle: Bundle,
    family: Family,
    prediction_files: Sequence[Path],
    *,
    condition: str | None = None,
    by: str | None = None,
) -> VoteResult:
    """Best model, oracle, plurality and majority of all models under ``condition``, over choice and matching items.

    A set of options is one vote; an unparsed reply is no vote, but its model stays in the electorate of the majority.
    ``by`` is the label that groups items, by default the family's main one. InputError where there are several
    conditions and none is named, where a voter has several seeds, and where no item has the label ``by``.
    """
    ground, _, graded = grade_files(bundle, family, prediction_files, (), None)
    if by is not None:
        _check_label(by, ground)
    voters = _voters(graded, condition)
    by_model = {voter.run.model: _choices(voter) for voter in voters}
    items = [
        case
        for case in next(iter(by_model.values())).values()
        if all(case.item.id in cases for cases in by_model.values())
    ]
    everything = {item for cases in by_model.values() for item in cases}
    label = by or family.main_label
    groups: dict[str, list[Case]] = {}
    for case in items:
        for value in labels_of(case, label):
            groups.setdefault(value, []).append(case)
    report = {
        "condition": voters[0].run.condition,
        "by": label,
        "models": sorted(by_model),
        "overall": _count(items, by_model),
        "groups": {value: _count(groups[value], by_model) for value in sorted(groups)},
    }
    notes = empty_files(prediction_files, ())
    if len(items) < len(everything):
        notes.append(f"{len(everything) - len(items)} items left out: not owed by every model")
    if not groups:
        notes.append(f"no item that counts has the label {label}")
    return VoteResult(report, notes)


def _check_label(name: str, ground: Ground) -> None:
    """InputError where neither an item nor its episode has the label."""
    owners = [*ground.items.values(), *(ground.episodes[item.episode] for item in ground.items.values())]
    names = sorted({label for owner in owners for label, value in owner.labels.items() if value is not None})
    if name not in names:
        remedy = f"one of {', '.join(names)}" if names else "leave it out: no item has labels"
        raise InputError("no item has this label", where="--by", value=name, remedy=remedy)


def _voters(graded: Sequence[Graded], condition: str | None) -> list[Graded]:
    conditions = sorted({one.run.condition for one in graded})
    if not conditions:
        remedy = "pass files with predictions: those given have no row"
        raise InputError("no predictions to vote with", where="--predictions", remedy=remedy)
    if condition is None and len(conditions) > 1:
        raise InputError("several conditions", value=conditions, remedy="name one with --condition")
    chosen = condition or conditions[0]
    voters = [one for one in graded if one.run.condition == chosen]
    if not voters:
        raise InputError("no predictions of this condition", value=chosen, remedy=f"one of {conditions}")
    for voter in voters:
        if len(voter.run.seeds) > 1:
            raise InputError(
                f"{voter.run.model} has several seeds, and a voter has one",
                value=list(voter.run.seeds),
                remedy="pass the predictions of one seed",
            )
    return voters


def _choices(voter: Graded) -> dict[str, Case]:
    [cases] = voter.by_seed.values()
    return {case.item.id: case for case in cases if choices_of(case.item)}


def _count(items: Sequence[Case], by_model: dict[str, dict[str, Case]]) -> dict[str, Any]:
    votes = {model: [_vote(cases[case.item.id]) for case in items] for model, cases in by_model.items()}
    return dataclasses.asdict(count_votes(votes, [_right(case) for case in items]))


def _vote(case: Case) -> frozenset[str] | None:
    answer = case.reply.answer
    return frozenset(answer.value) if answer is not None and isinstance(answer.value, tuple) else None


def _right(case: Case) -> frozenset[str]:
    answer = case.private.reference.answer if case.private.reference is not None else None
    assert isinstance(answer, tuple), "checked when the bundle was read"
    return frozenset(answer)
