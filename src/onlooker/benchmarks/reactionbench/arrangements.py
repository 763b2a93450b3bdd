"""Stand-ins of ReactionBench, fixed before anything is asked: another clip's reaction, other videos' distractors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from onlooker.benchmarks.reactionbench.conditions import WINDOW
from onlooker.errors import InputError
from onlooker.media.grid import grid_times, parse_policy
from onlooker.protocol.arrangement import Arranged, Donor
from onlooker.records.public import Candidate, MatchingItem, RationaleItem

if TYPE_CHECKING:
    from onlooker.protocol.arrangement import Arrange
    from onlooker.records.public import Episode, Item

CROSS_VIDEO: Final = "cross_video_candidates"
"""The field of a matching item that holds its candidates with distractors from other videos. Whoever builds the items
knows which candidate is right and keeps its id; nothing that asks models can."""

_CANDIDATES: Final = TypeAdapter(tuple[Candidate, ...])


def other_reaction(items: Sequence[Item], episodes: Mapping[str, Episode], seed: int | None) -> Arranged:  # noqa: ARG001
    """The reaction of another clip of the same creator (paper, appendix D.8).

    The item that the field ``donor`` names, where the item has one (an item id, or the episode of exactly one item).
    Else of the same recording first, then with the nearest number of reaction frames, then by id. Items without such a
    clip are left out.
    """
    asked: dict[str, Item] = {}
    donors: dict[str, Donor] = {}
    left_out: dict[str, str] = {}
    reactions = [item for item in items if isinstance(item, MatchingItem | RationaleItem)]
    for item in items:
        if not isinstance(item, MatchingItem | RationaleItem):
            left_out[item.id] = "shows no reaction to exchange"
            continue
        if "donor" in item.extra:
            donor = _named(item, reactions)
            asked[item.id] = item
            donors[item.id] = Donor(donor.id, donor.episode, (donor.window.start_s, donor.window.end_s))
            continue
        creator = episodes[item.episode].lineage.creator
        others = [
            other
            for other in reactions
            if other.task == item.task
            and other.episode != item.episode
            and creator is not None
            and episodes[other.episode].lineage.creator == creator
        ]
        if not others:
            left_out[item.id] = (
                "its creator is not known" if creator is None else "its creator has no other clip among the items"
            )
            continue
        recording = episodes[item.episode].lineage.recording
        frames = _frames(item, episodes)
        donor = min(
            others,
            key=lambda other: (
                recording is None or episodes[other.episode].lineage.recording != recording,
                abs(_frames(other, episodes) - frames),
                other.id,
            ),
        )
        asked[item.id] = item
        donors[item.id] = Donor(donor.id, donor.episode, (donor.window.start_s, donor.window.end_s))
    return Arranged(asked, donors, left_out)


def _named(item: Item, reactions: Sequence[MatchingItem | RationaleItem]) -> MatchingItem | RationaleItem:
    """The donor that an item names itself."""
    name = item.extra["donor"]
    found = [one for one in reactions if one.id == name] or [one for one in reactions if one.episode == name]
    if len(found) != 1 or found[0].episode == item.episode:
        raise InputError(
            "not another clip's reaction",
            where=f"item {item.id}, donor",
            value=name,
            remedy="the id of an item of another episode, or of an episode with one such item",
        )
    return found[0]


def cross_video(items: Sequence[Item], episodes: Mapping[str, Episode], seed: int | None) -> Arranged:  # noqa: ARG001
    """The candidates that the item's field ``cross_video_candidates`` lists (paper, appendix D.11)."""
    asked: dict[str, Item] = {}
    left_out: dict[str, str] = {}
    for item in items:
        listed = item.extra.get(CROSS_VIDEO)
        if not isinstance(item, MatchingItem):
            left_out[item.id] = "has no candidates"
        elif listed is None:
            left_out[item.id] = f"has no {CROSS_VIDEO}"
        else:
            asked[item.id] = item.model_copy(update={"candidates": _checked(item, listed, episodes)})
    return Arranged(asked, left_out=left_out)


def _checked(item: MatchingItem, listed: Any, episodes: Mapping[str, Episode]) -> tuple[Candidate, ...]:
    where = f"item {item.id}, {CROSS_VIDEO}"
    try:
        found = _CANDIDATES.validate_python(listed, strict=False)
    except ValidationError as error:
        raise InputError(f"not a list of candidates ({error.errors()[0]['msg']})", where=where, value=listed) from error
    if {one.id for one in found} != {one.id for one in item.candidates}:
        raise InputError("its ids are not those of the item's candidates", where=where, value=[one.id for one in found])
    strangers = [one.episode for one in found if one.episode not in episodes]
    if strangers:
        raise InputError("names an episode that is not there", where=where, value=strangers[0])
    return found


def _frames(item: MatchingItem | RationaleItem, episodes: Mapping[str, Episode]) -> int:
    """How many frames its reaction gives."""
    end_s = episodes[item.episode].duration_s or item.window.end_s
    window = (item.window.start_s, item.window.end_s)
    return len(grid_times(parse_policy(WINDOW), max(end_s, item.window.end_s), window))


ARRANGEMENTS: Final[Mapping[str, Arrange]] = {"other_reaction": other_reaction, "cross_video": cross_video}
