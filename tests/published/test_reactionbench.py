"""ReactionBench's printed figures, recomputed from the counts that they imply."""

from __future__ import annotations

import math

import pytest

from onlooker.stats import mcnemar, wilson

N = 112
# Table 26: right of 112, printed accuracy, low, high.
MATCHING = {
    "GPT-5": (57, 0.509, 0.418, 0.600),
    "Gemini 3.7 Flash": (56, 0.500, 0.409, 0.591),
    "Qwen3.6-35B-A3B": (54, 0.482, 0.392, 0.574),
    "Qwen3.6-27B": (50, 0.446, 0.358, 0.539),
    "Qwen3.5-397B-A17B": (46, 0.411, 0.324, 0.503),
    "Kimi-K2.6": (42, 0.375, 0.291, 0.467),
    "Qwen3.5-9B": (29, 0.259, 0.187, 0.347),
    "Gemini 3.7 Flash, native video": (61, 0.545, 0.453, 0.634),
}
# Table 27: right of the same 112 with other videos' distractors, printed accuracy, difference and p.
CROSS = {
    "GPT-5": (48, 0.429, -0.080, 0.18),
    "Gemini 3.7 Flash": (60, 0.536, 0.036, 0.63),
    "Qwen3.6-35B-A3B": (41, 0.366, -0.116, 0.06),
    "Qwen3.6-27B": (53, 0.473, 0.027, 0.72),
    "Qwen3.5-397B-A17B": (42, 0.375, -0.036, 0.64),
    "Kimi-K2.6": (46, 0.411, 0.036, 0.64),
    "Qwen3.5-9B": (31, 0.277, 0.018, 0.86),
}
# Table 28, 150 items: strict accuracy, tie rate, decided-only accuracy, items decided.
SINGLE_OPTIONS = [
    (0.200, 0.520, 0.417, 72),
    (0.207, 0.667, 0.620, 50),
    (0.187, 0.667, 0.560, 50),
    (0.147, 0.627, 0.393, 56),
    (0.140, 0.647, 0.396, 53),
    (0.133, 0.733, 0.500, 40),
    (0.093, 0.813, 0.500, 28),
    (0.147, 0.613, 0.379, 58),
]
# Table 46: calls, tokens in, tokens out, dollars.
LEDGER = {
    "Gemini 3.7 Flash": (3992, 59_470_696, 32_798, 44.726),
    "GPT-5": (3033, 2_583_488, 61_332, 3.843),
    "Qwen3.5-9B": (1887, 7_307_733, 21_247, 4.865),
    "Qwen3.6-27B": (1842, 7_107_869, 16_867, 13.315),
    "Qwen3.6-35B-A3B": (1846, 7_121_241, 16_964, 3.868),
    "Qwen3.5-397B-A17B": (1937, 7_378_437, 19_588, 22.282),
    "Kimi-K2.6": (1842, 10_044_031, 20_534, 22.260),
    "DeepSeek-V3.1 judge": (1391, 383_651, 27_820, 0.768),
}


def discordant(difference: int, printed: float, decimals: int) -> list[tuple[int, int]]:
    """The pairs of discordant counts with this difference whose exact p rounds to the printed one."""
    pairs = [(b + max(-difference, 0), b + max(difference, 0)) for b in range((N - abs(difference)) // 2 + 1)]
    return [pair for pair in pairs if round(mcnemar(*pair).p, decimals) == printed]


@pytest.mark.parametrize("model", MATCHING)
def test_wilson_intervals_of_the_matching_table(model: str) -> None:
    right, accuracy, low, high = MATCHING[model]
    assert right / N == pytest.approx(accuracy, abs=0.0005)
    ours = wilson(right, N)
    assert ours is not None
    expected = (low, high)
    if model == "Gemini 3.7 Flash, native video":
        # Printed .453; the bound is .45246, which rounds to .452. No other end of the table is off, and neither 1.96
        # for z nor another count gives .453 with .545 and .634: taken for a slip of the last digit.
        assert (low, round(ours[0], 5)) == (0.453, 0.45246)
        expected = (0.452, high)
    assert tuple(round(end, 3) for end in ours) == expected


def test_exact_mcnemar_of_the_native_video_control() -> None:
    assert round(mcnemar(24, 19).p, 3) == 0.542
    # 24 right in video only less 19 in frames only: the printed .045 and the counts of table 26.
    assert MATCHING["Gemini 3.7 Flash, native video"][0] - MATCHING["Gemini 3.7 Flash"][0] == 24 - 19
    assert round(5 / N, 3) == 0.045


def test_exact_mcnemar_of_native_video_with_other_videos_distractors() -> None:
    # 61 + 30 - 4 = 87 of 112, printed .777, +.232 and 6e-6.
    assert float(f"{mcnemar(4, 30).p:.0e}") == 6e-6
    assert mcnemar(4, 30).p == pytest.approx(6.165e-6, abs=5e-10)
    assert round(87 / N, 3) == 0.777
    assert round((30 - 4) / N, 3) == 0.232


@pytest.mark.parametrize("model", CROSS)
def test_differences_and_p_of_the_cross_video_table(model: str) -> None:
    right, accuracy, difference, p = CROSS[model]
    within = MATCHING[model][0]
    assert round(right / N, 3) == accuracy
    assert round((right - within) / N, 3) == difference
    # The discordant counts are not printed; some that fit the margins give the printed p.
    assert any(b <= min(N - within, right) for _, b in discordant(right - within, p, 2))


def test_adaptation_on_matching() -> None:
    # Printed .304 to .411, p = .036: of all discordant counts 12 apart only 8 and 20 give it.
    assert (round(34 / N, 3), round(46 / N, 3)) == (0.304, 0.411)
    assert discordant(12, 0.036, 3) == [(8, 20)]
    # One item more on the 95 that the base parsed: +.011, p = 1, whatever the rest.
    assert (round(34 / 95, 3), round(35 / 95, 3), round(1 / 95, 3)) == (0.358, 0.368, 0.011)
    assert mcnemar(0, 1).p == mcnemar(20, 21).p == 1
    # All 34 right ones stand among the 95, and 46 - 35 = 11 of the 17 unparsed became right.
    assert N - 95 == 17


def test_reaction_controls_on_the_shared_109() -> None:
    normal, stimulus_only, shuffled = 46, 41, 42
    assert [round(k / 109, 3) for k in (normal, stimulus_only, shuffled)] == [0.422, 0.376, 0.385]
    assert [round((normal - k) / 109, 3) for k in (stimulus_only, shuffled)] == [0.046, 0.037]
    assert discordant(normal - stimulus_only, 0.442, 3) != []
    assert discordant(normal - shuffled, 0.503, 3) != []


@pytest.mark.parametrize(("strict", "ties", "decided", "n"), SINGLE_OPTIONS)
def test_one_option_a_call_leaves_few_decided(strict: float, ties: float, decided: float, n: int) -> None:
    assert round(150 * (1 - ties)) == n
    right = round(150 * strict)
    assert round(right / 150, 3) == strict
    assert round(right / n, 3) == decided


def test_scores_left_after_exclusion() -> None:
    for right, n, printed in [
        (31, 104, 0.298),
        (29, 91, 0.319),
        (41, 104, 0.394),
        (39, 91, 0.429),
        (37, 91, 0.407),
        (40, 104, 0.385),
    ]:
        assert round(right / n, 3) == printed
    assert (N - 8, N - 21) == (104, 91)
    assert (95 - 89, 95 - 78) == (6, 17)


def test_gain_split_into_constant_and_other_profiles() -> None:
    # Multi-task, joint: 153 constant profiles rise from -.049 to 0, 97 others from .138 to .405.
    constant, others = 153 / 250 * 0.049, 97 / 250 * (0.405 - 0.138)
    assert (round(constant, 3), round(others, 3), round(constant + others, 3)) == (0.030, 0.104, 0.134)


def test_a_conditional_gain_misses_by_a_rounding() -> None:
    # Printed .096, .296 and a gain of .201: the difference of the rounded means is .200, one unit less, which two
    # roundings of .0005 each can make.
    ours = 0.296 - 0.096
    assert (round(ours, 3), round(0.201 - ours, 3)) == (0.2, 0.001)


def test_model_less_human_after_adaptation() -> None:
    human = 0.607
    assert round(0.692 - human, 3) == 0.085
    assert round(0.681 - human, 3) == 0.074
    # The joint difference is not printed; it lies in the middle of its interval.
    assert 0.573 - human == pytest.approx((-0.070 + 0.002) / 2)


def test_ledger_totals() -> None:
    priced = ("Qwen3.5-9B", "Qwen3.6-27B", "Qwen3.6-35B-A3B", "Qwen3.5-397B-A17B", "Kimi-K2.6")
    assert round(sum(LEDGER[model][3] for model in priced), 3) == 66.590
    assert (
        round(math.fsum(row[3] for row in LEDGER.values()), 3) == round(44.726 + 3.843 + 66.590 + 0.768, 3) == 115.927
    )
    # The follow-ups: OpenAI and Tinker.
    assert round(1.077 + 4.537, 3) == 5.614


def test_ledger_rows_that_public_rates_explain() -> None:
    # GPT-5 at $1.25 and $10 a million tokens in and out.
    _, tokens_in, tokens_out, dollars = LEDGER["GPT-5"]
    assert round((1.25 * tokens_in + 10 * tokens_out) / 1e6, 3) == dollars
    # The judge's output tokens are 20 a call to the token, as an assumed length would be.
    assert LEDGER["DeepSeek-V3.1 judge"][2] == 20 * LEDGER["DeepSeek-V3.1 judge"][0]


def test_hours_of_compute() -> None:
    # Training hours of seed 0, two more seeds, two ablations; evaluation of 40 minutes is printed with each of these
    # three groups. Read as one a group the total is the printed 20.8; read as one a run it is 22.15.
    training = 5.27 + 5.26 + 5.29 + 0.65 + 2.35
    assert training + 3 * 40 / 60 == pytest.approx(20.8, abs=0.05)
    assert training + 5 * 40 / 60 - 20.8 == pytest.approx(1.35, abs=0.01)
    assert round(8 * 20.8) == 166
    everything = training + 2 + (430 + 517) / 3600 + 5.38 + 36 / 60 + 1
    assert round(everything) == 28
    assert 8 * 28 == 224
