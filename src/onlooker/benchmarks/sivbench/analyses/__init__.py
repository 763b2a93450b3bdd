"""What SIV-Bench computes beside its scores: one file an analysis, named by ``onlooker analyze sivbench``."""

from __future__ import annotations

from onlooker.benchmarks.sivbench.analyses import (
    agreement,
    alignment,
    cot,
    distinguish,
    diversity,
    hard,
    lengths,
    media,
    reasoning,
    relations,
    significance,
    similarity,
    subtasks,
    surface,
    text_only,
)

ANALYSES = (
    subtasks.ANALYSIS,
    relations.ANALYSIS,
    media.ANALYSIS,
    text_only.ANALYSIS,
    cot.ANALYSIS,
    significance.ANALYSIS,
    agreement.ANALYSIS,
    surface.ANALYSIS,
    lengths.ANALYSIS,
    similarity.ANALYSIS,
    diversity.ANALYSIS,
    hard.ANALYSIS,
    reasoning.ANALYSIS,
    alignment.ANALYSIS,
    distinguish.ANALYSIS,
)
