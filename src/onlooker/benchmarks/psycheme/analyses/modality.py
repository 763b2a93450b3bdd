"""What a model loses without pictures, speech or both: its input conditions on the same questions.

Differences are paired by question and resample episodes. Paper: appendix I, tables 3 and 25, figure 11.
"""

from __future__ import annotations

from typing import Final

from onlooker.benchmarks.psycheme.analyses.deltas import condition_deltas
from onlooker.protocol.analysis import Analysis, Findings, Material
from onlooker.protocol.sheet import RUN_OPTIONS

CONDITIONS: Final = ("full", "single_image", "visual_only", "asr_only", "question_only")


def modality_deltas(material: Material) -> Findings:
    """Scores under every input condition, and their differences."""
    return condition_deltas(material, CONDITIONS, "Input conditions")


ANALYSIS = Analysis(
    name="modality",
    says="full input against one image, pictures only, speech only and the question alone, paired",
    source="appendix I, tables 3 and 25, figure 11",
    run=modality_deltas,
    options=RUN_OPTIONS,
)
