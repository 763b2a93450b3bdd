"""The requests of one condition, made by the run engine's own code, for a harness that asks in its own way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import onlooker
from onlooker.catalog import load_benchmark
from onlooker.errors import InputError, MediaError
from onlooker.models.scripted import ScriptedModel
from onlooker.protocol.shown import OPTIONS_SHOWN
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.records.digest import asked_sha256
from onlooker.records.public import MEDIA_KEYS
from onlooker.run.delivery import Delivery
from onlooker.run.execute import Session
from onlooker.run.fitness import check_condition
from onlooker.run.plan import Call, Parameters, Plan, make_plan

if TYPE_CHECKING:
    from onlooker.media.encoders import ImageTextEncoder
    from onlooker.models.request import Modality, Request
    from onlooker.protocol.benchmark import Benchmark
    from onlooker.protocol.condition import Condition
    from onlooker.records.public import Item

ACCEPTS: Final[frozenset[Modality]] = frozenset(("text", "image"))
"""What can be handed to another harness: words and pictures."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What one condition asks about a bundle. ``calls``: {item id: the call}, in the order of the bundle."""

    bundle: Bundle
    benchmark: Benchmark
    condition: Condition
    plan: Plan
    calls: Mapping[str, Call]
    _session: Session

    def request(self, item: str) -> Request:
        """What is sent for an item, its media read here and now. Raises ``MediaError`` or ``InputError``."""
        call = self.calls[item]
        return self._session.request(call, self._session.deliver(call).given)

    def check(self) -> None:
        """Make a request for every kind of episode (by the media that it declares), so that a part that is not on this
        machine is missed now. Raises what concerns all items; a medium that cannot be read concerns its own only.
        """
        episodes = self.bundle.load_episodes()
        made: set[tuple[str, ...]] = set()
        for item in self.items():
            media = episodes[item.episode].media
            kind = (item.task, *(key for key in MEDIA_KEYS if getattr(media, key)))
            if kind in made:
                continue
            try:
                self.request(item.id)
            except (MediaError, InputError):
                continue
            made.add(kind)

    def items(self) -> Iterator[Item]:
        """The items as the condition asks them."""
        return (call.items[0] for call in self.calls.values())

    def row(self, item: str) -> dict[str, object]:
        """What the prediction of an item says beside the reply: its seed, and how its options were shown."""
        call = self.calls[item]
        shown = {} if call.shown is None else {OPTIONS_SHOWN: dict(call.shown)}
        return {"condition": self.condition.name, "seed": call.keys[0].seed, **shown}

    def card(self) -> dict[str, object]:
        """What tells these questions from others: family, condition and digests; what of a request another harness does
        not send; the items, where some are left out that the family's own rule owes."""
        card: dict[str, object] = {
            "onlooker": onlooker.__version__,
            "family": self.benchmark.family,
            "condition": self.condition.name,
            "condition_sha256": self.plan.document["conditions"][self.condition.name],
            "asked_sha256": asked_sha256(self.bundle.path),
        }
        if self.condition.json_object:
            # Providers differ in it, and Inspect has no word for it that holds for all of them.
            card["not_sent"] = ["json_object"]
        owed = [i.id for i in self.bundle.items() if self.benchmark.scoring.owes(self.condition.name, i)]
        return card if owed == list(self.calls) else {**card, "items": list(self.calls)}


def questions(
    path: Path,
    condition: str | None,
    *,
    seed: int | None = None,
    cache_dir: Path,
    encoder: ImageTextEncoder | None = None,
    family: str | None = None,
) -> Questions:
    """The questions of the bundle in ``path`` under a condition (None: the family's first).

    ``seed`` draws an arrangement and is sent along. ``family``: what the bundle has to be of. Raises ``InputError`` for
    a condition that needs more than words and pictures or several calls an item, or that is drawn by a seed where none
    is named.
    """
    bundle = open_bundle(path)
    if family not in (None, bundle.card.family):
        raise InputError("a bundle of another family", where=str(path), value=bundle.card.family, remedy=str(family))
    benchmark = load_benchmark(bundle.card.family)
    chosen = benchmark.default if condition is None else benchmark.condition(condition)
    if chosen.calls != "item":
        raise InputError(
            f"the condition {chosen.name} asks in calls of a {chosen.calls}, and a sample of another harness is one "
            "call about one item",
            value=chosen.calls,
            remedy=f"onlooker eval BUNDLE --condition {chosen.name}",
        )
    if chosen.seeds and seed is None:
        raise InputError(
            f"the condition {chosen.name} is drawn by a seed, and none is named",
            remedy=f"name one at a time: -T seed=N, N of {', '.join(map(str, chosen.seeds))}",
        )
    episodes = bundle.load_episodes()
    items = list(bundle.load_items().values())
    for item in items:
        if item.episode not in episodes:
            raise InputError(
                f"item {item.id} names an episode that is not there",
                value=item.episode,
                remedy="onlooker validate BUNDLE",
            )
    media = {key for episode in episodes.values() for key in MEDIA_KEYS if getattr(episode.media, key)}
    check_condition(benchmark, chosen, ACCEPTS, media, has_encoder=encoder is not None)
    # The session makes requests here and never asks: the other harness brings the model.
    model = ScriptedModel.by_rule("echo", accepts=ACCEPTS)
    parameters = Parameters()
    plan = make_plan(
        bundle,
        benchmark,
        items,
        model_name=model.name,
        fingerprint=model.fingerprint,
        conditions=[chosen],
        seeds=(seed,),
        parameters=parameters,
    )
    delivery = Delivery(bundle, cache_dir, ACCEPTS, parameters, encoder=encoder)
    session = Session(plan, benchmark, model, delivery, episodes, path)
    return Questions(bundle, benchmark, chosen, plan, {call.keys[0].item: call for call in plan.calls()}, session)
