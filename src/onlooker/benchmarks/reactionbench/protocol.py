"""ReactionBench on one page: every piece of it is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onlooker.benchmarks.reactionbench.analyses import ANALYSES
from onlooker.benchmarks.reactionbench.arrangements import ARRANGEMENTS
from onlooker.benchmarks.reactionbench.conditions import CONDITIONS
from onlooker.benchmarks.reactionbench.forms import FORMS
from onlooker.benchmarks.reactionbench.rubrics import JUDGING
from onlooker.benchmarks.reactionbench.scoring import FAMILY, parts
from onlooker.benchmarks.reactionbench.taxonomy import LABELS
from onlooker.benchmarks.reactionbench.views import REACTION, STIMULUS, segment, views
from onlooker.errors import InputError
from onlooker.models.request import Text
from onlooker.protocol.benchmark import Benchmark, Given, PartCalls, ScoreTable
from onlooker.protocol.prompt import PromptFolder, filmed, timed, untimed
from onlooker.records.public import IntensityItem, MatchingItem, RationaleItem

if TYPE_CHECKING:
    from onlooker.models.request import Part
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item

PROMPTS = PromptFolder(__package__)


def render(item: Item, condition: Condition, given: Given) -> tuple[Part, ...]:
    """The request for one item in one call (paper, appendices C.2 to C.7)."""
    return render_part(item, condition, given, None)


def render_part(item: Item, condition: Condition, given: Given, part: str | None) -> tuple[Part, ...]:
    """The request for an item, or for one moment or candidate of it."""
    if isinstance(item, IntensityItem):
        return _intensity(item, condition, given, part)
    if isinstance(item, MatchingItem):
        return _matching(item, condition, given, part)
    if isinstance(item, RationaleItem):
        blocks = {name: _seen(view, condition) for name, view in given.views.items() if name in {STIMULUS, REACTION}}
        return PROMPTS.render(condition.template, {}, blocks)
    raise InputError("reactionbench has no items of this task", where=f"item {item.id}", value=item.task)


def _intensity(item: IntensityItem, condition: Condition, given: Given, part: str | None) -> tuple[Part, ...]:
    fields: dict[str, object] = {"moments": item.moments}
    blocks: dict[str, tuple[Part, ...]]
    if condition.name.startswith("grouped"):
        groups = [(f"\nMOMENT {name}:\n", view) for name, view in given.views.items()]
        blocks = {"groups": tuple(p for head, view in groups for p in (Text(head), *_seen(view, condition)))}
    else:
        view = given.views[part if part is not None else REACTION]
        fields["frame_count"] = len(view.frames)
        frames = timed(view.frames) if condition.clock == "shown" else untimed(view.frames)
        blocks = {"frames": frames, "video": filmed(view.video)}
    return PROMPTS.render(condition.template, fields, blocks)


def _matching(item: MatchingItem, condition: Condition, given: Given, part: str | None) -> tuple[Part, ...]:
    letters = [candidate.id for candidate in item.candidates]
    fields = {"letters": letters, "kind": "videos" if condition.video == "required" else "frames"}
    if condition.base == "matching_side_by_side":
        return PROMPTS.render(condition.template, fields, {"video": filmed(given.views["both"].video)})
    shown: list[Part] = []
    for letter in letters:
        view = given.views.get(segment(letter))
        if view is not None:
            # One by one a candidate has no letter: there is nothing to choose from.
            shown += [*([] if part is not None else [Text(f"\nSEGMENT {letter}:\n")]), *_seen(view, condition)]
    blocks: dict[str, tuple[Part, ...]] = {"segments": tuple(shown)}
    if REACTION in given.views:
        blocks["reaction"] = _seen(given.views[REACTION], condition)
    return PROMPTS.render(condition.template, fields, blocks)


def _seen(view: Given, condition: Condition) -> tuple[Part, ...]:
    if view.video is not None:
        return filmed(view.video)
    return timed(view.frames) if condition.clock == "shown" else untimed(view.frames)


BENCHMARK = Benchmark(
    family="reactionbench",
    title="ReactionBench",
    claims="Whether a model grounds an observed reaction of a viewer in what the viewer saw",
    citation="Zhao et al., ReactionBench: A Human-Anchored Benchmark for Modeling Reactions to Video",
    labels=LABELS,
    conditions=CONDITIONS,
    baseline=None,
    render=render,
    scoring=FAMILY,
    tables=(
        ScoreTable("Intensity", "ip.", own_scale=True),
        ScoreTable("Matching", "srm.", own_scale=True),
        ScoreTable("Rationales", "grg.", own_scale=True),
    ),
    main_metric="srm.accuracy",
    analyses=ANALYSES,
    part_calls=PartCalls(names=lambda item, _condition: parts(item), render=render_part),
    tasks=("intensity", "matching", "rationale"),
    arrangements=ARRANGEMENTS,
    views=views,
    judging=JUDGING,
    forms=FORMS,
)
