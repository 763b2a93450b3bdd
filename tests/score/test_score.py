"""The scoring engine: outcomes, denominators, seeds, plans, files that are wrong."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME
from onlooker.benchmarks.sivbench.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.records.results import OUTCOMES
from onlooker.score.score import score_bundle
from onlooker.score.table import score_tables
from tests.score.made import Made, Row, choice, coverage_of, judged, metrics_of, said, value_of, write_rows

QUALITIES = dict.fromkeys(("relevance", "alignment", "coherence", "depth", "conciseness", "overall"), 3)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Eight questions on two videos; the answer is always B."""
    items = [choice(f"q{i}", f"e{i % 2}", dimension="SSU" if i < 4 else "SSR") for i in range(8)]
    return Made(tmp_path, FAMILY, items, [{"item": f"q{i}", "answer": ["B"]} for i in range(8)])


def test_every_outcome_but_scored_is_credit_zero_in_the_denominator(made: Made) -> None:
    result = made.score(
        [
            said("q0", "B"),
            said("q1", "The answer is B", status="truncated"),
            said("q2", "Because she", status="truncated"),
            said("q3", "B", status="refused"),
            said("q4", "B", status="error"),
            said("q5", " \n"),
            said("q6", "They are not sure."),
        ]
    )
    assert coverage_of(result) == {
        "items": 8,
        "seeds": 1,
        "scored": 2,
        "truncated": 1,
        "refused": 1,
        "error": 1,
        "empty": 1,
        "unparsed": 1,
        "missing": 1,
    }
    assert metrics_of(result)["accuracy"]["value"] == pytest.approx(2 / 8)
    assert metrics_of(result)["accuracy"]["n"] == 8
    rows = {row["item"]: row for row in result.items}
    assert rows["q1"] | {"part": None} == {
        "item": "q1",
        "part": None,
        "model": "m",
        "condition": "c",
        "seed": None,
        "outcome": "scored",
        "parsed": ["B"],
        "credit": 1.0,
        "verified": None,
    }
    assert (rows["q7"]["outcome"], rows["q7"]["parsed"], rows["q7"]["credit"]) == ("missing", None, 0.0)
    assert "1 missing counted as wrong" in result.scores["models"]["m"]["c"]["notes"]


def test_groups_hold_the_items_of_their_label(made: Made) -> None:
    result = made.score([said(f"q{i}", "B" if i < 3 else "A") for i in range(8)])
    assert value_of(result, "accuracy.dimension.SSU") == pytest.approx(3 / 4)
    assert value_of(result, "accuracy.dimension.SSR") == 0


def test_seeds_are_averaged_and_missing_rows_count_for_each(made: Made) -> None:
    rows = [said(f"q{i}", "B", seed=1) for i in range(8)] + [said("q0", "B", seed=2)]
    result = made.score(rows)
    assert value_of(result, "accuracy") == pytest.approx((1 + 1 / 8) / 2)
    assert metrics_of(result)["accuracy"]["n"] == 8
    assert coverage_of(result) == {"items": 8, "seeds": 2, "scored": 9, "missing": 7}


def test_the_interval_of_several_seeds_is_that_of_their_mean(made: Made) -> None:
    # Seed 1 is right on one video only, seed 2 on the other: the mean is 1/2 in every draw.
    rows = [said(f"q{i}", "B" if i % 2 == s else "A", seed=s) for s in (0, 1) for i in range(8)]
    found = metrics_of(made.score(rows))["accuracy"]
    assert (found["value"], found["low"], found["high"]) == (0.5, 0.5, 0.5)


def test_a_group_in_one_video_has_no_interval(tmp_path: Path) -> None:
    items = [choice("q0", "e0", relation="friends"), choice("q1", "e1")]
    made = Made(tmp_path, FAMILY, items, [{"item": i, "answer": ["A"]} for i in ("q0", "q1")])
    result = made.score([said("q0", "A"), said("q1", "A")])
    found = metrics_of(result)["accuracy.relation.friends"]
    assert found == {"value": 1.0, "low": None, "high": None, "n": 1}
    notes = result.scores["models"]["m"]["c"]["notes"]
    assert "undefined (fewer than two clusters): accuracy.relation.friends" in notes


def test_the_same_seed_gives_the_same_bounds_whatever_the_order_of_rows(made: Made) -> None:
    rows = [said(f"q{i}", "B" if i in {1, 2, 5} else "C") for i in range(8)]
    first = made.score(rows).scores
    random.Random(1).shuffle(rows)
    assert made.score(rows).scores == first


def test_scores_do_not_depend_on_who_else_is_scored(made: Made) -> None:
    rows = [said(f"q{i}", "B" if i % 3 else "C") for i in range(8)]
    alone = made.score(rows)
    others = [row | {"model": name} for row in rows for name in ("another", "z")]
    assert metrics_of(made.score([*others, *rows])) == metrics_of(alone)


def test_a_copy_of_every_episode_changes_no_value(tmp_path: Path) -> None:
    items = [choice(f"q{i}", f"e{i}", dimension="SSU") for i in range(3)]
    copies = [choice(f"r{i}", f"f{i}", dimension="SSU") for i in range(3)]
    rows = [said(f"q{i}", "A" if i else "B") for i in range(3)]
    copied = [row | {"item": "r" + row["item"][1:]} for row in rows]
    values = []
    for n, (all_items, all_rows) in enumerate([(items, rows), (items + copies, rows + copied)]):
        folder = tmp_path / str(n)
        folder.mkdir()
        made = Made(folder, FAMILY, all_items, [{"item": i["id"], "answer": ["A"]} for i in all_items])
        values.append({k: m["value"] for k, m in metrics_of(made.score(all_rows)).items()})
    assert values[0] == values[1]


def test_a_plan_beside_the_file_narrows_what_is_owed(made: Made) -> None:
    file = write_rows(made.folder / "run" / "predictions.jsonl", [said("q0", "B"), said("q5", "B")])
    (made.folder / "run" / "plan.json").write_text('{"items": ["q0", "q1"]}', encoding="utf-8")
    result = score_bundle(made.bundle, FAMILY, [file], draws=50)
    assert coverage_of(result) == {"items": 2, "seeds": 1, "scored": 1, "missing": 1}
    assert value_of(result, "accuracy") == 0.5
    notes = result.scores["models"]["m"]["c"]["notes"]
    assert "1 rows of items that this condition does not owe left out" in notes


def test_a_condition_owes_the_items_that_its_plan_asks_under_it(made: Made) -> None:
    """Items without a history, a donor or options are not asked where these are exchanged: nobody owes an answer."""
    rows = [said("q0", "B", condition="none"), said("q0", "B"), said("q1", "B")]
    file = write_rows(made.folder / "run" / "predictions.jsonl", rows)
    plan = {"items": ["q0", "q1"], "owed": {"none": ["q0"]}}
    (made.folder / "run" / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    result = score_bundle(made.bundle, FAMILY, [file], draws=50)
    assert coverage_of(result, condition="none") == {"items": 1, "seeds": 1, "scored": 1}
    assert coverage_of(result) == {"items": 2, "seeds": 1, "scored": 2}
    (made.folder / "run" / "plan.json").write_text(json.dumps({**plan, "owed": {"none": ["x1"]}}), encoding="utf-8")
    with pytest.raises(InputError, match="x1"):
        score_bundle(made.bundle, FAMILY, [file])


def test_a_plan_of_unknown_items_is_an_error(made: Made) -> None:
    file = write_rows(made.folder / "run" / "predictions.jsonl", [said("q0", "B")])
    (made.folder / "run" / "plan.json").write_text('{"items": ["q0", "x1"]}', encoding="utf-8")
    with pytest.raises(InputError, match="x1"):
        score_bundle(made.bundle, FAMILY, [file])


def test_two_rows_of_one_call_name_both_lines(made: Made) -> None:
    first = made.predictions([said("q0", "B"), said("q1", "B")], "one.jsonl")
    second = made.predictions([said("q2", "B"), said("q1", "C")], "two.jsonl")
    with pytest.raises(InputError) as caught:
        score_bundle(made.bundle, FAMILY, [first, second])
    assert "two.jsonl, line 2" in str(caught.value)
    assert "one.jsonl, line 2" in str(caught.value)


def test_unknown_items_are_listed(made: Made) -> None:
    with pytest.raises(InputError) as caught:
        made.score([said("q0", "B"), said("nobody", "B"), said("no one", "B")])
    assert "no one, nobody" in str(caught.value)
    assert "line 2" in str(caught.value)


def test_a_part_of_a_choice_item_is_an_error(made: Made) -> None:
    with pytest.raises(InputError, match="no such part"):
        made.score([said("q0", "B", part="m1")])


def test_a_bundle_of_another_family_is_an_error(tmp_path: Path) -> None:
    made = Made(tmp_path, FAMILY, [choice("q0", "e0")], [{"item": "q0", "answer": ["A"]}])
    text = (made.path / "bundle.yaml").read_text(encoding="utf-8").replace("sivbench", "mmhbench")
    (made.path / "bundle.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="another family"):
        made.score([said("q0", "A")])


def test_an_unjudged_answer_keeps_its_credit(made: Made) -> None:
    rows = [said("q0", "B"), said("q1", "B"), said("q2", "C")]
    labels = [judged("q0", "reasoning_quality", QUALITIES), judged("q1", "reasoning_quality", None, status="error")]
    result = made.score(rows, labels)
    assert coverage_of(result) == {"items": 8, "seeds": 1, "scored": 1, "unjudged": 2, "missing": 5}
    assert value_of(result, "accuracy") == pytest.approx(2 / 8)
    assert metrics_of(result)["reasoning.depth"]["n"] == 1
    assert "reasoning.depth" not in metrics_of(made.score(rows))


@pytest.mark.parametrize("bad", [6, 0, "4", True, None, [3]])
def test_a_label_off_its_scale_makes_the_judgement_unparsed(made: Made, bad: Any) -> None:
    labels = [
        judged("q0", "reasoning_quality", QUALITIES | {"depth": 4.5}),
        judged("q1", "reasoning_quality", QUALITIES | {"depth": bad}),
    ]
    result = made.score([said("q0", "B"), said("q1", "B")], labels)
    assert metrics_of(result)["reasoning.depth"] == {"value": 4.5, "low": None, "high": None, "n": 1}
    assert coverage_of(result)["unjudged"] == 1


def test_a_missing_label_makes_the_judgement_unparsed(made: Made) -> None:
    labels = {name: 3 for name in QUALITIES if name != "depth"}
    result = made.score([said("q0", "B")], [judged("q0", "reasoning_quality", labels)])
    assert metrics_of(result)["reasoning.relevance"]["value"] is None
    assert coverage_of(result)["unjudged"] == 1


def test_several_judges_need_a_name(made: Made) -> None:
    labels = [
        judged("q0", "reasoning_quality", QUALITIES),
        judged("q0", "reasoning_quality", QUALITIES | {"depth": 5}, judge="k"),
    ]
    with pytest.raises(InputError, match="--judge"):
        made.score([said("q0", "B")], labels)
    assert value_of(made.score([said("q0", "B")], labels, judge="k"), "reasoning.depth") == 5
    with pytest.raises(InputError, match="no judgements by this judge"):
        made.score([said("q0", "B")], labels, judge="x")


def test_the_same_judgement_twice_names_both_lines(made: Made) -> None:
    labels = [judged("q0", "reasoning_quality", QUALITIES)] * 2
    with pytest.raises(InputError, match=r"line 1.*"):
        made.score([said("q0", "B")], labels)


def test_judgements_that_are_not_used_are_counted(made: Made) -> None:
    labels = [
        judged("q0", "verified", {"evidence": "strong", "logic": "weak"}),
        judged("q0", "reasoning_quality", QUALITIES, model="absent"),
    ]
    result = made.score([said("q0", "B")], labels)
    assert result.notes == [
        "1 judgements under the rubric verified, which this family does not have",
        "judgements of models and conditions without predictions: absent c",
    ]


def test_outcomes_add_up_and_the_result_is_json(made: Made) -> None:
    rng = random.Random(5)
    rows = [
        said(
            f"q{i}", rng.choice(["A", "B", "", "who knows"]), seed=s, status=rng.choice(["ok", "truncated", "refused"])
        )
        for s in (1, 2, 3)
        for i in range(8)
        if rng.random() < 0.8
    ]
    result = made.score(rows)
    counts = result.scores["models"]["m"]["c"]["coverage"]
    assert sum(counts[outcome] for outcome in OUTCOMES) == counts["items"] * counts["seeds"] == 24
    assert len(result.items) == 24
    json.dumps([result.scores, result.items], allow_nan=False)


def test_tables_print_percentages_and_points(made: Made) -> None:
    result = made.score([said("q0", "B")], [judged("q0", "reasoning_quality", QUALITIES)])
    [table] = score_tables(result)
    rows = {row[0]: row for row in table.rows}
    assert rows["accuracy"][1:] == ("12.5", "[0.0, 25.0]", "8")
    assert rows["reasoning.depth"][1:] == ("3.00", "-", "1")
    assert table.coverage == "8 items x 1 seed: 1 scored, 7 missing"


def test_draws_and_seed_are_in_the_result(made: Made) -> None:
    result = made.score([said("q0", "B")], draws=17, seed=9)
    assert result.scores["settings"] == {"draws": 17, "seed": 9, "level": 0.95}
    with pytest.raises(InputError) as caught:
        made.score([said("q0", "B")], draws=0)
    assert str(caught.value) == (
        "--draws: an interval needs at least one draw, found 0. "
        "Remedy: leave --draws out for 10000, or name 100 or more"
    )


def test_few_draws_are_said(made: Made) -> None:
    assert made.score([said("q0", "B")], [judged("q0", "reasoning_quality", QUALITIES)], draws=100).notes == []
    result = made.score([said("q0", "B")], [judged("q0", "reasoning_quality", QUALITIES)], draws=99)
    assert result.notes == ["the ends of the intervals are rough with so few draws: --draws 99, 10000 is the default"]


def test_files_without_a_row_are_said(made: Made) -> None:
    empty = made.predictions([], "empty.jsonl")
    full = made.predictions([said("q0", "B")])
    judgements = made.judgements([])
    result = score_bundle(made.bundle, FAMILY, [empty, full], [judgements], draws=100)
    assert result.notes == [f"no predictions in {empty}", f"no judgements in {judgements}"]


def test_judgements_that_do_not_count_are_counted_by_reason(made: Made) -> None:
    labels = [
        judged("q0", "reasoning_quality", QUALITIES, seed=1),
        judged("q1", "reasoning_quality", QUALITIES | {"depth": 9}, seed=1),
        judged("q2", "reasoning_quality", {"relevance": 3}, seed=1),
        judged("q3", "reasoning_quality", QUALITIES | {"depth": "3"}, seed=1),
        judged("q4", "reasoning_quality", None, seed=1, status="unparsed"),
        judged("q5", "reasoning_quality", None, seed=1, status="error"),
        judged("q0", "reasoning_quality", QUALITIES, seed=7),
        judged("q0", "reasoning_quality", QUALITIES),
        judged("q7", "reasoning_quality", QUALITIES, seed=1),
    ]
    folder = made.folder / "run"
    file = write_rows(folder / "predictions.jsonl", [said(f"q{i}", "B", seed=1) for i in range(7)])
    (folder / "plan.json").write_text(json.dumps({"items": [f"q{i}" for i in range(7)]}), encoding="utf-8")
    result = score_bundle(made.bundle, FAMILY, [file], [made.judgements(labels)], draws=100)
    assert coverage_of(result) == {"items": 7, "seeds": 1, "scored": 1, "unjudged": 6}
    notes = result.scores["models"]["m"]["c"]["notes"]
    assert [note for note in notes if "do not count" in note] == [
        "2 judgements do not count: under the rubric reasoning_quality, depth is missing or off its scale",
        "1 judgements do not count: under the rubric reasoning_quality, alignment is missing or off its scale",
        "1 judgements do not count: the judge's status is unparsed",
        "1 judgements do not count: the judge's status is error",
        "1 judgements do not count: there are no predictions of seed 7",
        "1 judgements do not count: there are no predictions without a seed",
        "1 judgements do not count: this condition does not owe the item",
    ]


def test_another_judges_labels_are_not_among_those_rejected(made: Made) -> None:
    labels = [
        judged("q0", "reasoning_quality", QUALITIES),
        judged("q0", "reasoning_quality", None, judge="k", status="error"),
    ]
    result = made.score([said("q0", "B")], labels, judge="j")
    assert not any("do not count" in note for note in result.scores["models"]["m"]["c"]["notes"])


def test_nothing_to_score_is_no_crash(made: Made) -> None:
    assert made.score([]).scores["models"] == {}
    file = write_rows(made.folder / "run" / "predictions.jsonl", [said("q0", "B")])
    (made.folder / "run" / "plan.json").write_text('{"items": []}', encoding="utf-8")
    result = score_bundle(made.bundle, FAMILY, [file], draws=50)
    assert metrics_of(result) == {"accuracy": {"value": None, "low": None, "high": None, "n": 0}}


@pytest.mark.parametrize("references", [[{"item": "q0", "answer": "B"}], [{"item": "q0", "answer": ["E"]}]])
def test_a_question_without_an_answer_among_its_options_is_an_error(tmp_path: Path, references: list[Row]) -> None:
    made = Made(tmp_path, FAMILY, [choice("q0", "e0")], references)
    with pytest.raises(InputError, match="item q0 has no answer among its options"):
        made.score([said("q0", "B")])


def unreferenced(made: Made) -> str:
    with pytest.raises(InputError) as caught:
        made.score([said("q0", "B")])
    return str(caught.value)


def test_items_without_a_reference_are_listed_in_one_error(tmp_path: Path) -> None:
    items = [choice(f"q{i}", "e0") for i in range(13)]
    made = Made(tmp_path, FAMILY, items, [{"item": "q0", "answer": ["B"]}])
    assert unreferenced(made) == (
        f"{made.path / 'references.jsonl'}: 12 of 13 items that need a reference have none, "
        "found 'q1, q2, q3, q4, q5, q6, q7, q8, q9, q10 and 2 more'. "
        "Remedy: add their rows, or leave the items out of items.jsonl"
    )


def test_an_open_item_without_a_reference_is_an_error_too(tmp_path: Path) -> None:
    items = [choice("q0", "e0", capability="G"), {"id": "o", "episode": "e0", "task": "open", "question": "Why?"}]
    made = Made(tmp_path, PSYCHEME, items, [{"item": "q0", "answer": ["B"]}])
    assert "1 of 2 items that need a reference have none, found 'o'" in unreferenced(made)


def test_references_withheld_altogether(tmp_path: Path) -> None:
    made = Made(tmp_path, FAMILY, [choice("q0", "e0")], [])
    expected = (
        f"{made.path / 'references.jsonl'}: the bundle is without references: it can be run, not scored. "
        "Remedy: get the file from whoever keeps it back, or send them the predictions"
    )
    assert unreferenced(made) == expected
    (made.path / "references.jsonl").unlink()
    assert unreferenced(made) == expected
