"""The engine of analyses: what an analysis is given, and what it may give back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onlooker.benchmarks.psycheme.scoring import FAMILY
from onlooker.errors import InputError
from onlooker.protocol.analysis import Analysis, Figure, Findings, Material, Series, Table
from onlooker.score.analyze import analyze, find_analysis
from tests.score.made import Made, Row, choice, judged, said


@pytest.fixture
def made(tmp_path: Path) -> Made:
    items = [choice("q0", "e0", capability="G"), choice("q1", "e1", capability="W"), choice("q2", "e1", capability="N")]
    return Made(tmp_path, FAMILY, items, [{"item": i["id"], "answer": ["B"]} for i in items])


def looked_at(
    made: Made, rows: list[Row], judgements: list[Row] | None = None, **fields: Any
) -> tuple[Material, Findings]:
    """The material that an analysis saw, and the findings."""
    seen: list[Material] = []

    def look(material: Material) -> Findings:
        seen.append(material)
        return Findings({"runs": len(material.runs)}, (), (), ("its own note",))

    analysis = Analysis("look", "looks", "nowhere", look, {"x": "an option"})
    files = [made.judgements(judgements)] if judgements else []
    options: dict[str, Any] = {"draws": 100, "seed": 7, "options": {}} | fields
    findings = analyze(made.bundle, FAMILY, analysis, [made.predictions(rows)], files, **options)
    return seen[0], findings


def test_an_analysis_sees_every_run_graded_in_the_bundles_order(made: Made) -> None:
    rows = [said("q2", "B", seed=1), said("q0", "A", seed=1), said("q0", "B", seed=2), said("q0", "B", model="a")]
    material, findings = looked_at(made, rows)
    assert [(r.model, r.condition) for r in material.runs] == [("a", "c"), ("m", "c")]
    run = material.run("m", "c")
    assert [c.item.id for c in run.by_seed[1]] == ["q0", "q1", "q2"]
    assert [c.grade.credit for c in run.by_seed[1]] == [0.0, 0.0, 1.0]
    assert [c.reply.outcome for c in run.by_seed[2]] == ["scored", "missing", "missing"]
    assert run.raw == {1: {"q2": "B", "q0": "A"}, 2: {"q0": "B"}}
    assert (material.draws, material.seed) == (100, 7)
    assert list(material.items) == ["q0", "q1", "q2"]
    assert findings.notes[-1] == "its own note"
    assert "m, c: 3 missing counted as wrong" in findings.notes
    with pytest.raises(InputError, match="one of a:c, m:c"):
        material.run("m", "d")


def test_a_plan_narrows_what_is_owed(made: Made) -> None:
    (made.folder / "plan.json").write_text('{"items": ["q1"]}', encoding="utf-8")
    material, findings = looked_at(made, [said("q1", "B"), said("q0", "B")])
    assert [c.item.id for c in material.runs[0].by_seed[None]] == ["q1"]
    assert material.runs[0].raw == {None: {"q1": "B"}}
    assert any("1 rows of items that this condition does not owe" in line for line in findings.notes)


VERIFIED = {"evidence": "strong", "logic": "coherent"}
REPLY = '{"answer": "B", "G": "she smiles"}'


def test_of_several_judges_none_counts_unless_it_is_named(made: Made) -> None:
    labels = [
        judged("q0", "verified", VERIFIED, judge="j"),
        judged("q0", "verified", VERIFIED | {"logic": "weak"}, judge="k"),
    ]
    material, findings = looked_at(made, [said("q0", REPLY)], labels)
    assert material.runs[0].by_seed[None][0].grade.verified is None
    assert [row.judge for row in material.judgements] == ["j", "k"]
    assert any("several judges under the rubric verified (j, k)" in line for line in findings.notes)
    material, findings = looked_at(made, [said("q0", REPLY)], labels, judge="j")
    assert material.runs[0].by_seed[None][0].grade.verified == pytest.approx(1.0)
    assert len(material.judgements) == 2
    assert not any("several judges" in line for line in findings.notes)
    with pytest.raises(InputError, match="no judgements by this judge"):
        looked_at(made, [said("q0", REPLY)], labels, judge="z")


def test_no_predictions_are_needed_by_the_engine(made: Made) -> None:
    analysis = Analysis("none", "says", "source", lambda m: Findings({"items": len(m.items)}, ()))
    found = analyze(made.bundle, FAMILY, analysis, draws=10, seed=1, options={})
    assert found.data == {"items": 3}


def test_what_is_wrong_in_the_files_is_said(made: Made) -> None:
    with pytest.raises(InputError, match="judgements of items that the bundle does not have"):
        looked_at(made, [said("q0", "B")], [judged("q9", "another", {})])
    twice = [judged("q0", "verified", VERIFIED), judged("q0", "verified", VERIFIED)]
    with pytest.raises(InputError, match="line 2"):
        looked_at(made, [said("q0", "B")], twice)
    with pytest.raises(InputError, match="at least one draw"):
        looked_at(made, [said("q0", "B")], draws=0)
    with pytest.raises(InputError, match=r"has no option of this name, found 'y'.*one of x"):
        looked_at(made, [said("q0", "B")], options={"y": "1"})


@pytest.mark.parametrize(
    ("give", "where"),
    [
        (lambda: Findings({"a": float("nan")}, ()), "data.a"),
        (lambda: Findings({"a": [1, np.float64(0.5)]}, ()), r"data.a\[1\]"),
        (lambda: Findings({"a": {1: "x"}}, ()), "data.a"),
        (lambda: Findings({}, (Table("t", ("x",), ((float("inf"),),)),)), "table 1"),
        (lambda: Findings({}, (Table("t", ("x", "y"), ((1,),)),)), "table 1"),
        (
            lambda: Findings({}, (), (Figure("bars", "f", ("x",), (Series("s", (float("nan"),)),), "v"),)),
            "figure 1, s",
        ),
    ],
)
def test_findings_that_are_not_plain_are_refused(made: Made, give: Callable[[], Findings], where: str) -> None:
    analysis = Analysis("odd", "says", "source", lambda _: give())
    with pytest.raises(InputError, match=where):
        analyze(made.bundle, FAMILY, analysis, draws=10, seed=1, options={})


def test_an_unknown_analysis_is_answered_with_those_there_are() -> None:
    one = Analysis("one", "says", "source", lambda _: Findings({}, ()))
    assert find_analysis((one,), "sivbench", "one") is one
    with pytest.raises(InputError, match="one of one"):
        find_analysis((one,), "sivbench", "two")
    with pytest.raises(InputError, match="none is built yet"):
        find_analysis((), "sivbench", "two")
