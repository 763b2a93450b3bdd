"""What MMHBench computes beside its scores: one file an analysis, named by ``onlooker analyze mmhbench``."""

from __future__ import annotations

from onlooker.benchmarks.mmhbench.analyses import (
    breakdown,
    errors,
    frames,
    judge_human,
    keyframes,
    modalities,
    question_length,
    reasoning,
)

ANALYSES = (
    breakdown.ANALYSIS,
    question_length.ANALYSIS,
    frames.ANALYSIS,
    modalities.ANALYSIS,
    keyframes.ANALYSIS,
    reasoning.ANALYSIS,
    judge_human.ANALYSIS,
    errors.ANALYSIS,
)
