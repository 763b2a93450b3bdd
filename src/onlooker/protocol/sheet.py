"""What analyses share: which runs they look at, and named statistics estimated on the same draws of clusters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from onlooker.errors import InputError
from onlooker.protocol.analysis import Cell, GradedRun, Material
from onlooker.protocol.metric import Columns, Metric
from onlooker.protocol.scoring import Case, Scope
from onlooker.records.public import Episode
from onlooker.stats.cluster import Difference, Estimate, Statistic, cluster_weights, estimate, mean_over_seeds
from onlooker.stats.seeds import generator

RESAMPLED: Final = ("episode", "parent", "recording", "channel", "creator", "source")
RUN_OPTIONS: Final = {
    "models": "models that are looked at, comma-separated; all where absent",
    "conditions": "conditions that are looked at, comma-separated; all where absent",
    "resample": f"what an interval draws: {', '.join(RESAMPLED)}; episode where absent",
}
PAIR_OPTIONS: Final = {
    "a": "the first run as MODEL:CONDITION",
    "b": "the second run as MODEL:CONDITION, which is subtracted",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A value with its interval and the number of units behind it; None where undefined, ``reason`` then says why."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    reason: str | None = None

    def spell(self) -> dict[str, Any]:
        """As the JSON files of onlooker write a metric."""
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}

    @property
    def cells(self) -> tuple[Cell, Cell, Cell]:
        """Value, low, high."""
        return self.value, self.low, self.high


class Sheet:
    """Named statistics over the items ``item_ids``, estimated together on the same draws.

    The clusters are the episodes of these items (option ``resample``: what the episodes come from), numbered in the
    order of the bundle; the draws are those of ``onlooker score``, so that a number that both print has one interval.
    An episode whose lineage does not say what is resampled is a cluster of its own.
    """

    def __init__(self, material: Material, item_ids: Iterable[str]) -> None:
        self.material = material
        self.level = _level(material)
        used = {material.items[item].episode for item in item_ids}
        numbers: dict[str, int] = {}
        self._of_episode: dict[str, int] = {}
        self.without_lineage = 0
        for episode in (one for name, one in material.episodes.items() if name in used):
            source = lineage_of(episode, self.level)
            self.without_lineage += source is None
            name = f"episode {episode.id}" if source is None else f"{self.level} {source}"
            self._of_episode[episode.id] = numbers.setdefault(name, len(numbers))
        self.clusters = len(numbers)
        self._asked: dict[Hashable, tuple[Statistic, int]] = {}

    def columns(self, item_ids: Sequence[str]) -> Columns:
        """Columns over rows that belong to these items; an item may have several rows."""
        episodes = [self.material.items[item].episode for item in item_ids]
        return Columns(item_ids, [self._of_episode[episode] for episode in episodes])

    def cases(self, run: GradedRun, inside: Iterable[str] | None = None) -> list[list[Case]]:
        """The cases of a run, one list a seed, renumbered for these draws; only those of the items ``inside``."""
        kept = None if inside is None else set(inside)
        return [
            [replace(c, cluster=self._of_episode[c.episode.id]) for c in cases if kept is None or c.item.id in kept]
            for cases in run.by_seed.values()
        ]

    def metrics(
        self,
        run: GradedRun,
        of: Callable[[Sequence[Case], Scope], list[Metric]],
        inside: Iterable[str] | None = None,
    ) -> dict[str, Metric]:
        """The metrics of a run as its family defines them, each the mean over the seeds, as in ``onlooker score``."""
        scope = Scope(run.condition, tuple(self.material.items.values()), judged=True)
        by_seed = [{m.name: m for m in of(cases, scope)} for cases in self.cases(run, inside)]
        merged = {}
        for name, first in by_seed[0].items():
            parts = [metrics[name] for metrics in by_seed]
            behind = tuple(dict.fromkeys(unit for part in parts for unit in part.behind))
            merged[name] = Metric(name, behind, mean_over_seeds([part.statistic for part in parts]), first.unit)
        return merged

    def add(self, key: Hashable, statistic: Metric | Statistic, n: int | None = None) -> None:
        """Asks for a statistic; ``n`` is what it averages over, by default what is behind the metric."""
        if isinstance(statistic, Metric):
            self._asked[key] = (statistic.statistic, len(statistic.behind) if n is None else n)
        else:
            self._asked[key] = (statistic, 0 if n is None else n)

    def subtract(self, key: Hashable, a: Metric, b: Metric) -> None:
        """Asks for ``a - b`` on the same draws; ``n`` is what is behind either."""
        self.add(key, Difference(a.statistic, b.statistic), len({*a.behind, *b.behind}))

    def solve(self) -> dict[Any, Found]:
        """Everything asked for, with percentile 95 % intervals over the draws of the material."""
        found = estimate([statistic for statistic, _ in self._asked.values()], self.weights())
        return {key: _found(one, n) for (key, (_, n)), one in zip(self._asked.items(), found, strict=True)}

    def weights(self) -> NDArray[np.uint16]:
        """How often each draw takes each cluster, (draws, clusters): for statistics that are no sums over rows."""
        return cluster_weights(self.clusters, self.material.draws, generator("score/episodes", self.material.seed))

    def notes(self, found: Mapping[Any, Found]) -> list[str]:
        """Why values or intervals are undefined, and what was resampled where it is not the episode."""
        reasons: dict[str, list[str]] = {}
        for key, one in found.items():
            if one.reason is not None and one.reason != "a count has no interval":
                reasons.setdefault(one.reason, []).append(_spell_key(key))
        notes = [f"undefined ({reason}): {', '.join(names)}" for reason, names in reasons.items()]
        if self.level != "episode":
            note = f"intervals resample {self.clusters} clusters by {self.level}"
            if self.without_lineage:
                note += f"; {self.without_lineage} episodes without one are clusters of their own"
            notes.append(note)
        return notes


def lineage_of(episode: Episode, level: str) -> str | None:
    """The episode's id, or what its lineage says at this level; None where it says nothing."""
    value = episode.id if level == "episode" else getattr(episode.lineage, level)
    return None if value is None else str(value)


def run_name(run: GradedRun) -> str:
    """MODEL:CONDITION."""
    return f"{run.model}:{run.condition}"


def listed(text: str | None) -> tuple[str, ...]:
    """The names of a comma-separated option, without repeats."""
    return tuple(dict.fromkeys(name for part in (text or "").split(",") if (name := part.strip())))


def chosen_runs(material: Material) -> list[GradedRun]:
    """The runs that the options ``models`` and ``conditions`` leave. InputError where a name is not there, or none is
    left."""
    kept = list(material.runs)
    for option, kind in (("models", "model"), ("conditions", "condition")):
        there = sorted({getattr(run, kind) for run in material.runs})
        wanted = listed(material.options.get(option))
        for name in wanted:
            if name not in there:
                raise InputError(
                    f"no predictions of this {kind}", where=option, value=name, remedy=f"one of {', '.join(there)}"
                )
        kept = [run for run in kept if not wanted or getattr(run, kind) in wanted]
    if not kept:
        raise InputError("no predictions to look at", remedy="name predictions with --predictions")
    return kept


def named_run(material: Material, option: str) -> GradedRun | None:
    """The run that an option names as MODEL:CONDITION (split at the last colon); None where the option is absent."""
    name = material.options.get(option)
    if name is None:
        return None
    model, colon, condition = name.rpartition(":")
    if not colon or not model or not condition:
        raise InputError("expected MODEL:CONDITION", where=option, value=name)
    return material.run(model, condition)


def named_pair(material: Material, runs: Sequence[GradedRun]) -> tuple[GradedRun, GradedRun] | None:
    """The runs of the options ``a`` and ``b``; where both are absent, the only two of ``runs``, else None.

    InputError where one of the options is given alone.
    """
    a, b = named_run(material, "a"), named_run(material, "b")
    if a is not None and b is not None:
        return a, b
    if a is not None or b is not None:
        raise InputError("a comparison names both runs", where="a, b", remedy="give a and b as MODEL:CONDITION")
    return (runs[0], runs[1]) if len(runs) == 2 else None


def by_item(run: GradedRun, of: Callable[[Case], float | None]) -> dict[str, float | None]:
    """{item id: the mean over seeds of the values that ``of`` gives its cases}; None where it gives none."""
    found: dict[str, list[float]] = {}
    for cases in run.by_seed.values():
        for case in cases:
            values = found.setdefault(case.item.id, [])
            value = of(case)
            if value is not None:
                values.append(value)
    return {item: sum(values) / len(values) if values else None for item, values in found.items()}


def common_items(
    material: Material, runs: Sequence[GradedRun], counts: Callable[[Case], bool]
) -> tuple[list[str], int]:
    """The items for which every run has a case that ``counts``, in the bundle's order; and how many are left out."""
    sets = [{c.item.id for cases in run.by_seed.values() for c in cases if counts(c)} for run in runs]
    owed = {c.item.id for run in runs for cases in run.by_seed.values() for c in cases}
    inside = set.intersection(*sets) if sets else set()
    return [item for item in material.items if item in inside], len(owed - inside)


def answered(case: Case) -> bool:
    """Whether a comparison pairs the case: neither ``missing`` nor ``error``, the rule of ``onlooker compare``."""
    return case.reply.outcome not in {"missing", "error"}


def _level(material: Material) -> str:
    level = material.options.get("resample", "episode")
    if level not in RESAMPLED:
        raise InputError("no such cluster", where="resample", value=level, remedy=f"one of {', '.join(RESAMPLED)}")
    return level


def _found(one: Estimate, n: int) -> Found:
    return Found(one.value, one.low, one.high, n, one.reason)


def _spell_key(key: object) -> str:
    return " ".join(str(part) for part in key) if isinstance(key, tuple) else str(key)
