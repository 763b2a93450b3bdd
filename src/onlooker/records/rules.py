"""What must hold inside a bundle beyond the types of its fields: pure rules, each with a row's
place and its problems.

FORMATS sections 1 and 4. No rule knows a benchmark; what a family asks of labels comes in as
``LabelRules``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from onlooker.records.bundle import media_path_fault
from onlooker.records.labels import LabelRules
from onlooker.records.private import Rating, Reference
from onlooker.records.problem import ABSENT, Problem, Severity, shown_json
from onlooker.records.public import (
    MEDIA_KEYS,
    ChoiceItem,
    Episode,
    IntensityItem,
    Item,
    ItemBase,
    Labels,
    MatchingItem,
    OpenItem,
    Window,
)

DURATION_SLACK_S = 0.5
"""A window may end this much behind the stated duration (FORMATS, section 4)."""

SCORED_BY_REFERENCE: Final = frozenset({"choice", "open", "matching"})
"""The tasks whose items cannot be scored without a row in ``references.jsonl``."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the bundle."""

    file: str
    line: int

    def problem(
        self,
        field: str | None,
        message: str,
        value: object = ABSENT,
        remedy: str | None = None,
        severity: Severity = "error",
    ) -> Problem:
        """The problem ``message`` at this place."""
        return Problem(self.file, self.line, field, message, value, remedy, severity)


@dataclass(frozen=True, slots=True)
class EpisodeFacts:
    """What later rows need to know of an episode."""

    line: int
    duration_s: float | None


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What later rows need to know of an item. ``task`` is None where the item's own row is at
    fault.

    ``ids`` are those of its options, candidates or moments, ``lengths`` the characters of its
    options.
    """

    line: int
    task: str | None
    ids: tuple[str, ...] = ()
    one: bool = True
    lengths: tuple[int, ...] = ()


def facts_of(item: Item, line: int) -> ItemFacts:
    """The facts of ``item``, which stands on ``line``."""
    if isinstance(item, ChoiceItem):
        ids = tuple(option.id for option in item.options)
        lengths = tuple(len(option.text) for option in item.options)
        return ItemFacts(line, item.task, ids, item.select == "one", lengths)
    if isinstance(item, IntensityItem):
        return ItemFacts(line, item.task, tuple(moment.id for moment in item.moments))
    if isinstance(item, MatchingItem):
        return ItemFacts(line, item.task, tuple(candidate.id for candidate in item.candidates))
    return ItemFacts(line, item.task)


def episode_problems(episode: Episode, place: Place, labels: LabelRules) -> Iterator[Problem]:
    """Media paths, the stretch of the recording, and labels of one episode."""
    for key in MEDIA_KEYS:
        declared = getattr(episode.media, key)
        fault = None if declared is None else media_path_fault(declared)
        if fault is not None:
            remedy = "put the file or a link to it inside the bundle and name it from there"
            yield place.problem(f"media.{key}", fault, declared, remedy)
    start_s, end_s = episode.lineage.start_s, episode.lineage.end_s
    if start_s is not None and end_s is not None and start_s >= end_s:
        yield place.problem(
            "lineage",
            "the stretch of the recording ends before it begins",
            {"start_s": start_s, "end_s": end_s},
            "correct start_s or end_s",
            "warning",
        )
    yield from _label_problems(episode.labels, place, labels)


def item_problems(
    item: Item, place: Place, episodes: Mapping[str, EpisodeFacts], labels: LabelRules
) -> Iterator[Problem]:
    """Everything that can be wrong with one item, but for what another item says."""
    if item.episode not in episodes:
        yield _dangling(place, "episode", item.episode)
    duration_s = _duration(episodes, item.episode)
    if item.window is not None:
        yield from _window_problems(item.window, "window", duration_s, place)
    for number, entry in enumerate(item.history or ()):
        if entry.time_s is None and entry.when is None:
            yield place.problem(f"history.{number}", "has neither time_s nor when", remedy="add one of the two")
    if isinstance(item, ChoiceItem | OpenItem) and not item.question.strip():
        yield place.problem("question", "blank question", item.question, "write what is asked", "warning")
    if isinstance(item, ChoiceItem):
        yield from _choice_problems(item, place)
    elif isinstance(item, IntensityItem):
        ids = [moment.id for moment in item.moments]
        yield from _repeated_ids(ids, "moments", place)
        for number, moment in enumerate(item.moments):
            yield from _window_problems(moment, f"moments.{number}", duration_s, place)
    elif isinstance(item, MatchingItem):
        yield from _matching_problems(item, place, episodes)
    yield from _item_label_problems(item, place, labels)


def _choice_problems(item: ChoiceItem, place: Place) -> Iterator[Problem]:
    yield from _repeated_ids([option.id for option in item.options], "options", place)
    if len(item.options) == 1:
        remedy = "add options, or leave the item out"
        yield place.problem("options", "a question with one option", ABSENT, remedy, "warning")
    seen: set[str] = set()
    for number, option in enumerate(item.options):
        if not option.text.strip():
            field, remedy = f"options.{number}.text", "write what the option says"
            yield place.problem(field, "blank option", option.text, remedy, "warning")
        elif option.text in seen:
            yield place.problem(
                f"options.{number}.text",
                "two options of the item say the same",
                option.text,
                "reword one of them",
                "warning",
            )
        seen.add(option.text)


def _matching_problems(item: MatchingItem, place: Place, episodes: Mapping[str, EpisodeFacts]) -> Iterator[Problem]:
    yield from _repeated_ids([candidate.id for candidate in item.candidates], "candidates", place)
    if len(item.candidates) == 1:
        remedy = "add candidates, or leave the item out"
        yield place.problem("candidates", "an item with one candidate", ABSENT, remedy, "warning")
    for number, candidate in enumerate(item.candidates):
        if candidate.episode not in episodes:
            yield _dangling(place, f"candidates.{number}.episode", candidate.episode)
        duration_s = _duration(episodes, candidate.episode)
        yield from _window_problems(candidate, f"candidates.{number}", duration_s, place)


def _duration(episodes: Mapping[str, EpisodeFacts], episode: str) -> float | None:
    known = episodes.get(episode)
    return None if known is None else known.duration_s


def _dangling(place: Place, field: str, episode: str) -> Problem:
    remedy = "add the episode to episodes.jsonl, or correct the id"
    return place.problem(field, "no episode has this id", episode, remedy)


def _repeated_ids(ids: Sequence[str], field: str, place: Place) -> Iterator[Problem]:
    if len(set(ids)) == len(ids):
        return
    for number, one in enumerate(ids):
        if one in ids[:number]:
            where = f"{field}.{number}.id"
            yield place.problem(where, "the id is used twice in the item", one, "rename it")


def _window_problems(window: Window, field: str, duration_s: float | None, place: Place) -> Iterator[Problem]:
    if window.end_s <= window.start_s:
        yield place.problem(
            f"{field}.end_s",
            f"expected more than start_s, {window.start_s:g}",
            window.end_s,
            "times are seconds from the start of the episode",
        )
    if duration_s is not None and window.end_s > duration_s + DURATION_SLACK_S:
        yield place.problem(
            f"{field}.end_s",
            f"the window ends behind its episode, which lasts {duration_s:g} s",
            window.end_s,
            "correct the window, or duration_s of the episode",
        )


def _item_label_problems(item: ItemBase, place: Place, rules: LabelRules) -> Iterator[Problem]:
    labels = item.labels
    yield from _label_problems(labels, place, rules)
    # The one label that an item may also carry as a field of its own.
    perspective = labels.get("perspective")
    if item.perspective is not None:
        closed = rules.closed.get("perspective")
        if closed is not None and item.perspective not in closed:
            yield _outside(place, "perspective", closed, item.perspective)
        if perspective is not None and perspective != item.perspective:
            yield place.problem(
                "perspective",
                f"differs from labels.perspective, {shown_json(perspective)}",
                item.perspective,
                "state it once, or twice the same",
            )
    for name in rules.required:
        own = item.perspective if name == "perspective" else None
        if labels.get(name) is None and own is None:
            yield place.problem(f"labels.{name}", "the family needs this label on every item", remedy="add it")


def _label_problems(labels: Labels, place: Place, rules: LabelRules) -> Iterator[Problem]:
    for name, closed in rules.closed.items():
        value = labels.get(name)
        for one in value if isinstance(value, list) else (value,):
            if one is not None and one not in closed:
                yield _outside(place, f"labels.{name}", closed, one)
    for name, (parent, belongs_to) in rules.parents.items():
        value, found = labels.get(name), labels.get(parent)
        wanted = belongs_to.get(value) if isinstance(value, str) else None
        if wanted is not None and found is not None and found != wanted:
            yield place.problem(
                f"labels.{parent}",
                f"{name} {value} belongs to {parent} {wanted}",
                found,
                f"correct {parent} or {name}",
            )


def _outside(place: Place, field: str, closed: Collection[str], value: object) -> Problem:
    remedy = f"use one of {', '.join(sorted(closed))}"
    return place.problem(field, "the family does not know this label", value, remedy)


def reference_problems(reference: Reference, item: ItemFacts, place: Place) -> Iterator[Problem]:
    """Whether the private side of ``item`` fits its task, its options and its moments."""
    match item.task:
        case "choice" | "matching":
            yield from _answer_ids_problems(reference, item, place)
        case "open":
            if not isinstance(reference.answer, str) or not reference.answer.strip():
                message = "expected text, since the item is open"
                yield _unfit(place, "answer", message, reference.answer)
        case "intensity" if reference.consensus is not None:
            yield from _consensus_problems(reference.consensus, item, place)
        case "rationale" if not reference.references:
            message = "expected a list of one text or more"
            yield _unfit(place, "references", message, reference.references)


def _consensus_problems(consensus: Mapping[str, float], item: ItemFacts, place: Place) -> Iterator[Problem]:
    for name in consensus:
        if name not in item.ids:
            remedy = f"the moments are {', '.join(item.ids)}"
            yield place.problem("consensus", "the item has no such moment", name, remedy)
    for name in item.ids:
        if name not in consensus:
            remedy = "give a mean for every moment, or leave consensus out"
            yield place.problem("consensus", f"moment {name} has no mean rating", remedy=remedy)


def _answer_ids_problems(reference: Reference, item: ItemFacts, place: Place) -> Iterator[Problem]:
    answer = reference.answer
    if not isinstance(answer, tuple) or not answer:
        yield _unfit(place, "answer", "expected a list of option ids", answer)
        return
    for number, one in enumerate(answer):
        if one not in item.ids:
            remedy = f"the item offers {', '.join(item.ids)}"
            message = "no option of the item has this id"
            yield place.problem(f"answer.{number}", message, one, remedy)
        elif one in answer[:number]:
            message, remedy = "the option is named twice", "name it once"
            yield place.problem(f"answer.{number}", message, one, remedy)
    if item.one and len(answer) > 1:
        message = "expected exactly one option id, since the item asks for one"
        remedy = 'keep one, or set select to "all" in the item'
        yield place.problem("answer", message, list(answer), remedy)


def _unfit(place: Place, field: str, message: str, value: object) -> Problem:
    remedy = f"give the {field} of the item"
    if value is None:
        return place.problem(field, message, ABSENT, remedy)
    return place.problem(field, message, value, remedy)


def rating_problems(rating: Rating, item: ItemFacts, place: Place) -> Iterator[Problem]:
    """Whether the rating names a unit of its ``item``, and says one thing."""
    if rating.unit != rating.item and item.task is not None:
        if item.task != "intensity":
            remedy = "write the item id"
            yield place.problem("unit", "expected the id of the item", rating.unit, remedy)
        elif rating.unit not in item.ids:
            remedy = f"the moments are {', '.join(item.ids)}"
            yield place.problem("unit", "the item has no such moment", rating.unit, remedy)
    if rating.value is not None and rating.opt_out is not None:
        message = f"both a value and the opt-out {shown_json(rating.opt_out)}"
        yield place.problem("value", message, rating.value, "set one of the two to null")
