"""Agreement of a ratings file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onlooker.errors import InputError
from onlooker.score.agreement import agreement_rows, rater_agreement
from tests.score.made import Row, write_rows


def rated(unit: str, rater: str, value: Any, **fields: Any) -> Row:
    row = {"item": "v", "unit": unit, "rater": rater, "rubric": "intensity", "value": value, "opt_out": None}
    return row | fields


def test_units_opt_outs_and_lone_ratings(tmp_path: Path) -> None:
    rows = [
        rated("m1", "r1", 1),
        rated("m1", "r2", 1),
        rated("m2", "r1", 1),
        rated("m2", "r2", 2),
        rated("m3", "r1", 3),
        rated("m3", "r2", None, opt_out="unclear"),
        rated("m1", "r3", 3, opt_out="unfamiliar"),
        rated("m1", "r1", "sad", rubric="mood"),
    ]
    found = rater_agreement(write_rows(tmp_path / "ratings.jsonl", rows), "intensity")
    report = found.report
    assert (report["units"], report["raters"], report["ratings"]) == (3, 2, 5)
    # The pairable units are (1,1) and (1,2): see the hand-worked alpha of 0 in the tests of stats.
    assert report["alpha.nominal"] == pytest.approx(0, abs=1e-12)
    assert (report["unanimity"], report["pair_agreement"]) == (0.5, 0.5)
    assert report["fleiss_kappa"] is None
    assert report["two_draw_agreement"] == pytest.approx((9 + 1 + 1) / 25)
    assert "rater without a rating that counts: r3" in found.notes
    assert "2 opt-outs and empty ratings left out" in found.notes
    assert next(iter(agreement_rows(found, "ordinal")))[0] == "alpha.ordinal"


def test_the_same_rater_twice_names_both_lines(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "ratings.jsonl", [rated("m1", "r1", 1), rated("m1", "r1", 2)])
    with pytest.raises(InputError) as caught:
        rater_agreement(file, "intensity")
    assert "line 1" in str(caught.value)
    assert "line 2" in str(caught.value)


def test_an_unknown_rubric_lists_those_there_are(tmp_path: Path) -> None:
    file = write_rows(tmp_path / "ratings.jsonl", [rated("m1", "r1", 1)])
    with pytest.raises(InputError, match="intensity"):
        rater_agreement(file, "mood")


def test_a_word_among_numbers_is_named_with_its_line(tmp_path: Path) -> None:
    rows = [rated("m1", "r1", 1), rated("m1", "r2", "2"), rated("m2", "r1", 2), rated("m2", "r2", "two")]
    file = write_rows(tmp_path / "ratings.jsonl", rows)
    notes = rater_agreement(file, "intensity").notes
    assert f"2 of 4 ratings are words, the others numbers; the first is {file}, line 2, found '2'" in notes
    words = write_rows(file, [row | {"value": "sad"} for row in rows])
    assert not any("the first is" in note for note in rater_agreement(words, "intensity").notes)
