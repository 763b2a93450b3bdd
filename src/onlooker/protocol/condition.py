"""An input condition: what of an episode a model is given beside the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MediumKey = Literal["video", "with_subtitles", "without_text"]


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

    @property
    def shows_media(self) -> bool:
        """False where the model answers from the words of the question alone."""
        return self.frames is not None or self.sound or self.transcript
