"""Names that ReactionBench uses (paper, sections 3 and 4)."""

from __future__ import annotations

from onlooker.records.labels import LabelRules

PROTOCOLS = {
    "joint": "all moments of a video in one call, over the whole video",
    "independent": "one call a moment, with the frames of its window only",
    "grouped": "all moments in one call, frames grouped by moment",
}
"""How intensity is asked for. The name of a condition begins with its protocol."""

TASK_OF_PREFIX = {
    **dict.fromkeys(PROTOCOLS, "intensity"),
    "matching": "matching",
    "rationale": "rationale",
}
"""{how the name of a condition begins: the task it is for}; any other condition is for all
tasks.
"""

ONE_BY_ONE = ("matching_per_option", "matching_side_by_side")
"""How the names of conditions begin that rate each candidate in a call of its own."""

INTENSITY_RUBRIC = "intensity"
"""The rubric of the human ratings: 0 calm, 1 mild, 2 clear, 3 peak."""

LABELS = LabelRules()
"""``category`` is free."""
