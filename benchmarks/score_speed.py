"""How long the intervals of a large benchmark take.

``python benchmarks/score_speed.py [--small]``: 5,000 items of 630 episodes, 10 models, 100 metrics each, 10,000 draws.
Prints the seconds of ``estimate``, of the matrix product alone (counts times columns: the limit, since every interval
needs those sums), and of a naive loop that draws and averages rows, timed on a few draws of one model and scaled up.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from onlooker.stats.cluster import Statistic, cluster_weights, estimate, mean
from onlooker.stats.seeds import generator

ITEMS, EPISODES, MODELS, METRICS, DRAWS = 5_000, 630, 10, 100, 10_000
NAIVE_DRAWS = 20
Result = TypeVar("Result")


def measure(items: int, episodes: int, models: int, metrics: int, draws: int) -> None:
    """Time the three ways and print a line each."""
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, episodes, items)
    groups = [np.flatnonzero(rng.random(items) < rng.uniform(0.02, 1)) for _ in range(metrics)]
    credit = [rng.integers(0, 2, items).astype(np.float64) for _ in range(models)]
    statistics: list[Statistic] = [mean(cluster[g], c[g]) for c in credit for g in groups]
    weights = timed(f"draws ({draws})", lambda: cluster_weights(episodes, draws, generator("speed", 1)))
    found = timed(f"estimate ({models * metrics} metrics)", lambda: estimate(statistics, weights))
    columns = rng.random((episodes, (models + 1) * metrics))
    real = weights.astype(np.float64)
    timed("  of which the matrix product, the limit", lambda: real @ columns)
    members = [np.flatnonzero(cluster == e) for e in range(episodes)]
    start = time.perf_counter()
    for draw in weights[:NAIVE_DRAWS]:
        rows = np.concatenate([np.tile(members[e], n) for e, n in enumerate(draw.tolist()) if n])
        times = np.bincount(rows, minlength=items)
        for group in groups:
            chosen = np.repeat(group, times[group])
            credit[0][chosen].mean()
    naive = (time.perf_counter() - start) / NAIVE_DRAWS * draws * models
    print(f"{naive:8.1f} s  naive loop over draws (from {NAIVE_DRAWS} draws of one model)")  # noqa: T201
    print(f"           first interval [{found[0].low:.4f}, {found[0].high:.4f}]")  # noqa: T201


def timed(label: str, work: Callable[[], Result]) -> Result:
    """The result of ``work``, its seconds printed."""
    start = time.perf_counter()
    result = work()
    print(f"{time.perf_counter() - start:8.2f} s  {label}")  # noqa: T201
    return result


if __name__ == "__main__":
    if "--small" in sys.argv:
        measure(200, 40, 2, 10, 500)
    else:
        measure(ITEMS, EPISODES, MODELS, METRICS, DRAWS)
