"""How far a judge can be trusted: its labels against those of people, dimension by dimension.

People's grades are judgements under the same rubric whose judge begins with ``human``, one name a person. On the
replies (item, model, condition, seed) that the judge and at least one person graded validly:

* ``people_mean``  Spearman's rho of the judge and the people's mean, interval by resampling episodes
* ``individual``   the same rho with each person: mean, least, most
* ``inter_rater``  rho of every two people: mean, least, most. What a judge can be expected to reach
* ``difference``   judge minus the people's mean: its mean with an interval, and the mean of its size
* ``exact``        share of (reply, person) pairs with the very same label

Words are numbered from the worst up, an object of numbers is its sum. Where all labels are numbers there is a
``total``. ``by`` repeats people_mean and difference within strata, so that an agreement that rests on easy cases shows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from onlooker.errors import InputError
from onlooker.protocol.scoring import Rubric, Words
from onlooker.records.public import Episode, Item
from onlooker.records.results import Judgement
from onlooker.stats.cluster import FEW_CLUSTERS, Sums, cluster_weights, estimate, mean
from onlooker.stats.interval import percentile_interval
from onlooker.stats.ranks import spearman
from onlooker.stats.seeds import generator
from onlooker.stats.weighted_ranks import spearman_draws

PEOPLE = "human"
TOTAL = "total"
_TERCILES = ("low", "middle", "high")

Reply = tuple[str, str, str, int | None]
Points = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Ask:
    """What to compare: the rubric, how strata are made, draws and seed of the intervals.

    ``by``: ``model``, ``condition``, ``judge`` (terciles of the judge's own total), or a label of the item or episode.
    """

    rubric: Rubric
    by: str | None = None
    draws: int = 10_000
    seed: int = 0


def calibrate(
    rows: Sequence[Judgement], ask: Ask, items: Mapping[str, Item], episodes: Mapping[str, Episode]
) -> dict[str, Any]:
    """{"rubric", "people", "judges": {JUDGE: {"replies", "dimensions": {NAME: ...}, "by": {...}}}, "notes"}.

    Undefined values are null, and a note says why. Raises ``InputError`` where there are no people, no judge, or
    no reply that both graded.
    """
    grades, invalid = _grades(rows, ask.rubric, items)
    people = sorted(name for name in grades if name.startswith(PEOPLE))
    judges = sorted(set(grades) - set(people))
    if not people or not judges:
        raise InputError(
            f"a calibration needs judgements under the rubric {ask.rubric.name} by a judge and by people",
            value=sorted(grades),
            remedy=f"people's rows have a judge that begins with {PEOPLE}, such as human:r1",
        )
    notes = [f"{invalid} judgements without valid labels left out"] if invalid else []
    found: dict[str, Any] = {}
    for judge in judges:
        replies = sorted((r for r in grades[judge] if any(r in grades[p] for p in people)), key=repr)
        if not replies:
            notes.append(f"{judge}: no reply that a person graded too")
            continue
        side = _Side(grades[judge], [grades[p] for p in people], replies, items, ask)
        one: dict[str, Any] = {"replies": len(replies), "dimensions": side.dimensions(notes, judge)}
        if ask.by is not None:
            strata = _strata(replies, grades[judge], ask, items, episodes)
            one["by"] = {
                ask.by: {
                    name: _Side(grades[judge], [grades[p] for p in people], part, items, ask).brief()
                    for name, part in sorted(strata.items())
                }
            }
        found[judge] = one
    if not found:
        raise InputError("no reply was graded by a judge and a person both", where=f"rubric {ask.rubric.name}")
    return {"rubric": ask.rubric.name, "people": people, "judges": found, "notes": notes}


class _Side:
    """One judge and the people on the same replies."""

    def __init__(
        self,
        judge: Mapping[Reply, Points],
        people: Sequence[Mapping[Reply, Points]],
        replies: Sequence[Reply],
        items: Mapping[str, Item],
        ask: Ask,
    ) -> None:
        self.judge, self.people, self.replies = judge, people, replies
        self.names = tuple(judge[replies[0]])
        episode_of = [items[reply[0]].episode for reply in replies]
        number = {episode: n for n, episode in enumerate(dict.fromkeys(episode_of))}
        self.cluster = np.array([number[episode] for episode in episode_of], dtype=np.int64)
        self.clusters = len(number)
        self.weights = cluster_weights(self.clusters, ask.draws, generator("calibrate/episodes", ask.seed))

    def dimensions(self, notes: list[str], judge: str) -> dict[str, Any]:
        found = {}
        for name in self.names:
            x, y = self._pairs(name)
            one = {"people_mean": self._rho(x, y), "difference": self._difference(x, y)}
            one["individual"] = _range([self._shared(self.judge, person, name) for person in self.people])
            one["inter_rater"] = _range([self._shared(a, b, name) for a, b in combinations(self.people, 2)])
            same = [
                self.judge[reply][name] == person[reply][name]
                for reply in self.replies
                for person in self.people
                if reply in person
            ]
            one["exact"] = {"value": sum(same) / len(same), "n": len(same)}
            if one["people_mean"]["value"] is None:
                notes.append(f"{judge}, {name}: rho undefined (fewer than two replies, or one side does not vary)")
            elif one["people_mean"]["low"] is None:
                notes.append(f"{judge}, {name}: no interval, {FEW_CLUSTERS}")
            found[name] = one
        return found

    def brief(self) -> dict[str, Any]:
        """People_mean and difference only."""
        found: dict[str, Any] = {"replies": len(self.replies), "dimensions": {}}
        for name in self.names:
            x, y = self._pairs(name)
            found["dimensions"][name] = {"people_mean": self._rho(x, y), "difference": self._difference(x, y)}
        return found

    def _pairs(self, name: str) -> tuple[list[float], list[float]]:
        x = [self.judge[reply][name] for reply in self.replies]
        y = [_mean([person[reply][name] for person in self.people if reply in person]) for reply in self.replies]
        return x, y

    def _rho(self, x: list[float], y: list[float]) -> dict[str, Any]:
        value = spearman(x, y)
        ends = None
        if value is not None and self.clusters >= 2:
            ends = percentile_interval(spearman_draws(x, y, self.cluster, self.weights))
        low, high = ends or (None, None)
        return {"value": value, "low": low, "high": high, "n": len(x)}

    def _difference(self, x: list[float], y: list[float]) -> dict[str, Any]:
        gaps = np.array([a - b for a, b in zip(x, y, strict=True)])
        statistic: Sums = mean(self.cluster, gaps)
        one = estimate([statistic], self.weights)[0]
        size = float(np.abs(gaps).mean())
        return {"value": one.value, "low": one.low, "high": one.high, "mean_size": size, "n": len(x)}

    def _shared(self, one: Mapping[Reply, Points], other: Mapping[Reply, Points], name: str) -> float | None:
        both = [reply for reply in self.replies if reply in one and reply in other]
        return spearman([one[reply][name] for reply in both], [other[reply][name] for reply in both])


def _grades(
    rows: Sequence[Judgement], rubric: Rubric, items: Mapping[str, Item]
) -> tuple[dict[str, dict[Reply, Points]], int]:
    found: dict[str, dict[Reply, Points]] = defaultdict(dict)
    invalid = 0
    for row in rows:
        if row.rubric != rubric.name:
            continue
        if row.status != "ok" or row.labels is None or not rubric.accepts(row.labels, items[row.item]):
            invalid += 1
            continue
        found[row.judge][row.item, row.model, row.condition, row.seed] = _points(row.labels, rubric)
    return dict(found), invalid


def _points(labels: Mapping[str, Any], rubric: Rubric) -> Points:
    points: dict[str, float] = {}
    for name, scale in rubric.scales.items():
        value = labels[name]
        if isinstance(scale, Words):
            points[name] = float(len(scale.words) - 1 - scale.words.index(value))
        else:
            points[name] = float(sum(value.values()) if isinstance(value, dict) else value)
    if len(points) > 1 and not any(isinstance(scale, Words) for scale in rubric.scales.values()):
        points[TOTAL] = sum(points.values())
    return points


def _strata(
    replies: Sequence[Reply],
    judge: Mapping[Reply, Points],
    ask: Ask,
    items: Mapping[str, Item],
    episodes: Mapping[str, Episode],
) -> dict[str, list[Reply]]:
    name_of = _namer(replies, judge, ask, items, episodes)
    found: dict[str, list[Reply]] = defaultdict(list)
    for reply in replies:
        for name in name_of(reply):
            found[name].append(reply)
    if not found:
        raise InputError("no reply has this label", where="--by", value=ask.by, remedy="model, condition or judge")
    return found


def _namer(
    replies: Sequence[Reply],
    judge: Mapping[Reply, Points],
    ask: Ask,
    items: Mapping[str, Item],
    episodes: Mapping[str, Episode],
) -> Callable[[Reply], list[str]]:
    if ask.by == "model":
        return lambda reply: [reply[1]]
    if ask.by == "condition":
        return lambda reply: [reply[2]]
    if ask.by == "judge":
        scores = {reply: judge[reply].get(TOTAL, sum(judge[reply].values())) for reply in replies}
        cuts = np.quantile(sorted(scores.values()), [1 / 3, 2 / 3])
        return lambda reply: [_TERCILES[int(np.searchsorted(cuts, scores[reply], side="left"))]]

    def labels(reply: Reply) -> list[str]:
        item = items[reply[0]]
        value = item.labels.get(ask.by or "", episodes[item.episode].labels.get(ask.by or ""))
        return [] if value is None else [str(one) for one in (value if isinstance(value, list) else [value])]

    return labels


def _range(values: Sequence[float | None]) -> dict[str, Any]:
    known = [value for value in values if value is not None]
    if not known:
        return {"mean": None, "least": None, "most": None, "n": 0}
    return {"mean": _mean(known), "least": min(known), "most": max(known), "n": len(known)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
