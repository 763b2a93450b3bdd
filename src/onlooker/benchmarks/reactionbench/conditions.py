"""What a model can be given in ReactionBench (paper, section 4.1, appendices C.1 to C.8 and D.5 to D.13).

Frames at 1 a second everywhere; budgets of frames and of output as in the paper's table 10. In matching and rationale
conditions no frame carries its time: reaction and stimulus run on one clock, so times would tell the answer.
"""

from __future__ import annotations

from typing import Any, Final

from onlooker.protocol.condition import Condition

WHOLE: Final = "fps:1:64"
WINDOW: Final = "fps:1:12"
CANDIDATE: Final = "fps:1:6"

_PROFILE: Final = 320
_NUMBER: Final = 8
_LETTER: Final = 48
_SENTENCE: Final = 80


def _viewed(name: str, says: str, template: str, max_output_tokens: int, **fields: Any) -> Condition:
    defaults: dict[str, Any] = {"views": True, "clock": "hidden"}
    return Condition(name, says, template, max_output_tokens=max_output_tokens, **defaults | fields)


CONDITIONS: Final = (
    _viewed("joint", "the whole reaction, all moments in one call", "joint.txt", _PROFILE, clock="shown"),
    _viewed(
        "joint_legacy_time",
        "as joint, with the published instruction on time",
        "joint_numbered.txt",
        _PROFILE,
        clock="numbered",
        fault="the prompt says that frame N is second N, which is false once a clip has more than 64 seconds",
    ),
    _viewed(
        "joint_video", "as joint, the reaction as a video file with its sound", "joint.txt", _PROFILE, video="required"
    ),
    _viewed("grouped", "the frames of every moment under its name, all in one call", "grouped.txt", _PROFILE),
    _viewed("independent", "the frames of one moment, one call a moment", "independent.txt", _NUMBER, calls="part"),
    _viewed("matching", "the reaction and four candidates, one choice", "matching.txt", _LETTER),
    _viewed(
        "matching_per_option",
        "the reaction and one candidate, its likelihood from 1 to 10, one call a candidate",
        "matching_likelihood.txt",
        _NUMBER,
        calls="part",
    ),
    _viewed(
        "matching_side_by_side",
        "reaction and one candidate in one silent video with one clock, one call a candidate",
        "matching_side_by_side.txt",
        _NUMBER,
        calls="part",
        video="required",
    ),
    _viewed("matching_stimulus_only", "the four candidates without the reaction", "matching_unseen.txt", _LETTER),
    _viewed(
        "matching_shuffled",
        "as matching, with another clip's reaction of the same creator",
        "matching.txt",
        _LETTER,
        arrangement="other_reaction",
    ),
    _viewed(
        "matching_cross_video",
        "as matching, the three wrong candidates from other videos",
        "matching.txt",
        _LETTER,
        arrangement="cross_video",
    ),
    _viewed(
        "matching_video",
        "as matching, reaction and candidates as video files with their sound",
        "matching.txt",
        _LETTER,
        video="required",
    ),
    _viewed("rationale", "stimulus and reaction, one sentence on why", "rationale.txt", _SENTENCE),
    _viewed(
        "rationale_stimulus_only", "the stimulus without the reaction, one sentence", "rationale_unseen.txt", _SENTENCE
    ),
    _viewed(
        "rationale_shuffled",
        "as rationale, with another clip's reaction of the same creator",
        "rationale.txt",
        _SENTENCE,
        arrangement="other_reaction",
    ),
)
