"""What a benchmark family declares about itself: one value, found by the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onlooker.errors import InputError

if TYPE_CHECKING:
    from onlooker.models.request import Image, Part, Sound, Video
    from onlooker.protocol.analysis import Analysis
    from onlooker.protocol.arrangement import Arrange
    from onlooker.protocol.condition import Condition
    from onlooker.protocol.form import Form
    from onlooker.protocol.judging import Judging
    from onlooker.protocol.scoring import Family
    from onlooker.protocol.view import Views
    from onlooker.records.labels import LabelRules
    from onlooker.records.public import Item


@dataclass(frozen=True, slots=True)
class Given:
    """What of an episode reaches the model under a condition: the only thing a prompt is rendered from beside the item.

    ``frames`` in time order, ``sound`` the sound where it is sent, ``transcript`` the words spoken as timed lines (None
    where the condition has none; an empty string where nobody was heard), ``video`` a file in place of frames and
    sound, ``views`` what each view of the condition shows, by name, in the order of ``Benchmark.views``.
    """

    frames: tuple[Image, ...] = ()
    sound: Sound | None = None
    transcript: str | None = None
    video: Video | None = None
    views: Mapping[str, Given] = field(default_factory=dict)


Render = Callable[["Item", "Condition", Given], "tuple[Part, ...]"]


@dataclass(frozen=True, slots=True)
class PartCalls:
    """How an item is asked in several calls, for conditions with ``calls="part"``.

    names   item and condition -> the names of its parts in order (moment ids, option ids): the ``part`` of predictions
    render  item, condition, what is given for that part, its name -> the parts of the request
    window  item, condition, name -> the stretch of the episode (seconds) that is given; None: the item's own window
    """

    names: Callable[[Item, Condition], tuple[str, ...]]
    render: Callable[[Item, Condition, Given, str], tuple[Part, ...]]
    window: Callable[[Item, Condition, str], tuple[float, float] | None] = lambda item, condition, name: None  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class VideoCalls:
    """How all questions of one episode are asked in one call, for conditions with ``calls="video"``.

    render  the items in the order of the bundle, condition, what is given -> the parts of the request
    split   the reply and the items -> {item id: the stretch of the reply that answers it}, unaltered; an item that the
            reply does not answer is left out, and its row is ``empty`` (``truncated`` where the reply was)
    """

    render: Callable[[Sequence[Item], Condition, Given], tuple[Part, ...]]
    split: Callable[[str, Sequence[Item]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a report breaks the scores down by: the metrics whose names begin with ``prefix``.

    names      what the label values stand for, in the order in which they are shown
    own_scale  rubric scores that keep their own scale; fractions otherwise
    """

    title: str
    prefix: str
    names: Mapping[str, str] = field(default_factory=dict)
    own_scale: bool = False


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A family. Raises ``InputError`` where its pieces name each other wrongly.

    family     the word in ``bundle.yaml``, and the name of ``scoring``; the package may be called otherwise
    title      for people
    claims     one sentence: what it measures
    citation   the paper
    labels     what the family asks of labels: closed sets of values, what must be there
    conditions what a model can be given, the default first
    baseline   the condition without any medium, run beside the others to tell what words alone give away; None: none
    render     item, condition and what is given -> the parts of the request
    scoring    how predictions become numbers (``onlooker.protocol.scoring``)
    tables     what a report breaks the scores down by, in order
    main_metric the metric that stands for the whole
    analyses   what else can be computed from its answers (``onlooker analyze FAMILY NAME``)
    part_calls  how an item is asked in several calls; None where no condition does so
    video_calls how the questions of a video are asked in one call; None where no condition does so
    tasks      the tasks that its items have
    arrangements {name: how the items are changed beforehand}, for conditions that name one
    views      what is shown, for conditions with ``views``; None where no condition has any
    judging    how judges are asked (``onlooker judge``), in the order in which one rubric needs another's labels
    forms      what people can be asked (``onlooker annotate``)
    """

    family: str
    title: str
    claims: str
    citation: str
    labels: LabelRules
    conditions: tuple[Condition, ...]
    baseline: str | None
    render: Render
    scoring: Family
    tables: tuple[ScoreTable, ...]
    main_metric: str = "accuracy"
    analyses: tuple[Analysis, ...] = ()
    part_calls: PartCalls | None = None
    video_calls: VideoCalls | None = None
    tasks: tuple[str, ...] = ("choice",)
    arrangements: Mapping[str, Arrange] = field(default_factory=dict)
    views: Views | None = None
    judging: tuple[Judging, ...] = ()
    forms: tuple[Form, ...] = ()

    def __post_init__(self) -> None:
        names = [condition.name for condition in self.conditions]
        there = f"one of {', '.join(dict.fromkeys(names)) or 'none, since it has no condition'}"
        if self.scoring.name != self.family:
            raise self._wrong(
                "scoring is of another family", self.scoring.name, f"let Family(name=...) be {self.family}"
            )
        for name in names:
            if names.count(name) > 1:
                raise self._wrong("two conditions of the same name", name, "a name of its own for each condition")
        if self.baseline is not None and self.baseline not in names:
            raise self._wrong("baseline names no condition", self.baseline, f"{there}, or None")
        for condition in self.conditions:
            other = condition.same_as
            if other is not None and (other not in names or other == condition.name):
                raise self._wrong(f"same_as of condition {condition.name} names no other condition", other, there)
            if condition.arrangement is not None and condition.arrangement not in self.arrangements:
                raise self._wrong(
                    f"arrangement of condition {condition.name} is not declared",
                    condition.arrangement,
                    f"one of {', '.join(self.arrangements) or 'none, since arrangements is empty'}",
                )
            if condition.views and self.views is None:
                raise self._wrong(f"condition {condition.name} shows views, and views is None", None, "declare views")
            need = {"part": ("part_calls", self.part_calls), "video": ("video_calls", self.video_calls)}
            name, declared = need.get(condition.calls, ("", self))
            if declared is None:
                raise self._wrong(
                    f"condition {condition.name} asks in calls of a {condition.calls}, and {name} says nothing",
                    None,
                    f"declare {name}",
                )

    def _wrong(self, what: str, value: object, remedy: str) -> InputError:
        return InputError(what, where=f"benchmark {self.family}", value=value, remedy=remedy)

    def condition(self, name: str) -> Condition:
        """The condition of that name, or ``BASE+VARIATION`` (see ``variation``). Raises ``InputError`` that lists the
        names there are."""
        base, joint, variation = name.partition("+")
        for condition in self.conditions:
            if condition.name == base:
                if not joint:
                    return condition
                from onlooker.protocol.variation import parse_variation, vary  # noqa: PLC0415 - they need this class

                return vary(self, condition, parse_variation(variation))
        names = ", ".join(c.name for c in self.conditions) or "none is built yet"
        raise InputError(f"{self.family} has no condition of this name", value=name, remedy=f"one of {names}")

    @property
    def default(self) -> Condition:
        """The condition that is meant where none is named. Raises ``InputError`` where the family has none."""
        if not self.conditions:
            raise InputError(f"asking models is not built yet for {self.family}: its predictions can be scored")
        return self.conditions[0]
