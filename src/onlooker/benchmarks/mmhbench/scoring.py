"""MMHBench: accuracy by perspective, role, topic and length; explanations judged in four dimensions
(section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onlooker.benchmarks.mmhbench.answers import parse
from onlooker.protocol.choice_scoring import accuracies
from onlooker.protocol.metric import Columns, Metric
from onlooker.protocol.scoring import (
    Case,
    Family,
    Grade,
    Labels,
    Number,
    PerOption,
    Private,
    Reply,
    Rubric,
    Scope,
    exact_credit,
    labels_of,
)
from onlooker.records.public import Item

REASONING: Final = Rubric(
    "mental_health_reasoning",
    {
        "key_event": Number(0, 5),
        "mechanism": Number(0, 5),
        "options": PerOption(0, 1.25),
        "hallucination": Number(0, 5),
    },
)
PARTS: Final = tuple(REASONING.scales)


def grade(_item: Item, private: Private, reply: Reply) -> Grade:
    """Exact match. The answer counts whether or not its explanation was judged."""
    labels = reply.labels.get(REASONING.name)
    unjudged = reply.judged and reply.outcome == "scored" and labels is None
    points = {} if labels is None else _points(labels)
    return Grade(exact_credit(private, reply), unjudged=unjudged, points=points)


def answer_metrics(cases: Sequence[Case], _scope: Scope) -> list[Metric]:
    """Accuracy over all items owed, by label and by the length of the video."""
    return accuracies(cases, ("perspective", "questioner", "responder", "topic", "duration"), _groups)


def metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
    """Accuracy, and the mean of each part of the explanation's grade over the items with a valid
    judgement.
    """
    found = answer_metrics(cases, scope)
    if scope.judged:
        columns = Columns([case.item.id for case in cases], [case.cluster for case in cases])
        for part in (*PARTS, "mean"):
            values = [case.grade.points.get(part) for case in cases]
            found.append(columns.mean(f"reasoning.{part}", values, "points"))
    return found


def _groups(case: Case, label: str) -> tuple[str, ...]:
    if label == "duration":
        return _duration(case)
    values = labels_of(case, label)
    if not values and label == "perspective" and case.item.perspective is not None:
        return (case.item.perspective,)
    return values


def _duration(case: Case) -> tuple[str, ...]:
    # The paper's intervals are [0, 10), [10, 20) and 20 minutes or more.
    seconds = case.episode.duration_s
    if seconds is None:
        return ()
    return ("0to10" if seconds < 600 else "10to20" if seconds < 1200 else "20plus",)


def _points(labels: Labels) -> dict[str, float]:
    """The points of each part, 0-5, those of the options added up; and the mean of the parts."""
    points = {part: float(labels[part]) for part in PARTS if part != "options"}
    points["options"] = float(sum(labels["options"].values()))
    return {**points, "mean": sum(points.values()) / len(PARTS)}


FAMILY: Final = Family(
    name="mmhbench",
    main_label="perspective",
    rubrics=(REASONING,),
    parse=parse,
    grade=grade,
    metrics=metrics,
    answer_metrics=answer_metrics,
)
