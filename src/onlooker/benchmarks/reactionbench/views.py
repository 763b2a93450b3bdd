"""What each condition of ReactionBench shows: the reaction, the stimulus, the candidates (paper, table 10)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onlooker.benchmarks.reactionbench.conditions import CANDIDATE, WHOLE, WINDOW
from onlooker.errors import InputError
from onlooker.protocol.view import View
from onlooker.records.public import IntensityItem, MatchingItem, RationaleItem, Window

if TYPE_CHECKING:
    from onlooker.protocol.arrangement import Donor
    from onlooker.protocol.condition import Condition, MediumKey
    from onlooker.records.public import Candidate, Item

REACTION: Final = "reaction"
STIMULUS: Final = "stimulus"
# A recording that holds both in one picture serves as either; where a cut of its own is there, that is taken.
_REACTION_MEDIA: Final[tuple[MediumKey, ...]] = ("reaction", "video")
_STIMULUS_MEDIA: Final[tuple[MediumKey, ...]] = ("stimulus", "video")


def segment(candidate: str) -> str:
    """The name of a candidate's view."""
    return f"segment {candidate}"


def views(item: Item, condition: Condition, part: str | None, donor: Donor | None) -> tuple[View, ...]:
    """The views of one call, in the order of the prompt. ``InputError`` where the condition is for another task."""
    native = condition.video == "required"
    if isinstance(item, IntensityItem) and condition.name.startswith(("joint", "grouped", "independent")):
        if condition.name.startswith("joint"):
            return (View(REACTION, _REACTION_MEDIA, None, None if native else WHOLE, video=native, sound=native),)
        chosen = [moment for moment in item.moments if part in {None, moment.id}]
        return tuple(View(moment.id, _REACTION_MEDIA, _seconds(moment), WINDOW) for moment in chosen)
    if isinstance(item, MatchingItem) and condition.name.startswith("matching"):
        return _matching(item, condition, part, donor)
    if isinstance(item, RationaleItem) and condition.name.startswith("rationale"):
        stimulus = View(STIMULUS, _STIMULUS_MEDIA, _seconds(item.window), WINDOW)
        if condition.base == "rationale_stimulus_only":
            return (stimulus,)
        return (stimulus, _reaction(item, donor, native=False))
    raise InputError(
        f"the condition {condition.name} is for items of another task", where=f"item {item.id}", value=item.task
    )


def _matching(item: MatchingItem, condition: Condition, part: str | None, donor: Donor | None) -> tuple[View, ...]:
    native = condition.video == "required"
    if condition.base == "matching_side_by_side":
        right = next(_segment(one, native=True) for one in item.candidates if one.id == part)
        left = _reaction(item, donor, native=True)
        return (View("both", left.media, left.window, None, left.episode, video=True, beside=right),)
    shown = [_segment(one, native=native) for one in item.candidates if part in {None, one.id}]
    if condition.base == "matching_stimulus_only":
        return tuple(shown)
    return (_reaction(item, donor, native=native), *shown)


def _reaction(item: MatchingItem | RationaleItem, donor: Donor | None, *, native: bool) -> View:
    window = _seconds(item.window) if donor is None else donor.window
    frames = None if native else WINDOW
    episode = None if donor is None else donor.episode
    return View(REACTION, _REACTION_MEDIA, window, frames, episode, video=native, sound=native)


def _segment(candidate: Candidate, *, native: bool) -> View:
    return View(
        segment(candidate.id),
        _STIMULUS_MEDIA,
        _seconds(candidate),
        None if native else CANDIDATE,
        candidate.episode,
        video=native,
        sound=native,
    )


def _seconds(window: Window) -> tuple[float, float]:
    return (window.start_s, window.end_s)
