"""How long it takes to score a benchmark of the size of the paper, and to compare all of its models.

``python benchmarks/score_speed.py [--small]``: PsycheMME, 17 models, 1,000 items of 630 episodes, every metric with
10,000 draws, then all 136 pairs of models. The bundle, predictions and judgements are made in a temporary folder. The
limit is the matrix product that the draws need (counts times the distinct columns of the metrics). A plain Python loop
and ``scipy.stats.bootstrap`` once a metric do the same work from the same metrics; both are timed on a part that is
printed, and scaled up. Where several runs are timed the best one counts.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy.stats import bootstrap

from onlooker.benchmarks.psycheme.scoring import EVIDENCE, FAMILY, LOGIC
from onlooker.benchmarks.psycheme.taxonomy import CAPABILITIES
from onlooker.protocol.metric import Metric
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.score.compare import align, answered_items, difference_rows, side_metrics
from onlooker.score.matrix import compare_all, is_main
from onlooker.score.score import estimate_all, grade_files, score_bundle, seed_metrics
from onlooker.stats.cluster import Floats, Sums, cluster_weights, estimate
from onlooker.stats.seeds import generator

MODELS, ITEMS, EPISODES, DRAWS = 17, 1_000, 630, 10_000
PYTHON_DRAWS, SCIPY_DRAWS, LIMIT_PAIRS = 20, 1_000, 17
Result = TypeVar("Result")


def main(models: int, items: int, draws: int) -> None:
    """Print the times, their ratios and the curves."""
    episodes = items * EPISODES // ITEMS
    with tempfile.TemporaryDirectory() as name:
        files = make(Path(name), models, items, episodes)
        print(f"PsycheMME, {models} models x {items} items x {episodes} episodes, {draws} draws")  # noqa: T201
        whole, ours = time_scores(*files, draws)
        time_slow_ways(*files, draws, models, whole, ours)
        time_matrix(*files, draws)
    print(f"peak memory of this process {peak_mb():.0f} MB (of the limits and slow ways too)")  # noqa: T201
    for models_now in sorted({1, 2, 4, 8, 16, models}):
        curve("models", models_now, models_now, items, draws)
    for items_now in (items // 4, items // 2, items, 2 * items, 4 * items):
        curve("items", items_now, 4, items_now, draws)


def time_scores(bundle: Bundle, predictions: Path, judgements: Path, draws: int) -> tuple[float, float]:
    """Seconds from files to scores, and of every interval of all models."""
    before = peak_mb()
    whole = best("score_bundle, files to scores", 1, lambda: score_bundle(
        bundle, FAMILY, [predictions], [judgements], draws=draws))  # fmt: skip
    print(f"           memory grew by {peak_mb() - before:.0f} MB")  # noqa: T201
    start = time.perf_counter()
    ground, _, graded = grade_files(bundle, FAMILY, [predictions], [judgements], None)
    rows = sum(path.read_bytes().count(b"\n") for path in (predictions, judgements))
    print(f"{time.perf_counter() - start:8.2f} s    of which reading, parsing and grading {rows} rows")  # noqa: T201
    runs = [(one, seed_metrics(one, FAMILY)) for one in graded]
    ours = best("  of which all intervals (best of 3)", 3, lambda: estimate_all(runs, ground, draws=draws, seed=42))
    weights = cluster_weights(len(ground.clusters(graded[0].run.owed)), draws, generator("speed", 1))
    columns = distinct_columns((m for _, metrics in runs for m in metrics), weights.shape[1])
    real = weights.astype(np.float64)
    limit = best(f"  the limit: {draws} x {columns.shape[0]} x {columns.shape[1]}", 3, lambda: real @ columns)
    print(f"           intervals take {ours / limit:.1f} times the limit, all of it {whole / limit:.1f} times")  # noqa: T201
    return whole, ours


def time_slow_ways(
    bundle: Bundle, predictions: Path, judgements: Path, draws: int, models: int, whole: float, ours: float
) -> None:
    """The plain loop and one call of scipy a metric, on the metrics of the first model."""
    ground, _, graded = grade_files(bundle, FAMILY, [predictions], [judgements], None)
    statistics = [m.statistic for m in seed_metrics(graded[0], FAMILY) if isinstance(m.statistic, Sums)]
    clusters = len(ground.clusters(graded[0].run.owed))
    start = time.perf_counter()
    for statistic in statistics:
        python_loop(statistic, clusters, PYTHON_DRAWS)
    plain = (time.perf_counter() - start) / PYTHON_DRAWS * draws * models
    told("plain Python loop", PYTHON_DRAWS, plain, whole, ours)
    start = time.perf_counter()
    theirs = [scipy_interval(statistic, clusters, SCIPY_DRAWS) for statistic in statistics]
    scipy = (time.perf_counter() - start) / SCIPY_DRAWS * draws * models
    told("scipy.stats.bootstrap a metric", SCIPY_DRAWS, scipy, whole, ours)
    own = estimate(statistics, cluster_weights(clusters, draws, generator("speed", 2)))
    ends = np.array([(one.low, one.high) for one in own], dtype=np.float64)
    apart = np.nanmax(np.abs(ends - np.array(theirs)))
    print(f"           the ends of its intervals and of ours differ by at most {apart:.3f}")  # noqa: T201


def told(label: str, part: int, seconds: float, whole: float, ours: float) -> None:
    """Print a slow way against our intervals, and against all that we do from files to scores."""
    ratios = f"{seconds / ours:.0f} times our intervals, {seconds / whole:.0f} times files to scores"
    print(f"{seconds:8.1f} s  {label} (from {part} draws of one model): {ratios}")  # noqa: T201


def time_matrix(bundle: Bundle, predictions: Path, judgements: Path, draws: int) -> None:
    """All pairs of models, and the matrix products that their differences need."""
    before = peak_mb()
    found = []
    seconds = best("compare --all, files to matrix", 1, lambda: found.append(
        compare_all(bundle, FAMILY, [predictions], "verified.macro", [judgements], draws=draws)))  # fmt: skip
    pairs = len(found[0].report["comparisons"])
    print(f"           {pairs} pairs, memory grew by {peak_mb() - before:.0f} MB")  # noqa: T201
    ground, _, graded = grade_files(bundle, FAMILY, [predictions], [judgements], None)
    clusters = ground.clusters(graded[0].run.owed)
    answered = [answered_items(one) for one in graded]
    weights = cluster_weights(len(clusters), draws, generator("speed", 1))
    real = weights.astype(np.float64)
    some = list(combinations(range(len(graded)), 2))[:: max(1, pairs // LIMIT_PAIRS)]
    metrics = []
    for a, b in some:
        cases, _ = align([answered[a], answered[b]])
        sides = side_metrics([graded[a], graded[b]], cases, clusters, FAMILY, ground)
        one, other = ([m for m in side if is_main(m.name, graded[a].run.condition)] for side in sides)
        metrics.append((one, other))
    columns = distinct_columns((m for pair in metrics for side in pair for m in side), len(clusters))
    limit = best("", 3, lambda: real @ columns) * pairs / len(some)
    ours = best("", 3, lambda: difference_rows(metrics, weights)) * pairs / len(some)
    width = columns.shape[1] / len(some)
    print(f"{limit:8.2f} s    the limit: {pairs} x {draws} x {len(clusters)} x {width:.0f} (from the same pairs)")  # noqa: T201
    print(f"           intervals take {ours / limit:.1f} times the limit, all of it {seconds / limit:.1f} times")  # noqa: T201


def curve(what: str, size: int, models: int, items: int, draws: int) -> None:
    """One point: files to scores of ``models`` on ``items``, with episodes in proportion."""
    with tempfile.TemporaryDirectory() as name:
        bundle, predictions, judgements = make(Path(name), models, items, items * EPISODES // ITEMS)
        seconds = best("", 1, lambda: score_bundle(bundle, FAMILY, [predictions], [judgements], draws=draws))
    print(f"{seconds:8.2f} s  {size:5} {what}, {1e6 * seconds / models / items:6.0f} us an item and model")  # noqa: T201


def distinct_columns(metrics: Iterable[Metric], clusters: int) -> Floats:
    """The columns that the metrics are made of, summed by cluster, each once: shape (clusters, columns)."""
    found: dict[bytes, Floats] = {}
    for metric in metrics:
        assert isinstance(metric.statistic, Sums)
        for column in summed(metric.statistic, clusters).T:
            found.setdefault(column.tobytes(), column)
    return np.stack(list(found.values()), axis=1)


def summed(statistic: Sums, clusters: int) -> Floats:
    """The columns of a statistic summed by cluster: shape (clusters, k)."""
    total = np.zeros((clusters, statistic.columns.shape[1]))
    np.add.at(total, statistic.cluster, statistic.columns)
    return total


def python_loop(statistic: Sums, clusters: int, draws: int) -> list[float]:
    """The draws of a statistic by a loop over the rows of the clusters drawn; zeros are passed over."""
    rows: list[list[tuple[int, float]]] = [[] for _ in range(clusters)]
    for cluster, row in zip(statistic.cluster.tolist(), statistic.columns.tolist(), strict=True):
        rows[cluster] += [(k, value) for k, value in enumerate(row) if value]
    rng = random.Random(1)  # noqa: S311 - nothing is secret
    found = []
    for _ in range(draws):
        sums = [0.0] * statistic.columns.shape[1]
        for cluster in rng.choices(range(clusters), k=clusters):
            for k, value in rows[cluster]:
                sums[k] += value
        found.append(float(statistic.combine(np.array([sums]))[0]))
    return found


def scipy_interval(statistic: Sums, clusters: int, draws: int) -> tuple[float, float]:
    """The interval by ``scipy.stats.bootstrap`` over clusters, vectorized, from sums by cluster."""
    columns = summed(statistic, clusters).T

    def value(index: Any, axis: int = -1) -> Any:
        return statistic.combine(np.stack([c[index].sum(axis=axis).reshape(-1) for c in columns], axis=1))

    interval = bootstrap(
        (np.arange(clusters),), value, n_resamples=draws, batch=500, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    return float(np.ravel(interval.low)[0]), float(np.ravel(interval.high)[0])


def best(label: str, runs: int, work: Callable[[], object]) -> float:
    """The seconds of the best of some runs of ``work``, printed where there is a label."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    if label:
        print(f"{min(times):8.2f} s  {label}")  # noqa: T201
    return min(times)


def peak_mb() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def make(folder: Path, models: int, items: int, episodes: int) -> tuple[Bundle, Path, Path]:
    """A made bundle with predictions and judgements: 1 % errors, 1 % missing, 2 % unparsed, 2 % unjudged."""
    rng = random.Random(1)  # noqa: S311 - nothing is secret
    names, letters = list(CAPABILITIES), "ABCD"
    bundle = folder / "bundle"
    bundle.mkdir()
    card = 'name: made\nfamily: psycheme\nversion: "1"\nlicense: CC0-1.0\ndescription: made\n'
    (bundle / "bundle.yaml").write_text(card, encoding="utf-8")
    sources = ("Ego4D", "EgoCom", "MERCI", "YouTube")
    clips = [
        {"id": f"e{e}", "duration_s": rng.uniform(5, 120), "lineage": {"source": rng.choice(sources)}}
        for e in range(episodes)
    ]
    options = [{"id": letter, "text": f"option number {letter}"} for letter in letters]
    questions = []
    for q in range(items):
        row: dict[str, Any] = {"id": f"q{q}", "episode": f"e{q if q < episodes else rng.randrange(episodes)}"}
        row |= {"question": "Why?", "labels": {"capability": names[q % len(names)]}}
        row |= {"task": "open"} if q % 5 == 0 else {"task": "choice", "options": options, "select": "one"}
        questions.append(row)
    answers = [{"item": row["id"], "answer": "a word" if row["task"] == "open" else ["A"]} for row in questions]
    predictions, judgements = [], []
    for m in range(models):
        right = rng.uniform(0.4, 0.8)
        for row in questions:
            key = {"item": row["id"], "model": f"m{m:02}", "condition": "full", "seed": None}
            fate = rng.random()
            if fate < 0.01:
                continue
            said = "A" if rng.random() < right else rng.choice("BCD")
            reason = None if rng.random() < 0.05 else "she nods and looks away"
            reply = {"answer": said, **dict.fromkeys(names, reason)}
            raw = "I cannot tell" if 0.02 < fate < 0.04 else json.dumps(reply)
            predictions.append({**key, "part": None, "raw": raw, "status": "error" if fate < 0.02 else "ok"})
            if fate < 0.98:
                judge = {**key, "judge": "j", "status": "ok"}
                labels = {"evidence": rng.choice(list(EVIDENCE)), "logic": rng.choice(list(LOGIC))}
                judgements.append({**judge, "rubric": "verified", "labels": labels})
                if row["task"] == "open":
                    judgements.append({**judge, "rubric": "open_answer", "labels": {"credit": rng.choice((0, 0.5, 1))}})
    for name, rows in (("episodes", clips), ("items", questions), ("references", answers)):
        write(bundle / f"{name}.jsonl", rows)
    files = folder / "predictions.jsonl", folder / "judgements.jsonl"
    write(files[0], predictions)
    write(files[1], judgements)
    return open_bundle(bundle), *files


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(*((3, 100, 500) if "--small" in sys.argv else (MODELS, ITEMS, DRAWS)))
