"""What a model can be given in MMHBench (paper, sections 4.1, 4.3 and 4.4).

The ablation of frame density starts where the ablation of modalities ends: no frames is the question alone, and 64
frames without words is the video alone. The paper's tables use both names, so both exist; the second one declares
itself the same as the first.
"""

from __future__ import annotations

from onlooker.protocol.condition import Condition

FRAMES = "uniform:64"
_CLIP = "video.txt"
_WORDS = "question.txt"

CONDITIONS = (
    Condition("both", "64 frames and the words spoken", _CLIP, frames=FRAMES, transcript=True),
    Condition(
        "both_reasoned",
        "as both; the reasoning is asked for before the answer",
        "video_reasoned.txt",
        frames=FRAMES,
        transcript=True,
        max_output_tokens=1024,
    ),
    Condition("video_only", "64 frames, no words spoken", _CLIP, frames=FRAMES),
    Condition("transcript_only", "the words spoken, no picture", _CLIP, transcript=True),
    Condition("question_only", "the question and its options, no video", _WORDS),
    Condition("frames_0", "no frames", _WORDS, same_as="question_only"),
    *(
        Condition(f"frames_{n}", f"{n} frame{'s' if n > 1 else ''}, no words spoken", _CLIP, frames=f"uniform:{n}")
        for n in (1, 2, 4, 8, 16, 32)
    ),
    Condition("frames_64", "64 frames", _CLIP, frames=FRAMES, same_as="video_only"),
    Condition(
        "bolt",
        "64 frames chosen by their likeness to the question, and the words spoken",
        _CLIP,
        frames="bolt:64",
        transcript=True,
    ),
)
BASELINE = "question_only"
