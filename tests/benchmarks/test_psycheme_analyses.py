"""PsycheMME's analyses on bundles small enough to work by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.benchmarks.psycheme.analyses import ANALYSES
from onlooker.benchmarks.psycheme.analyses.rescoring import AGGREGATIONS, WEIGHTS
from onlooker.benchmarks.psycheme.scoring import EVIDENCE, FAMILY, LOGIC
from onlooker.errors import InputError
from onlooker.protocol.analysis import Findings
from onlooker.score.analyze import analyze
from tests.score.made import Made, Row, choice, judged, metrics_of, said

DRAWS = 200


def open_item(item: str, episode: str, capability: str = "N") -> Row:
    labels = {"capability": capability}
    return {"id": item, "episode": episode, "task": "open", "question": "Why?", "labels": labels}


def reply(answer: Any, why: str | None = "she looks away") -> str:
    return json.dumps({"answer": answer, **dict.fromkeys("GWNTSAMR"), "G": why})


def verified(item: str, evidence: str, logic: str, **fields: Any) -> Row:
    return judged(item, "verified", {"evidence": evidence, "logic": logic}, **fields)


def rating(item: str, rater: str, rubric: str, value: Any, **fields: Any) -> Row:
    return {"item": item, "unit": item, "rater": rater, "rubric": rubric, "value": value, "opt_out": None, **fields}


def bundle(folder: Path, items: Sequence[Row], ratings: Sequence[Row] = (), episodes: Sequence[Row] = ()) -> Made:
    """A bundle in which A is the answer of every choice."""
    references = [{"item": i["id"], "answer": "because" if i["task"] == "open" else ["A"]} for i in items]
    return Made(folder, FAMILY, items, references, ratings=ratings, episodes=episodes)


def look(made: Made, name: str, rows: Iterable[Row] = (), judgements: Iterable[Row] = (), **options: str) -> Findings:
    """What the analysis finds in these rows."""
    analysis = next(one for one in ANALYSES if one.name == name)
    files = [made.predictions(rows)] if rows else []
    judged_files = [made.judgements(judgements)] if judgements else []
    return analyze(made.bundle, FAMILY, analysis, files, judged_files, draws=DRAWS, seed=42, options=options)


# Three episodes; T and G single choices, S select all, N open.
ITEMS = [
    choice("t0", "e0", capability="T"),
    choice("t1", "e1", capability="T"),
    choice("g0", "e0", capability="G"),
    choice("g1", "e2", capability="G"),
    choice("s0", "e1", capability="S", select="all"),
    open_item("n0", "e1"),
    open_item("n1", "e2"),
]
ROWS = [
    said("t0", reply("A")),
    said("t1", reply("A")),
    said("g0", reply("A")),
    said("g1", reply("A", why="n/a")),
    said("s0", reply(["A"])),
    said("n0", reply("he is tired")),
    said("n1", reply("no idea")),
]
JUDGED = [
    verified("t0", "weak", "weak"),
    verified("t1", "strong", "coherent"),
    verified("g0", "normal", "acceptable"),
    verified("s0", "weak", "acceptable"),
    judged("n0", "open_answer", {"credit": 1}),
    verified("n0", "strong", "acceptable"),
    judged("n1", "open_answer", {"credit": 0}),
]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return bundle(tmp_path, ITEMS)


def test_retention_and_losses_by_hand_and_as_in_scores(made: Made) -> None:
    own = look(made, "retention", ROWS, JUDGED).data["m:c"]
    assert own["retention.capability.T"]["value"] == pytest.approx((0.64 / 1.44 + 1) / 2)
    # g1 is right without an informative rationale.
    assert own["retention.capability.G"]["value"] == pytest.approx(1 / 1.44 / 2)
    assert own["lowest_retention"] == "G"
    # Coverage is lost in G alone, half of its credit, and G is one of four capabilities.
    assert own["loss.coverage"]["value"] == pytest.approx(0.5 / 4)
    losses = sum(own[f"loss.{stage}"]["value"] for stage in ("answer", "coverage", "evidence", "logic"))
    assert losses + own["stage.logic"]["value"] == pytest.approx(1)
    # v: .444 (t0), 1 (t1), .694 (g0), 0 (g1), .556 (s0), .833 (n0), 0 (n1).
    sevenths = {name: round(7 * share) for name, share in own["distribution"].items()}
    assert sevenths == {"0": 2, "to 1/4": 0, "to 1/2": 1, "to 3/4": 2, "below 1": 1, "1": 1}
    scored = metrics_of(made.score(ROWS, JUDGED, draws=DRAWS))
    assert own["retention.pooled"] == scored["retention.pooled"]
    assert own["stage.evidence"] == scored["stage.evidence"]


def test_the_waterfall_of_losses_begins_at_full_credit_and_ends_at_what_is_verified(made: Made) -> None:
    found = look(made, "retention", ROWS, JUDGED)
    own, fall = found.data["m:c"], next(figure for figure in found.figures if figure.kind == "waterfall")
    series = fall.series[0]
    first, *losses, last = series.values
    assert (first, last) == (1.0, own["stage.logic"]["value"])
    assert losses == [-own[f"loss.{stage}"]["value"] for stage in ("answer", "coverage", "evidence", "logic")]
    # The interval of a loss with a minus has its ends the other way round.
    assert (series.low[1], series.high[1]) == (-own["loss.answer"]["high"], -own["loss.answer"]["low"])
    assert len(fall.categories) == len(series.values) == len(series.low) == len(series.high)


def test_retention_without_credit_is_undefined_with_a_reason(made: Made) -> None:
    rows = [row | {"raw": reply("B")} if row["item"].startswith("t") else row for row in ROWS]
    found = look(made, "retention", rows, JUDGED)
    assert found.data["m:c"]["retention.capability.T"]["value"] is None
    assert found.data["m:c"]["lowest_retention"] is None
    assert any("undefined" in note and "retention.capability.T" in note for note in found.notes)


def test_labels_of_correct_single_choice_answers(made: Made) -> None:
    rows = [
        *ROWS[:4],
        said("s0", reply(["A"])),
        *ROWS[5:],
        said("t0", reply("A"), model="k"),
        said("t1", reply("B"), model="k"),
    ]
    labels = [*JUDGED, verified("t0", "contradicted", "acceptable", model="k")]
    found = look(made, "labels", rows, labels)
    mine, rest = found.data["inside"], found.data["rest"]
    assert found.data["capability"] == "T"
    # T: weak/weak, strong/coherent, and k's contradicted/acceptable; the rest: g0 and g1, the latter without rationale.
    # s0 (select all) and the open answers are no single choices; k's wrong t1 is no correct answer.
    assert (mine["evidence.adverse"]["n"], rest["evidence.adverse"]["n"]) == (3, 2)
    assert mine["evidence.adverse"]["value"] == pytest.approx(2 / 3)
    assert mine["logic.adverse"]["value"] == pytest.approx(1 / 3)
    assert (rest["evidence.adverse"]["value"], rest["evidence.no rationale"]["value"]) == (0, 0.5)
    assert mine["retention"]["value"] == pytest.approx((0.64 / 1.44 + 1 + 0.5 / 1.44) / 3)
    assert found.data["difference"]["evidence.adverse"]["value"] == pytest.approx(2 / 3)
    assert rest["retention"]["value"] == pytest.approx(0.5 / 1.44)
    assert found.data["overlap"]["inside"] == {"both": 1, "evidence_only": 1, "logic_only": 0, "neither": 1}
    # Among single choices G keeps 34.7 % and T 72 %.
    assert found.data["lowest"]["m:c"] == {"verified": "G", "retention": "G"}


def test_labels_of_a_capability_without_correct_answers(made: Made) -> None:
    found = look(made, "labels", ROWS, JUDGED, capability="R")
    assert found.data["difference"]["evidence.adverse"] == {"value": None, "low": None, "high": None, "n": 4}
    assert any("no correct single-choice answer of capability R" in note for note in found.notes)
    with pytest.raises(InputError, match="no such capability"):
        look(made, "labels", ROWS, JUDGED, capability="Q")


def test_completeness_splits_a_difference_and_counts_moves(tmp_path: Path) -> None:
    items = [open_item(f"n{i}", f"e{i}") for i in range(4)]
    made = bundle(tmp_path, items)
    credits_of = {"a": [1, 1, 0.5, 0], "b": [0.5, 1, 0.5, 0.5]}
    rows = [said(f"n{i}", reply("one two three"[: 3 + 4 * (i % 3)]), model=m) for m in "ab" for i in range(4)]
    labels = [
        judged(f"n{i}", "open_answer", {"credit": credit}, model=m)
        for m, given in credits_of.items()
        for i, credit in enumerate(given)
    ]
    found = look(made, "completeness", rows, labels)
    one = found.data["runs"]["a:c"]
    assert one["steps"] == {"0.0": 1, "0.5": 1, "1.0": 2}
    assert one["raw"]["value"] == 0.625
    assert (one["nonzero"]["value"] + one["full"]["value"]) / 2 == one["raw"]["value"]
    # Words: 1, 2, 3, 1.
    assert one["words"]["value"] == 1.75
    pair = found.data["pair"]
    assert pair["difference"]["raw"]["value"] == 0
    # b never gives nothing (-1/4), a is full once more (+1/4): halves of both cancel out.
    assert (pair["raw_from_nonzero"], pair["raw_from_full"]) == (-0.125, 0.125)
    assert pair["transitions"]["1.0"] == {"0.0": 0, "0.5": 1, "1.0": 1}
    assert pair["transitions"]["0.0"] == {"0.0": 0, "0.5": 1, "1.0": 0}


def test_completeness_without_judgements_is_undefined(made: Made) -> None:
    found = look(made, "completeness", ROWS, JUDGED[:3])
    assert found.data["runs"]["m:c"]["full"] == {"value": None, "low": None, "high": None, "n": 0}
    assert any("name the two runs" in note for note in found.notes)
    with pytest.raises(InputError, match="no open questions"):
        look(made, "completeness", ROWS, JUDGED, capability="M")


def test_jointly_correct_questions(made: Made) -> None:
    rows = [*ROWS, *(row | {"model": "k", "raw": reply("B") if row["item"] == "g0" else row["raw"]} for row in ROWS)]
    labels = [*JUDGED, *(row | {"model": "k"} for row in JUDGED)]
    labels = [row for row in labels if (row["model"], row["item"]) != ("k", "s0")]
    labels = [
        row | {"labels": {"evidence": "strong", "logic": "coherent"}}
        if (row["model"], row["item"], row["rubric"]) == ("k", "t0", "verified")
        else row
        for row in labels
    ]
    found = look(made, "joint", rows, labels)
    one = found.data["k:c and m:c"]
    # Right in both and weighed in both: t0, t1, g1 (0 in both), n0. k has g0 wrong and s0 unjudged.
    assert (one["questions"], one["episodes"], one["unjudged"]) == (4, 3, 1)
    assert one["difference"]["value"] == pytest.approx((1 - 0.64 / 1.44) / 4)
    assert one["weight_a"]["value"] == pytest.approx((1 + 1 + 0 + 1.2 / 1.44) / 4)
    with pytest.raises(InputError, match="no two runs"):
        look(made, "joint", ROWS, JUDGED)


@pytest.mark.parametrize(
    ("rule", "evidence", "logic", "left"),
    [
        ("soft", "weak", "weak", 0.81 / 1.21),
        ("soft", "contradicted", "coherent", 0.7 / 1.1),
        ("strict", "weak", "contradictory", 0.6 * 0.3 / 1.44),
        ("soft", "insufficient", "coherent", 0),
        ("strict", "strong", "unevaluable", 0),
        ("mean", "normal", "weak", (1 / 1.2 + 0.8 / 1.2) / 2),
        ("min", "strong", "contradictory", 0.5 / 1.2),
        ("support_only", "contradicted", "coherent", 0.5 / 1.2),
        ("logic_only", "contradicted", "coherent", 1),
        ("threshold", "normal", "acceptable", 1),
        ("threshold", "strong", "weak", 0),
        ("both_strongest", "strong", "acceptable", 0),
        ("both_strongest", "strong", "coherent", 1),
    ],
)
def test_other_rules_by_hand(rule: str, evidence: str, logic: str, left: float) -> None:
    assert {**WEIGHTS, **AGGREGATIONS}[rule](evidence, logic) == pytest.approx(left)


@given(st.sampled_from(sorted(EVIDENCE)), st.sampled_from(sorted(LOGIC)))
def test_rules_stay_within_0_and_1_and_the_current_one_is_the_protocols(evidence: str, logic: str) -> None:
    for rule in (*WEIGHTS.values(), *AGGREGATIONS.values()):
        assert 0 <= rule(evidence, logic) <= 1 + 1e-12
    assert WEIGHTS["current"](evidence, logic) == pytest.approx(EVIDENCE[evidence] * LOGIC[logic] / 1.44)
    # With weights of 1 and below none is above the strongest label's.
    assert WEIGHTS["strict"](evidence, logic) <= WEIGHTS["soft"](evidence, logic) + 1e-12


def test_weights_can_turn_a_ranking(tmp_path: Path) -> None:
    made = bundle(tmp_path, [choice(f"g{i}", f"e{i}", capability="G") for i in range(2)])
    rows = [said(f"g{i}", reply("A"), model=m) for m in "xy" for i in range(2)]
    # x: contradicted twice in evidence; y: strongest once, nothing once.
    labels = [verified(f"g{i}", "contradicted", "coherent", model="x") for i in range(2)]
    labels += [verified("g0", "normal", "acceptable", model="y"), verified("g1", "insufficient", "weak", model="y")]
    found = look(made, "weights", rows, labels).data
    assert found["x:c"]["current"]["macro"]["value"] == pytest.approx(0.6 / 1.44)
    assert found["y:c"]["current"]["macro"]["value"] == pytest.approx(0.5 / 1.44)
    assert found["x:c"]["strict"]["macro"]["value"] == pytest.approx(0.36 / 1.44)
    assert found["y:c"]["strict"]["macro"]["value"] == pytest.approx(0.5 / 1.44)
    # Strict turns 0.25 against 0.35: x falls from the first place to the second.
    assert (found["x:c"]["strict"]["rank"], found["x:c"]["strict"]["rank_change"]) == (2, 1)
    other = look(made, "aggregations", rows, labels).data
    assert other["x:c"]["logic_only"]["macro"]["value"] == 1
    assert other["y:c"]["threshold"]["macro"]["value"] == 0.5
    assert other["x:c"]["threshold"]["retention"] == 0


def test_unjudged_answers_leave_every_rule(made: Made) -> None:
    found = look(made, "aggregations", ROWS, JUDGED[4:]).data["m:c"]
    # T has no weighed answer any more.
    assert found["mean"]["macro"]["value"] is None
    assert found["mean"]["lowest_retention"] is None


def test_strata_are_those_of_scores(tmp_path: Path) -> None:
    episodes = [{"id": "e0", "duration_s": 20.0, "lineage": {"source": "ego"}}, {"id": "e1", "duration_s": 61.0}]
    made = bundle(tmp_path, ITEMS, episodes=episodes)
    found = look(made, "strata", ROWS, JUDGED).data["m:c"]
    scored = metrics_of(made.score(ROWS, JUDGED, draws=DRAWS))
    assert found == {name: one for name, one in scored.items() if name in found}
    assert found["verified.source.ego"]["value"] == pytest.approx((0.64 / 1.44 + 1 / 1.44) / 2)
    assert found["raw.duration.gt60"]["n"] == 3
    # One episode cannot be resampled.
    assert found["raw.source.ego"]["low"] is None


def test_contrast_and_difference_of_differences(tmp_path: Path) -> None:
    items = [choice(f"{c}{i}", f"e{i}", capability=c.upper()) for c in "gt" for i in range(3)]
    made = bundle(tmp_path, items)
    right = {"x": {"g0", "g1", "g2", "t0"}, "y": {"g0", "t0", "t1", "t2"}}
    rows = [said(i["id"], reply("A" if i["id"] in right[m] else "B"), model=m) for m in "xy" for i in items]
    rows = [row for row in rows if (row["model"], row["item"]) != ("y", "t2")]
    found = look(made, "contrast", rows, [], a="x:c", b="y:c")
    raw = found.data["raw"]
    assert (raw["G"]["value"], raw["T"]["value"]) == (pytest.approx(2 / 3), pytest.approx(-0.5))
    assert raw["G-T"]["value"] == pytest.approx(2 / 3 + 0.5)
    assert raw["macro"]["value"] == pytest.approx((2 / 3 - 0.5) / 2)
    assert "1 questions not answered in both left out" in found.notes
    # Nobody judged: verified is defined where an answer is wrong in both, which is nowhere in G.
    assert found.data["verified"]["G"]["value"] is None
    with pytest.raises(InputError, match="two runs"):
        look(made, "contrast", [row for row in rows if row["model"] == "x"])


def test_modality_pairs_the_questions_of_all_conditions(tmp_path: Path) -> None:
    items = [choice(f"g{i}", f"e{i}", capability="G") for i in range(4)]
    made = bundle(tmp_path, items)
    right = {"full": "0123", "question_only": "0", "asr_only": "01"}
    rows = [
        said(f"g{i}", reply("A" if str(i) in own else "B"), condition=c) for c, own in right.items() for i in range(4)
    ]
    rows = [row for row in rows if (row["condition"], row["item"]) != ("asr_only", "g3")]
    found = look(made, "modality", rows)
    one = found.data["m"]
    assert (one["questions"], one["left_out"]) == (3, 1)
    assert one["scores"]["question_only"]["raw.macro"]["value"] == pytest.approx(1 / 3)
    assert one["differences"]["full minus question_only"]["raw.micro"]["value"] == pytest.approx(2 / 3)
    assert one["differences"]["asr_only minus question_only"]["raw.G"]["value"] == pytest.approx(1 / 3)
    # Without judgements only what is wrong under every condition has a verified score: nothing here.
    assert one["scores"]["full"]["verified.micro"]["value"] is None
    with pytest.raises(InputError, match="two of the conditions"):
        look(made, "modality", [row for row in rows if row["condition"] == "full"])


def test_history_averages_the_seeds_of_the_wrong_one(tmp_path: Path) -> None:
    items = [choice(f"m{i}", f"e{i}", capability="M") for i in range(4)]
    made = bundle(tmp_path, items)
    right = {("matched", None): "0123", ("none", None): "0", ("mismatched", 42): "01", ("mismatched", 7): "3"}
    rows = [
        said(f"m{i}", reply("A" if str(i) in own else "B"), condition=c, seed=seed)
        for (c, seed), own in right.items()
        for i in range(4)
    ]
    found = look(made, "history", rows)
    one = found.data["m"]
    assert one["scores"]["mismatched"]["raw.micro"]["value"] == pytest.approx(3 / 8)
    assert one["differences"]["matched minus none"]["raw.micro"]["value"] == 0.75
    assert one["differences"]["mismatched minus none"]["raw.micro"]["value"] == pytest.approx(1 / 8)
    assert one["mismatched_by_seed"]["7"] == {"raw": 0.25, "verified": 0, "n": 4}
    assert any("averages the seeds 7, 42" in note for note in found.notes)


def test_memory_questions_alone_have_no_macro_mean_of_a_larger_bundle(tmp_path: Path) -> None:
    made = bundle(tmp_path, [choice("m0", "e0", capability="M"), choice("g0", "e1", capability="G")])
    rows = [said("m0", reply("A"), condition="matched"), said("m0", reply("B"), condition="none")]
    found = look(made, "history", rows)
    assert "raw.macro" not in found.data["m"]["scores"]["none"]
    assert found.data["m"]["differences"]["matched minus none"]["raw.micro"]["low"] is None
    assert any("no macro mean" in note and "none of G" in note for note in found.notes)


def test_people_are_scored_like_models(tmp_path: Path) -> None:
    items = [choice("t0", "e0", capability="T"), choice("t1", "e1", capability="T"), choice("g0", "e0", capability="G")]
    ratings = [
        rating("t0", "p", "human_answer", "A"),
        rating("t1", "p", "human_answer", "B"),
        rating("g0", "p", "human_answer", "no idea"),
        rating("t0", "q", "human_answer", 1),
        rating("t1", "q", "human_answer", None, opt_out="unclear"),
    ]
    made = bundle(tmp_path, items, ratings)
    rows = [said("t0", reply("A")), said("t1", reply("A")), said("g0", reply("B"))]
    rows.append(said("g0", "A", model="human:z"))
    found = look(made, "human", rows).data
    assert found["person"]["p"] | {"low": 0, "high": 0} == {"value": pytest.approx(1 / 3), "low": 0, "high": 0, "n": 3}
    # Five responses: T right, wrong, right; G wrong, right.
    assert found["pooled"]["micro"]["value"] == pytest.approx(3 / 5)
    assert found["pooled"]["macro"]["value"] == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert found["questions_by_capability"] == {"G": 1, "T": 2}
    # The model on the same five responses' questions: t0, t1, t0 right, g0 twice wrong.
    assert found["model"]["m:c"]["value"] == pytest.approx(3 / 5)
    assert found["model minus people"]["m:c"]["value"] == pytest.approx(0)


def test_answers_of_people_that_are_none(tmp_path: Path) -> None:
    made = bundle(tmp_path, ITEMS, [rating("n0", "p", "human_answer", "because")])
    with pytest.raises(InputError, match="a reply to a choice question, or a credit"):
        look(made, "human")


def test_no_answers_of_people(made: Made) -> None:
    with pytest.raises(InputError, match="no answers of people"):
        look(made, "human", ROWS)


def test_endorsement_by_expert_and_capability(tmp_path: Path) -> None:
    from scipy.stats import binomtest

    said_by: dict[str, list[Any]] = {"p": [1, 1, 0], "q": ["agree", "disagree", "agree"]}
    items = [choice("t0", "e0", capability="T"), choice("t1", "e1", capability="T"), choice("g0", "e2", capability="G")]
    ratings = [
        rating(item["id"], rater, "endorsement", value)
        for rater, values in said_by.items()
        for item, value in zip(items, values, strict=True)
    ]
    found = look(bundle(tmp_path, items, ratings), "endorsement").data
    assert found["cases"] == 3
    assert found["pooled"]["micro"]["value"] == pytest.approx(4 / 6)
    assert found["pooled"]["macro"]["value"] == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert found["capability"]["T"]["cases"] == 2
    interval = binomtest(2, 3).proportion_ci(method="wilson")
    assert found["experts"]["q"] == {
        "value": pytest.approx(2 / 3),
        "low": pytest.approx(interval.low),
        "high": pytest.approx(interval.high),
        "n": 3,
    }
    # One case of G: its interval is undefined.
    assert found["capability"]["G"]["low"] is None


def test_endorsement_refuses_what_is_no_word_on_a_decision(tmp_path: Path) -> None:
    twice = [rating("t0", "p", "endorsement", 1), rating("t0", "p", "endorsement", 0)]
    with pytest.raises(InputError, match="second review"):
        look(bundle(tmp_path, ITEMS, twice), "endorsement")


def test_half_an_endorsement_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="expected an endorsement"):
        look(bundle(tmp_path, ITEMS, [rating("t0", "p", "endorsement", 0.5)]), "endorsement")


def test_intervals_can_resample_recordings(tmp_path: Path) -> None:
    episodes = [{"id": f"e{i}", "lineage": {"recording": "one"}} for i in range(3)]
    made = bundle(tmp_path, ITEMS, episodes=episodes)
    found = look(made, "strata", ROWS, JUDGED, resample="recording")
    assert found.data["m:c"]["raw.capability.G"]["value"] == 1
    assert found.data["m:c"]["raw.capability.G"]["low"] is None, "one recording is one cluster"
    assert any("resample 1 clusters by recording" in note for note in found.notes)
    with pytest.raises(InputError, match="no such cluster"):
        look(made, "strata", ROWS, JUDGED, resample="planet")


def test_every_analysis_names_its_source_and_only_known_runs(made: Made) -> None:
    assert len({one.name for one in ANALYSES}) == len(ANALYSES)
    assert all(one.source and one.says and one.run.__doc__ for one in ANALYSES)
    with pytest.raises(InputError, match="no predictions of this model"):
        look(made, "strata", ROWS, models="nobody")
