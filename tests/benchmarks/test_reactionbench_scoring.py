"""ReactionBench's three tasks, worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.reactionbench.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.records.public import ITEM
from onlooker.score.compare import compare_runs
from onlooker.stats.interval import wilson
from onlooker.text.outcome import Unparsed
from tests.score.made import Made, Row, coverage_of, judged, metrics_of, said, value_of


def video(item: str, moments: int, **labels: Any) -> Row:
    listed = [{"id": f"m{i}", "start_s": 10.0 * i, "end_s": 10.0 * i + 3} for i in range(moments)]
    return {"id": item, "episode": f"e-{item}", "task": "intensity", "moments": listed, "labels": labels}


def scores(*numbers: float) -> str:
    return json.dumps({f"m{i}": number for i, number in enumerate(numbers)})


def rated(item: str, rater: str, *values: float | None) -> list[Row]:
    return [
        {"item": item, "unit": f"m{i}", "rater": rater, "rubric": "intensity", "value": value, "opt_out": None}
        for i, value in enumerate(values)
        if value is not None
    ]


@pytest.fixture
def profiles(tmp_path: Path) -> Made:
    """Three videos of three moments; v1 has a given consensus, the others the mean of their ratings."""
    ratings = [
        *rated("v0", "r1", 0, 1, 2),
        *rated("v0", "r2", 0, 2, 2),
        *rated("v0", "r3", 1, 0, None),
        {"item": "v0", "unit": "m0", "rater": "r4", "rubric": "intensity", "value": 3, "opt_out": "unclear"},
        {"item": "v0", "unit": "m0", "rater": "r5", "rubric": "mood", "value": "sad", "opt_out": None},
        *rated("v1", "r1", 1, 1, 1),
        *rated("v1", "r2", 2, 2, 2),
        *rated("v2", "r1", 0, 3, 1),
        *rated("v2", "r2", 0, 3, 1),
    ]
    references: list[Row] = [
        {"item": "v0"},
        {"item": "v1", "consensus": {"m0": 1, "m1": 2, "m2": 3}},
        {"item": "v2"},
    ]
    return Made(tmp_path, FAMILY, [video(f"v{i}", 3) for i in range(3)], references, ratings=ratings)


def test_intensity_worked_by_hand(profiles: Made) -> None:
    rows = [said("v0", scores(10, 20, 20)), said("v1", scores(50, 50, 50)), said("v2", scores(5, 90, 40))]
    result = profiles.score([row | {"condition": "joint"} for row in rows])
    found = {name: m["value"] for name, m in metrics_of(result, condition="joint").items()}
    # v0: consensus (1/3, 1, 2) against ranks (1, 2.5, 2.5); v1 constant, 0; v2 perfect.
    rho = 1.5 / (1.5 * 2) ** 0.5
    assert found["ip.joint.rho0"] == pytest.approx((rho + 0 + 1) / 3)
    assert found["ip.joint.constant"] == 1
    assert found["ip.joint.spearman_nonconstant"] == pytest.approx((rho + 1) / 2)
    # v0. Without r1 the others' means are 0.5, 1, 2: the model has 2.5 of 3 pairs, r1 3. Without r2: 0.5, 0.5, 2:
    # two pairs, of which model and r2 (0, 2, 2) have one and tie on the other. r3 did not rate all. v1 has no eligible
    # pair: single raters' means are constant. v2: all right.
    model, human = (2.5 / 3 + 0.75) / 2, (1 + 0.75) / 2
    assert found["ip.joint.pairwise_accuracy"] == pytest.approx((model + 1) / 2)
    assert found["ip.joint.human_pairwise_accuracy"] == pytest.approx((human + 1) / 2)
    assert found["ip.joint.minus_human"] == pytest.approx((model - human) / 2)
    assert metrics_of(result, condition="joint")["ip.joint.minus_human"]["n"] == 2
    assert metrics_of(result, condition="joint")["ip.joint.pearson"]["n"] == 9
    assert "1 constant profiles scored 0" in result.scores["models"]["m"]["joint"]["notes"]


def test_profiles_that_are_not_there_are_left_out_and_counted(profiles: Made) -> None:
    rows = [said("v0", scores(1, 2)), said("v2", scores(5, 90, 40))]
    result = profiles.score([row | {"condition": "grouped"} for row in rows])
    assert coverage_of(result, condition="grouped") == {
        "items": 3,
        "seeds": 1,
        "scored": 1,
        "unparsed": 1,
        "missing": 1,
    }
    assert value_of(result, "ip.grouped.rho0", "grouped") == 1
    assert "1 unparsed left out" in result.scores["models"]["m"]["grouped"]["notes"]


def test_an_item_in_parts_has_the_outcome_of_its_first_failing_part(profiles: Made) -> None:
    def part(item: str, moment: int, raw: str, status: str = "ok") -> Row:
        return said(item, raw, part=f"m{moment}", status=status, condition="independent")

    rows = [
        *(part("v0", i, raw) for i, raw in enumerate(["7", "Score: 20", "30/100"])),
        *(part("v1", i, raw, status) for i, raw, status in [(2, "no idea", "ok"), (1, "5", "refused"), (0, "1", "ok")]),
        *(part("v2", i, raw) for i, raw in [(0, "1"), (2, "150")]),
    ]
    result = profiles.score(rows)
    rows_by_item = {row["item"]: row for row in result.items}
    assert rows_by_item["v0"]["parsed"] == {"m0": 7, "m1": 20, "m2": 30}
    assert rows_by_item["v1"]["outcome"] == "refused"
    assert rows_by_item["v2"]["outcome"] == "missing"
    assert len(result.items) == 3
    assert metrics_of(result, condition="independent")["ip.independent.rho0"]["n"] == 1


def test_an_item_in_one_call_and_in_parts_is_an_error(profiles: Made) -> None:
    rows = [said("v0", scores(1, 2, 3), condition="joint"), said("v0", "1", part="m0", condition="joint")]
    with pytest.raises(InputError, match="in parts"):
        profiles.score(rows)


def test_a_constant_target_leaves_a_varying_prediction_out(tmp_path: Path) -> None:
    references = [{"item": "v0", "consensus": {"m0": 1, "m1": 1}}, {"item": "v1", "consensus": {"m0": 1, "m1": 2}}]
    made = Made(tmp_path, FAMILY, [video("v0", 2), video("v1", 2)], references)
    result = made.score([said(v, scores(1, 2), condition="joint") for v in ("v0", "v1")])
    assert metrics_of(result, condition="joint")["ip.joint.rho0"]["n"] == 1
    assert value_of(result, "ip.joint.pairwise_accuracy", "joint") is None


def test_conditions_owe_the_items_of_their_task(tmp_path: Path) -> None:
    made = matching_and_more(tmp_path)
    owed = {}
    for condition in ("joint_video", "matching_shuffled", "rationale", "something_else"):
        result = made.score([said("v0", scores(1, 2), condition=condition)])
        owed[condition] = coverage_of(result, condition=condition)["items"]
    assert owed == {"joint_video": 1, "matching_shuffled": 4, "rationale": 2, "something_else": 7}


def test_two_protocols_are_compared_without_their_names(profiles: Made) -> None:
    rows = [said(v, scores(1, 2, 3), condition=c) for v in ("v0", "v1") for c in ("joint", "grouped", "joint_video")]
    rows.append(said("v2", "{}", condition="joint"))
    rows.append(said("v2", scores(1, 2, 3), condition="grouped"))
    file = profiles.predictions(rows)
    apart = compare_runs(profiles.bundle, FAMILY, [file], "m:joint", "m:grouped", draws=50).report
    assert apart["metrics"]["ip.rho0"]["n"] == 2
    assert apart["items"]["left_out"]["profile not parsed by both"] == 1
    same = compare_runs(profiles.bundle, FAMILY, [file], "m:joint", "m:joint_video", draws=50).report
    assert same["metrics"]["ip.joint.rho0"]["difference"] == 0


def matching_and_more(tmp_path: Path) -> Made:
    """Four matching items whose right candidate is B, at 20 s; one intensity item, two rationales."""
    starts = {"A": 0.0, "B": 20.0, "C": 31.0, "D": 44.0}
    items: list[Row] = [
        {
            "id": f"s{i}",
            "episode": f"e{i % 2}",
            "task": "matching",
            "window": {"start_s": 20.0, "end_s": 23.0},
            "candidates": [
                {"id": k, "episode": "other" if i == 3 and k == "D" else f"e{i % 2}", "start_s": s, "end_s": s + 3}
                for k, s in starts.items()
            ],
        }
        for i in range(4)
    ]
    items.append(video("v0", 2))
    items += [
        {"id": f"g{i}", "episode": f"e{i}", "task": "rationale", "window": {"start_s": 1.0, "end_s": 2.0}}
        for i in range(2)
    ]
    references: list[Row] = [{"item": f"s{i}", "answer": ["B"]} for i in range(4)]
    references += [{"item": "v0", "consensus": {"m0": 1, "m1": 2}}]
    references += [{"item": f"g{i}", "references": ["she laughs"]} for i in range(2)]
    return Made(tmp_path, FAMILY, items, references, episodes=[{"id": "other"}])


def test_matching_worked_by_hand(tmp_path: Path) -> None:
    rows = [said("s0", "B"), said("s1", "Segment A"), said("s2", "C"), said("s3", "none of them")]
    result = matching_and_more(tmp_path).score([row | {"condition": "matching"} for row in rows])
    found = metrics_of(result, condition="matching")
    low, high = wilson(1, 4) or (None, None)
    assert found["srm.accuracy"] == {"value": 0.25, "low": low, "high": high, "n": 4}
    assert (found["srm.error_mean_s"]["value"], found["srm.error_mean_s"]["n"]) == (pytest.approx(15.5), 2)
    assert found["srm.error_median_s"]["value"] == pytest.approx(15.5)
    # Distractors are 20, 11 and 24 s away; the last one of s3 is on another clip's clock.
    assert found["srm.chance_error_mean_s"]["value"] == pytest.approx((4 * 20 + 4 * 11 + 3 * 24) / 11)
    assert found["srm.chance_error_median_s"]["value"] == 20
    assert found["srm.chance_error_mean_s"]["n"] == 11


def test_rationales_worked_by_hand(tmp_path: Path) -> None:
    made = matching_and_more(tmp_path)
    rows = [said("g0", "He flinches.", condition="rationale"), said("g1", "She laughs.", condition="rationale")]
    points = {"cue": 2.0, "link": 1, "faithful": 1}
    labels = [judged("g0", "grounded_rationale", points, condition="rationale")]
    labels.append(judged("g1", "grounded_rationale", points | {"cue": 1.5}, condition="rationale"))
    result = made.score(rows, labels)
    assert value_of(result, "grg.total", "rationale") == 4
    assert metrics_of(result, condition="rationale")["grg.cue"]["n"] == 1
    assert coverage_of(result, condition="rationale") == {"items": 2, "seeds": 1, "scored": 1, "unjudged": 1}
    assert result.items[0]["parsed"] == "He flinches."


def test_a_rater_twice_on_a_moment_is_an_error(tmp_path: Path) -> None:
    ratings = rated("v0", "r1", 1, 2) + rated("v0", "r1", 1)
    made = Made(tmp_path, FAMILY, [video("v0", 2)], [{"item": "v0"}], ratings=ratings)
    with pytest.raises(InputError, match="second rating"):
        made.score([said("v0", scores(1, 2), condition="joint")])


def test_candidates_rated_one_by_one(tmp_path: Path) -> None:
    """Paper, appendix D.12. q0: right alone; q1: tied with another; q2: wrong alone; q3: one call unparsed."""
    window = {"start_s": 30.0, "end_s": 33.0}
    items = [
        {
            "id": f"q{n}",
            "episode": f"e{n}",
            "task": "matching",
            "window": window,
            "candidates": [
                {"id": letter, "episode": f"e{n}", "start_s": 10.0 * k, "end_s": 10.0 * k + 4}
                for k, letter in enumerate("ABCD")
            ],
        }
        for n in range(4)
    ]
    made = Made(tmp_path, FAMILY, items, [{"item": f"q{n}", "answer": ["A"]} for n in range(4)])
    ratings = {"q0": (9, 2, 3, 8), "q1": (7, 7, 3, 1), "q2": (1, 2, 10, 9)}
    rows = [
        said(item, f"{number}/10", part=letter, condition="matching_per_option")
        for item, numbers in ratings.items()
        for letter, number in zip("ABCD", numbers, strict=True)
    ]
    rows += [
        said("q3", "maybe" if letter == "C" else "5", part=letter, condition="matching_per_option") for letter in "ABCD"
    ]
    result = made.score(rows)
    found = {name: (m["value"], m["n"]) for name, m in metrics_of(result, condition="matching_per_option").items()}
    assert found["srm.accuracy"] == (0.25, 4), "strict: a tie is wrong"
    assert found["srm.tie_rate"] == (pytest.approx(1 / 3), 3)
    assert found["srm.random_tie_accuracy"] == (pytest.approx((1 + 0.5 + 0 + 0) / 4), 4)
    assert found["srm.decided_accuracy"] == (0.5, 2)
    assert found["srm.error_mean_s"] == (20.0, 1), "only a single choice has a distance"
    assert coverage_of(result, condition="matching_per_option") == {"items": 4, "seeds": 1, "scored": 3, "unparsed": 1}


@pytest.mark.parametrize("raw", ["0", "11", "70/100", "3 or 4"])
def test_a_likelihood_is_one_number_from_1_to_10(raw: str) -> None:
    item = ITEM.validate_python(
        {
            "id": "q",
            "episode": "e",
            "task": "matching",
            "window": {"start_s": 0.0, "end_s": 1.0},
            "candidates": [{"id": "A", "episode": "e", "start_s": 0.0, "end_s": 1.0}],
        }
    )
    assert isinstance(FAMILY.parse(item, raw, "A"), Unparsed)
