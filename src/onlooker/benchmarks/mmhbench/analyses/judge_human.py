"""How far a judge's points follow a person's: Spearman's rho for every part of the rubric.

Over the replies (item, model, condition, seed) that both judged validly; average ranks. Interval: 95 % percentiles over
resampled episodes, all parts on the same draws; draws in which one side does not vary are left out and counted. Also
the mean of (judge - human), which rho cannot see. Options is the sum over the options. Paper: appendix G, table 7.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onlooker.benchmarks.mmhbench.scoring import PARTS, REASONING
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Cell, Findings, Material, Table
from onlooker.stats.cluster import FEW_CLUSTERS, cluster_weights
from onlooker.stats.interval import percentile_interval
from onlooker.stats.ranks import spearman
from onlooker.stats.seeds import generator
from onlooker.stats.weighted_ranks import spearman_draws

NAMES = (*PARTS, "mean")
Reply = tuple[str, str, str, int | None]


def judge_and_human(material: Material) -> Findings:
    """Rho, its interval and the mean difference, part by part."""
    judge, human = _names(material)
    left, right = _points(material, judge), _points(material, human)
    shared = [reply for reply in left if reply in right]
    if not shared:
        raise InputError(f"no reply was judged validly by both {judge} and {human}", where="judge, human")
    episodes = {e: n for n, e in enumerate(dict.fromkeys(material.items[reply[0]].episode for reply in shared))}
    cluster = np.array([episodes[material.items[reply[0]].episode] for reply in shared], dtype=np.int64)
    weights = cluster_weights(len(episodes), material.draws, generator("mmhbench/judge_human/episodes", material.seed))
    rows: list[tuple[Cell, ...]] = []
    data: dict[str, Any] = {"judge": judge, "human": human, "parts": {}}
    notes = []
    for k, name in enumerate(NAMES):
        a, b = (np.array([side[reply][k] for reply in shared]) for side in (left, right))
        rho = spearman(a.tolist(), b.tolist())
        low = high = None
        if rho is None:
            notes.append(f"{name}: rho undefined, fewer than two replies or one side does not vary")
        elif len(episodes) < 2:
            notes.append(f"{name}: no interval, {FEW_CLUSTERS}")
        else:
            draws = spearman_draws(a.tolist(), b.tolist(), cluster, weights)
            low, high = percentile_interval(draws) or (None, None)
            if undefined := int(np.isnan(draws).sum()):
                notes.append(f"{name}: {undefined} of {material.draws} draws left out because undefined there")
        bias = float((a - b).mean())
        rows.append((name, len(shared), rho, low, high, bias))
        data["parts"][name] = {"rho": {"value": rho, "low": low, "high": high, "n": len(shared)}, "bias": bias}
    for name, own in ((judge, left), (human, right)):
        if len(own) > len(shared):
            notes.append(f"{len(own) - len(shared)} replies that {name} judged alone left out")
    heads = ("part", "n", "rho", "low", "high", "judge - human")
    return Findings(data, (Table(f"{judge} against {human}", heads, tuple(rows)),), (), tuple(notes))


def _names(material: Material) -> tuple[str, str]:
    """The two judges: by the options, else the only two there are."""
    there = sorted({row.judge for row in material.judgements if row.rubric == REASONING.name})
    wanted = [material.options.get(option) for option in ("judge", "human")]
    if wanted == [None, None] and len(there) == 2:
        return there[0], there[1]
    for option, name in zip(("judge", "human"), wanted, strict=True):
        if name not in there:
            names = ", ".join(there) or f"none under the rubric {REASONING.name}"
            raise InputError("no judgements by this name", where=option, value=name, remedy=f"one of {names}")
    judge, human = wanted
    if judge is None or human is None or judge == human:
        raise InputError("two judges are compared", where="judge, human", value=wanted, remedy="name two")
    return judge, human


def _points(material: Material, judge: str) -> dict[Reply, tuple[float, ...]]:
    found: dict[Reply, tuple[float, ...]] = {}
    for row in material.judgements:
        if (row.judge, row.rubric, row.status) != (judge, REASONING.name, "ok"):
            continue
        if row.labels is None or not REASONING.accepts(row.labels, material.items[row.item]):
            continue
        parts = [
            float(sum(row.labels[name].values())) if name == "options" else float(row.labels[name]) for name in PARTS
        ]
        found[row.item, row.model, row.condition, row.seed] = (*parts, sum(parts) / len(parts))
    return found


ANALYSIS = Analysis(
    name="judge_human",
    says="Spearman's rho between a judge's points and a person's",
    source="appendix G, table 7",
    run=judge_and_human,
    options={
        "judge": "the judge; the two that there are where both options are absent",
        "human": "the person, as the judgements name them",
    },
)
