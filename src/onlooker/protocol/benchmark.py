"""What a benchmark family declares about itself: one value, found by the catalog."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from onlooker.errors import InputError

if TYPE_CHECKING:
    from onlooker.models.request import Image, Part, Sound
    from onlooker.protocol.analysis import Analysis
    from onlooker.protocol.condition import Condition
    from onlooker.protocol.scoring import Family
    from onlooker.records.labels import LabelRules
    from onlooker.records.public import Item


@dataclass(frozen=True, slots=True)
class Given:
    """What of an episode reaches the model under a condition: the only thing a prompt is rendered from beside the item.

    ``frames`` in time order, ``sound`` the sound where it is sent, ``transcript`` the words spoken as timed lines (None
    where the condition has none; an empty string where nobody was heard).
    """

    frames: tuple[Image, ...] = ()
    sound: Sound | None = None
    transcript: str | None = None


Render = Callable[["Item", "Condition", Given], "tuple[Part, ...]"]


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

    def _wrong(self, what: str, value: object, remedy: str) -> InputError:
        return InputError(what, where=f"benchmark {self.family}", value=value, remedy=remedy)

    def condition(self, name: str) -> Condition:
        """The condition of that name. Raises ``InputError`` that lists the names there are."""
        for condition in self.conditions:
            if condition.name == name:
                return condition
        names = ", ".join(c.name for c in self.conditions) or "none is built yet"
        raise InputError(f"{self.family} has no condition of this name", value=name, remedy=f"one of {names}")

    @property
    def default(self) -> Condition:
        """The condition that is meant where none is named. Raises ``InputError`` where the family has none."""
        if not self.conditions:
            raise InputError(f"asking models is not built yet for {self.family}: its predictions can be scored")
        return self.conditions[0]
