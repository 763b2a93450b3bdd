"""Labels of SIV-Bench (paper, sections 2.1 and 2.2, appendix B)."""

from __future__ import annotations

from onlooker.records.labels import LabelRules

DIMENSIONS = {
    "SSU": "social scene understanding",
    "SSR": "social state reasoning",
    "SDP": "social dynamics prediction",
}

SUBTASKS = {
    "AR": "action recognition",
    "FER": "facial expression recognition",
    "EP": "environment perception",
    "HAI": "human attribute identification",
    "II": "intent inference",
    "EI": "emotion inference",
    "AI": "attitude inference",
    "RI": "relation inference",
    "FP": "factual prediction",
    "CP": "counterfactual prediction",
}

SUBTASKS_OF_DIMENSION = {
    "SSU": ("AR", "FER", "EP", "HAI"),
    "SSR": ("II", "EI", "AI", "RI"),
    "SDP": ("FP", "CP"),
}

RELATIONAL_MODELS = {
    "communal sharing": ("grandparent-child", "parent-child", "siblings", "couple", "friends"),
    "authority ranking": ("boss-employee", "coach-player", "teacher-student", "caregiver-recipient"),
    "equality matching": ("classmates", "teammates", "colleagues"),
    "market pricing": ("transactional", "service"),
}
"""The four relational models and their fourteen relations. Bundles may spell relations otherwise: the label is free."""

LABELS = LabelRules(closed={"dimension": tuple(DIMENSIONS), "subtask": tuple(SUBTASKS)})
