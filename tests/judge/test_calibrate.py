"""A judge against people: hand-worked values, SciPy, strata, what is undefined."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import spearmanr

from onlooker.benchmarks.psycheme.scoring import VERIFIED
from onlooker.benchmarks.reactionbench.scoring import RATIONALE
from onlooker.errors import InputError
from onlooker.judge.calibrate import Ask, calibrate
from onlooker.protocol.scoring import Rubric
from onlooker.records.public import ITEM, Episode
from onlooker.records.results import Judgement

CUES = {"judge": (2, 2, 1, 0, 1, 2), "human:a": (2, 1, 1, 0, 0, 2), "human:b": (1, 2, 0, 0, 1, 2)}
WINDOW = {"start_s": 0.0, "end_s": 2.0}
ITEMS = {
    f"r{n}": ITEM.validate_python({"id": f"r{n}", "episode": f"e{n // 2}", "task": "rationale", "window": WINDOW})
    for n in range(6)
}
EPISODES = {f"e{n}": Episode(id=f"e{n}", labels={"category": "games" if n else "comedy"}) for n in range(3)}


def row(n: int, judge: str, labels: dict[str, Any], rubric: Rubric = RATIONALE, model: str = "m") -> Judgement:
    return Judgement(
        item=f"r{n}", model=model, condition="c", judge=judge, rubric=rubric.name, labels=labels, status="ok"
    )


def graded(names: tuple[str, ...] = tuple(CUES)) -> list[Judgement]:
    return [row(n, name, {"cue": CUES[name][n], "link": 1, "faithful": n % 2}) for name in names for n in range(6)]


def test_against_scipy_and_by_hand() -> None:
    found = calibrate(graded(), Ask(RATIONALE, draws=500), ITEMS, EPISODES)
    cue = found["judges"]["judge"]["dimensions"]["cue"]
    people = [(a + b) / 2 for a, b in zip(CUES["human:a"], CUES["human:b"], strict=True)]
    assert cue["people_mean"]["value"] == pytest.approx(spearmanr(CUES["judge"], people).statistic)
    each = [spearmanr(CUES["judge"], CUES[name]).statistic for name in ("human:a", "human:b")]
    assert cue["individual"] == {
        "mean": pytest.approx(sum(each) / 2),
        "least": pytest.approx(min(each)),
        "most": pytest.approx(max(each)),
        "n": 2,
    }
    assert cue["inter_rater"]["mean"] == pytest.approx(spearmanr(CUES["human:a"], CUES["human:b"]).statistic)
    # Differences: 0.5, 0.5, 0.5, 0, 0.5, 0.
    assert cue["difference"]["value"] == pytest.approx(2 / 6)
    assert cue["difference"]["mean_size"] == pytest.approx(2 / 6)
    # a: equal on r0, r2, r3, r5; b: equal on r1, r3, r4, r5.
    assert cue["exact"] == {"value": pytest.approx(8 / 12), "n": 12}
    total = found["judges"]["judge"]["dimensions"]["total"]
    assert total["difference"]["value"] == pytest.approx(2 / 6)


def test_a_dimension_without_variation_is_undefined_and_says_so() -> None:
    found = calibrate(graded(), Ask(RATIONALE, draws=100), ITEMS, EPISODES)
    link = found["judges"]["judge"]["dimensions"]["link"]
    assert link["people_mean"]["value"] is None
    assert link["exact"]["value"] == 1.0
    assert any("judge, link: rho undefined" in note for note in found["notes"])


def test_one_episode_has_no_interval() -> None:
    items = {name: item.model_copy(update={"episode": "e0"}) for name, item in ITEMS.items()}
    found = calibrate(graded(), Ask(RATIONALE, draws=100), items, EPISODES)
    cue = found["judges"]["judge"]["dimensions"]["cue"]["people_mean"]
    assert cue["value"] is not None
    assert (cue["low"], cue["high"]) == (None, None)


def test_strata() -> None:
    by_label = calibrate(graded(), Ask(RATIONALE, by="category", draws=100), ITEMS, EPISODES)
    strata = by_label["judges"]["judge"]["by"]["category"]
    assert {name: one["replies"] for name, one in strata.items()} == {"comedy": 2, "games": 4}
    by_judge = calibrate(graded(), Ask(RATIONALE, by="judge", draws=100), ITEMS, EPISODES)
    sizes = {name: one["replies"] for name, one in by_judge["judges"]["judge"]["by"]["judge"].items()}
    # Totals of the judge: 3, 4, 2, 2, 2, 4; thirds are cut at 2 and 3.33.
    assert sizes == {"low": 3, "middle": 1, "high": 2}
    with pytest.raises(InputError, match="no reply has this label"):
        calibrate(graded(), Ask(RATIONALE, by="nothing"), ITEMS, EPISODES)


def test_words_are_numbered_from_the_worst_up() -> None:
    words = (("strong", "coherent"), ("weak", "weak"), ("insufficient", "unevaluable"))
    rows = [
        row(n, judge, {"evidence": evidence, "logic": logic}, VERIFIED)
        for judge in ("judge", "human:a")
        for n, (evidence, logic) in enumerate(words)
    ]
    found = calibrate(rows, Ask(VERIFIED, draws=100), ITEMS, EPISODES)["judges"]["judge"]["dimensions"]
    assert set(found) == {"evidence", "logic"}, "words do not add up to a total"
    assert found["evidence"]["people_mean"]["value"] == pytest.approx(1.0)


def test_invalid_rows_are_counted_and_left_out() -> None:
    rows = [*graded(), row(0, "judge2", {"cue": 9, "link": 1, "faithful": 1})]
    found = calibrate(rows, Ask(RATIONALE, draws=100), ITEMS, EPISODES)
    assert found["notes"][0] == "1 judgements without valid labels left out"
    assert list(found["judges"]) == ["judge"]


def test_without_people_there_is_nothing_to_calibrate_on() -> None:
    with pytest.raises(InputError, match="people"):
        calibrate(graded(("judge",)), Ask(RATIONALE), ITEMS, EPISODES)
