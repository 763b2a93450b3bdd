"""What a model can be given in PsycheMME (paper, sections 3.5 and 4.1, appendices D.2, I and J).

Native video and native sound each where the model takes them; else frames at 1 a second, at most 64, and the words
spoken. Items keep their public history in every condition but those that are about it.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.protocol.condition import Condition

FRAMES: Final = "fps:1:64"
HISTORY_SEEDS: Final = (42, 2026, 3407)
MAX_OUTPUT_TOKENS: Final = 768

_EVERYTHING: Final[dict[str, Any]] = {
    "frames": FRAMES,
    "video": "preferred",
    "sound": True,
    "transcript": True,
    "transcript_stands_in": True,
}


def _condition(name: str, says: str, **fields: Any) -> Condition:
    return Condition(name, says, "answer.txt", max_output_tokens=MAX_OUTPUT_TOKENS, json_object=True, **fields)


CONDITIONS: Final = (
    _condition("full", "picture and sound as the model takes them, else frames and the words spoken", **_EVERYTHING),
    _condition("question_only", "the question and its options, no episode"),
    _condition("asr_only", "the words spoken, no picture", transcript=True),
    _condition("visual_only", "the picture, no sound and no words", frames=FRAMES, video="preferred"),
    _condition(
        "single_image",
        "one frame from the middle, and the sound or the words spoken",
        frames="midpoint",
        sound=True,
        transcript=True,
        transcript_stands_in=True,
    ),
    _condition(
        "matched",
        "as full, the items with a history only, each with its own",
        arrangement="own_history",
        same_as="full",
        **_EVERYTHING,
    ),
    _condition("none", "as matched, the history left out", arrangement="no_history", **_EVERYTHING),
    _condition(
        "mismatched",
        "as matched, with the history of an item of another episode",
        arrangement="other_history",
        seeds=HISTORY_SEEDS,
        **_EVERYTHING,
    ),
)
BASELINE: Final = "question_only"
