"""What a condition shows beyond one clip: several stretches of several media, each with a name.

A condition of a family with ``Benchmark.views`` names its views: the viewer's reaction, the stimulus, each candidate.
The engine delivers every view by itself and hands them over as ``Given.views``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onlooker.protocol.arrangement import Donor
    from onlooker.protocol.condition import Condition, MediumKey
    from onlooker.records.public import Item

Seconds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class View:
    """One stretch of one medium.

    name     in the prompt and in the record of what was sent
    media    which of the episode's media, the first that it has
    window   the stretch in seconds, None for all
    frames   the sampling policy, None for no frames
    episode  another episode than the item's own
    video    a video file instead of frames, for models that take one
    sound    whether that file keeps its sound
    beside   another view, shown to the right of this one in one video with one clock
    """

    name: str
    media: tuple[MediumKey, ...]
    window: Seconds | None = None
    frames: str | None = None
    episode: str | None = None
    video: bool = False
    sound: bool = False
    beside: View | None = None


Views = Callable[["Item", "Condition", str | None, "Donor | None"], tuple[View, ...]]
"""(item as asked, condition, part of the item, donor that stands in) -> the views, in the order of the prompt."""
