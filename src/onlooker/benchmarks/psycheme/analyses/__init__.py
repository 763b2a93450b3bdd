"""What else can be computed from PsycheMME's graded answers."""

from __future__ import annotations

from typing import Final

from onlooker.benchmarks.psycheme.analyses import (
    aggregations,
    completeness,
    contrast,
    endorsement,
    history,
    human,
    joint,
    labels,
    modality,
    retention,
    strata,
    weights,
)
from onlooker.protocol.analysis import Analysis

ANALYSES: Final[tuple[Analysis, ...]] = (
    retention.ANALYSIS,
    strata.ANALYSIS,
    labels.ANALYSIS,
    completeness.ANALYSIS,
    joint.ANALYSIS,
    weights.ANALYSIS,
    aggregations.ANALYSIS,
    contrast.ANALYSIS,
    modality.ANALYSIS,
    history.ANALYSIS,
    human.ANALYSIS,
    endorsement.ANALYSIS,
)
