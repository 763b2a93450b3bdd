"""Replies in Inspect, read and graded by the family's own code."""

from __future__ import annotations

import json
import math
from pathlib import Path

from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer, stderr
from inspect_ai.solver import TaskState

from onlooker.catalog import load_benchmark
from onlooker.interop.inspect_output import MARK, reply_fields
from onlooker.protocol.answered import read_reply
from onlooker.protocol.ground import load_ground
from onlooker.protocol.scoring import Reply
from onlooker.records.bundle import open_bundle
from onlooker.records.results import Prediction


@metric
def credit() -> Metric:
    """The mean answer credit of the samples that have one; not a number where none has."""

    def mean(scores: list[SampleScore]) -> float:
        return math.fsum(score.score.as_float() for score in scores) / len(scores) if scores else math.nan

    return mean


@scorer(metrics=[credit(), stderr(cluster="episode")])
def graded(bundle: str) -> Scorer:
    """Grades replies to the items of a bundle as ``onlooker score`` does without judgements.

    The value is the answer credit: 0 for a reply that is wrong, not understood, empty, refused or not there at all. A
    reply whose grade is no credit (a profile of intensities) or that needs a judge is unscored, with the reason.
    """
    opened = open_bundle(Path(bundle))
    family = load_benchmark(opened.card.family).scoring
    ground = load_ground(opened)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - answers are in no sample
        item = ground.items[str(state.sample_id)]
        row = Prediction.model_validate(
            {"item": item.id, "model": str(state.model), **state.metadata[MARK], **reply_fields(state.output)}
        )
        outcome, answer = read_reply(family, item, {None: row})
        grade = family.grade(item, ground.private[item.id], Reply(outcome, answer, {}, judged=False))
        found = "unjudged" if grade.unjudged else outcome
        said = None if answer is None else answer.value
        shown = said if said is None or isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        metadata = {"outcome": found, "points": dict(grade.points)}
        if grade.credit is None or grade.unjudged:
            reason = "no answer credit" if found == "scored" else found
            return Score.unscored(reason=reason, answer=shown, metadata=metadata)
        return Score(value=grade.credit, answer=shown, metadata=metadata)

    return score
