"""Published reliability data, typed in: Krippendorff's 12 x 4 example and the tables of Fleiss' kappa."""

from __future__ import annotations

import pytest

from onlooker.stats import (
    Level,
    RatingTable,
    fleiss_kappa,
    krippendorff_alpha,
    pair_agreement,
    tabulate,
    two_draw_agreement,
    unanimity,
)

# Krippendorff (2011), example C: one word a unit, one place an observer (A, B, C, D), "-" where one gave nothing.
EXAMPLE_C = "11-1 2232 3333 3333 2222 1234 4444 1121 2222 -555 --11 --3-"
# Six psychiatrists, five diagnoses: how many chose each, one word a patient. The 15 patients are the distribution table
# of the R package irrCAC, the 30 Fleiss (1971), table 1, as in the R package irr.
FIFTEEN = "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031"
THIRTY = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 "
    "00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)


def distribution(words: str) -> RatingTable:
    return tabulate([[k for k, count in enumerate(word) for _ in range(int(count))] for word in words.split()])


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorffs_example(level: Level, published: float) -> None:
    table = tabulate([[int(rating) for rating in unit if rating != "-"] for unit in EXAMPLE_C.split()])
    # The last unit has one rating and counts for nothing: 40 pairable ratings, as he reports.
    assert table.pairable.sum() == 40
    assert krippendorff_alpha(table, level).value == pytest.approx(published, abs=0.0005)


def test_fleiss_kappa_of_fifteen_patients() -> None:
    table = distribution(FIFTEEN)
    assert table.counts.sum(axis=1).tolist() == [6] * 15
    # irrCAC prints 0.4139265 for Fleiss' kappa and 0.4204384 for alpha.
    assert fleiss_kappa(table).value == pytest.approx(0.4139265, abs=5e-8)
    assert krippendorff_alpha(table, "nominal").value == pytest.approx(0.4204384, abs=5e-8)
    # By hand: pairs that agree are 15+6+6+15+6+7+7+4+7+15+10+6+6+10+4 = 124 of 15 x 15; the columns add up to
    # 9, 13, 18, 31, 19 of 90; three patients are unanimous.
    assert pair_agreement(table) == pytest.approx(124 / 225)
    assert two_draw_agreement(table) == pytest.approx((81 + 169 + 324 + 961 + 361) / 8100)
    assert unanimity(table) == pytest.approx(3 / 15)


def test_fleiss_kappa_of_thirty_patients() -> None:
    table = distribution(THIRTY)
    assert table.counts.sum() == 180
    # Fleiss (1971): mean agreement .5556 and chance agreement .2199; kappa .430.
    assert pair_agreement(table) == pytest.approx(0.5556, abs=0.00005)
    assert two_draw_agreement(table) == pytest.approx(0.2199, abs=0.00005)
    assert fleiss_kappa(table).value == pytest.approx(0.430, abs=0.0005)
