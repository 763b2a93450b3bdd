"""PsycheMME's printed figures, recomputed through the analyses from bundles with the printed counts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlooker.benchmarks.psycheme.analyses import ANALYSES
from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.score.analyze import analyze, find_analysis
from onlooker.stats import Difference, cluster_weights, count_votes, estimate, generator, mean
from tests.score.made import Made, Row, choice, judged, said

PEOPLE = {"A": (260, 86.67), "B": (253, 84.33), "C": (259, 86.33), "D": (254, 84.67), "E": (253, 84.33)}
EXPERTS = {"A": (275, 91.67), "B": (266, 88.67), "C": (272, 90.67), "D": (268, 89.33), "E": (271, 90.33)}


def found(made: Made, name: str, rows: Sequence[Row] = (), labels: Sequence[Row] = (), **options: str) -> Any:
    analysis = find_analysis(ANALYSES, "psycheme", name)
    files = [made.predictions(rows)] if rows else []
    judgements = [made.judgements(labels)] if labels else []
    return analyze(made.bundle, FAMILY, analysis, files, judgements, draws=100, seed=1, options=options).data


def reviewed(folder: Path, rubric: str, counts: Mapping[str, tuple[int, float]]) -> Made:
    """300 questions of eight capabilities; each person's first ones, as many as counted, are a 1."""
    items = [choice(f"q{k}", f"e{k}", capability="GWNTSAMR"[k % 8]) for k in range(300)]
    ratings = [
        {"item": f"q{k}", "unit": f"q{k}", "rater": who, "rubric": rubric, "value": int(k < n), "opt_out": None}
        for who, (n, _) in counts.items()
        for k in range(300)
    ]
    return Made(folder, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items], ratings=ratings)


def test_human_baseline(tmp_path: Path) -> None:
    data = found(reviewed(tmp_path, "human_answer", PEOPLE), "human")
    for person, (_, printed) in PEOPLE.items():
        assert round(100 * data["person"][person]["value"], 2) == printed
    assert data["pooled"]["micro"]["n"] == 1500
    assert data["pooled"]["micro"]["value"] == pytest.approx(1279 / 1500)
    assert round(100 * data["pooled"]["micro"]["value"], 2) == 85.27


def test_timing_of_people_fits_one_size_of_the_sample() -> None:
    # The counts by capability are lost. 79.43 % of five answers a question is 139 of 175, so 35 of the 300 questions
    # are of timing (or a multiple), where 72 of the benchmark's 1,000 are: drawn at random, some 22 would be.
    sizes = [n for n in range(1, 70) for k in range(5 * n + 1) if round(100 * k / (5 * n), 2) == 79.43]
    assert sizes == [35]


def test_endorsement_of_the_judge(tmp_path: Path) -> None:
    data = found(reviewed(tmp_path, "endorsement", EXPERTS), "endorsement")
    for expert, (_, printed) in EXPERTS.items():
        assert round(100 * data["experts"][expert]["value"], 2) == printed
    assert data["pooled"]["micro"]["n"] == 1500
    assert data["pooled"]["micro"]["value"] == pytest.approx(1352 / 1500)
    assert round(100 * data["pooled"]["micro"]["value"], 2) == 90.13


def timing_votes() -> dict[str, list[str]]:
    """Votes of eight models on 72 questions, A being right, with every count that appendix H prints.

    Each line: questions, votes for A, B, C and D, and whether Gemini is right. How the other seven share the rest is
    free and changes none of the counts.
    """
    kinds = [
        (15, (8, 0, 0, 0), True),  # all right
        (21, (6, 1, 1, 0), True),  # five or more right: with the 15, a strict majority on 36
        (6, (2, 6, 0, 0), True),  # five or more share one wrong option, another model is right: 18
        (12, (2, 6, 0, 0), False),
        (5, (4, 2, 2, 0), True),  # right without a majority
        (1, (4, 4, 0, 0), True),  # the tie that holds the right option: half a credit
        (2, (2, 3, 3, 0), False),  # the ties that do not
        (2, (1, 4, 3, 0), False),
        (2, (2, 4, 2, 0), False),
        (3, (0, 8, 0, 0), False),  # nobody right
        (3, (0, 4, 2, 2), False),
    ]
    models = ["gemini", *(f"m{k}" for k in range(7))]
    votes: dict[str, list[str]] = {model: [] for model in models}
    turn = 0
    for questions, (a, b, c, d), gemini in kinds:
        for _ in range(questions):
            wrong = [*"B" * b, *"C" * c, *"D" * d]
            votes["gemini"].append("A" if gemini else wrong.pop(0))
            right = a - gemini
            others = ["A"] * right + wrong
            for k, vote in enumerate(others):
                votes[f"m{(turn + k) % 7}"].append(vote)
            turn += right
    return votes


def test_oracle_and_plurality_of_eight_models() -> None:
    votes = timing_votes()
    hits = {model: own.count("A") for model, own in votes.items()}
    # The conditions of the text: 316 correct answers (appendix G.1), 48 the most of one model.
    assert sum(hits.values()) == 316
    assert max(hits.values()) == hits["gemini"] == 48
    by_question = list(zip(*votes.values(), strict=True))
    together = [q for q in by_question if max(q.count(x) for x in "BCD") >= 5]
    assert (len(together), sum("A" in q for q in together)) == (21, 18)
    assert sum("A" in q for q in by_question if q[0] != "A") == 18
    vote = count_votes(votes, ["A"] * 72)
    assert (vote.n, vote.ties, vote.best_model) == (72, 3, "gemini")
    assert vote.best == pytest.approx(48 / 72)
    assert vote.oracle == pytest.approx(66 / 72)
    assert vote.plurality == pytest.approx(41.5 / 72)
    assert vote.majority == pytest.approx(36 / 72)
    printed = [round(100 * x, 2) for x in (48 / 72, 66 / 72, 41.5 / 72, 36 / 72)]
    assert printed == [66.67, 91.67, 57.64, 50.00]
    assert (round(100 * 18 / 72, 2), round(100 * (41.5 - 48) / 72, 2)) == (25.00, -9.03)


def test_votes_without_ties() -> None:
    votes = timing_votes()
    tops = [sorted((q.count(x) for x in "ABCD"), reverse=True) for q in zip(*votes.values(), strict=True)]
    clear = [k for k, (first, second, *_) in enumerate(tops) if first > second]
    vote = count_votes({model: [own[k] for k in clear] for model, own in votes.items()}, ["A"] * len(clear))
    assert (vote.n, vote.ties) == (69, 0)
    assert round(100 * (vote.plurality or 0), 2) == round(100 * 41 / 69, 2) == 59.42
    assert round(100 * (vote.best or 0), 2) == round(100 * 47 / 69, 2) == 68.12


def test_interval_of_the_oracle_gain() -> None:
    # +25.00 [15.58, 35.48]: 12 of 77 and 22 of 62. All 630 episodes are drawn, so that the 72 with a timing question
    # come up 77 or 62 times; drawing only the 72 would give multiples of 1/72 around [15.3, 34.7].
    assert (round(1200 / 77, 2), round(2200 / 62, 2)) == (15.58, 35.48)
    gain = Difference(
        mean(np.arange(72), np.concatenate([np.ones(66), np.zeros(6)])),
        mean(np.arange(72), np.concatenate([np.ones(48), np.zeros(24)])),
    )
    [one] = estimate([gain], cluster_weights(630, 10_000, generator("published/oracle", 1)))
    assert one.value == pytest.approx(0.25)
    assert one.low == pytest.approx(0.1558, abs=0.005)
    assert one.high == pytest.approx(0.3548, abs=0.005)


def test_completeness_of_open_need_answers(tmp_path: Path) -> None:
    # Flash 5/20/10 and Claude 4/7/24 of 35; 17 move from partial to full and 3 back. The other moves are free.
    moves = {(0.5, 1): 17, (1, 0.5): 3, (1, 1): 7, (0.5, 0.5): 1, (0.5, 0): 2, (0, 0.5): 3, (0, 0): 2}
    pairs = [pair for pair, n in moves.items() for _ in range(n)]
    items = [
        {"id": f"n{k}", "episode": f"e{k}", "task": "open", "question": "Why?", "labels": {"capability": "N"}}
        for k in range(35)
    ]
    made = Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": "so"} for i in items])
    models = ("claude", "flash")
    text = json.dumps({"answer": "he is tired", **dict.fromkeys("GWNTSAMR")})
    rows = [said(f"n{k}", text, model=model) for model in models for k in range(35)]
    labels = [
        judged(f"n{k}", "open_answer", {"credit": credit}, model=model)
        for k, (flash, claude) in enumerate(pairs)
        for model, credit in (("claude", claude), ("flash", flash))
    ]
    data = found(made, "completeness", rows, labels, a="claude:c", b="flash:c")
    runs = data["runs"]
    assert runs["flash:c"]["steps"] == {"0.0": 5, "0.5": 20, "1.0": 10}
    assert runs["claude:c"]["steps"] == {"0.0": 4, "0.5": 7, "1.0": 24}
    printed = {"raw": (78.57, 57.14), "nonzero": (88.57, 85.71), "full": (68.57, 28.57)}
    for name, values in printed.items():
        assert tuple(round(100 * runs[f"{m}:c"][name]["value"], 2) for m in models) == values
    pair = data["pair"]
    assert round(100 * pair["difference"]["raw"]["value"], 2) == 21.43
    assert round(100 * pair["raw_from_nonzero"], 2) == 1.43
    assert round(100 * pair["raw_from_full"], 2) == 20.00


def test_labels_of_correct_timing_answers() -> None:
    timing, rest = (283, 182, 569), (837, 561, 10_988)
    evidence, logic = ([100 * own[k] / own[2] for own in (timing, rest)] for k in (0, 1))
    assert [round(x, 2) for x in (*evidence, *logic)] == [49.74, 7.62, 31.99, 5.11]
    assert round(evidence[0] - evidence[1], 2) == 42.12
    assert round(logic[0] - logic[1], 2) == 26.88
    # Every adverse logic label stands beside an adverse evidence label.
    assert (182 + 101, 182 + 101 + 286) == (283, 569)
    assert round(100 * (123 / 316 - 187 / 5633), 2) == 35.60


def test_need_splits_into_choice_and_open_questions() -> None:
    # 62 choice and 35 open questions of 97. Verified, per cent: Flash 69.97 (choice 81.31), Claude 69.10 (70.95).
    flash, claude = ((97 * whole - 62 * part) / 35 for whole, part in ((69.97, 81.31), (69.10, 70.95)))
    assert round(81.31 - 70.95, 2) == 10.36
    # Printed 15.95; the four roundings allow .045.
    assert claude - flash == pytest.approx(15.94, abs=0.005)
    assert claude - flash == pytest.approx(15.95, abs=0.045)


@pytest.mark.parametrize(
    ("terms", "printed"),
    [
        ((76.54, -73.44), 3.10),
        ((69.65, -65.67), 3.98),
        ((82.50, -42.50), 40.00),
        ((74.55, -25.28), 49.27),
        ((45.00, -42.50), 2.50),
        ((23.87, -25.28), -1.41),
        ((73.19, -72.58), 0.61),
        ((52.62, -52.13), 0.49),
        ((73.19, -52.62), 20.57),
        ((75.35, -75.98), -0.63),
        ((4.52, 6.66), 11.18),
        ((12.78, -0.46), 12.32),
    ],
)
def test_printed_differences(terms: tuple[float, float], printed: float) -> None:
    assert round(sum(terms), 2) == printed


def test_one_rationale_difference_misses_by_a_rounding() -> None:
    # Verification weights 95.11 and 92.26 with a paired difference of 2.84: the rounded means differ by 2.85.
    ours = 95.11 - 92.26
    assert (round(ours, 2), round(ours - 2.84, 2)) == (2.85, 0.01)


def test_history_and_open_scores_are_whole_counts() -> None:
    assert [round(100 * k / 40, 2) for k in (33, 17)] == [82.50, 42.50]
    # Three seeds of mismatched history, 120 answers.
    assert round(100 * 54 / 120, 2) == 45.00
    # Half credits of 110 open questions.
    assert [round(100 * k / 110, 2) for k in (84, 74)] == [76.36, 67.27]
    assert 555 + 303 + 142 == 890 + 110 == 1000
