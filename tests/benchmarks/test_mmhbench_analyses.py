"""The analyses of MMHBench on small bundles, worked by hand and against reference packages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

from onlooker.benchmarks.mmhbench.analyses import ANALYSES
from onlooker.benchmarks.mmhbench.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.protocol.analysis import Findings
from onlooker.score.analyze import analyze, find_analysis
from onlooker.stats.cluster import cluster_weights
from onlooker.stats.interval import percentile_interval
from onlooker.stats.seeds import generator
from tests.score.made import Made, Row, choice, judged, said

RUBRIC = "mental_health_reasoning"


def answers(model: str, condition: str, letters: str) -> list[Row]:
    """A prediction a letter for q0, q1 and so on; ``-`` is a reply that cannot be read."""
    return [
        said(f"q{k}", "I cannot say." if letter == "-" else letter, model=model, condition=condition)
        for k, letter in enumerate(letters)
    ]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Six questions of six videos, the right option always A; three of each perspective."""
    labels: list[dict[str, str]] = [
        {"perspective": "first", "questioner": "LES", "responder": "MHP", "topic": "family"},
        {"perspective": "first", "questioner": "LES", "responder": "FM", "topic": "family"},
        {"perspective": "first", "questioner": "MHP", "responder": "LES", "topic": "health"},
        {"perspective": "third", "topic": "family"},
        {"perspective": "third", "topic": "health"},
        {"perspective": "third"},
    ]
    words = [3, 4, 5, 6, 7, 20]
    items = [
        choice(f"q{k}", f"e{k}", **own) | {"question": " ".join(["word"] * n)}
        for k, (own, n) in enumerate(zip(labels, words, strict=True))
    ]
    durations = [500.0, 600.0, 1200.0, 599.0, 1199.0]
    episodes = [{"id": f"e{k}", "duration_s": d} for k, d in enumerate(durations)]
    return Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items], episodes=episodes)


def found(made: Made, name: str, rows: Iterable[Row] = (), judgements: Iterable[Row] = (), **options: Any) -> Findings:
    """What the analysis of that name finds, with few draws; ``judge_`` is the engine's option."""
    files = [made.predictions(list(rows))] if rows else []
    labels = [made.judgements(list(judgements))] if judgements else []
    analysis = find_analysis(ANALYSES, "mmhbench", name)
    judge = options.pop("judge_", None)
    return analyze(made.bundle, FAMILY, analysis, files, labels, draws=100, seed=1, options=options, judge=judge)


def test_breakdown_worked_by_hand(made: Made) -> None:
    it = found(made, "breakdown", answers("m", "both", "ABAAA-"))
    run = it.data["m:both"]
    assert run["overall"]["value"] == pytest.approx(4 / 6)
    assert run["perspective"]["first"]["value"] == pytest.approx(2 / 3)
    assert run["first - third"]["value"] == pytest.approx(0.0)
    assert run["first - third"]["n"] == 6
    assert run["questioner"]["LES"]["value"] == 0.5
    assert run["questioner"]["FM"] == {"value": None, "low": None, "high": None, "n": 0}
    assert (run["duration"]["0to10"]["value"], run["duration"]["0to10"]["n"]) == (1.0, 2)
    assert (run["duration"]["10to20"]["value"], run["duration"]["10to20"]["n"]) == (0.5, 2)
    assert run["duration"]["20plus"]["n"] == 1
    assert run["crossed"]["topic and perspective"]["family"]["first"]["n"] == 2
    assert run["topic"]["family"]["value"] == pytest.approx(2 / 3)
    assert run["crossed"]["questioner and responder"]["LES"]["FM"]["value"] == 0.0
    assert any("1 questions without a topic" in line for line in it.notes)
    assert any("1 questions without a duration" in line for line in it.notes)
    assert any("1 unparsed counted as wrong" in line for line in it.notes)


def test_question_length_quartiles_worked_by_hand(made: Made) -> None:
    it = found(made, "question_length", answers("m", "both", "AABABB"))
    assert it.data["bounds"] == [4.25, 5.5, 6.75]
    intervals = it.data["runs"]["m:both"]["intervals"]
    assert [(i["value"], i["n"]) for i in intervals] == [(1.0, 2), (0.0, 1), (1.0, 1), (0.0, 2)]
    assert it.data["runs"]["m:both"]["longest_less_shortest"]["value"] == -1.0


def test_questions_of_one_length_leave_three_intervals_empty(tmp_path: Path) -> None:
    items = [choice(f"q{k}", f"e{k}", perspective="first") for k in range(3)]
    same = Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])
    run = found(same, "question_length", answers("m", "both", "AAB")).data["runs"]["m:both"]
    assert run["intervals"][0]["n"] == 3
    assert [i["value"] for i in run["intervals"][1:]] == [None] * 3
    assert run["longest_less_shortest"]["value"] is None


def test_frames_with_the_conditions_that_are_declared_equal(made: Made) -> None:
    rows = (
        answers("m", "question_only", "BBBBBA")
        + answers("m", "frames_8", "ABBAAA")
        + answers("m", "frames_64", "AABAAA")
    )
    rows += answers("n", "video_only", "AAAAAA")
    it = found(made, "frames", rows)
    assert it.data["frames"] == [0, 8, 64]
    overall = it.data["models"]["m"]["overall"]
    assert {count: one["value"] for count, one in overall["accuracy"].items()} == pytest.approx(
        {"0": 1 / 6, "8": 4 / 6, "64": 5 / 6}
    )
    assert overall["gain"]["value"] == pytest.approx(4 / 6)
    assert it.data["models"]["m"]["first"]["gain"]["value"] == pytest.approx(2 / 3)
    assert any("question_only stands for frames_0" in line for line in it.notes)
    assert any("n: one number of frames only" in line for line in it.notes)
    assert it.figures[0].series[0].values == pytest.approx((1 / 6, 4 / 6, 5 / 6))


def test_a_condition_of_its_own_name_is_preferred_to_its_equal(made: Made) -> None:
    rows = (
        answers("m", "question_only", "AAAAAA")
        + answers("m", "frames_0", "BBBBBB")
        + answers("m", "frames_1", "ABBBBB")
    )
    it = found(made, "frames", rows)
    assert it.data["models"]["m"]["overall"]["accuracy"]["0"]["value"] == 0.0
    assert not any("stands for" in line for line in it.notes)
    with pytest.raises(InputError, match="two numbers of frames"):
        found(made, "frames", answers("m", "frames_1", "ABBBBB"))


def test_modalities_worked_by_hand(made: Made) -> None:
    rows = answers("m", "question_only", "ABBBBB") + answers("m", "frames_64", "AABBBB")
    rows += answers("m", "transcript_only", "BAAABB") + answers("m", "both", "AAAAAB")
    it = found(made, "modalities", rows)
    gain = it.data["m"]["gain"]
    assert gain["both - transcript"]["overall"]["difference"]["value"] == pytest.approx(2 / 6)
    assert gain["transcript - question"]["overall"]["difference"]["value"] == pytest.approx(2 / 6)
    assert gain["transcript - question"]["overall"]["mcnemar"] == {
        "a_only": 3,
        "b_only": 1,
        "p": pytest.approx(10 / 16),
    }
    assert gain["both - question"]["first"]["difference"]["value"] == pytest.approx(2 / 3)
    assert it.data["m"]["accuracy"]["video"]["overall"]["value"] == pytest.approx(2 / 6)
    assert any("frames_64 stands for video_only" in line for line in it.notes)
    # Eighteen tests: the smallest p, 4 to 0 in "both - question", times eighteen is over 1.
    assert gain["both - question"]["overall"]["holm_p"] == 1.0
    with pytest.raises(InputError, match="two of the settings"):
        found(made, "modalities", answers("m", "both", "AAAAAA"))


def test_a_setting_without_predictions_has_no_gain(made: Made) -> None:
    it = found(made, "modalities", answers("m", "question_only", "ABBBBB") + answers("m", "both", "AAAAAB"))
    assert set(it.data["m"]["gain"]) == {"both - question"}
    assert it.figures[0].series[0].values[1] is None
    assert any("no gain both - transcript" in line for line in it.notes)


def test_keyframes_worked_by_hand(made: Made) -> None:
    rows = answers("m", "both", "AABBBB") + answers("m", "bolt", "ABBAAB") + answers("n", "bolt", "AAAAAA")
    it = found(made, "keyframes", rows)
    gain = it.data["models"]["m"]["gain"]["selected - uniform"]
    assert gain["overall"]["difference"]["value"] == pytest.approx(1 / 6)
    assert gain["first"]["difference"]["value"] == pytest.approx(-1 / 3)
    assert gain["third"]["difference"]["value"] == pytest.approx(2 / 3)
    assert any(line.startswith("n: left out") for line in it.notes)
    other = found(
        made, "keyframes", answers("m", "x", "AAAAAA") + answers("m", "y", "BBBBBB"), selected="x", uniform="y"
    )
    assert other.data["models"]["m"]["gain"]["selected - uniform"]["overall"]["difference"]["value"] == 1.0
    with pytest.raises(InputError, match="under bolt and under both"):
        found(made, "keyframes", answers("m", "bolt", "AAAAAA"))


def points(event: float, mechanism: float = 3, option: float = 1, hallucination: float = 4) -> Row:
    options = dict.fromkeys("ABCD", option)
    return {"key_event": event, "mechanism": mechanism, "options": options, "hallucination": hallucination}


def test_reasoning_quality_worked_by_hand(made: Made) -> None:
    labels = [judged("q0", RUBRIC, points(2)), judged("q1", RUBRIC, points(5, option=0.5)), judged("q2", RUBRIC, {})]
    it = found(made, "reasoning", answers("m", "c", "AABBBB"), labels)
    run = it.data["m:c"]
    assert (run["key_event"]["value"], run["key_event"]["n"]) == (3.5, 2)
    assert run["options"]["value"] == 3.0
    assert run["mean"]["value"] == pytest.approx(((2 + 3 + 4 + 4) + (5 + 3 + 2 + 4)) / 8)
    assert any("4 read replies without a valid judgement" in line for line in it.notes)
    with pytest.raises(InputError, match="--judgements"):
        found(made, "reasoning", answers("m", "c", "AABBBB"))


def two_judges(events: tuple[list[float], list[float]]) -> list[Row]:
    return [
        judged(f"q{k}", RUBRIC, points(value), judge=judge)
        for judge, values in zip(("gpt", "anna"), events, strict=True)
        for k, value in enumerate(values)
    ]


def test_judge_and_human_against_scipy_draw_by_draw(made: Made) -> None:
    a, b = [1.0, 2, 2, 4, 5, 3], [0.5, 2, 1, 5, 4, 4]
    it = found(made, "judge_human", answers("m", "c", "AAAAAA"), two_judges((a, b)), judge="gpt", human="anna")
    rho = it.data["parts"]["key_event"]["rho"]
    assert rho["value"] == pytest.approx(scipy.stats.spearmanr(a, b).statistic)
    assert it.data["parts"]["key_event"]["bias"] == pytest.approx((17 - 16.5) / 6)
    draws = []
    for row in cluster_weights(6, 100, generator("mmhbench/judge_human/episodes", 1)):
        x, y = np.repeat(a, row), np.repeat(b, row)
        flat = len(set(x)) < 2 or len(set(y)) < 2
        draws.append(float("nan") if flat else scipy.stats.spearmanr(x, y).statistic)
    assert (rho["low"], rho["high"]) == pytest.approx(percentile_interval(np.array(draws)))
    # The other parts are all equal: no rank correlation, and the reason said.
    assert it.data["parts"]["mechanism"]["rho"] == {"value": None, "low": None, "high": None, "n": 6}
    assert any(line.startswith("mechanism: rho undefined") for line in it.notes)
    assert any("several judges under the rubric" in line for line in it.notes)


def test_judge_and_human_are_named_or_the_only_two(made: Made) -> None:
    rows, labels = answers("m", "c", "AAAAAA"), two_judges(([1, 2, 3], [1, 2, 4]))
    assert found(made, "judge_human", rows, labels).data["judge"] == "anna"
    third = [judged("q0", RUBRIC, points(1), judge="ben")]
    with pytest.raises(InputError, match="no judgements by this name"):
        found(made, "judge_human", rows, labels + third)
    with pytest.raises(InputError, match="two judges are compared"):
        found(made, "judge_human", rows, labels, judge="gpt", human="gpt")
    with pytest.raises(InputError, match="validly by both"):
        found(made, "judge_human", rows, [*third, judged("q1", RUBRIC, points(1), judge="gpt")])
    # With --judge the grades hold that judge's labels, and the analysis still sees both.
    assert found(made, "judge_human", rows, labels, judge_="gpt").data["human"] == "gpt"


def test_error_types_worked_by_hand(made: Made) -> None:
    kinds = ["mechanism", "mechanism", "evidence", "typo", "role"]
    labels = [judged(f"q{k}", "error_type", {"type": kind}) for k, kind in enumerate(kinds)]
    it = found(made, "errors", answers("m", "c", "BBBBAB"), labels)
    run = it.data["m:c"]
    assert (run["wrong"], run["labelled"]) == (5, 3)
    assert run["types"]["mechanism"]["value"] == pytest.approx(2 / 3)
    assert run["types"]["role"]["value"] == 0.0
    assert any("1 labels of right answers" in line for line in it.notes)
    assert any("1 labels that are none of" in line for line in it.notes)
    assert any("3 of 5 wrong replies have a label" in line for line in it.notes)
    with pytest.raises(InputError, match="no judgements under the rubric error_type"):
        found(made, "errors", answers("m", "c", "BBBBAB"))


def test_a_run_without_labelled_errors_has_undefined_shares(made: Made) -> None:
    labels = [judged("q0", "error_type", {"type": "role"})]
    it = found(made, "errors", answers("m", "c", "BBBBBB") + answers("n", "c", "BBBBBB"), labels)
    assert it.data["n:c"]["types"]["role"]["value"] is None
    assert any("nothing to average over" in line for line in it.notes)
    second = [*labels, judged("q0", "error_type", {"type": "other"}, judge="k")]
    with pytest.raises(InputError, match="several people labelled"):
        found(made, "errors", answers("m", "c", "BBBBBB"), second)
    assert (
        found(made, "errors", answers("m", "c", "BBBBBB"), second, judge="k").data["m:c"]["types"]["other"]["value"]
        == 1
    )


def test_every_figure_can_be_drawn(made: Made, tmp_path: Path) -> None:
    from onlooker.report.analysis_figures import write_analysis_figures

    conditions = ("question_only", "frames_8", "video_only", "both", "bolt")
    rows = [row for condition in conditions for row in answers("m", condition, "AABB-A")]
    labels = [judged("q0", RUBRIC, points(2), condition="both")]
    labels += [judged("q2", "error_type", {"type": "role"}, condition="both")]
    for name in ("breakdown", "question_length", "frames", "modalities", "keyframes", "reasoning", "errors"):
        figures = found(made, name, rows, labels).figures
        assert figures
        assert len(write_analysis_figures(figures, tmp_path / "out", name).paths) == 3 * len(figures)
