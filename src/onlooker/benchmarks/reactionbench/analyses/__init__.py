"""What else can be computed from ReactionBench's graded answers, ratings and judgements."""

from __future__ import annotations

from typing import Final

from onlooker.benchmarks.reactionbench.analyses import (
    anchor,
    channels,
    collapse,
    common,
    constants,
    controls,
    debiasing,
    distances,
    human,
    judges,
    lineage,
    protocols,
)
from onlooker.protocol.analysis import Analysis

ANALYSES: Final[tuple[Analysis, ...]] = (
    constants.ANALYSIS,
    common.ANALYSIS,
    protocols.ANALYSIS,
    human.ANALYSIS,
    channels.ANALYSIS,
    distances.ANALYSIS,
    controls.ANALYSIS,
    judges.ANALYSIS,
    anchor.ANALYSIS,
    collapse.ANALYSIS,
    debiasing.ANALYSIS,
    lineage.ANALYSIS,
)
