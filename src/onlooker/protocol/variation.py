"""Variations of a condition that should not matter, or that take away what should: the parts of the shortcut battery.

``BASE+NAME`` is the condition BASE with one thing changed. What a score loses under it tells how much of the score
needs that thing: the video at all, the order of its frames, its sound, the order of the options, the wording.

* ``options_rotated_K``  option texts move K places on, letters stay in order; ``options_reversed``;
  ``options_shuffled`` by the item's id. The reply is mapped back before it is scored (``options_shown`` in its row)
* ``frames_shuffled``, ``frames_reversed``  the pictures change places, the times stay where they were, so that no label
  gives the order away; ``frames_blank``  every picture is even grey of the same size
* ``wrong_video``  the media of another episode (of another recording, where lineages are known)
* ``no_sound``  neither sound nor words, where the condition gives them
* ``paraphrase_K``  the prompt in other words: the file ``NAME~K.txt`` beside the condition's ``NAME.txt``
* ``again_K``  nothing: the same request asked once more, for the spread of replies
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from onlooker.errors import InputError
from onlooker.models.request import Image
from onlooker.protocol.arrangement import Arranged, Donor, draw
from onlooker.protocol.benchmark import Benchmark, Given
from onlooker.protocol.shown import relabelled
from onlooker.protocol.specimen import specimens
from onlooker.records.public import MEDIA_KEYS, ChoiceItem, MatchingItem

if TYPE_CHECKING:
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Episode, Item

JOINT: Final = "+"
WRONG_VIDEO: Final = "wrong_video"
_NAME: Final = re.compile(r"(?P<kind>[a-z_]+?)(?:_(?P<number>[1-9]\d?))?")
_SAYS: Final[Mapping[str, str]] = {
    "options_rotated": "option texts moved {n} place(s) on",
    "options_reversed": "options in reverse order",
    "options_shuffled": "options in an order drawn by the item's id",
    "frames_shuffled": "pictures in another order, times where they were",
    "frames_reversed": "pictures in reverse order, times where they were",
    "frames_blank": "grey pictures",
    WRONG_VIDEO: "the media of another episode",
    "no_sound": "neither sound nor words",
    "paraphrase": "the prompt in other words ({n})",
    "again": "asked once more ({n})",
}
Order = list[int] | dict[str, Any]
NUMBERED: Final = frozenset(("options_rotated", "paraphrase", "again"))


@dataclass(frozen=True, slots=True)
class Variation:
    """One change: its ``kind``, and its ``number`` where there are several of the kind."""

    kind: str
    number: int | None = None

    @property
    def name(self) -> str:
        """As it stands after the ``+``."""
        return self.kind if self.number is None else f"{self.kind}_{self.number}"

    @property
    def says(self) -> str:
        """One line for people."""
        return _SAYS[self.kind].format(n=self.number)


def parse_variation(name: str) -> Variation:
    """The variation of that name. Raises ``InputError`` that lists those there are."""
    found = _NAME.fullmatch(name)
    kind = found["kind"] if found else name
    number = int(found["number"]) if found and found["number"] else None
    if kind not in _SAYS or (number is None) == (kind in NUMBERED):
        there = ", ".join(f"{one}_1" if one in NUMBERED else one for one in _SAYS)
        raise InputError("no such variation of a condition", value=name, remedy=f"one of {there}")
    return Variation(kind, number)


def vary(benchmark: Benchmark, base: Condition, variation: Variation) -> Condition:
    """The condition ``BASE+NAME``. Raises ``InputError`` where the base has nothing that could be varied so."""
    says = f"{base.says}; {variation.says}"
    changed = replace(
        base, name=f"{base.name}{JOINT}{variation.name}", says=says, variation=variation.name, same_as=None
    )
    where = f"condition {changed.name}"
    if variation.kind.startswith("options_") and not {"choice", "matching"} & set(benchmark.tasks):
        raise InputError("this family has no options to reorder", where=where, value=benchmark.tasks)
    if variation.kind.startswith("options_") and base.calls != "item":
        raise InputError("options are reordered only where one call asks one item", where=where, value=base.calls)
    if variation.kind.startswith("frames_") and base.frames is None and not base.views:
        raise InputError("the condition shows no frames", where=where)
    if variation.kind.startswith("frames_") and base.video == "required":
        raise InputError("the condition shows video files, whose frames cannot be exchanged", where=where)
    if variation.kind == WRONG_VIDEO and not base.shows_media:
        raise InputError("the condition shows no video", where=where)
    if variation.kind == WRONG_VIDEO and base.views:
        raise InputError("its views name their episodes; use a condition with another reaction", where=where)
    if variation.kind == WRONG_VIDEO and base.arrangement is not None:
        raise InputError("its items are changed already; vary the condition that leaves them as they are", where=where)
    if variation.kind == "no_sound":
        if not (base.sound or base.transcript) or not (base.frames or base.video != "never"):
            raise InputError("the condition gives no sound beside its picture", where=where)
        return replace(changed, sound=False, transcript=False)
    if variation.kind.startswith("frames_"):
        # Pictures can be exchanged one by one only: a file gives way to frames, and that is part of what is lost.
        filmed = "" if base.video == "never" else "; frames in place of a video file"
        return replace(changed, video="never", says=f"{says}{filmed}")
    if variation.kind == "paraphrase":
        stem, _, end = base.template.rpartition(".")
        reworded = replace(changed, template=f"{stem}~{variation.number}.{end}")
        for specimen in specimens(benchmark, reworded, ("text", "image", "sound", "video")):
            specimen.parts(benchmark, reworded)  # InputError that names the file, where there is none
        return reworded
    return changed


def arrange_variation(
    condition: Condition, items: Sequence[Item], episodes: Mapping[str, Episode]
) -> tuple[Arranged, dict[str, dict[str, str]]]:
    """The items as the condition's variation asks them, and {item: {id as shown: its own id}} where options moved."""
    everything = {item.id: item for item in items}
    if condition.variation is None:
        return Arranged(everything), {}
    variation = parse_variation(condition.variation)
    if variation.kind == WRONG_VIDEO:
        return _wrong_videos(items, episodes), {}
    if not variation.kind.startswith("options_"):
        return Arranged(everything), {}
    asked: dict[str, Item] = {}
    shown: dict[str, dict[str, str]] = {}
    left_out: dict[str, str] = {}
    for item in items:
        if isinstance(item, ChoiceItem):
            listed: Sequence[str] = [option.id for option in item.options]
        elif isinstance(item, MatchingItem):
            listed = [candidate.id for candidate in item.candidates]
        else:
            left_out[item.id] = "has no options"
            continue
        order = _order(variation, item, listed)
        if order == list(listed):
            left_out[item.id] = "its options stay where they are"
            continue
        shown[item.id] = dict(zip(listed, order, strict=True))
        asked[item.id] = relabelled(item, shown[item.id])
    return Arranged(asked, left_out=left_out), shown


def varied(given: Given, condition: Condition, key: str) -> tuple[Given, Order | None]:
    """What is given with its pictures exchanged, and the order they stand in now ({view: order} where views are shown);
    None where nothing was exchanged.

    ``key``: what a shuffle is drawn by, the same for every question of an episode.
    """
    if condition.variation is None:
        return given, None
    kind = parse_variation(condition.variation).kind
    if not kind.startswith("frames_"):
        return given, None
    if given.views:
        changed = {name: varied(view, condition, f"{key}/{name}") for name, view in given.views.items()}
        orders = {name: order for name, (_, order) in changed.items() if order is not None}
        return replace(given, views={name: view for name, (view, _) in changed.items()}), orders
    order = list(range(len(given.frames)))
    if kind == "frames_reversed":
        order.reverse()
    elif kind == "frames_shuffled":
        order.sort(key=lambda n: draw("variation/frames_shuffled", None, key, str(n)))
        if len(order) > 1 and order == list(range(len(order))):
            order.append(order.pop(0))  # a shuffle that moves nothing would be no variation
    frames = tuple(
        Image(
            _grey(given.frames[n].jpeg) if kind == "frames_blank" else given.frames[n].jpeg,
            slot.time_s,
            slot.source_sha256,
        )
        for slot, n in zip(given.frames, order, strict=True)
    )
    return replace(given, frames=frames), order


def sample_of(condition: Condition) -> int:
    """Which draw of the same request the condition asks for: 0, or K of ``again_K``."""
    if condition.variation is None:
        return 0
    variation = parse_variation(condition.variation)
    return variation.number or 0 if variation.kind == "again" else 0


def _order(variation: Variation, item: Item, listed: Sequence[str]) -> list[str]:
    """The ids in the order in which their texts are shown."""
    order = list(listed)
    if variation.kind == "options_reversed":
        order.reverse()
    elif variation.kind == "options_rotated":
        steps = (variation.number or 0) % len(order)
        order = order[-steps:] + order[:-steps]
    else:
        order.sort(key=lambda one: draw("variation/options_shuffled", None, item.id, one))
        if order == list(listed):  # a shuffle that moves nothing would be no variation
            order.append(order.pop(0))
    return order


def _wrong_videos(items: Sequence[Item], episodes: Mapping[str, Episode]) -> Arranged:
    """Each episode's media are those of another one: of another recording, with the same kinds of media where there is
    such a one, about as long, and of these the next in a drawn order that begins anew after its end."""
    asked_about = {item.episode for item in items}
    used = sorted((n for n in episodes if n in asked_about), key=lambda n: draw("variation/wrong_video", None, n))
    stand_in = {name: _next_best(place, used, episodes) for place, name in enumerate(used)}
    asked: dict[str, Item] = {}
    donors: dict[str, Donor] = {}
    left_out: dict[str, str] = {}
    for item in items:
        chosen = stand_in[item.episode]
        if chosen is None:
            left_out[item.id] = "there is no episode of another recording"
            continue
        asked[item.id] = item
        donors[item.id] = Donor(item.id, chosen, _within(item, episodes[chosen]))
    return Arranged(asked, donors, left_out)


def _next_best(place: int, used: Sequence[str], episodes: Mapping[str, Episode]) -> str | None:
    """The episode that stands in for the one at ``place``; None where all are of one recording."""
    own = episodes[used[place]]
    kinds = _kinds(own)
    best: tuple[bool, float] | None = None
    found = None
    for step in range(1, len(used)):
        name = used[(place + step) % len(used)]
        other = episodes[name]
        if _same_recording(other, own):
            continue
        fit = (_kinds(other) != kinds, _gap(other, own))
        if best is None or fit < best:
            best, found = fit, name
        if fit == (False, 0.0):
            break
    return found


def _kinds(episode: Episode) -> set[str]:
    return {key for key in MEDIA_KEYS if getattr(episode.media, key)}


def _same_recording(one: Episode, other: Episode) -> bool:
    return one.lineage.recording is not None and one.lineage.recording == other.lineage.recording


def _gap(one: Episode, other: Episode) -> float:
    """How far two lengths are apart, in coarse steps, so that the draw decides among what is about as long."""
    if one.duration_s is None or other.duration_s is None:
        return 0.0
    return round(abs(one.duration_s - other.duration_s) / 30)


def _within(item: Item, donor: Episode) -> tuple[float, float] | None:
    """The item's window where the donor has it; as long a stretch from its start where it is shorter."""
    if item.window is None:
        return None
    start_s, end_s = item.window.start_s, item.window.end_s
    if donor.duration_s is None or end_s <= donor.duration_s:
        return start_s, end_s
    return 0.0, min(end_s - start_s, donor.duration_s)


def _grey(jpeg: bytes) -> bytes:
    """An even grey picture of the same size."""
    import io  # noqa: PLC0415 - with Pillow, which is an extra

    from onlooker.errors import MissingExtra  # noqa: PLC0415

    try:
        from PIL import Image as Picture  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtra("video", "blank pictures") from error

    with Picture.open(io.BytesIO(jpeg)) as picture:
        size = picture.size
    buffer = io.BytesIO()
    Picture.new("RGB", size, (128, 128, 128)).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()
