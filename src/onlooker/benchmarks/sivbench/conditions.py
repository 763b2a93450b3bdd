"""What a model can be given in SIV-Bench (paper, sections 2.1, 3.3, appendices C.3 and C.4).

The paper names no number of frames: sixteen, evenly over the clip, is this project's choice (its clips last half a
minute on average). The sound goes along wherever a model takes sound; a model that sees frames only gets frames only.
"""

from __future__ import annotations

from dataclasses import replace

from onlooker.protocol.condition import Condition

FRAMES = "uniform:16"

_ONE_BY_ONE = (
    Condition("origin", "the clip as it was uploaded", "clip.txt", frames=FRAMES, sound=True),
    Condition(
        "with_subtitles",
        "the clip with what is said drawn into the picture in English",
        "clip.txt",
        frames=FRAMES,
        medium="with_subtitles",
        sound=True,
    ),
    Condition(
        "without_text",
        "the clip with all on-screen text painted out",
        "clip.txt",
        frames=FRAMES,
        medium="without_text",
        sound=True,
    ),
    Condition("no_audio", "the clip as it was uploaded, without its sound", "clip.txt", frames=FRAMES),
    Condition("text_only", "the question and its options, no clip", "text_only.txt"),
    Condition(
        "cot",
        "the clip as it was uploaded; reasoning is asked for before the answer",
        "clip_reasoned.txt",
        frames=FRAMES,
        sound=True,
        max_output_tokens=2048,
    ),
)
# Ten questions share one reply: it may be as long as ten.
_PER_VIDEO_TIMES = 8

CONDITIONS = (
    *_ONE_BY_ONE,
    *(
        replace(
            one,
            name=f"{one.name}_per_video",
            says=f"{one.says}; all questions of a clip in one call",
            template=f"questions_{one.template}",
            max_output_tokens=one.max_output_tokens * _PER_VIDEO_TIMES,
            calls="video",
        )
        for one in _ONE_BY_ONE
    ),
)
BASELINE = "text_only"
