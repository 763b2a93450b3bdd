"""Labels of MMHBench (paper, sections 3.1 and 3.2, appendix A)."""

from __future__ import annotations

from onlooker.records.labels import LabelRules

PERSPECTIVES = {"first": "first person: reason as one of the people", "third": "third person: reason as an onlooker"}

ROLES = {
    "LES": "lived experience subject",
    "MHP": "mental health professional",
    "FM": "family member",
    "Others": "others",
}

TOPICS = ("family", "intimacy", "academics", "occupation", "health")

LABELS = LabelRules(
    closed={
        "perspective": tuple(PERSPECTIVES),
        "questioner": tuple(ROLES),
        "responder": tuple(ROLES),
        "topic": TOPICS,
    }
)
