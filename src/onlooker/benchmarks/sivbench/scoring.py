"""SIV-Bench: accuracy overall, by dimension, subtask and relation; reasoning quality where it was
judged (section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onlooker.benchmarks.sivbench.answers import OFFICIAL, parse
from onlooker.protocol.choice_scoring import accuracies
from onlooker.protocol.metric import Columns, Metric
from onlooker.protocol.scoring import (
    Case,
    Family,
    Grade,
    Number,
    Private,
    Reply,
    Rubric,
    Scope,
    exact_credit,
)
from onlooker.records.public import Item

QUALITIES: Final = ("relevance", "alignment", "coherence", "depth", "conciseness", "overall")
REASONING: Final = Rubric("reasoning_quality", {quality: Number(1, 5) for quality in QUALITIES})


def grade(_item: Item, private: Private, reply: Reply) -> Grade:
    """Exact match. The answer counts whether or not its reasoning was judged."""
    labels = reply.labels.get(REASONING.name)
    unjudged = reply.judged and reply.outcome == "scored" and labels is None
    points = {} if labels is None else {quality: float(labels[quality]) for quality in QUALITIES}
    return Grade(exact_credit(private, reply), unjudged=unjudged, points=points)


def answer_metrics(cases: Sequence[Case], _scope: Scope) -> list[Metric]:
    """Accuracy over all items owed, and by label."""
    return accuracies(cases, ("dimension", "subtask", "relation"))


def metrics(cases: Sequence[Case], scope: Scope) -> list[Metric]:
    """Accuracy, and the mean of each quality over the items with a valid judgement."""
    found = answer_metrics(cases, scope)
    if scope.judged:
        columns = Columns([case.item.id for case in cases], [case.cluster for case in cases])
        for quality in QUALITIES:
            values = [case.grade.points.get(quality) for case in cases]
            found.append(columns.mean(f"reasoning.{quality}", values, "points"))
    return found


FAMILY: Final = Family(
    name="sivbench",
    main_label="dimension",
    rubrics=(REASONING,),
    parse=parse,
    grade=grade,
    metrics=metrics,
    answer_metrics=answer_metrics,
    parsers={"official": OFFICIAL},
)
