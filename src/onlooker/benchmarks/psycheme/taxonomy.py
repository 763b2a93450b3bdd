"""Labels of PsycheMME (paper, section 3)."""

from __future__ import annotations

from onlooker.records.labels import LabelRules

CAPABILITIES = {
    "G": "grounding",
    "W": "psychological understanding",
    "N": "need",
    "T": "timing",
    "S": "verbal response",
    "A": "action",
    "M": "memory",
    "R": "risk",
}
"""G, W, N: perceptually grounded mentalizing; T, S, A: situated responding; M, R: modulation."""

RATIONALE_FIELDS = tuple(CAPABILITIES)
"""A reply has one rationale field for each capability, null where it is not used."""

LABELS = LabelRules(closed={"capability": tuple(CAPABILITIES)})
