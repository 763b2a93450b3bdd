"""How a family turns replies into numbers. A family declares; the engine of ``onlooker.score``
executes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from onlooker.errors import InputError
from onlooker.records.public import Candidate, ChoiceItem, Episode, Item, MatchingItem, Option
from onlooker.text.choices import parse_choice
from onlooker.text.outcome import Unparsed

if TYPE_CHECKING:
    # Types only: a family can be named to model-facing code without the private records being
    # loaded.
    from onlooker.protocol.metric import Metric
    from onlooker.records.private import Rating, Reference
    from onlooker.records.results import Outcome

Labels = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """A label that is one of these words."""

    words: tuple[str, ...]

    def holds(self, value: object, item: Item) -> bool:  # noqa: ARG002 - every scale answers the same question
        """Whether ``value`` is a label on this scale."""
        return isinstance(value, str) and value in self.words


@dataclass(frozen=True, slots=True)
class Number:
    """A label that is a number from ``low`` to ``high``: any, a ``whole`` one (2.0 is one), or one
    of ``steps``.
    """

    low: float
    high: float
    whole: bool = False
    steps: tuple[float, ...] = ()

    def holds(self, value: object, item: Item) -> bool:  # noqa: ARG002
        """Whether ``value`` is a label on this scale. ``true`` is no number."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.steps:
            return value in self.steps
        return self.low <= value <= self.high and not (self.whole and value != int(value))


@dataclass(frozen=True, slots=True)
class PerOption:
    """A label with one number from ``low`` to ``high`` for every option of the item."""

    low: float
    high: float

    def holds(self, value: object, item: Item) -> bool:
        """Whether ``value`` is an object with a number in range for each option, and for nothing
        else.
        """
        ids = {option.id for option in item.options} if isinstance(item, ChoiceItem) else set()
        if not isinstance(value, dict) or set(value) != ids:
            return False
        scale = Number(self.low, self.high)
        return all(scale.holds(number, item) for number in value.values())


Scale = Words | Number | PerOption


@dataclass(frozen=True, slots=True)
class Rubric:
    """What a judge is asked for: {label: scale}. A label missing or off its scale makes the
    judgement ``unparsed``.
    """

    name: str
    scales: Mapping[str, Scale]

    def accepts(self, labels: Mapping[str, object] | None, item: Item) -> bool:
        """Whether every label is there and on its scale. Further labels are let through."""
        return labels is not None and all(
            name in labels and scale.holds(labels[name], item) for name, scale in self.scales.items()
        )


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply that was understood.

    value      option ids, a text, or {moment id: number}; a bare number for one moment of several
               calls
    rationale  what the reply says beside the answer, by field; empty where the family asks for none
    repaired   whether slightly broken JSON was repaired on the way
    """

    value: tuple[str, ...] | str | float | Mapping[str, float]
    rationale: Mapping[str, str | None] = field(default_factory=dict)
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Private:
    """What only scorers see of an item."""

    reference: Reference | None
    ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one item under one model, condition and seed, before it is graded.

    outcome  of the calls: ``scored`` where the reply was understood, else why not
    answer   what was understood, None otherwise
    labels   {rubric: labels} of the judgements that are valid
    judged   whether this model and condition has judgements at all
    """

    outcome: Outcome
    answer: Answer | None
    labels: Mapping[str, Labels]
    judged: bool


@dataclass(frozen=True, slots=True)
class Grade:
    """What a family gives for a reply.

    credit       answer credit a, 0..1; None where there is none
    verified     v, 0..1; None where undefined
    unjudged     the reply was understood, but a judgement its grade needs is missing or not valid
    points       further numbers of the item, by name; in a comparison an item counts where both have one
    conditional  numbers that some replies have by their nature (how far a wrong choice is off); a
                 comparison takes each side's own
    """

    credit: float | None
    verified: float | None = None
    unjudged: bool = False
    points: Mapping[str, float] = field(default_factory=dict)
    conditional: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """One owed item as one model answered it, graded. ``cluster`` is the number of its episode."""

    item: Item
    episode: Episode
    cluster: int
    private: Private
    reply: Reply
    grade: Grade

    @property
    def outcome(self) -> Outcome:
        """The item's outcome: that of its reply, or ``unjudged``."""
        return "unjudged" if self.grade.unjudged else self.reply.outcome


@dataclass(frozen=True, slots=True)
class Scope:
    """What the cases stand for: the condition, and all items of the bundle (a condition may owe
    fewer).
    """

    condition: str
    items: Sequence[Item]
    judged: bool


class Parse(Protocol):
    """Reads a reply. ``part`` is None, or the part of the item that this call was for."""

    def __call__(self, item: Item, raw: str, part: str | None) -> Answer | Unparsed: ...


@dataclass(frozen=True, slots=True)
class OtherParser:
    """Another rule by which a family's replies can be read, to see what the rule does to a score.

    ``says``: what the rule is and what is wrong with it, in one line; every table of its scores repeats it.
    """

    parse: Parse
    says: str


@dataclass(frozen=True, slots=True)
class Family:
    """How a benchmark family scores.

    name            the word in ``bundle.yaml``
    main_label      the label that groups items where no other is asked for
    rubrics         what its judges may be asked
    parse           reply text -> answer, or why it has none
    parts           the parts of an item that may be calls of their own, in order
    grade           item, what only scorers see, reply -> grade
    metrics         graded cases -> metrics; their names depend on the items owed, never on the
                    replies
    answer_metrics  those metrics that a guesser without a reply can be given
    owes            whether a condition owes an item
    common          the condition by which metrics are named where two conditions are compared
    notes           rules that moved a number here, in words, beside those that hold for every
                    family
    parsers         rules that can be asked for by name in place of ``parse``
    parser          the one of them that ``parse`` is, None for the family's own rule
    """

    name: str
    main_label: str
    rubrics: tuple[Rubric, ...]
    parse: Parse
    grade: Callable[[Item, Private, Reply], Grade]
    metrics: Callable[[Sequence[Case], Scope], list[Metric]]
    answer_metrics: Callable[[Sequence[Case], Scope], list[Metric]]
    parts: Callable[[Item], tuple[str, ...]] = lambda item: ()  # noqa: ARG005
    owes: Callable[[str, Item], bool] = lambda condition, item: True  # noqa: ARG005
    common: Callable[[str, str], str] = lambda a, b: a  # noqa: ARG005
    notes: Callable[[Sequence[Case], Scope], list[str]] = lambda cases, scope: []  # noqa: ARG005
    parsers: Mapping[str, OtherParser] = field(default_factory=dict)
    parser: str | None = None

    def read_by(self, parser: str | None) -> Family:
        """The family with the parser of that name in place of its own; itself for None.

        Raises ``InputError`` that lists those there are.
        """
        if parser is None:
            return self
        if parser not in self.parsers:
            there = ", ".join(self.parsers)
            raise InputError(
                f"{self.name} has no other parser of this name" if there else f"{self.name} has no other parser",
                where="--parser",
                value=parser,
                remedy=f"one of {there}; without --parser its own rule" if there else "leave --parser out",
            )
        return replace(self, parse=self.parsers[parser].parse, parser=parser)

    @property
    def parser_note(self) -> str | None:
        """What must be said beside scores of another parser; None for the family's own."""
        return None if self.parser is None else f"read by {self.parser}: {self.parsers[self.parser].says}"

    def rubric(self, name: str) -> Rubric | None:
        """The rubric of that name, None where the family has none."""
        return next((rubric for rubric in self.rubrics if rubric.name == name), None)


def choices_of(item: Item) -> tuple[Option | Candidate, ...]:
    """The options of a choice item or the candidates of a matching item; none for other tasks."""
    if isinstance(item, ChoiceItem):
        return item.options
    return item.candidates if isinstance(item, MatchingItem) else ()


def choices_read(family: str, item: Item, raw: str, *, near_text: bool) -> Answer | Unparsed:
    """The options that a reply chooses, by the rules that all families share; or why there is no
    choice.

    ``near_text`` adds the option of nearest text as the last rule. ``family`` has choice questions
    only: InputError for an item of another task.
    """
    if not isinstance(item, ChoiceItem):
        raise no_such_task(family, item)
    ids, texts = [option.id for option in item.options], [option.text for option in item.options]
    read = parse_choice(raw, ids, texts, item.select, near_text=near_text)
    return read if isinstance(read, Unparsed) else Answer(read.value, repaired=read.repaired)


def no_such_task(family: str, item: Item) -> InputError:
    """The error of an item whose task the family does not have."""
    return InputError(f"{family} has no items of this task", where=f"item {item.id}", value=item.task)


def exact_credit(private: Private, reply: Reply) -> float:
    """1 where the set of options chosen is the reference's, else 0: also for every reply that was
    not understood.
    """
    reference = private.reference
    if reply.answer is None or reference is None or not isinstance(reply.answer.value, tuple):
        return 0.0
    right = reference.answer
    return float(isinstance(right, tuple) and set(reply.answer.value) == set(right))


def labels_of(case: Case, label: str) -> tuple[str, ...]:
    """The values of a label: the item's own, else its episode's. A list counts under each of its
    values.
    """
    value = case.item.labels.get(label)
    if value is None:
        value = case.episode.labels.get(label)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(str(one) for one in values))
