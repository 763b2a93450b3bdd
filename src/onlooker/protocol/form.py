"""The words in which a family declares what people are asked: a form is data, the annotation app shows it.

A form says what a person sees (``layout``, ``shows``, ``private``), what is asked (``fields``), what has to be done
before an answer counts (``playback``, required fields), how a person may decline (``opt_outs``), and how an answer
becomes rows on disk (``rubric`` of its fields, ``records``, ``decision``). Nothing that is not listed in ``shows`` or
``private`` reaches a page: who may see what is part of the declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from onlooker.errors import InputError
from onlooker.records.public import MediaKey

Answer: TypeAlias = Mapping[str, Any]
"""{field name: value}; of a field that is asked for every moment {field name: {moment id: value}}."""

Public: TypeAlias = Literal[
    "question", "options", "history", "window", "moments", "candidates", "perspective", "labels"
]
"""Of the item: what a model may see too."""
Private: TypeAlias = Literal["answer", "references", "cues", "explanation", "reply", "verdict"]
"""Of the reference (answer, references, cues, explanation), and of the reply of a model that is graded: its words
(``reply``) and what a judge decided (``verdict``). Who wrote it is not among them, and cannot be shown."""
PUBLIC: Final[tuple[Public, ...]] = get_args(Public)
PRIVATE: Final[tuple[Private, ...]] = get_args(Private)

Extent: TypeAlias = Literal["whole", "window", "moments"]
"""The whole medium, the item's window, or each of its moments."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer that a field offers. ``value`` goes on disk: a number, or a word without white space. ``key``: the key
    that picks it, where it is not the digit that ``keys_of`` would give."""

    value: int | float | str
    title: str
    says: str = ""
    key: str | None = None


@dataclass(frozen=True, slots=True)
class When:
    """Only where ``field`` was given one of ``values``."""

    field: str
    values: tuple[int | float | str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that is asked.

    name      its key in the answer
    title     the question as people read it
    says      more words below it
    rubric    the rubric of its rows in ``ratings.jsonl``; None: it goes along as a further field of every row
    per       asked once, or for every moment of the item
    required  whether an answer without it is refused
    when      asked (and required) only there
    """

    name: str
    title: str
    says: str = ""
    rubric: str | None = None
    per: Literal["case", "moment"] = "case"
    required: bool = True
    when: When | None = None


@dataclass(frozen=True, slots=True)
class Scale(Field):
    """One number of a scale whose anchors stay in sight; the value is the number."""

    anchors: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class OneOf(Field):
    """One of the choices; the value is the choice's."""

    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class ManyOf(Field):
    """Any of the choices, say reasons; the value is the list of theirs, in the order of the choices."""

    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Checks(Field):
    """Criteria that are all answered yes or no; the value is {criterion: bool}. One row a criterion, under
    ``RUBRIC.CRITERION``, 1 for yes."""

    criteria: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True)
class Words(Field):
    """Words typed into a box that begins blank; the value is the text as typed, untrimmed."""

    least_chars: int = 1
    most_chars: int = 2000
    rows: int = 2


@dataclass(frozen=True, slots=True)
class ItemAnswer(Field):
    """The answer to the item's own question: one option, all options that hold, or words. The value is the list of
    option ids in the order of the options, or the text; the row has the ids as the parser of replies reads them
    ("A, C")."""

    most_chars: int = 2000


@dataclass(frozen=True, slots=True)
class View:
    """One medium on the page. ``has_sound`` False: muted for good. ``extent``: what of it is played."""

    medium: MediaKey
    title: str = ""
    has_sound: bool = True
    extent: Extent = "whole"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the page is set: ``player`` (one view at a time, with its timeline), ``side_by_side`` (the views in step on
    one clock), ``text`` (no medium). ``views`` in order; a view whose medium the episode does not have is left out,
    and a case without any of them cannot be asked."""

    kind: Literal["player", "side_by_side", "text"] = "player"
    views: tuple[View, ...] = (View("video"),)


OptOutWord: TypeAlias = Literal["unfamiliar", "unclear"]
"""The closed set of ``opt_out`` in ``ratings.jsonl``."""


@dataclass(frozen=True, slots=True)
class OptOut:
    """A way to decline that counts as this person's word on the case. ``key``: a key that gives it at once."""

    value: OptOutWord
    title: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """How answers decide about an item, for gates.

    verdict  one person's answer -> one of ``words``
    words    the closed set of decisions, the best first
    rule     ``unanimous``: the first word only where all gave it, else the worst word given; ``majority``: the word of
             more than half, else none yet; ``one``: the first person's
    reasons  the fields whose values are listed as reasons
    """

    verdict: Callable[[Answer], str]
    words: tuple[str, ...]
    rule: Literal["unanimous", "majority", "one"] = "unanimous"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of question to people. Raises ``InputError`` where its pieces name each other wrongly.

    name       what STUDY.yaml calls it
    title      for people; ``says``: the instructions, always one click away, shown before the first case
    tasks      the tasks of the items it is for
    asks_about the item, or one model's reply to it (``reply``; the study then names predictions)
    records    ``ratings`` (ratings.jsonl), or ``judgements`` (judgements.jsonl, for replies graded under a judge's
               rubric, the name of which is ``rubric``)
    playback   what of every view has to be played in full before an answer is taken; None: nothing
    """

    name: str
    title: str
    says: str
    tasks: tuple[str, ...]
    fields: tuple[Field, ...]
    layout: Layout = Layout()
    shows: tuple[Public, ...] = ()
    private: tuple[Private, ...] = ()
    playback: Extent | None = None
    opt_outs: tuple[OptOut, ...] = ()
    asks_about: Literal["item", "reply"] = "item"
    records: Literal["ratings", "judgements"] = "ratings"
    rubric: str | None = None
    decision: Decision | None = None

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        for name in names:
            if names.count(name) > 1:
                raise self._wrong("two fields of one name", name, "a name of its own for each field")
        for field in self.fields:
            self._check_choices(field)
            if field.when is not None and field.when.field not in names[: names.index(field.name)]:
                raise self._wrong(f"field {field.name} waits for no earlier field", field.when.field, "name one before")
        for reason in self.decision.reasons if self.decision else ():
            if reason not in names:
                raise self._wrong("the decision's reasons name no field", reason, f"one of {', '.join(names)}")
        for kind, given, known in (("shows", self.shows, PUBLIC), ("private", self.private, PRIVATE)):
            for one in given:
                if one not in known:
                    raise self._wrong(f"{kind} names nothing that can be shown", one, f"one of {', '.join(known)}")
        if (self.records == "judgements") != (self.rubric is not None):
            raise self._wrong("judgements need the rubric of the judge, ratings none", self.rubric, "set both or none")
        if self.records == "judgements" and self.asks_about != "reply":
            raise self._wrong("judgements are about replies", self.asks_about, 'asks_about="reply"')
        if self.needs_moments and "moments" not in self.shows:
            raise self._wrong("asks about moments that it does not show", self.shows, 'add "moments" to shows')
        self._check_keys()

    def _check_keys(self) -> None:
        """One key, one action: within a field, since one field at a time has the keys, and over the whole page."""
        taken = dict(PAGE_KEYS)
        if any(isinstance(field, Checks) for field in self.fields):
            taken |= YES_NO_KEYS
        for one in self.opt_outs:
            if one.key is not None:
                self._take(taken, one.key, one.title)
        for field in self.fields:
            in_field = dict(taken)
            for choice, key in zip(choices_of(field), keys_of(field), strict=True):
                if key is not None:
                    self._take(in_field, key, f"{field.title} {choice.title}")
        if any(isinstance(field, ItemAnswer) for field in self.fields):
            for one in self.opt_outs:
                if one.key is not None and one.key.isdigit():
                    raise self._wrong("two actions on one key: an option, and to decline", one.key, "a letter")

    def _take(self, taken: dict[str, str], key: str, action: str) -> None:
        if len(key) != 1 or not key.isprintable() or key != key.lower():
            raise self._wrong(f"no key that a page can listen to: {action}", key, "a digit or a small letter")
        if key in taken:
            raise self._wrong(f"two actions on one key: {taken[key]}, and {action}", key, "a key for each")
        taken[key] = action

    def _check_choices(self, field: Field) -> None:
        values = [choice.value for choice in choices_of(field)]
        if isinstance(field, Scale | OneOf | ManyOf | Checks) and not values:
            raise self._wrong(f"field {field.name} offers nothing", None, "give it choices")
        for value in values:
            if values.count(value) > 1:
                raise self._wrong(f"field {field.name} offers one value twice", value, "a value for each choice")

    def _wrong(self, what: str, value: object, remedy: str) -> InputError:
        return InputError(what, where=f"form {self.name}", value=value, remedy=remedy)

    def field(self, name: str) -> Field:
        """The field of that name. Raises ``InputError`` that lists the names there are."""
        for field in self.fields:
            if field.name == name:
                return field
        known = ", ".join(field.name for field in self.fields)
        raise self._wrong("the form has no field of this name", name, f"one of {known}")

    @property
    def needs_moments(self) -> bool:
        """Whether something is asked or has to be played for every moment."""
        return self.playback == "moments" or any(field.per == "moment" for field in self.fields)


PAGE_KEYS: Final[Mapping[str, str]] = {" ": "play and pause", ",": "a frame back", ".": "a frame on"}
"""Keys that every page listens to, beside arrows and Ctrl+Enter."""
YES_NO_KEYS: Final[Mapping[str, str]] = {"y": "yes", "n": "no"}
"""Keys that answer the criterion at hand where a form has ``Checks``."""
DIGITS: Final = "123456789"


def keys_of(field: Field) -> tuple[str | None, ...]:
    """The key of each choice, in order: its own, else a digit. On a scale of numbers 0 to 9 the digit is the number;
    elsewhere the place, and what comes after the ninth has none."""
    choices = choices_of(field)
    numbers = [choice.value for choice in choices]
    if isinstance(field, Scale) and all(isinstance(one, int) and 0 <= one <= 9 for one in numbers):
        digits: list[str | None] = [str(one) for one in numbers]
    else:
        digits = [*DIGITS[: len(choices)], *[None] * (len(choices) - len(DIGITS))]
    return tuple(choice.key or digit for choice, digit in zip(choices, digits, strict=True))


def choices_of(field: Field) -> tuple[Choice, ...]:
    """What a field offers, in order; empty where it is not chosen from a fixed list."""
    match field:
        case Scale():
            return field.anchors
        case OneOf() | ManyOf():
            return field.choices
        case Checks():
            return field.criteria
    return ()
