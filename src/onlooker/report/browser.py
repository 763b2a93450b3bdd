"""Items as the item browser shows them: what every model was given, what it answered, what was right."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from onlooker.report.album import Album, Shown
from onlooker.report.choices import Choice, Choices, choices_of, label_values
from onlooker.report.content import AnswerView, ItemView, Limits, Section
from onlooker.report.verdicts import VERDICTS, verdict_of
from onlooker.report.wording import evenly

_TRANSCRIPT_INLINE = 1_200  # a longer transcript stands once in the section's list of transcripts
_TRANSCRIPT_EXCERPT = 400
_BRIEF_CHARS = 80


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, cut where it is very long. ``total``: characters of the whole."""

    text: str
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether something is missing at the end."""
        return len(self.text) < self.total


@dataclass(frozen=True, slots=True)
class Detail:
    """One entry of an answer's details: bars over option ids, a few words that need no fold, or a text."""

    name: str
    brief: str | None = None
    bars: tuple[tuple[str, float], ...] = ()
    text: Passage | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """What one or more answers of an item were given alike. ``to``: (condition, models).

    ``frames_as``, ``transcript_as``: the letter under which the same frames or words are shown already.
    """

    letter: str
    to: tuple[tuple[str, tuple[str, ...]], ...]
    prompt: Passage | None
    strip: tuple[Shown, ...]
    frames: int
    frames_as: str | None
    transcript_as: str | None
    transcript: Passage | None
    transcript_anchor: str | None
    sound: tuple[float, float] | None
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerCard:
    """One answer. ``parsed`` is None where nothing was parsed; ``call`` says how the call went, "" where unknown."""

    answer: AnswerView
    verdict: str
    parsed: str | None
    call: str
    raw: Passage | None
    details: tuple[Detail, ...]
    given: str | None


@dataclass(frozen=True, slots=True)
class ItemCard:
    """One item of the browser.

    ``answers_json`` and ``labels_json`` are what the filters read: [model, condition, verdict] of each answer, and for
    each of the browser's labels the item's values; models, conditions and values are places in the browser's lists.
    """

    anchor: str
    item: ItemView
    labels: tuple[tuple[str, tuple[str, ...]], ...]
    verdicts: tuple[tuple[str, int], ...]
    answers: tuple[AnswerCard, ...]
    given: tuple[Given, ...]
    answers_json: str
    labels_json: str


@dataclass(frozen=True, slots=True)
class Browser:
    """The item browser of a section. ``total`` counts the section's items, shown or not."""

    cards: tuple[ItemCard, ...]
    total: int
    verdicts: tuple[tuple[str, int], ...]
    models: tuple[str, ...]
    conditions: tuple[str, ...]
    labels: tuple[Choice, ...]
    transcripts: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Shelf:
    """Long transcripts of a section, each kept once. ``anchor`` begins every id."""

    anchor: str
    ids: dict[str, str] = field(default_factory=dict)

    def place(self, transcript: str | None) -> str | None:
        if transcript is None or len(transcript) <= _TRANSCRIPT_INLINE:
            return None
        return self.ids.setdefault(transcript, f"{self.anchor}-transcript-{len(self.ids) + 1}")


def shown_items(section: Section, limits: Limits) -> tuple[ItemView, ...]:
    """The items that the page holds: all, or as many as the limits allow, evenly chosen in order."""
    return tuple(section.items[i] for i in evenly(len(section.items), limits.items_per_section))


def browse(section: Section, items: Sequence[ItemView], album: Album, anchor: str) -> Browser:
    """The browser over ``items``; frames go into ``album``, ids begin with ``anchor``."""
    shelf = _Shelf(anchor)
    anchors: set[str] = set()
    choices = choices_of(items)
    cards = tuple(_card(item, album, shelf, _free(f"{anchor}-item-{item.item_id}", anchors), choices) for item in items)
    verdicts = Counter(card.verdict for c in cards for card in c.answers)
    return Browser(
        cards=cards,
        total=len(section.items) + section.items_left_out,
        verdicts=tuple((key, verdicts[key]) for key in VERDICTS if verdicts[key]),
        models=choices.models,
        conditions=choices.conditions,
        labels=choices.labels,
        transcripts=tuple((place, text) for text, place in shelf.ids.items()),
    )


def _free(wanted: str, taken: set[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9._-]+", "_", wanted)
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}~{count}"
    taken.add(name)
    return name


def _card(item: ItemView, album: Album, shelf: _Shelf, anchor: str, choices: Choices) -> ItemCard:
    groups: dict[object, list[AnswerView]] = {}
    for answer in item.answers:
        given = (answer.frames, answer.sound, answer.files)
        if answer.prompt is not None or answer.transcript is not None or any(given):
            key = (answer.prompt, answer.transcript, *given)
            groups.setdefault(key, []).append(answer)
    letters = {id(a): _letter(place) for place, group in enumerate(groups.values()) for a in group}
    cards = tuple(_answer(a, item, album.limits, letters.get(id(a))) for a in item.answers)
    labels = tuple((name, label_values(item, name)) for name in item.labels)
    counts = Counter(card.verdict for card in cards)
    return ItemCard(
        anchor=anchor,
        item=item,
        labels=labels,
        verdicts=tuple((key, counts[key]) for key in VERDICTS if counts[key]),
        answers=cards,
        given=_givens(list(groups.values()), album, shelf),
        answers_json=choices.answers_json(item, [card.verdict for card in cards]),
        labels_json=choices.labels_json(item),
    )


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"A{place - 25}"


def _givens(groups: Sequence[Sequence[AnswerView]], album: Album, shelf: _Shelf) -> tuple[Given, ...]:
    frames: dict[object, str] = {}
    transcripts: dict[str, str] = {}
    made = []
    for place, answers in enumerate(groups):
        first, letter = answers[0], _letter(place)
        frames_as = frames.setdefault(first.frames, letter) if first.frames else letter
        transcript_as = transcripts.setdefault(first.transcript, letter) if first.transcript else letter
        made.append(
            _given(
                letter,
                answers,
                frames_as=None if frames_as == letter else frames_as,
                transcript_as=None if transcript_as == letter else transcript_as,
                album=album,
                shelf=shelf,
            )
        )
    return tuple(made)


def _given(
    letter: str,
    answers: Sequence[AnswerView],
    *,
    frames_as: str | None,
    transcript_as: str | None,
    album: Album,
    shelf: _Shelf,
) -> Given:
    first = answers[0]
    to: dict[str, dict[str, None]] = {}
    for answer in answers:
        to.setdefault(answer.condition, {})[answer.model] = None
    place = shelf.place(first.transcript)
    prompt = first.prompt
    if prompt is not None and place is not None and first.transcript:
        stand_in = f"[the transcript, {len(first.transcript):,} characters: shown once, under Transcripts]"
        prompt = prompt.replace(first.transcript.strip(), stand_in)
    transcript = first.transcript
    return Given(
        letter=letter,
        to=tuple((condition, tuple(models)) for condition, models in to.items()),
        prompt=_passage(prompt, album.limits.text_chars),
        strip=() if frames_as else album.strip(first.frames),
        frames=len(first.frames),
        frames_as=frames_as,
        transcript_as=transcript_as,
        transcript=_passage(transcript, _TRANSCRIPT_EXCERPT if place else _TRANSCRIPT_INLINE),
        transcript_anchor=place,
        sound=first.sound,
        files=first.files,
    )


def _answer(answer: AnswerView, item: ItemView, limits: Limits, given: str | None) -> AnswerCard:
    parsed = answer.parsed if answer.parsed is None or isinstance(answer.parsed, str) else ", ".join(answer.parsed)
    ids = {option.id for option in item.options}
    return AnswerCard(
        answer=answer,
        verdict=verdict_of(answer),
        parsed=parsed,
        call=_call(answer),
        raw=_passage(answer.raw, limits.text_chars),
        details=tuple(_detail(name, value, ids, limits) for name, value in answer.details.items()),
        given=given,
    )


def _call(answer: AnswerView) -> str:
    took = "" if answer.latency_s is None else f" {answer.latency_s:.2f}\u202fs"
    if answer.status == "error":
        if answer.prompt is None:
            return "no call was made: the request could not be built"
        return f"the call failed after{took}" if took else "the call failed"
    if answer.status is None:
        return took.strip()
    return f"call {answer.status}{',' if took else ''}{took}"


def _detail(name: str, value: object, option_ids: set[str], limits: Limits) -> Detail:
    title = name.replace("_", " ")
    if isinstance(value, Mapping) and value and set(value) <= option_ids and all(_is_share(v) for v in value.values()):
        return Detail(title, bars=tuple((str(key), float(share)) for key, share in value.items()))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _BRIEF_CHARS and "\n" not in text:
        return Detail(title, brief=text)
    if isinstance(value, Mapping):
        text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
    return Detail(title, text=_passage(text, limits.text_chars))


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _passage(text: str | None, chars: int) -> Passage | None:
    return None if text is None else Passage(text[:chars], len(text))
