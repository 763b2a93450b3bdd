"""What a model may see: the bundle's card, episodes and items. Nothing here knows of answers or
ratings.

Field by field this is FORMATS section 1, also published as JSON Schema in ``docs/schemas``. Times
are seconds from the start of the named medium.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import Field, TypeAdapter

from onlooker.records.record import Id, OptionId, Record, Seconds

LabelScalar: TypeAlias = str | int | float | bool
LabelValue: TypeAlias = LabelScalar | list[LabelScalar] | None
Labels: TypeAlias = dict[str, LabelValue]
"""{name: value or list}; null says that the label has no value here."""

MediaKey: TypeAlias = Literal["video", "audio", "transcript", "stimulus", "reaction", "with_subtitles", "without_text"]
MEDIA_KEYS: Final[tuple[MediaKey, ...]] = get_args(MediaKey)
Select: TypeAlias = Literal["one", "all"]
Task: TypeAlias = Literal["choice", "open", "intensity", "matching", "rationale"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)


class BundleCard(Record):
    """``bundle.yaml``: what the bundle is called and which benchmark family reads it."""

    name: Id
    family: Id
    version: Id
    license: str | None = None
    description: str | None = None


class Media(Record):
    """Paths relative to the bundle; null or absent where there is none."""

    video: str | None = None
    audio: str | None = None
    transcript: str | None = None
    stimulus: str | None = None
    reaction: str | None = None
    with_subtitles: str | None = None
    without_text: str | None = None


class Lineage(Record):
    """Where a clip came from. ``start_s`` and ``end_s`` are times in the original ``recording``."""

    source: str | None = None
    channel: str | None = None
    creator: str | None = None
    recording: str | None = None
    parent: str | None = None
    url: str | None = None
    start_s: Seconds | None = None
    end_s: Seconds | None = None


class Episode(Record):
    """One clip. ``duration_s`` is null where it is not known."""

    id: Id
    media: Media = Field(default_factory=Media)
    duration_s: Annotated[float, Field(gt=0)] | None = None
    lineage: Lineage = Field(default_factory=Lineage)
    labels: Labels = Field(default_factory=dict)


class Option(Record):
    """One answer that a choice item offers."""

    id: OptionId
    text: str


class Window(Record):
    """A stretch of the episode: 0 <= ``start_s`` < ``end_s``."""

    start_s: Seconds
    end_s: Seconds


class Moment(Window):
    """A named window whose intensity is asked for."""

    id: Id


class Candidate(Window):
    """A window of ``episode`` that a matching item offers as the stimulus."""

    id: OptionId
    episode: Id


class HistoryEntry(Record):
    """Public context from before: at ``time_s``, or ``when`` in words."""

    time_s: float | None = None
    when: str | None = None
    text: str


class ItemBase(Record):
    """What the items of every task share."""

    id: Id
    episode: Id
    task: str
    labels: Labels = Field(default_factory=dict)
    window: Window | None = None
    history: Annotated[tuple[HistoryEntry, ...], Field(strict=False)] | None = None
    perspective: str | None = None


class ChoiceItem(ItemBase):
    """A question with ``options``, of which ``one`` or ``all`` that hold are to be named."""

    task: Literal["choice"]
    question: str
    options: Annotated[tuple[Option, ...], Field(strict=False, min_length=1)]
    select: Select


class OpenItem(ItemBase):
    """A question answered in free words."""

    task: Literal["open"]
    question: str


class IntensityItem(ItemBase):
    """Two or more moments of one video whose intensities are to be told apart; one such item a
    video.
    """

    task: Literal["intensity"]
    moments: Annotated[tuple[Moment, ...], Field(strict=False, min_length=2)]


class MatchingItem(ItemBase):
    """Which of the ``candidates`` did the person in ``window`` react to?"""

    task: Literal["matching"]
    window: Window
    candidates: Annotated[tuple[Candidate, ...], Field(strict=False, min_length=1)]


class RationaleItem(ItemBase):
    """Why did the person in ``window`` react so?"""

    task: Literal["rationale"]
    window: Window


Item: TypeAlias = Annotated[
    ChoiceItem | OpenItem | IntensityItem | MatchingItem | RationaleItem,
    Field(discriminator="task"),
]

ITEM: Final[TypeAdapter[Item]] = TypeAdapter(Item)
"""Reads one row of ``items.jsonl`` into the type that its ``task`` names."""
