"""Fills the cache with what conditions deliver, before anybody is asked: by the same code, so that a run only hits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from onlooker.errors import InputError, MediaError
from onlooker.media.encoders import open_encoder
from onlooker.models.request import Modality
from onlooker.protocol.benchmark import Benchmark
from onlooker.records.bundle import Bundle
from onlooker.records.public import Episode
from onlooker.run.delivery import Delivery, Want, want_of
from onlooker.run.plan import Parameters, Plan
from onlooker.run.pool import Died, work_off
from onlooker.run.progress import Progress


@dataclass(frozen=True, slots=True)
class Load:
    """All that is given of one episode (with those that its views show beside it): the work of one process."""

    episode: Episode
    wants: tuple[Want, ...]
    episodes: Mapping[str, Episode]


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be delivered, once for each episode and reason."""

    episode: str
    conditions: tuple[str, ...]
    kind: str
    message: str


@dataclass(slots=True)
class Prepared:
    """``episodes`` worked off, ``wants`` delivered, and every failure in the order of episodes."""

    episodes: int = 0
    wants: int = 0
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Means:
    """What a process needs to deliver; an encoder by its name, since weights do not travel."""

    bundle: Bundle
    cache_dir: Path
    accepts: Collection[Modality]
    parameters: Parameters
    encoder: str | None = None

    def __call__(self) -> Callable[[Load], list[Failure]]:
        """The function that a process works off loads with."""
        encoder = None if self.encoder is None else open_encoder(self.encoder, self.cache_dir)
        delivery = Delivery(self.bundle, self.cache_dir, self.accepts, self.parameters, encoder=encoder)
        return lambda load: _deliver(delivery, load)


def loads(plan: Plan, benchmark: Benchmark, episodes: Mapping[str, Episode]) -> list[Load]:
    """What the calls of a plan are given, episode by episode, each different want once.

    Raises ``InputError`` for an item whose episode is not there.
    """
    wants: dict[str, dict[Want, None]] = {}
    for call in plan.calls():
        if call.condition.shows_media:
            want = want_of(benchmark, call)
            for name in want.episodes - episodes.keys():
                raise InputError(
                    f"item {call.items[0].id} names an episode that is not there",
                    value=name,
                    remedy="onlooker validate BUNDLE",
                )
            wants.setdefault(want.episode, {})[want] = None
    return [
        Load(
            episodes[name],
            tuple(found),
            {other: episodes[other] for want in found for other in want.episodes},
        )
        for name, found in wants.items()
    ]


def prepare(work: Sequence[Load], means: Means, processes: int) -> Prepared:
    """Deliver all of it in spawned processes, with progress on standard error.

    A file that cannot be read is a failure, and so is one whose process dies; neither stops the others. What concerns
    every file (a full disk, a part that is not installed) stops the work and is raised. Stopped at any moment, what is
    done is done: the next call finds it in the cache.
    """
    done = Prepared()
    order = {load.episode.id: place for place, load in enumerate(work)}
    with Progress("prepared", len(work)) as progress, closing(work_off(work, means, processes)) as ended:
        for load, found in ended:
            failures = _failures(load, found)
            done.episodes += 1
            done.wants += len(load.wants)
            done.failures += failures
            progress.advance(failed=bool(failures))
    done.failures.sort(key=lambda failure: order[failure.episode])
    return done


def _failures(load: Load, found: list[Failure] | Exception | Died) -> list[Failure]:
    match found:
        case Died():
            conditions = tuple(dict.fromkeys(want.condition.name for want in load.wants))
            return [Failure(load.episode.id, conditions, "died", f"the process that read it died: {found.how}")]
        case Exception():
            raise found
        case _:
            return found


def _deliver(delivery: Delivery, load: Load) -> list[Failure]:
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for want in load.wants:
        try:
            delivery.deliver_want(want, load.episodes)
        except (MediaError, InputError) as error:
            reasons.setdefault((type(error).__name__, str(error)), {})[want.condition.name] = None
    return [Failure(load.episode.id, tuple(names), *reason) for reason, names in reasons.items()]
