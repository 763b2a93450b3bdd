"""An input condition: what of an episode a model is given beside the question."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from onlooker.models.request import Modality

MediumKey = Literal["video", "with_subtitles", "without_text", "stimulus", "reaction"]
CallUnit = Literal["item", "part", "video"]
Native = Literal["never", "preferred", "required"]
Clock = Literal["shown", "hidden", "numbered"]


@dataclass(frozen=True, slots=True)
class Gives:
    """Which media a condition gives to a certain model. ``video_sound``: whether the video file keeps its sound."""

    frames: bool
    video: bool
    video_sound: bool
    sound: bool
    transcript: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """A named way of showing an item to a model. Two conditions never render the same request.

    name              as it stands in predictions
    says              one line for people: what the model gets
    template          the prompt file in the family's ``prompts`` folder
    frames            a sampling policy such as ``uniform:64``, None for no picture
    medium            which of the episode's media the picture and the sound are taken from
    sound             whether the sound goes along, for models that take sound
    transcript        whether the words spoken are written into the prompt
    max_output_tokens the cap on the reply
    same_as           another condition that this one deliberately equals (a second name for one setting), else None
    calls             what one call asks: an ``item``; a ``part`` of one (``Benchmark.part_calls`` names them, such as
                      the moments of an intensity item); or all owed items of one ``video``, that is of one episode
    video             a video file instead of frames: never; ``preferred``, where the model takes one; ``required``,
                      for such models only
    transcript_stands_in the transcript is for models that get no sound; those that do get no transcript
    views             its media are the views that ``Benchmark.views`` names, not one clip
    arrangement       which of ``Benchmark.arrangements`` changes the items beforehand, None for none
    seeds             the seeds that an arrangement is drawn by where none are asked for
    clock             whether the prompt tells a frame's time: ``shown`` before it; ``hidden``, where times would tell
                      the answer; ``numbered``, where the prompt says that frame N is second N, which is wrong
    json_object       whether a JSON object is asked for by the provider's own means too, where it has any
    variation         what of another condition is changed on purpose (``BASE+NAME``), None for none
    fault             what is wrong with it on purpose, for comparison with published numbers; None: nothing
    """

    name: str
    says: str
    template: str
    frames: str | None = None
    medium: MediumKey = "video"
    sound: bool = False
    transcript: bool = False
    max_output_tokens: int = 512
    same_as: str | None = None
    calls: CallUnit = "item"
    video: Native = "never"
    transcript_stands_in: bool = False
    views: bool = False
    arrangement: str | None = None
    seeds: tuple[int, ...] = ()
    clock: Clock = "shown"
    json_object: bool = False
    variation: str | None = None
    fault: str | None = None

    @property
    def base(self) -> str:
        """The name without its variation."""
        return self.name.partition("+")[0]

    @property
    def shows_media(self) -> bool:
        """False where the model answers from the words of the question alone."""
        return self.views or self.frames is not None or self.sound or self.transcript or self.video != "never"

    def gives(self, accepts: Collection[Modality]) -> Gives:
        """What a model that takes ``accepts`` gets: picture and sound are decided each by itself (PsycheMME, D.2)."""
        film = self.video != "never" and "video" in accepts
        heard = self.sound and "sound" in accepts
        return Gives(
            frames=self.frames is not None and not film,
            video=film,
            video_sound=film and heard,
            sound=heard and not film,
            transcript=self.transcript and not (self.transcript_stands_in and heard),
        )
