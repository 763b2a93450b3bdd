"""Every pair at once: the same as each pair alone, p-values adjusted together, ranks worked by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME
from onlooker.benchmarks.reactionbench.scoring import FAMILY as REACTIONBENCH
from onlooker.benchmarks.sivbench.scoring import FAMILY as SIVBENCH
from onlooker.cli.main import main
from onlooker.errors import InputError
from onlooker.score.compare import align, answered_items, compare_runs
from onlooker.score.matrix import Matrix, compare_all, is_main
from onlooker.score.score import grade_files
from onlooker.stats.multiplicity import benjamini_hochberg, holm
from tests.score.made import Made, Row, choice, judged, said


@pytest.fixture
def made(tmp_path: Path) -> Made:
    items = [choice(f"q{i}", f"e{i % 5}", dimension="SSU" if i % 2 else "SSR") for i in range(10)]
    return Made(tmp_path, SIVBENCH, items, [{"item": f"q{i}", "answer": ["B"]} for i in range(10)])


def rows(condition: str = "c", **letters: str) -> list[Row]:
    """One letter an item for each model; "." is unparsed, "-" missing, "!" an error."""
    return [
        said(f"q{i}", letter, model=model, condition=condition, status="error" if letter == "!" else "ok")
        for model, said_by in letters.items()
        for i, letter in enumerate(said_by)
        if letter != "-"
    ]


def matrix(made: Made, predictions: list[Row], metric: str = "accuracy", **options: Any) -> Matrix:
    return compare_all(made.bundle, made.family, [made.predictions(predictions)], metric, **({"draws": 300} | options))


ANSWERS = {"x": "BBBBBBBBAA", "y": "BBBBAABAAA", "z": "AAABAAABA."}


def test_each_pair_is_what_compare_says_of_it(made: Made) -> None:
    found = matrix(made, rows(**ANSWERS)).report
    assert [(one["a"], one["b"]) for one in found["comparisons"]] == [("x:c", "y:c"), ("x:c", "z:c"), ("y:c", "z:c")]
    for one in found["comparisons"]:
        file = made.folder / "predictions.jsonl"
        alone = compare_runs(made.bundle, SIVBENCH, [file], one["a"], one["b"], draws=300).report
        assert one["items"] == alone["items"]
        # Where nobody left an item out the draws are the same too.
        assert one["metrics"] == {"accuracy": alone["metrics"]["accuracy"]}
        assert {k: one["mcnemar"][k] for k in ("a_only", "b_only", "p")} == alone["mcnemar"]
        assert {k: one["wilcoxon"][k] for k in ("n", "p")} == alone["wilcoxon"]


def test_a_pair_with_items_left_out_has_the_values_of_compare(made: Made) -> None:
    # y lacks both items of episode e4: its pairs have four of five clusters.
    answers = ANSWERS | {"y": "BBBB-ABAA!"}
    found = matrix(made, rows(**answers))
    one = found.report["comparisons"][0]
    alone = compare_runs(made.bundle, SIVBENCH, [made.folder / "predictions.jsonl"], "x:c", "y:c", draws=300).report
    assert one["items"] == alone["items"]
    assert one["items"]["paired"] == 8
    for name in ("a", "b", "difference", "n"):
        assert one["metrics"]["accuracy"][name] == alone["metrics"]["accuracy"][name]
    for name in ("low", "high"):
        assert one["metrics"]["accuracy"][name] == pytest.approx(alone["metrics"]["accuracy"][name], abs=0.15)
    assert found.notes == [
        "2 of 3 comparisons leave items out: see items in the file",
        "the leaderboard within c has the 8 items of all",
    ]


def test_p_values_are_adjusted_over_all_comparisons(made: Made) -> None:
    found = matrix(made, rows(**ANSWERS)).report
    # Discordant items by hand: x/y 3 and 0, x/z 6 and 0, y/z 4 and 1.
    exact = [2 * 0.5**3, 2 * 0.5**6, 0.375]
    assert [one["mcnemar"]["p"] for one in found["comparisons"]] == pytest.approx(exact)
    assert [one["mcnemar"]["p_holm"] for one in found["comparisons"]] == pytest.approx([0.5, 3 * 0.03125, 0.5])
    assert [one["mcnemar"]["p_bh"] for one in found["comparisons"]] == pytest.approx([0.375, 3 * 0.03125, 0.375])
    p_values = [one["wilcoxon"]["p"] for one in found["comparisons"]]
    assert [one["wilcoxon"]["p_holm"] for one in found["comparisons"]] == list(holm(p_values).values)
    assert [one["wilcoxon"]["p_bh"] for one in found["comparisons"]] == list(benjamini_hochberg(p_values).values)
    assert found["adjusted_together"] == {"mcnemar": 3, "wilcoxon": 3}


def test_the_leaderboard_ranks_on_the_items_that_all_answered(made: Made) -> None:
    # z is perfect on the two items that it answered: so are the others there, and on no other item is anybody ranked.
    found = matrix(made, rows(x="BBAAAAAAAA", y="BBBBBAAAAA", z="BB--------")).report
    [board] = found["leaderboards"]
    assert (board["within"], board["metric"], board["items"]["paired"]) == ("c", "accuracy", 2)
    assert board["items"]["left_out"]["not answered by all"] == 8
    assert {name: (one["value"], one["rank"]) for name, one in board["standings"].items()} == {
        "x": (1, 1),
        "y": (1, 1),
        "z": (1, 1),
    }
    assert board["standings"]["z"]["best"] == pytest.approx(1 / 3)


def test_ranks_have_intervals_and_the_best_stands_first(made: Made) -> None:
    [board] = matrix(made, rows(a="A" * 10, b="B" * 10, c="BBBBBBBBAA")).report["leaderboards"]
    assert list(board["standings"]) == ["b", "c", "a"]
    assert [one["rank"] for one in board["standings"].values()] == [1, 2, 3]
    # b is right everywhere and a nowhere: no draw can turn their places. c reaches b where q8 and q9 are not drawn.
    last = board["standings"]["a"]
    assert (last["rank_low"], last["rank_high"], last["best"]) == (3, 3, 0)
    assert board["standings"]["c"]["rank_low"] == 1


def test_every_pair_of_conditions_of_each_model(made: Made) -> None:
    predictions = [*rows("full", x="BBBBBBBBBB", y="BBBBBAAAAA"), *rows("blind", x="AAAAABBBBB", y="AAAAAAAAAA")]
    predictions += rows("full", alone="BBBBBBBBBB")
    found = matrix(made, predictions, across_conditions=True).report
    assert found["over"] == "conditions"
    assert [(one["a"], one["b"]) for one in found["comparisons"]] == [("x:blind", "x:full"), ("y:blind", "y:full")]
    assert [one["metrics"]["accuracy"]["difference"] for one in found["comparisons"]] == [-0.5, -0.5]
    assert [(board["within"], list(board["standings"])) for board in found["leaderboards"]] == [
        ("x", ["full", "blind"]),
        ("y", ["full", "blind"]),
    ]


def test_one_condition_of_several_must_be_named(made: Made) -> None:
    predictions = [*rows("full", x="B", y="A"), *rows("blind", x="A")]
    with pytest.raises(InputError, match=r"predictions under several conditions.*name one of blind, full"):
        matrix(made, predictions)
    with pytest.raises(InputError, match=r"--condition: no predictions under this condition, found 'no'.*blind, full"):
        matrix(made, predictions, condition="no")
    with pytest.raises(InputError, match=r"--all: nothing to compare with each other, found \['x'\]"):
        matrix(made, predictions, condition="blind")
    with pytest.raises(InputError, match=r"--metric: no leaderboard.*found 'depth'.*accuracy"):
        matrix(made, predictions, "depth", condition="full")
    with pytest.raises(InputError, match=r"--conditions: no model has two conditions, found \['x', 'y'\]"):
        matrix(made, rows(x="B", y="A"), across_conditions=True)


def test_an_unjudged_item_leaves_the_verified_metrics_of_its_pairs_only(tmp_path: Path) -> None:
    items = [choice(f"q{i}", f"e{i}", capability="G") for i in range(3)]
    made = Made(tmp_path, PSYCHEME, items, [{"item": f"q{i}", "answer": ["A"]} for i in range(3)])
    predictions = [said(f"q{i}", '{"answer": "A", "G": "she nods"}', model=m) for m in "abc" for i in range(3)]
    labels = {"evidence": "normal", "logic": "acceptable"}
    pairs = [(m, i) for m in "abc" for i in range(3) if (m, i) != ("c", 2)]
    judgements = [made.judgements([judged(f"q{i}", "verified", labels, model=m) for m, i in pairs])]
    files = [made.predictions(predictions)]
    found = compare_all(made.bundle, PSYCHEME, files, "verified.macro", judgements, draws=100).report
    n = {one["a"] + one["b"]: one["metrics"]["verified.micro"]["n"] for one in found["comparisons"]}
    assert n == {"a:cb:c": 3, "a:cc:c": 2, "b:cc:c": 2}
    assert all(one["metrics"]["raw.micro"]["n"] == 3 for one in found["comparisons"])
    assert "raw.capability.G" not in found["comparisons"][0]["metrics"]
    assert {"raw.macro", "stage.logic", "retention.pooled"} <= found["comparisons"][0]["metrics"].keys()


def test_a_pair_without_choices_has_no_mcnemar_that_makes_others_stricter(tmp_path: Path) -> None:
    moments = [{"id": m, "start_s": s, "end_s": s + 1} for s, m in enumerate("st")]
    items = [{"id": f"v{i}", "episode": f"e{i}", "task": "intensity", "moments": moments} for i in range(3)]
    references = [{"item": f"v{i}", "consensus": {"s": 10, "t": 90}} for i in range(3)]
    made = Made(tmp_path, REACTIONBENCH, items, references)
    texts = {"x": '{"s": 1, "t": 5}', "y": '{"s": 5, "t": 1}'}
    predictions = [said(f"v{i}", raw, model=m, condition="joint") for m, raw in texts.items() for i in range(3)]
    found = matrix(made, predictions, "ip.joint.rho0").report
    [pair] = found["comparisons"]
    assert pair["metrics"]["ip.joint.rho0"]["difference"] == pytest.approx(2)
    assert (pair["mcnemar"]["p"], pair["mcnemar"]["p_holm"]) == (None, None)
    assert found["adjusted_together"]["mcnemar"] == 0


def test_what_is_left_out_among_three_is_said_in_words_for_three(made: Made) -> None:
    files = [made.predictions(rows(x="BB", y="B!", z="BBB"))]
    _, _, graded = grade_files(made.bundle, SIVBENCH, files, [], None)
    cases, left_out = align([answered_items(one) for one in graded])
    assert [[case.item.id for case in side] for side in cases] == [["q0"]] * 3
    assert left_out == {"not owed by all": 0, "not answered by all": 9, "profile not parsed by all": 0}


@pytest.mark.parametrize(
    ("metric", "condition", "main_one"),
    [
        ("accuracy", "origin", True),
        ("accuracy.subtask.RI", "origin", False),
        ("verified.macro", "full", True),
        ("verified.capability.G", "full", False),
        ("ip.joint.rho0", "joint_video", True),
        ("ip.rho0", "joint", True),
        ("srm.error_mean_s", "matching", True),
    ],
)
def test_main_metrics_are_those_of_all_items(metric: str, condition: str, main_one: bool) -> None:
    assert is_main(metric, condition) is main_one


def test_the_command_writes_the_matrix(made: Made, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(made.predictions(rows(**ANSWERS)))]
    out = made.folder / "matrix.json"
    command = ["compare", str(made.path), "--predictions", *files, "--draws", "100", "--out", str(out)]
    assert main([*command, "--all"]) == 0
    assert len(json.loads(out.read_text(encoding="utf-8"))["comparisons"]) == 3
    printed = capsys.readouterr().out
    assert "c: accuracy of 10 items" in printed
    wrong = {
        ("--all", "--a", "x:c"): "leave --a and --b out",
        ("--all", "--conditions", "--condition", "c"): "leave --condition out",
        ("--a", "x:c"): "two sides are needed",
        ("--a", "x:c", "--b", "y:c", "--conditions"): "belong to --all",
    }
    for options, words in wrong.items():
        with pytest.raises(SystemExit) as stopped:
            main([*command, *options])
        assert stopped.value.code == 2
        assert words in capsys.readouterr().err
