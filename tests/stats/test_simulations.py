"""Simulated data whose truth is known: intervals cover it as often as they say, and analyses recover it.

Every simulation draws from a named generator, so that it gives the same numbers on every machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from onlooker.benchmarks.mmhbench.analyses import ANALYSES as MMHBENCH
from onlooker.benchmarks.mmhbench.scoring import FAMILY as MMHBENCH_FAMILY
from onlooker.benchmarks.psycheme.analyses import ANALYSES as PSYCHEME
from onlooker.benchmarks.psycheme.scoring import EVIDENCE, LOGIC
from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME_FAMILY
from onlooker.benchmarks.reactionbench.analyses import ANALYSES as REACTIONBENCH
from onlooker.benchmarks.reactionbench.scoring import FAMILY as REACTIONBENCH_FAMILY
from onlooker.benchmarks.sivbench.analyses import ANALYSES as SIVBENCH
from onlooker.benchmarks.sivbench.scoring import FAMILY as SIVBENCH_FAMILY
from onlooker.score.analyze import analyze, find_analysis
from onlooker.stats import (
    Contrast,
    Difference,
    Estimate,
    Statistic,
    additive_model,
    cluster_weights,
    contrasts,
    estimate,
    generator,
    mean,
)
from tests.score.made import Made, Row, choice, judged, said

CLUSTERS, ROWS, SAMPLES, DRAWS = 60, 8, 1000, 1000
REPEATS = 20
CLUSTER = np.repeat(np.arange(CLUSTERS), ROWS)
FAMILIES = {
    "psycheme": (PSYCHEME_FAMILY, PSYCHEME),
    "reactionbench": (REACTIONBENCH_FAMILY, REACTIONBENCH),
    "sivbench": (SIVBENCH_FAMILY, SIVBENCH),
    "mmhbench": (MMHBENCH_FAMILY, MMHBENCH),
}


def share_covering(truth: float, found: Iterable[Estimate | Contrast]) -> float:
    hits = [f.low is not None and f.high is not None and f.low <= truth <= f.high for f in found]
    return sum(hits) / len(hits)


def monte_carlo_error(coverage: float) -> float:
    """Three standard errors of a share of SAMPLES."""
    return 3 * math.sqrt(coverage * (1 - coverage) / SAMPLES)


def credits_of(seed: int) -> NDArray[np.float64]:
    """(SAMPLES, rows) of 0 and 1: each episode has its own chance, Beta(1, 1), so that the truth is 1/2 and the
    correlation within an episode 1/3."""
    rng = generator("simulation/credits", seed)
    chance = np.repeat(rng.beta(1, 1, size=(SAMPLES, CLUSTERS)), ROWS, axis=1)
    return (rng.random(chance.shape) < chance).astype(np.float64)


def resampled(samples: NDArray[np.float64], cluster: NDArray[np.int64]) -> list[Estimate]:
    weights = cluster_weights(int(cluster.max()) + 1, DRAWS, generator("simulation/draws", 1))
    return estimate([mean(cluster, sample) for sample in samples], weights)


def test_intervals_over_episodes_cover_and_those_over_items_do_not() -> None:
    samples = credits_of(1)
    by_episode = share_covering(0.5, resampled(samples, CLUSTER))
    # Percentiles of a mean of k clusters are +-1.96 sqrt((k - 1) / k) standard errors, to be read against Student's t.
    exact = 1 - 2 * stats.t.sf(1.96 * math.sqrt(1 - 1 / CLUSTERS), CLUSTERS - 1)
    assert exact == pytest.approx(0.943, abs=0.001)
    assert abs(by_episode - exact) < monte_carlo_error(exact)
    assert abs(by_episode - 0.95) < monte_carlo_error(0.95)
    # Eight items that correlate by 1/3 make the true variance 1 + 7/3 times that of independent ones.
    by_item = share_covering(0.5, resampled(samples, np.arange(CLUSTER.size)))
    naive = 1 - 2 * stats.norm.sf(1.96 / math.sqrt(1 + 7 / 3))
    assert naive == pytest.approx(0.717, abs=0.001)
    assert abs(by_item - naive) < monte_carlo_error(naive)


def test_paired_differences_cover_where_episodes_differ_in_size() -> None:
    rng = generator("simulation/pairs", 1)
    cluster = np.repeat(np.arange(CLUSTERS), rng.integers(1, 16, CLUSTERS))
    weights = cluster_weights(CLUSTERS, DRAWS, generator("simulation/draws", 2))
    statistics: list[Statistic] = []
    for _ in range(SAMPLES):
        # b loses .2 on average and more in some episodes; both share the episode's difficulty.
        hard = rng.normal(0, 1, CLUSTERS)[cluster]
        loss = rng.normal(0.2, 0.5, CLUSTERS)[cluster]
        a = hard + rng.normal(0, 1, cluster.size)
        b = hard - loss + rng.normal(0, 1, cluster.size)
        statistics.append(Difference(mean(cluster, a), mean(cluster, b)))
    found = contrasts(statistics, weights)
    # Fewer episodes than 60 carry the weight: (sum n)^2 / sum n^2.
    sizes = np.bincount(cluster)
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    exact = 1 - 2 * stats.t.sf(1.96 * math.sqrt(1 - 1 / effective), effective - 1)
    assert abs(share_covering(0.2, found) - exact) < monte_carlo_error(exact)
    # The p that inverts the interval: below .05 where, and only where, the interval leaves out 0 (two draws of slack).
    for one in found[:200]:
        assert one.low is not None
        assert one.high is not None
        assert one.p is not None
        if abs(one.p - 0.05) > 0.005:
            assert (one.p < 0.05) is not (one.low <= 0 <= one.high)


def look(made: Made, name: str, rows: Sequence[Row], labels: Sequence[Row] = ()) -> Any:
    """What an analysis finds in the simulated bundle."""
    family, analyses = FAMILIES[made.family.name]
    analysis = find_analysis(analyses, family.name, name)
    judgements = [made.judgements(labels)] if labels else []
    files = [made.predictions(rows)]
    return analyze(made.bundle, family, analysis, files, judgements, draws=400, seed=1, options={}).data


class Recovery:
    """What an analysis found in REPEATS data sets of one truth."""

    def __init__(self) -> None:
        self.truth: dict[str, float] = {}
        self.cells: dict[str, list[Any]] = {}

    def add(self, name: str, cell: Any, truth: float) -> None:
        self.truth[name] = truth
        self.cells.setdefault(name, []).append(cell)

    def check(self) -> None:
        """No bias beyond four standard errors of the mean, and intervals that miss no more often than chance allows.

        Of REPEATS intervals of 93 % (percentiles are a little short) more misses than the bound come up once in 1,000.
        """
        allowed = stats.binom.isf(0.001, REPEATS, 0.07)
        for name, cells in self.cells.items():
            truth = self.truth[name]
            values = np.array([cell["value"] for cell in cells])
            assert values.size == REPEATS
            assert abs(values.mean() - truth) < 4 * values.std(ddof=1) / math.sqrt(REPEATS), (name, values, truth)
            misses = sum(not cell["low"] <= truth <= cell["high"] for cell in cells)
            assert misses <= allowed, (name, misses)
            # Nor are they too wide: their mean width is that of 1.96 standard deviations of the values on both sides,
            # within what a standard deviation of so few values can be off.
            width = float(np.mean([cell["high"] - cell["low"] for cell in cells]))
            ratio = width / (2 * 1.96 * values.std(ddof=1))
            assert 0.55 < ratio < 1.9, (name, ratio)


def made_of(folder: Path, family: str, items: Sequence[Row], repeat: int, ratings: Sequence[Row] = ()) -> Made:
    place = folder / str(repeat)
    place.mkdir()
    references = [{"item": i["id"]} | ({} if i["task"] == "intensity" else {"answer": ["A"]}) for i in items]
    return Made(place, FAMILIES[family][0], items, references, ratings=ratings)


def test_psycheme_retention_and_stage_losses(tmp_path: Path) -> None:
    # Chance of a right answer and of an informative rationale, and of each label; timing is the worse in all.
    plan = {
        "G": (0.9, 0.95, {"strong": 0.7, "normal": 0.3}, {"coherent": 0.8, "acceptable": 0.2}),
        "T": (0.6, 0.80, {"strong": 0.3, "weak": 0.4, "contradicted": 0.3}, {"coherent": 0.5, "weak": 0.5}),
    }
    found = Recovery()
    for repeat in range(REPEATS):
        rng = generator("simulation/psycheme", repeat)
        items: list[Row] = []
        rows: list[Row] = []
        labels: list[Row] = []
        losses = []
        kept: dict[str, float] = {}
        for capability, (right, informative, evidence, logic) in plan.items():
            for k in range(200):
                item = f"{capability}{k}"
                items.append(choice(item, f"e{k % 50}", capability=capability))
                hit, told = rng.random() < right, rng.random() < informative
                reply = {"answer": "A" if hit else "B", **dict.fromkeys("GWNTSAMR"), "G": "he nods" if told else "n/a"}
                rows.append(said(item, json.dumps(reply)))
                drawn = {
                    "evidence": str(rng.choice(list(evidence), p=list(evidence.values()))),
                    "logic": str(rng.choice(list(logic), p=list(logic.values()))),
                }
                labels.append(judged(item, "verified", drawn))
            e = sum(p * EVIDENCE[label] for label, p in evidence.items()) / 1.2
            w = sum(p * LOGIC[label] for label, p in logic.items()) / 1.2
            steps = [1.0, right, right * informative, right * informative * e, right * informative * e * w]
            losses.append([before - after for before, after in pairwise(steps)])
            kept[capability] = steps[-1] / right
        data = look(made_of(tmp_path, "psycheme", items, repeat), "retention", rows, labels)["m:c"]
        for stage, both in zip(("answer", "coverage", "evidence", "logic"), zip(*losses, strict=True), strict=True):
            found.add(stage, data[f"loss.{stage}"], sum(both) / 2)
        for capability, truth in kept.items():
            found.add(capability, data[f"retention.capability.{capability}"], truth)
        assert data["lowest_retention"] == "T"
    found.check()


def intensity_items(n: int, moments: int) -> list[Row]:
    listed = [{"id": f"m{i}", "start_s": 10.0 * i, "end_s": 10.0 * i + 3} for i in range(moments)]
    return [{"id": f"v{k}", "episode": f"e{k}", "task": "intensity", "moments": listed} for k in range(n)]


def rated(item: str, rater: str, moment: int, value: float) -> Row:
    row = {"item": item, "unit": f"m{moment}", "rater": rater, "rubric": "intensity", "value": value}
    return row | {"opt_out": None}


def test_reactionbench_pairwise_accuracy_and_rho0(tmp_path: Path) -> None:
    found = Recovery()
    constant = 0.0
    for repeat in range(REPEATS):
        rng = generator("simulation/reactionbench", repeat)
        items = intensity_items(200, 2)
        ratings, rows = [], []
        for item in items:
            low, high = rng.permutation(2).tolist()
            # Three raters see the order; a fourth, whose steps are small, reverses it in a quarter of the videos.
            for rater in "abc":
                ratings += [rated(item["id"], rater, low, 0), rated(item["id"], rater, high, 3)]
            first, second = (1, 2) if rng.random() < 0.75 else (2, 1)
            ratings += [rated(item["id"], "d", low, first), rated(item["id"], "d", high, second)]
            # The model sees the order in 65 %, reverses it in 20 % and says the same twice in 15 %.
            draw = rng.random()
            a, b = (10, 90) if draw < 0.65 else (90, 10) if draw < 0.85 else (50, 50)
            rows.append(said(item["id"], json.dumps({f"m{low}": a, f"m{high}": b}), condition="joint"))
        made = made_of(tmp_path, "reactionbench", items, repeat, ratings)
        data = look(made, "human", rows)["m:joint"]
        assert data["pairwise"]["units"] == 4 * 200
        # Model: .65 + .15 / 2. Raters: three always right, one in 3/4. rho0 of two moments: .65 - .20.
        found.add("model", data["pairwise"]["model"], 0.725)
        found.add("human", data["pairwise"]["human"], 0.9375)
        found.add("difference", data["pairwise"]["difference"], 0.725 - 0.9375)
        found.add("rho0, raters left out", data["rho0"]["model"], 0.45)
        constants = look(made, "constants", rows)["m:joint"]
        found.add("rho0", constants["rho0"], 0.45)
        constant += constants["constant"]["value"]
    found.check()
    assert abs(constant / (200 * REPEATS) - 0.15) < 4 * math.sqrt(0.15 * 0.85 / (200 * REPEATS))


def test_reactionbench_rater_bias_is_removed(tmp_path: Path) -> None:
    rng = generator("simulation/debiasing", 1)
    bias = {"strict": -0.6, "mild": 0.5, "fair": 0.1, "even": 0.0}
    items = intensity_items(120, 4)
    truth, ratings, rows = {}, [], []
    for item in items:
        levels = rng.permutation([0.8, 1.2, 1.6, 2.0])
        for moment, level in enumerate(levels):
            truth[item["id"], f"m{moment}"] = level
            # Two of the four raters see a moment, so that a raw mean depends on who they were.
            for rater in rng.choice(list(bias), 2, replace=False):
                value = level + bias[str(rater)] + rng.normal(0, 0.05)
                ratings.append(rated(item["id"], str(rater), moment, float(value)))
        rows.append(said(item["id"], json.dumps({f"m{k}": 30 * v for k, v in enumerate(levels)}), condition="joint"))
    data = look(made_of(tmp_path, "reactionbench", items, 0, ratings), "debiasing", rows)
    for rater, effect in bias.items():
        # Effects add up to 0, so they are those planted; the error of one is some .05 / sqrt(240).
        assert data["rater_effects"][rater] == pytest.approx(effect, abs=0.015)
    run = data["runs"]["m:joint"]
    # The run tells the true order: the raw consensus punishes it for the raters, the debiased one does not.
    assert run["debiased"] > 0.995
    assert run["raw"] < 0.95
    units = [(row["item"], row["unit"]) for row in ratings]
    found = additive_model([row["rater"] for row in ratings], units, [row["value"] for row in ratings])
    raw, debiased = (
        math.sqrt(float(np.mean([(means[unit] - level) ** 2 for unit, level in truth.items()])))
        for means in (found.raw_means, found.debiased_means)
    )
    # Two of four biases without replacement: variance .155 of the biases, times (1/2)(1 - 1/3). Without them the noise
    # of two ratings is left.
    assert raw == pytest.approx(math.sqrt(0.155 / 3), rel=0.1)
    assert debiased == pytest.approx(0.05 / math.sqrt(2), rel=0.15)
    assert found.residual_sd == pytest.approx(0.05, rel=0.1)


def test_sivbench_relation_confusion(tmp_path: Path) -> None:
    # Errors on boss-employee: 60 % colleagues (equality), 25 % coach-player (same model), 15 % friends.
    texts = ["boss-employee", "colleagues", "coach-player", "friends", "service"]
    listed = [{"id": i, "text": t} for i, t in zip("ABCDE", texts, strict=True)]
    items = [
        choice(f"q{k}", f"e{k // 3}", options="ABCDE", dimension="SSR", subtask="RI") | {"options": listed}
        for k in range(300)
    ]
    found = Recovery()
    for repeat in range(REPEATS):
        rng = generator("simulation/relations", repeat)
        letters = rng.choice(list("ABCD"), len(items), p=[0.4, 0.36, 0.15, 0.09])
        rows = [said(i["id"], str(letter), condition="origin") for i, letter in zip(items, letters, strict=True)]
        shares = look(made_of(tmp_path, "sivbench", items, repeat), "relations", rows)["shares"]["m:origin"]
        found.add("authority as equality", shares["authority as equality"], 0.60)
        found.add("within a model", shares["within a model"], 0.25)
        assert shares["equality as authority"]["value"] == 0
    found.check()


def test_sivbench_subtitle_effect(tmp_path: Path) -> None:
    # Accuracy .5 without; subtitles mend a fifth of the wrong answers to SSR and SDP and nothing of SSU: +.10 and 0.
    planted = {"SSU": 0.0, "SSR": 0.2, "SDP": 0.2}
    items = [choice(f"{d}{k}", f"e{k // 2}", options="ABCDE", dimension=d) for d in planted for k in range(200)]
    found = Recovery()
    for repeat in range(REPEATS):
        rng = generator("simulation/subtitles", repeat)
        rows = []
        for item in items:
            before = rng.random() < 0.5
            after = before or rng.random() < planted[item["labels"]["dimension"]]
            for condition, right in (("origin", before), ("with_subtitles", after)):
                rows.append(said(item["id"], "A" if right else "B", condition=condition))
        data = look(made_of(tmp_path, "sivbench", items, repeat), "media", rows)
        changes = {change["scope"]: change for change in data["changes"]}
        for scope, truth in (("SSR", 0.10), ("SDP", 0.10), ("overall", 0.20 / 3)):
            found.add(scope, changes[scope]["difference"], truth)
        assert changes["SSU"]["difference"]["value"] == 0
        assert changes["SSU"]["mcnemar"]["p"] == 1
        assert changes["overall"]["mcnemar"]["holm_p"] < 0.001
    found.check()


def test_mmhbench_perspectives_and_frames(tmp_path: Path) -> None:
    # First-person accuracy .20 + .004 a frame, third-person .30 + .005 a frame.
    lines = {"first": (0.20, 0.004), "third": (0.30, 0.005)}
    frames = (0, 16, 32, 64)
    items = [choice(f"{name}{k}", f"e{k // 4}", perspective=name) for name in lines for k in range(200)]
    found = Recovery()
    slopes: dict[str, list[float]] = {name: [] for name in lines}
    for repeat in range(REPEATS):
        rng = generator("simulation/mmhbench", repeat)
        rows = []
        for item in items:
            start, slope = lines[item["labels"]["perspective"]]
            for count in frames:
                letter = "A" if rng.random() < start + slope * count else "B"
                rows.append(said(item["id"], letter, condition=f"frames_{count}"))
        made = made_of(tmp_path, "mmhbench", items, repeat)
        model = look(made, "frames", rows)["models"]["m"]
        for name, (start, slope) in lines.items():
            curve = [model[name]["accuracy"][str(count)] for count in frames]
            for count, cell in zip(frames, curve, strict=True):
                found.add(f"{name} {count}", cell, start + slope * count)
            found.add(f"{name} gain", model[name]["gain"], 64 * slope)
            slopes[name].append(float(np.polyfit(frames, [cell["value"] for cell in curve], 1)[0]))
        most = look(made, "breakdown", rows)["m:frames_64"]
        found.add("gap", most["first - third"], (0.20 + 0.256) - (0.30 + 0.320))
    found.check()
    for name, (_, slope) in lines.items():
        own = np.array(slopes[name])
        assert abs(own.mean() - slope) < 4 * own.std(ddof=1) / math.sqrt(REPEATS)
