"""STUDY.yaml: every slip names file, field and remedy; the same file draws the same cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from onlooker.annotate.cases import draw, gather_cases
from onlooker.annotate.serve import Address, open_desk
from onlooker.annotate.study import Replies, Sample, read_study
from onlooker.catalog import load_benchmark
from onlooker.errors import InputError
from onlooker.protocol.form import Choice, Form, Layout, OneOf, Scale, When
from onlooker.records.bundle import open_bundle

from .made import FORM, make_bundle, study_file

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"overlap": 0}, r"overlap: expected 1 or more, found 0\. Remedy"),
    ({"overlap": "3"}, r'overlap: expected a whole number, found "3"'),
    ({"overlaps": 3}, r"overlaps: no setting of this name, found 3\. Remedy"),
    ({"gold": {"answers": {}, "evry": 3}}, r"gold\.evry: no setting of this name"),
    ({"items": {"sample": {"strata": ["capability"]}}}, r"items\.sample\.each: required field is missing"),
    ({"rights": {"rate": ["boss"]}}, r"rights\.rate\.0: expected"),
    ({"name": "a b/c"}, r"name: "),
]


@pytest.mark.parametrize(("settings", "words"), WRONG)
def test_every_slip_names_file_field_and_value(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    path = study_file(tmp_path, **settings)
    with pytest.raises(InputError, match=words) as told:
        read_study(path)
    assert str(path) in str(told.value)


def test_all_slips_at_once_and_broken_yaml(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)overlap.*sead.*2 settings are wrong"):
        read_study(study_file(tmp_path, overlap=0, sead=1))
    (tmp_path / "STUDY.yaml").write_text("name: [")
    with pytest.raises(InputError, match=r"STUDY\.yaml, line \d: not valid YAML"):
        read_study(tmp_path / "STUDY.yaml")
    with pytest.raises(InputError, match="cannot be read"):
        read_study(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"bundle": "other"}, "another bundle"),
        ({"form": "grading"}, r"declares no form of this name, found 'grading'. Remedy: one of answer"),
        ({"opt_outs": ["unfamiliar"]}, "does not offer this"),
        ({"gold": {"answers": {"q0": {"speed": 1}}}}, "no field of the form"),
        ({"gold": {"answers": {"q0": {}}}, "warm_up": ["q0"]}, "a gold case too"),
        ({"warm_up": ["q99"]}, "no item of this id"),
        ({"items": {"ids": ["q99"]}}, "no item of this id"),
        ({"items": {"labels": {"capability": ["R"]}}}, "no item of the bundle is left"),
        ({"items": {"sample": {"strata": ["topic"], "each": 1}}}, "no such label"),
    ],
)
def test_what_bundle_and_form_do_not_have(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    bundle = open_bundle(make_bundle(tmp_path / "bundle"))
    with pytest.raises(InputError, match=words):
        open_desk(bundle, load_benchmark("psycheme"), study_file(tmp_path, **settings), str(tmp_path / "x.sqlite"))


def test_a_draw_is_the_same_everywhere_and_fills_every_stratum(tmp_path: Path) -> None:
    bundle = open_bundle(make_bundle(tmp_path / "bundle", 40))
    study = read_study(study_file(tmp_path, items={"sample": {"strata": ["capability", "task"], "each": 3}}))
    drawn = gather_cases(bundle, study, FORM, tmp_path).ordinary
    # Chosen by SHA-256 of names: these ids hold on any machine and in any version.
    assert drawn == gather_cases(bundle, study, FORM, tmp_path).ordinary
    strata = [(("G", "W")[int(i[1:]) % 2], "open" if int(i[1:]) % 5 == 4 else "choice") for i in drawn]
    assert {one: strata.count(one) for one in strata} == dict.fromkeys(
        [("G", "choice"), ("W", "choice"), ("G", "open"), ("W", "open")], 3
    )
    other = study.model_copy(update={"seed": 8})
    assert gather_cases(bundle, other, FORM, tmp_path).ordinary != drawn


GRADE = Form(
    name="grade",
    title="Grade",
    says="",
    tasks=("choice", "open"),
    layout=Layout("text", ()),
    fields=(Scale("cue", "Cue", rubric="cue", anchors=tuple(Choice(n, str(n)) for n in range(3))),),
    private=("reply",),
    asks_about="reply",
    records="judgements",
    rubric="grounded_rationale",
)


def test_replies_are_drawn_by_generator_and_judge_score_and_tell_neither(tmp_path: Path) -> None:
    bundle = open_bundle(make_bundle(tmp_path / "bundle", 20))
    with (tmp_path / "p.jsonl").open("w") as predictions, (tmp_path / "j.jsonl").open("w") as judgements:
        for model in ("gpt-secret", "qwen-secret"):
            for n in range(20):
                base = {"item": f"q{n}", "model": model, "condition": "full", "seed": None}
                raw = "" if n == 19 else f"Because {n}."
                predictions.write(json.dumps({**base, "raw": raw, "status": "ok"}) + "\n")
                labels = {"cue": n % 3, "link": n % 3, "faithful": n % 2}
                row = {**base, "judge": "j", "rubric": "grounded_rationale", "labels": labels, "status": "ok"}
                judgements.write(json.dumps(row) + "\n")
    study = read_study(
        study_file(
            tmp_path,
            form="grade",
            replies={"predictions": ["p.jsonl"], "judgements": ["j.jsonl"]},
            items={"sample": {"strata": ["model", "score"], "score_cuts": [2, 4], "each": 2}},
        )
    )
    cases = gather_cases(bundle, study, GRADE, tmp_path)
    hidden = [(c.hidden["model"], c.hidden["score"]) for c in cases.by_id.values()]
    cells = [(model, "low" if score < 2 else "mid" if score < 4 else "high") for model, score in hidden]
    assert {one: cells.count(one) for one in cells} == {
        (model, level): 2 for model in ("gpt-secret", "qwen-secret") for level in ("low", "mid", "high")
    }
    assert not any("secret" in c.id or "secret" in json.dumps(dict(c.shown)) for c in cases.by_id.values())
    assert all(c.item.id != "q19" for c in cases.by_id.values()), "an empty reply is shown to nobody"
    assert draw(list(cases.by_id.values()), Sample(each=100), 0) == list(cases.by_id.values())
    assert Replies(predictions=("p",)).judge is None


def test_a_form_whose_pieces_do_not_fit_is_refused() -> None:
    yes = (Choice("yes", "Yes"),)
    good: dict[str, Any] = {"name": "f", "title": "F", "says": "", "tasks": ("choice",)}
    for fields, words in (
        ((OneOf("a", "A", choices=yes), OneOf("a", "A", choices=yes)), "two fields of one name"),
        ((OneOf("a", "A"),), "offers nothing"),
        ((OneOf("a", "A", choices=yes * 2),), "offers one value twice"),
        ((OneOf("a", "A", choices=yes, when=When("b", ("yes",))),), "waits for no earlier field"),
    ):
        with pytest.raises(InputError, match=words):
            Form(**good, fields=fields)
    with pytest.raises(InputError, match="shows names nothing"):
        Form(**good, fields=(), shows=("model",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="judgements need the rubric"):
        Form(**good, fields=(), records="judgements")


def test_an_address_beyond_this_machine_is_asked_for_and_warned_about(tmp_path: Path) -> None:
    assert Address().check() is None
    with pytest.raises(InputError, match=r"--host: this address can be reached .*--open"):
        Address("0.0.0.0").check()
    assert "without TLS" in str(Address("0.0.0.0", is_open=True).check())
    assert Address("0.0.0.0", is_open=True, certificate=tmp_path / "c", key=tmp_path / "k").check() is None
    assert Address("0.0.0.0", is_open=True, public_url="https://x.example").check() is None
    assert "without TLS" in str(Address(public_url="http://x.example").check())
    with pytest.raises(InputError, match="TLS needs both"):
        Address(certificate=tmp_path / "c").check()
