"""PsycheMME's credit, worked by hand."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.benchmarks.psycheme.scoring import EVIDENCE, FAMILY, LOGIC, STAGES, grade
from onlooker.errors import InputError
from onlooker.protocol.scoring import Answer, Private, Reply
from onlooker.records.private import Reference
from onlooker.records.public import ITEM
from tests.score.made import Made, Row, choice, coverage_of, judged, metrics_of, said, value_of


def reply(answer: Any, **fields: str | None) -> str:
    """A PsycheMME reply: one object."""
    return json.dumps({"answer": answer, **dict.fromkeys("GWNTSAMR"), **fields})


def open_item(item: str, episode: str, capability: str) -> Row:
    return {
        "id": item,
        "episode": episode,
        "task": "open",
        "question": "Why?",
        "labels": {"capability": capability},
    }


def verified(item: str, evidence: str, logic: str, **fields: Any) -> Row:
    return judged(item, "verified", {"evidence": evidence, "logic": logic}, **fields)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Three questions of G and two of N; the choices' answer is A, or A and C."""
    items = [
        choice("g0", "e0", capability="G"),
        choice("g1", "e1", capability="G"),
        choice("g2", "e2", capability="G", select="all"),
        choice("n0", "e0", capability="N"),
        open_item("n1", "e1", "N"),
    ]
    answers = [["A"], ["A"], ["A", "C"], ["A"], "because"]
    references = [{"item": i["id"], "answer": a} for i, a in zip(items, answers, strict=True)]
    episodes = [
        {"id": "e0", "duration_s": 30.0, "lineage": {"source": "X"}},
        {"id": "e1", "duration_s": 30.5, "lineage": {"source": "Y"}},
        {"id": "e2", "duration_s": 60.5},
    ]
    return Made(tmp_path, FAMILY, items, references, episodes=episodes)


ROWS = [
    said("g0", reply("A", G="she smiles")),
    said("g1", reply("A", W="n/a", N=" ?! ", T="None")),
    said("g2", reply(["C", "A"], S="He says no")),
    said("n0", reply("B", N="tired")),
    said("n1", reply("he is late", N="he looks at the clock")),
]
JUDGED = [
    verified("g0", "strong", "weak"),
    verified("g2", "normal", "acceptable"),
    judged("n1", "open_answer", {"credit": 0.5}),
    verified("n1", "weak", "coherent"),
]


def test_raw_and_verified_credit_worked_by_hand(made: Made) -> None:
    result = made.score(ROWS, JUDGED)
    # g0: 1 of 1.2 x 0.8 / 1.44. g1: no informative field. g2: 1 / 1.44. n0: wrong. n1: half of 0.8 x 1.2 / 1.44.
    g = (0.96 / 1.44 + 0 + 1 / 1.44) / 3
    n = (0 + 0.48 / 1.44) / 2
    assert value_of(result, "raw.capability.G") == 1
    assert value_of(result, "raw.capability.N") == pytest.approx(0.25)
    assert value_of(result, "raw.macro") == pytest.approx(0.625)
    assert value_of(result, "raw.micro") == pytest.approx(3.5 / 5)
    assert value_of(result, "verified.capability.G") == pytest.approx(g, abs=1e-12)
    assert value_of(result, "verified.macro") == pytest.approx((g + n) / 2, abs=1e-12)
    assert value_of(result, "verified.micro") == pytest.approx((3 * g + 2 * n) / 5, abs=1e-12)
    assert value_of(result, "retention.pooled") == pytest.approx((3 * g + 2 * n) / 3.5, abs=1e-12)
    assert value_of(result, "retention.capability.N") == pytest.approx(2 * n / 0.5, abs=1e-12)
    assert value_of(result, "raw.format.open") == 0.5
    assert value_of(result, "raw.source.X") == 0.5
    assert metrics_of(result)["raw.source.Y"]["n"] == 2
    assert {name: metrics_of(result)[f"raw.duration.{name}"]["n"] for name in ("le30", "30to60", "gt60")} == {
        "le30": 2,
        "30to60": 2,
        "gt60": 1,
    }


def test_stages_and_losses_worked_by_hand(made: Made) -> None:
    result = made.score(ROWS, JUDGED)
    # Capability means of a, ac, ac e/1.2, v: G 1, 2/3, (1 + 1/1.2)/3, and N 1/4, 1/4, (0.5 x 0.8/1.2)/2.
    stages = [
        (1 + 0.25) / 2,
        (2 / 3 + 0.25) / 2,
        ((1 + 1 / 1.2) / 3 + 0.5 * 0.8 / 1.2 / 2) / 2,
        value_of(result, "verified.macro"),
    ]
    for name, expected in zip(STAGES, stages, strict=True):
        assert value_of(result, f"stage.{name}") == pytest.approx(expected, abs=1e-12)
    losses = [value_of(result, f"loss.{name}") or 0.0 for name in STAGES]
    assert losses[0] == pytest.approx(0.375)
    assert sum(losses) + (value_of(result, "stage.logic") or 0.0) == pytest.approx(1)


def test_missing_judgements_leave_verified_or_both(made: Made) -> None:
    result = made.score(ROWS, [verified("g0", "strong", "weak"), verified("g2", "fine", "weak")])
    assert coverage_of(result) == {"items": 5, "seeds": 1, "scored": 3, "unjudged": 2}
    # g2 has a, but no v; n1 has neither: N keeps n0 alone.
    assert metrics_of(result)["raw.micro"]["n"] == 4
    assert metrics_of(result)["verified.micro"]["n"] == 3
    assert value_of(result, "retention.capability.G") == pytest.approx(0.96 / 1.44 / 2)
    rows = {row["item"]: row for row in result.items}
    assert (rows["g2"]["credit"], rows["g2"]["verified"], rows["g2"]["outcome"]) == (1, None, "unjudged")
    assert (rows["n1"]["credit"], rows["n1"]["parsed"]) == (None, "he is late")
    notes = result.scores["models"]["m"]["c"]["notes"]
    assert "1 unjudged open answers left out of Raw and Verified" in notes
    assert "1 unjudged left out of Verified" in notes


def test_an_open_question_without_a_parsed_reply_is_credit_zero(made: Made) -> None:
    result = made.score([*ROWS[:4], said("n1", "not an object")], JUDGED)
    assert coverage_of(result)["unparsed"] == 1
    assert value_of(result, "raw.format.open") == 0
    assert value_of(result, "verified.format.open") == 0


def test_a_judged_zero_needs_no_further_judgement(made: Made) -> None:
    result = made.score(ROWS, [*JUDGED[:2], judged("n1", "open_answer", {"credit": 0})])
    assert coverage_of(result) == {"items": 5, "seeds": 1, "scored": 5}
    assert value_of(result, "verified.format.open") == 0


@pytest.mark.parametrize("credit", [0.25, 2, True, "1", -0.5])
def test_open_credit_is_one_of_three(made: Made, credit: Any) -> None:
    result = made.score(ROWS, [*JUDGED[:2], judged("n1", "open_answer", {"credit": credit})])
    assert coverage_of(result)["unjudged"] == 1


def test_macro_needs_every_capability_of_the_bundle(made: Made) -> None:
    (made.folder / "plan.json").write_text('{"items": ["n0"]}', encoding="utf-8")
    result = made.score(ROWS[:1] + ROWS[3:4], [])
    assert value_of(result, "raw.macro") is None
    assert value_of(result, "raw.micro") == 0
    # The capability that makes it null is there, undefined, and not left out.
    for name in ("raw.capability.G", "verified.capability.G", "retention.capability.G"):
        assert metrics_of(result)[name] == {"value": None, "low": None, "high": None, "n": 0}


def test_an_item_has_one_capability_and_is_never_dropped_for_having_two(tmp_path: Path) -> None:
    def scored(capability: object) -> Made:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        items = [choice("q0", "e0", capability=capability), choice("q1", "e1", capability="N")]
        return Made(folder, FAMILY, items, [{"item": i["id"], "answer": ["A"]} for i in items])

    one = scored(["G"]).score([said("q0", reply("A")), said("q1", reply("A"))], [])
    assert metrics_of(one)["raw.capability.G"]["n"] == 1
    with pytest.raises(InputError, match="item q0: an item of PsycheMME has one capability"):
        scored(["G", "W"]).score([said("q0", reply("A")), said("q1", reply("A"))], [])


ONE = ITEM.validate_python(choice("q", "e", capability="G"))


@given(
    st.sampled_from(sorted(EVIDENCE)),
    st.sampled_from(sorted(LOGIC)),
    st.sampled_from(["A", "B"]),
    st.sampled_from(["he nods", "n/a", "", "..."]),
)
def test_losses_and_verified_credit_add_up_to_one(e: str, logic: str, letter: str, field: str) -> None:
    answer = Answer((letter,), {"G": field})
    labels = {"verified": {"evidence": e, "logic": logic}}
    found = grade(ONE, Private(Reference(item="q", answer=("A",))), Reply("scored", answer, labels, judged=True))
    stages = [1.0, *(found.points[name] for name in STAGES)]
    assert all(before >= after for before, after in pairwise(stages))
    assert found.verified == stages[-1]
    assert found.verified == pytest.approx((letter == "A") * (field == "he nods") * EVIDENCE[e] * LOGIC[logic] / 1.44)
