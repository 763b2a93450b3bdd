"""ReactionBench's analyses on bundles small enough to work by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.benchmarks.reactionbench.analyses import ANALYSES
from onlooker.benchmarks.reactionbench.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.protocol.analysis import Findings
from onlooker.score.analyze import analyze
from onlooker.stats.weighted_ranks import weighted_spearman
from tests.score.made import Made, Row, judged, metrics_of, said

DRAWS = 200


def video(item: str, moments: int = 2, **fields: Any) -> Row:
    listed = [{"id": f"m{i}", "start_s": 10.0 * i, "end_s": 10.0 * i + 3} for i in range(moments)]
    return {"id": item, "episode": f"e-{item}", "task": "intensity", "moments": listed, **fields}


def match(item: str, episode: str, **fields: Any) -> Row:
    """A matching item whose right candidate is B, at 20 s; the others are 20, 10 and 30 s away."""
    starts = {"A": 0.0, "B": 20.0, "C": 30.0, "D": 50.0}
    candidates = [{"id": k, "episode": episode, "start_s": s, "end_s": s + 3} for k, s in starts.items()]
    window = {"start_s": 20.0, "end_s": 23.0}
    return {"id": item, "episode": episode, "task": "matching", "window": window, "candidates": candidates, **fields}


def why(item: str, episode: str) -> Row:
    return {"id": item, "episode": episode, "task": "rationale", "window": {"start_s": 1.0, "end_s": 2.0}}


def rated(item: str, rater: str, *values: float) -> list[Row]:
    return [
        {"item": item, "unit": f"m{i}", "rater": rater, "rubric": "intensity", "value": value, "opt_out": None}
        for i, value in enumerate(values)
    ]


def profile(item: str, *numbers: float, condition: str = "joint", **fields: Any) -> Row:
    return said(item, json.dumps({f"m{i}": n for i, n in enumerate(numbers)}), condition=condition, **fields)


def points(item: str, cue: int, link: int, faithful: int, **fields: Any) -> Row:
    labels = {"cue": cue, "link": link, "faithful": faithful}
    return judged(item, "grounded_rationale", labels, **({"condition": "rationale"} | fields))


def bundle(folder: Path, items: Sequence[Row], ratings: Sequence[Row] = (), episodes: Sequence[Row] = ()) -> Made:
    """Consensus rises with the moments unless there are ratings; B is the right candidate."""
    references: list[Row] = []
    for item in items:
        row: Row = {"item": item["id"]}
        if item["task"] == "matching":
            row["answer"] = ["B"]
        elif item["task"] == "rationale":
            row["references"] = ["she laughs at the fall"]
        elif not ratings:
            row["consensus"] = {moment["id"]: float(i) for i, moment in enumerate(item["moments"])}
        references.append(row)
    return Made(folder, FAMILY, items, references, ratings=ratings, episodes=episodes)


def look(made: Made, name: str, rows: Iterable[Row] = (), judgements: Iterable[Row] = (), **options: str) -> Findings:
    """What the analysis finds in these rows."""
    analysis = next(one for one in ANALYSES if one.name == name)
    files = [made.predictions(rows)] if rows else []
    judged_files = [made.judgements(judgements)] if judgements else []
    return analyze(made.bundle, FAMILY, analysis, files, judged_files, draws=DRAWS, seed=42, options=options)


def value(cell: Any) -> float | None:
    found = cell["value"]
    assert found is None or isinstance(found, float)
    return found


VIDEOS = [video(f"v{i}") for i in range(4)]


def test_constant_profiles_count_as_zero_or_leave(tmp_path: Path) -> None:
    rows = [profile("v0", 1, 2), profile("v1", 2, 1), profile("v2", 5, 5), said("v3", "no", condition="joint")]
    made = bundle(tmp_path, VIDEOS)
    own = look(made, "constants", rows).data["m:joint"]
    assert (value(own["rho0"]), own["rho0"]["n"]) == (0, 3)
    assert (value(own["spearman_nonconstant"]), own["spearman_nonconstant"]["n"]) == (0, 2)
    assert value(own["constant"]) == 1
    assert own["outcomes"] == {"scored": 3, "unparsed": 1}
    scored = metrics_of(made.score(rows, draws=DRAWS), condition="joint")
    assert own["rho0"] == scored["ip.joint.rho0"]
    assert own["pearson"] == scored["ip.joint.pearson"]
    flat = look(made, "constants", [profile(f"v{i}", 7, 7) for i in range(4)])
    assert value(flat.data["m:joint"]["spearman_nonconstant"]) is None
    assert value(flat.data["m:joint"]["rho0"]) == 0
    assert any("spearman_nonconstant" in note for note in flat.notes)


def test_common_coverage_is_of_the_same_videos(tmp_path: Path) -> None:
    rows = [profile(f"v{i}", 1, 2, model="x") for i in range(4)]
    rows += [
        profile("v0", 2, 1, model="y"),
        profile("v1", 1, 2, model="y"),
        said("v2", "", condition="joint", model="y"),
    ]
    found = look(bundle(tmp_path, VIDEOS), "common", rows).data["joint"]
    assert (found["items"], found["left_out"]) == (2, 2)
    assert value(found["models"]["x"]["rho0"]) == 1
    assert value(found["differences"]["x minus y"]) == 1


def test_common_coverage_against_a_reference_and_of_rationales(tmp_path: Path) -> None:
    made = bundle(tmp_path, [why(f"g{i}", f"e{i}") for i in range(3)])
    rows = [said(f"g{i}", "She laughs.", condition="rationale", model=m) for m in "xyz" for i in range(3)]
    labels = [points(f"g{i}", 2, 1, 1, model="x") for i in range(3)]
    labels += [points(f"g{i}", i, 1, 0, model="y") for i in range(3)]
    labels += [points(f"g{i}", 1, 1, 0, model="z") for i in range(2)]
    found = look(made, "common", rows, labels, reference="x").data["rationale"]
    assert set(found["differences"]) == {"y minus x", "z minus x"}
    assert value(found["differences"]["y minus x"]) == pytest.approx((1 + 2) / 2 - 4)
    with pytest.raises(InputError, match="no predictions of this model"):
        look(made, "common", rows, labels, reference="w")


def test_protocols_are_paired_by_video(tmp_path: Path) -> None:
    from scipy.stats import spearmanr, wilcoxon

    videos = [video(f"v{i}", 3) for i in range(6)]
    made = bundle(tmp_path, videos)
    joint = [(3, 2, 1), (1, 3, 2), (2, 1, 3), (5, 5, 5), (1, 1, 2), (2, 3, 1)]
    independent = [(1, 2, 3), (1, 3, 2), (1, 2, 3), (1, 2, 3), (9, 9, 9), (1, 3, 2)]
    rows = [profile(f"v{i}", *numbers) for i, numbers in enumerate(joint)]
    rows += [profile(f"v{i}", *numbers, condition="independent") for i, numbers in enumerate(independent)]
    rows += [profile("v0", 1, 2, 3, condition="grouped")]
    found = look(made, "protocols", rows).data["m"]
    pair = found["pairs"]["independent minus joint"]

    def rho(numbers: Sequence[float]) -> float:
        return 0.0 if len(set(numbers)) == 1 else float(spearmanr(numbers, (0, 1, 2)).statistic)

    gaps = [rho(b) - rho(a) for a, b in zip(joint, independent, strict=True)]
    assert value(pair["extended"]["difference"]) == pytest.approx(np.mean(gaps))
    assert pair["extended"]["wilcoxon_p"] == pytest.approx(wilcoxon([g for g in gaps if abs(g) > 1e-9]).pvalue)
    # v3 is constant in joint, v4 in independent.
    assert pair["nonconstant"]["difference"]["n"] == 4
    assert value(pair["nonconstant"]["difference"]) == pytest.approx(np.mean([gaps[i] for i in (0, 1, 2, 5)]))
    assert found["common"]["videos"] == 1
    assert found["common"]["conditions"]["independent"]["minus joint"]["low"] is None
    with pytest.raises(InputError, match="two intensity conditions"):
        look(made, "protocols", rows[:6])


RATED = [
    *rated("v0", "r1", 0, 1, 2),
    *rated("v0", "r2", 0, 2, 2),
    *rated("v0", "r3", 1, 1, 1),
    *rated("v1", "r1", 1, 1, 1),
    *rated("v1", "r2", 2, 2, 2),
    *rated("v2", "r1", 0, 3, 1),
    *rated("v2", "r2", 0, 3, 1),
]
THREE = [video(f"v{i}", 3) for i in range(3)]


def test_models_and_raters_left_out(tmp_path: Path) -> None:
    made = bundle(tmp_path, THREE, RATED)
    rows = [profile("v0", 10, 20, 20), profile("v1", 1, 2, 3), profile("v2", 5, 90, 40)]
    own = look(made, "human", rows).data["m:joint"]
    # v0. Without r1 the others' means are .5, 1.5, 1.5: both moments that differ from the first are right for the model
    # (2 of 2) and for r1. Without r2: .5, 1, 1.5: model 2.5 of 3, r2 (0, 2, 2) 2.5. Without r3: 0, 1.5, 2: model 2.5,
    # r3, constant, 1.5. v1: others' means are constant. v2: everything right, two raters.
    model, human = (1 + 2.5 / 3 + 2.5 / 3) / 3, (1 + 2.5 / 3 + 0.5) / 3
    assert own["pairwise"]["units"] == 5
    assert value(own["pairwise"]["model"]) == pytest.approx((model + 1) / 2)
    assert value(own["pairwise"]["human"]) == pytest.approx((human + 1) / 2)
    assert own["pairwise"]["difference"]["n"] == 2
    # r3 is constant: its unit leaves the conditional scores, and counts as 0 in rho0.
    assert own["spearman_conditional"]["units"] == 4
    one_tie = 1.5 / (1.5 * 2) ** 0.5
    assert value(own["rho0"]["human"]) == pytest.approx(((1 * one_tie + one_tie + 0) / 3 + 1) / 2)
    assert value(own["spearman_conditional"]["model"]) == pytest.approx(((1 + one_tie) / 2 + 1) / 2)
    scored = metrics_of(made.score(rows, draws=DRAWS), condition="joint")
    assert own["pairwise"]["difference"] == scored["ip.joint.minus_human"]


def test_a_model_against_raters_who_agree_on_nothing(tmp_path: Path) -> None:
    made = bundle(tmp_path, THREE[1:2], RATED[9:15])
    own = look(made, "human", [profile("v1", 1, 2, 3)]).data["m:joint"]
    assert own["pairwise"]["units"] == 0
    assert value(own["pairwise"]["difference"]) is None


def test_channels_and_each_left_out(tmp_path: Path) -> None:
    ratings = [row for i in range(4) for r in ("r1", "r2") for row in rated(f"v{i}", r, 0, 1)]
    episodes = [{"id": f"e-v{i}", "lineage": {"channel": "c1" if i < 3 else "c2"}} for i in range(4)]
    made = bundle(tmp_path, VIDEOS, ratings, episodes)
    rows = [profile("v0", 1, 2), profile("v1", 2, 1), profile("v2", 3, 3), profile("v3", 1, 2)]
    found = look(made, "channels", rows).data["runs"]["m:joint"]
    # Raters agree, so the human value is 1; the model has 1, 0, 1/2 in c1 and 1 in c2.
    assert value(found["groups"]["c1"]["model"]) == 0.5
    assert value(found["groups"]["c1"]["left out"]) == 0
    assert value(found["groups"]["c2"]["left out"]) == -0.5
    assert value(found["all"]["difference"]) == pytest.approx(-1.5 / 4)
    assert found["groups"]["c2"]["difference"]["low"] is None, "one video"
    with pytest.raises(InputError, match="no such level"):
        look(made, "channels", rows, level="episode")


def test_wrong_choices_against_chance(tmp_path: Path) -> None:
    made = bundle(tmp_path, [match(f"s{i}", f"e{i}") for i in range(4)])
    said_by = {"s0": "B", "s1": "D", "s2": "C", "s3": "none of them"}
    rows = [said(item, raw, condition="matching") for item, raw in said_by.items()]
    own = look(made, "distances", rows).data["m:matching"]
    assert (value(own["error_mean_s"]), own["error_mean_s"]["n"]) == (20, 2)
    assert value(own["chance_error_mean_s"]) == 20
    assert value(own["mean_minus_chance_s"]) == 0
    assert own["without_choice"] == 1
    right = look(made, "distances", [row | {"raw": "B"} for row in rows])
    assert value(right.data["m:matching"]["mean_minus_chance_s"]) is None
    assert any("error_mean_s" in note for note in right.notes)


def test_controls_pair_items_with_donors(tmp_path: Path) -> None:
    from scipy.stats import binomtest

    episodes = [{"id": f"e{i}", "lineage": {"recording": f"r{i // 2}"}} for i in range(5)]
    items = [match(f"s{i}", f"e{i}", donor=f"e{i ^ 1}") for i in range(4)] + [match("s4", "e4")]
    made = bundle(tmp_path, items, episodes=episodes)
    right = {"matching": "0124", "matching_stimulus_only": "0", "matching_shuffled": "03"}
    rows = [said(f"s{i}", "B" if str(i) in own else "A", condition=c) for c, own in right.items() for i in range(5)]
    found = look(made, "controls", rows)
    one = found.data["matching"]["m"]
    # s4 has no donor.
    assert (one["items"], one["left_out"], one["donors"]) == (4, 1, {"items": 4, "same_recording": 4})
    assert value(one["conditions"]["matching"]["accuracy"]) == 0.75
    assert value(one["normal_minus"]["matching_stimulus_only"]["accuracy"]) == 0.5
    assert value(one["normal_minus"]["matching_shuffled"]["accuracy"]) == 0.25
    test = one["normal_minus"]["matching_shuffled"]["mcnemar"]
    assert (test["normal_only"], test["control_only"]) == (2, 1)
    assert test["p"] == pytest.approx(binomtest(1, 3).pvalue)
    with pytest.raises(InputError, match="a normal condition and of a control"):
        look(made, "controls", rows[:5])


def test_controls_of_rationales_use_what_was_judged(tmp_path: Path) -> None:
    made = bundle(tmp_path, [why(f"g{i}", f"e{i}") for i in range(3)])
    conditions = ("rationale", "rationale_shuffled")
    rows = [said(f"g{i}", "He falls.", condition=c) for c in conditions for i in range(3)]
    labels = [points(f"g{i}", 2, 2, 1) for i in range(3)]
    labels += [points(f"g{i}", 1, i, 1, condition="rationale_shuffled") for i in range(2)]
    one = look(made, "controls", rows, labels).data["rationale"]["m"]
    assert (one["items"], one["left_out"], one["donors"]) == (2, 1, None)
    assert value(one["normal_minus"]["rationale_shuffled"]["total"]) == pytest.approx(5 - 2.5)
    assert value(one["normal_minus"]["rationale_shuffled"]["link"]) == 1.5


def test_two_judges_on_the_same_replies(tmp_path: Path) -> None:
    from scipy.stats import pearsonr

    made = bundle(tmp_path, [why(f"g{i}", f"e{i}") for i in range(5)])
    given_by = {
        "j": [(2, 2, 1), (0, 0, 0), (1, 2, 0), (1, 1, 1), (2, 1, 0)],
        "k": [(2, 2, 1), (1, 1, 0), (2, 2, 1), (1, 2, 1)],
    }
    labels = [
        points(f"g{i}", *one, judge=j) for j, given_points in given_by.items() for i, one in enumerate(given_points)
    ]
    labels.append(judged("g4", "grounded_rationale", None, condition="rationale", judge="k", status="unparsed"))
    labels.append(points("g0", 0, 0, 0, judge="human:a"))
    found = look(made, "judges", [], labels)
    own = found.data["j and k"]["m:rationale"]
    x, y = [5, 0, 3, 3], [5, 2, 5, 4]
    assert value(own["pearson"]) == pytest.approx(pearsonr(x, y).statistic)
    assert value(own["mean_abs_difference"]) == pytest.approx((0 + 2 + 2 + 1) / 4)
    assert value(own["difference"]) == pytest.approx(-5 / 4)
    assert "1 judgements without valid labels left out" in found.notes
    with pytest.raises(InputError, match="two judges"):
        look(made, "judges", [], [row for row in labels if row["judge"] == "j"])


def test_a_judge_that_gives_everyone_the_same(tmp_path: Path) -> None:
    made = bundle(tmp_path, [why(f"g{i}", f"e{i}") for i in range(3)])
    labels = [points(f"g{i}", 1, 1, 1, judge="j") for i in range(3)] + [
        points(f"g{i}", i, 1, 1, judge="k") for i in range(3)
    ]
    labels += [points(f"g{i}", i, 0, 1, judge="human:a") for i in range(3)]
    both = look(made, "judges", [], labels)
    assert value(both.data["j and k"]["all"]["pearson"]) is None
    assert any("j and k, all: undefined" in note for note in both.notes)
    anchor = look(made, "anchor", [], labels)
    assert anchor.data["j"]["dimensions"]["total"]["people_mean"]["value"] is None
    assert anchor.data["k"]["dimensions"]["total"]["people_mean"]["value"] == 1
    assert anchor.data["j"]["dimensions"]["total"]["inter_rater"] == {"mean": None, "low": None, "high": None, "n": 0}


def test_a_judge_against_people(tmp_path: Path) -> None:
    from scipy.stats import spearmanr

    made = bundle(tmp_path, [why(f"g{i}", f"e{i}") for i in range(6)])
    cues = {
        "j": [0, 0, 1, 1, 2, 2],
        "human:a": [0, 1, 0, 2, 1, 2],
        "human:b": [0, 0, 2, 1, 2, 1],
        "human:c": [1, 0, 1, 2, 2],
    }
    labels = [points(f"g{i}", cue, 1, 1, judge=j) for j, own in cues.items() for i, cue in enumerate(own)]
    one = look(made, "anchor", [], labels).data["j"]
    means = [np.mean([own[i] for j, own in cues.items() if j != "j" and i < len(own)]) for i in range(6)]
    cue = one["dimensions"]["cue"]
    assert cue["people_mean"]["value"] == pytest.approx(spearmanr(cues["j"], means).statistic)
    assert cue["people_mean"]["low"] < cue["people_mean"]["value"] < cue["people_mean"]["high"]
    single = [spearmanr(cues["j"][: len(own)], own).statistic for j, own in cues.items() if j != "j"]
    assert cue["individual"]["mean"] == pytest.approx(np.mean(single))
    assert (cue["individual"]["low"], cue["individual"]["high"]) == (
        pytest.approx(min(single)),
        pytest.approx(max(single)),
    )
    pairs = [("human:a", "human:b", 6), ("human:a", "human:c", 5), ("human:b", "human:c", 5)]
    between = [spearmanr(cues[x][:n], cues[y][:n]).statistic for x, y, n in pairs]
    assert cue["inter_rater"]["mean"] == pytest.approx(np.mean(between))
    # Link and consistency do not vary: undefined, and the totals' difference is that of the cues.
    assert one["dimensions"]["link"]["people_mean"]["value"] is None
    assert value(one["total_minus_people"]) == pytest.approx(np.mean(np.array(cues["j"]) - means))
    with pytest.raises(InputError, match="a judge and people"):
        look(made, "anchor", [], [row for row in labels if row["judge"] == "j"])


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=9).filter(
        lambda rows: len({x for x, _, w in rows if w}) > 1 and len({y for _, y, w in rows if w}) > 1
    )
)
def test_weighted_spearman_is_that_of_the_drawn_rows(rows: list[tuple[int, int, int]]) -> None:
    from scipy.stats import spearmanr

    x, y, w = (list(column) for column in zip(*rows, strict=True))
    drawn = [(a, b) for a, b, times in rows for _ in range(times)]
    expected = spearmanr([a for a, _ in drawn], [b for _, b in drawn]).statistic
    assert weighted_spearman(x, y, np.array([w]))[0] == pytest.approx(expected)


def test_collapse_and_what_a_gain_is_made_of(tmp_path: Path) -> None:
    made = bundle(tmp_path, VIDEOS)
    base = [profile("v0", 1, 0), profile("v1", 0, 1), profile("v2", 3, 3), profile("v3", 90, 10)]
    adapted = [profile("v0", 4, 4), profile("v1", 1, 2), profile("v2", 1, 2), profile("v3", 1, 2)]
    rows = [*(row | {"model": "base"} for row in base), *(row | {"model": "new"} for row in adapted)]
    found = look(made, "collapse", rows, a="new:joint", b="base:joint").data
    spread = found["runs"]["base:joint"]["intensity"]
    assert (spread["n"], spread["unparsed"], spread["constant"], spread["distinct"]) == (4, 0, 1, 5)
    assert spread["sd_within"] == pytest.approx((0.5 + 0.5 + 0 + 40) / 4)
    assert spread["sd_all"] == pytest.approx(np.std([1, 0, 0, 1, 3, 3, 90, 10]))
    gain = found["gain"]["intensity"]
    # rho0: base -1, 1, 0, -1; new 0, 1, 1, 1.
    assert value(gain["all"]["difference"]) == pytest.approx(1)
    assert (value(gain["nonconstant_in_both"]["difference"]), gain["nonconstant_in_both"]["difference"]["n"]) == (1, 2)
    assert (value(gain["nonconstant_in_a"]["difference"]), gain["nonconstant_in_a"]["difference"]["n"]) == (1, 3)
    assert gain["constant_in_a"]["contribution"] == pytest.approx(1 / 4)
    assert gain["nonconstant_in_a"]["contribution"] == pytest.approx(3 / 4)


def test_a_matching_gain_and_replies_that_did_not_parse(tmp_path: Path) -> None:
    made = bundle(tmp_path, [match(f"s{i}", f"e{i}") for i in range(5)])
    said_by = {"base": ["B", "A", "cannot say", "cannot say", "B"], "new": ["B", "A", "B", "B", "A"]}
    rows = [
        said(f"s{i}", raw, condition="matching", model=m) for m, own in said_by.items() for i, raw in enumerate(own)
    ]
    gain = look(made, "collapse", rows, a="new:matching", b="base:matching").data["gain"]["matching"]
    assert value(gain["all"]["difference"]) == pytest.approx(0.2)
    assert value(gain["parsed_by_b"]["difference"]) == pytest.approx(-1 / 3)
    assert gain["not_parsed_by_b"]["share_of_gain"] == 2
    assert gain["all"]["mcnemar"] == {"a_only": 2, "b_only": 1, "p": 1}
    alone = look(made, "collapse", rows[:5])
    assert "gain" not in alone.data
    assert any("no gain" in note for note in alone.notes)
    assert alone.data["runs"]["base:matching"]["matching"]["share_constant"] is None


def test_debiasing_by_hand(tmp_path: Path) -> None:
    # r2 is one above r1 everywhere; r1 alone rated v0's second moment, so its raw mean is half a point too low.
    ratings = [
        *rated("v0", "r1", 1.0, 1.2),
        *rated("v0", "r2", 2.0),
        *rated("v1", "r1", 0, 1),
        *rated("v1", "r2", 1, 2),
    ]
    made = bundle(tmp_path, VIDEOS[:2], ratings)
    found = look(made, "debiasing", [profile("v0", 1, 2), profile("v1", 1, 2)]).data
    assert found["rater_effects"] == {"r1": pytest.approx(-0.5), "r2": pytest.approx(0.5)}
    # Raw v0: 1.5, 1.2; debiased 1.5, 1.7. Nothing else moves.
    assert found["largest_change"] == pytest.approx(0.5)
    assert found["mean_change"] == pytest.approx(0.5 / 4)
    assert (found["order_changes"], found["order_reversals"], found["changed_videos"]) == (1, 1, ["v0"])
    own = found["runs"]["m:joint"]
    assert (own["raw"], own["debiased"], own["n"]) == (0, 1, 2)


def test_raters_that_nothing_joins_have_no_debiased_consensus(tmp_path: Path) -> None:
    made = bundle(tmp_path, VIDEOS[:2], [*rated("v0", "r1", 1, 2), *rated("v1", "r2", 1, 2)])
    found = look(made, "debiasing")
    assert any("groups that no rating joins" in note for note in found.notes)
    assert found.data["reason"] is not None


def test_debiasing_without_ratings(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no intensity ratings"):
        look(bundle(tmp_path, VIDEOS), "debiasing")


def test_lineage_overlap_by_level_and_scores_on_the_rest(tmp_path: Path) -> None:
    origins = [("p0", "rec0"), ("p1", "rec0"), ("p2", "rec1"), ("p3", "rec2")]
    episodes = [
        {"id": f"e-v{i}", "lineage": {"parent": parent, "recording": recording, "channel": "c"}}
        for i, (parent, recording) in enumerate(origins)
    ]
    made = bundle(tmp_path, VIDEOS, episodes=episodes)
    rows = [profile("v0", 1, 2), profile("v1", 1, 2), profile("v2", 2, 1), profile("v3", 1, 2)]
    rows += [profile(f"v{i}", 5, 5, model="base") for i in range(4)]
    found = look(made, "lineage", rows, clips="e-v0", parents="p2", a="m:joint", b="base:joint").data
    counts = {level: found[level]["tasks"]["intensity"] for level in ("item", "clip", "parent", "recording", "channel")}
    assert counts["item"] == {"overlap": 0, "excluded": 0, "left": 4}
    assert counts["clip"] == {"overlap": 1, "excluded": 1, "left": 3}
    # v0 by the parent of the listed clip, v2 by the listed parent.
    assert counts["parent"] == {"overlap": 2, "excluded": 2, "left": 2}
    # v1 shares the recording of the listed clip; where p2 comes from is not known.
    assert counts["recording"] == {"overlap": 2, "excluded": 3, "left": 1}
    assert counts["channel"]["left"] == 0
    assert value(found["nothing"]["scores"]["m:joint"]["intensity"]) == 0.5
    assert value(found["clip"]["scores"]["m:joint"]["intensity"]) == pytest.approx(1 / 3)
    assert value(found["parent"]["scores"]["a minus b"]["intensity"]) == 1
    assert found["recording"]["scores"]["m:joint"]["intensity"]["low"] is None
    assert value(found["channel"]["scores"].get("m:joint", {"intensity": {"value": None}})["intensity"]) is None


def test_lineage_of_matching_items_looks_at_candidates_too(tmp_path: Path) -> None:
    item = match("s0", "e0")
    item["candidates"][3]["episode"] = "other"
    made = bundle(tmp_path, [item, match("s1", "e1")], episodes=[{"id": "other"}])
    found = look(made, "lineage", ids="other,unknown").data
    assert found["clip"]["tasks"]["matching"] == {"overlap": 1, "excluded": 1, "left": 1}
    with pytest.raises(InputError, match="no ids"):
        look(made, "lineage")


def test_source_groups_can_be_resampled(tmp_path: Path) -> None:
    episodes = [{"id": f"e-v{i}", "lineage": {"recording": f"r{i // 2}"}} for i in range(4)]
    made = bundle(tmp_path, VIDEOS, episodes=episodes)
    rows = [profile("v0", 1, 2), profile("v1", 1, 2), profile("v2", 2, 1), profile("v3", 2, 1)]
    own = look(made, "constants", rows, resample="recording").data["m:joint"]["rho0"]
    # Two recordings of equal videos: a draw is all right, all wrong, or half.
    assert (own["low"], own["high"]) == (-1, 1)
    narrow = look(made, "constants", rows).data["m:joint"]["rho0"]
    assert narrow["value"] == own["value"] == 0
