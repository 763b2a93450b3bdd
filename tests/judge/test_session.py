"""Judging stored answers: cases J01 to J09, blindness, order of rubrics, nothing asked twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.benchmarks.mmhbench.scoring import FAMILY as MMHBENCH
from onlooker.benchmarks.psycheme.scoring import FAMILY as PSYCHEME
from onlooker.benchmarks.reactionbench.scoring import FAMILY as REACTIONBENCH
from onlooker.benchmarks.sivbench.scoring import FAMILY as SIVBENCH
from onlooker.errors import InputError, QuotaExhausted, TransientModelError
from onlooker.judge.blinding import without_name
from onlooker.judge.session import joined_rows, kin_warnings
from onlooker.models.request import Reply, Request
from onlooker.records.jsonl import read_rows
from onlooker.records.results import Judgement
from tests.judge.made_judge import Judge, judge_rows
from tests.score.made import Made, choice, said

GOOD = '{"cue": 2, "link": 1, "faithful": 1, "explanation": "names the drop"}'


def rationales(folder: Path, number: int = 1) -> Made:
    window = {"start_s": 1.0, "end_s": 3.0}
    items = [{"id": f"r{n}", "episode": f"e{n}", "task": "rationale", "window": window} for n in range(number)]
    references = [{"item": f"r{n}", "references": ["The cup falls.", "It breaks."]} for n in range(number)]
    return Made(folder, REACTIONBENCH, items, references)


def wrote(number: int = 1, text: str = "Because the cup falls off.") -> list[dict[str, object]]:
    return [said(f"r{n}", f"{text} {n}", condition="rationale") for n in range(number)]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(f"```json\n{GOOD}\n```", id="J01 fence with tag"),
        pytest.param(f"```\n{GOOD}\n```", id="J01 fence without tag"),
        pytest.param(f"Here is my judgement.\n```json\n{GOOD}\n```", id="J01 fence after a sentence"),
        pytest.param("{'cue': 2, 'link': 1, 'faithful': 1}", id="J02 single quotes"),
        pytest.param(f"I think {GOOD} fits.", id="J02 text around"),
        pytest.param('{"cue": 2, "link": 1, "faithful": 1,}', id="J02 trailing comma"),
        pytest.param('{"cue": 2, "link": 1, "faithful": 1, "explanation": "a\nb"}', id="J02 raw newline"),
        pytest.param(f'{{"cue": 0, "link": 0, "faithful": 0}}\nNo: {GOOD}', id="J02 last of two"),
        pytest.param('{"cue": "2", "link": 1.0, "faithful": 1}', id="J03 numeric string, 1.0"),
    ],
)
def test_a_readable_judgement_takes_one_call(tmp_path: Path, raw: str) -> None:
    judge = Judge(raw)
    rows, _, _ = judge_rows(rationales(tmp_path), wrote(), judge)
    assert [row["labels"] for row in rows] == [{"cue": 2, "link": 1, "faithful": 1}]
    assert rows[0]["status"] == "ok"
    assert rows[0]["raw"] == raw
    assert len(judge.asked) == 1


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ('{"cue": 3, "link": 1, "faithful": 1}', "out_of_range"),
        ('{"cue": -1, "link": 1, "faithful": 1}', "out_of_range"),
        ('{"cue": 1.5, "link": 1, "faithful": 1}', "out_of_range"),
        ('{"cue": "four", "link": 1, "faithful": 1}', "not_a_number"),
        ('{"cue": true, "link": 1, "faithful": 1}', "not_a_number"),
        ('{"cue": NaN, "link": 1, "faithful": 1}', "not_a_number"),
        ('{"link": 1, "faithful": 1}', "missing_label"),
        ('{"cue": 2, "link": 1, "faithful": 1, "expl', "bad_json"),
        ("[error 503] try in 5 s", "no_object"),
        ("90", "no_object"),
    ],
)
def test_what_is_no_judgement_is_asked_for_once_more_and_never_guessed(tmp_path: Path, raw: str, reason: str) -> None:
    """Cases J02 to J04: one repair, its cause on record; then unparsed, without labels."""
    judge = Judge(raw)
    rows, tallies, _ = judge_rows(rationales(tmp_path), wrote(), judge)
    assert rows[0]["status"] == "unparsed"
    assert rows[0]["labels"] is None
    assert (rows[0]["first_raw"], rows[0]["first_reason"], rows[0]["reason"]) == (raw, reason, reason)
    assert len(judge.asked) == 2
    assert reason in judge.asked[1].text
    assert raw in judge.asked[1].text
    assert (tallies[0].judged, tallies[0].unparsed, tallies[0].coverage) == (0, 1, 0.0)


def test_a_repair_that_works_is_marked(tmp_path: Path) -> None:
    judge = Judge(lambda request: Reply(GOOD if "cannot be used" in request.text else "cue two", "ok"))
    rows, tallies, _ = judge_rows(rationales(tmp_path), wrote(), judge)
    assert rows[0]["status"] == "ok"
    assert rows[0]["repaired"] is True
    assert rows[0]["first_raw"] == "cue two"
    assert rows[0]["explanation"] == "names the drop"
    assert tallies[0].repaired == 1


def test_the_range_in_the_prompt_is_the_range_that_is_checked(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    judge_rows(rationales(tmp_path), wrote(), judge)
    assert '"cue": a whole number from 0 to 2' in judge.asked[0].text
    assert '"faithful": a whole number from 0 to 1' in judge.asked[0].text
    assert judge.asked[0].json_object


def test_the_judge_never_hears_whose_reply_it_is(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    rows = [row | {"model": "openai:MARKED-9B", "condition": "rationale_shuffled"} for row in wrote()]
    judge_rows(rationales(tmp_path), rows, judge)
    assert "MARKED" not in judge.asked[0].text
    assert "shuffled" not in judge.asked[0].text


def test_a_model_that_names_itself_stays_unknown(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    rows = wrote(text="As MARKED-9B (openai:marked-9b) I say: the cup falls.")
    judge_rows(rationales(tmp_path), [row | {"model": "openai:org/MARKED-9B"} for row in rows], judge)
    assert "MARKED" not in judge.asked[0].text.upper()
    assert "I say: the cup falls." in judge.asked[0].text


def test_a_plain_word_is_no_name() -> None:
    assert without_name("The base of the cup, m, m1.", "hf:/models/base") == "The base of the cup, m, m1."
    assert without_name("The m of it.", "m") == "The m of it."
    assert without_name("I, Qwen3.5-9B, say.", "openai:Qwen/Qwen3.5-9B") == "I, [this model], say."


def test_moved_options_are_judged_as_the_model_saw_them(tmp_path: Path) -> None:
    """The reply speaks of letters as shown; the labels stand under the options' own ids."""
    explanation = {
        "key_event": "loss",
        "mechanism": "grief",
        "options": {"A": "fits", "B": "misses", "C": "no", "D": "no"},
    }
    made = Made(tmp_path, MMHBENCH, [choice("q", "e")], [{"item": "q", "answer": ["A"], "explanation": explanation}])
    moved = {"A": "D", "B": "A", "C": "B", "D": "C"}
    raw = "She grieves for him, so B fits and C does not.\nAnswer: B"
    labels = {"key_event": 5, "mechanism": 4, "hallucination": 5, "options": {"A": 0.1, "B": 1.25, "C": 0.5, "D": 0.2}}
    judge = Judge(json.dumps(labels))
    rows, _, _ = judge_rows(
        made, [said("q", raw, condition="both_reasoned+options_rotated_1", options_shown=moved)], judge
    )
    text = judge.asked[0].text
    assert "A. option number 4\nB. option number 1\nC. option number 2\nD. option number 3" in text
    assert "Right option: B\n" in text
    assert "Option B: fits\nOption C: misses" in text
    assert rows[0]["labels"]["options"] == {"D": 0.1, "A": 1.25, "B": 0.5, "C": 0.2}
    assert rows[0]["labels"]["key_event"] == 5


def test_a_judge_of_psycheme_sees_no_history_that_the_model_may_not_have_had(tmp_path: Path) -> None:
    """Under ``none`` and ``mismatched`` the item's own history was not given; the paper's judge gets none at all."""
    item = choice("q", "e") | {"history": [{"when": "before", "text": "He lied to her."}]}
    made = Made(tmp_path, PSYCHEME, [item], [{"item": "q", "answer": ["A"], "cues": ["she frowns"]}])
    judge = Judge('{"evidence": "strong", "logic": "coherent"}')
    judge_rows(made, [said("q", '{"answer": "A", "M": "it is new to her"}', condition="none")], judge)
    assert "She frowns".lower() in judge.asked[0].text
    assert "He lied" not in judge.asked[0].text


def test_two_models_that_wrote_the_same_are_judged_once(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    rows = [*wrote(), *(row | {"model": "other"} for row in wrote())]
    found, tallies, _ = judge_rows(rationales(tmp_path), rows, judge)
    assert len(judge.asked) == 1
    assert {row["model"] for row in found} == {"m", "other"}
    assert tallies[0].judged == 2


def test_an_outage_leaves_items_unjudged_and_is_mended_by_the_next_pass(tmp_path: Path) -> None:
    """Case J09: a judge that is down gives no labels; once it is back only what is missing is asked."""
    made = rationales(tmp_path, 3)
    down = {"r1"}

    def answer(request: Request) -> Reply:
        if down and "falls off. 1" in request.text:
            raise TransientModelError("the server answered with status 500")
        return Reply(GOOD, "ok")

    judge = Judge(answer)
    rows, tallies, _ = judge_rows(made, wrote(3), judge)
    assert {row["item"]: row["status"] for row in rows} == {"r0": "ok", "r1": "error", "r2": "ok"}
    assert next(row["labels"] for row in rows if row["item"] == "r1") is None
    assert (tallies[0].judged, tallies[0].errors) == (2, 1)
    assert tallies[0].reason is not None
    assert "500" in tallies[0].reason
    before = len(judge.asked)
    down.clear()
    rows, tallies, _ = judge_rows(made, wrote(3), judge)
    assert [row["status"] for row in rows] == ["ok"] * 3
    assert len(judge.asked) == before + 1
    assert tallies[0].hits == 2


def test_a_judge_out_of_quota_stops_and_keeps_what_is_there(tmp_path: Path) -> None:
    count = 0

    def answer(_request: Request) -> Reply:
        nonlocal count
        count += 1
        if count > 2:
            raise QuotaExhausted("the account is out of quota")
        return Reply(GOOD, "ok")

    rows, tallies, session = judge_rows(rationales(tmp_path, 20), wrote(20), Judge(answer))
    assert session.stopped is not None
    assert [row["status"] for row in rows] == ["ok", "ok"]
    assert tallies[0].left == 18


def test_empty_generations_never_reach_the_judge(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    rows = [said("r0", "  ", condition="rationale"), said("r1", "", condition="rationale", status="empty")]
    found, tallies, _ = judge_rows(rationales(tmp_path, 2), rows, judge)
    assert found == []
    assert judge.asked == []
    assert tallies[0].spared == {"nothing was written": 2}
    assert tallies[0].coverage is None


def reply(answer: object, **fields: str) -> str:
    return json.dumps({"answer": answer, **{k: fields.get(k) for k in "GWNTSAMR"}})


def psycheme(folder: Path) -> Made:
    items = [
        choice("c1", "e1", capability="G"),
        {"id": "o1", "episode": "e1", "task": "open", "question": "Why?", "labels": {"capability": "N"}},
    ]
    references = [
        {"item": "c1", "answer": ["A"], "cues": ["CUE-ONE"]},
        {"item": "o1", "answer": "REFERENCE-ANSWER", "cues": ["CUE-TWO"]},
    ]
    return Made(folder, PSYCHEME, items, references)


def test_psycheme_open_answers_are_judged_before_their_rationales(tmp_path: Path) -> None:
    def answer(request: Request) -> Reply:
        if '"credit"' in request.text:
            return Reply('{"credit": 0.5, "explanation": "half"}', "ok")
        return Reply('{"evidence": "Strong", "logic": "coherent"}', "ok")

    judge = Judge(answer)
    rows = [said("c1", reply("A", G="she nods")), said("o1", reply("rest", N="she sighs"))]
    found, tallies, _ = judge_rows(psycheme(tmp_path), rows, judge)
    assert [(row["item"], row["rubric"], row["labels"]) for row in found] == [
        ("o1", "open_answer", {"credit": 0.5}),
        ("c1", "verified", {"evidence": "strong", "logic": "coherent"}),
        ("o1", "verified", {"evidence": "strong", "logic": "coherent"}),
    ]
    assert tallies[0].spared == {"a choice question, whose credit is exact match": 1}
    verified = next(r for r in judge.asked if "she nods" in r.text)
    assert "CUE-ONE" in verified.text
    assert "Answer given:\nA" in verified.text


def test_psycheme_asks_no_judge_where_credit_or_rationale_is_nothing(tmp_path: Path) -> None:
    judge = Judge('{"credit": 0}')
    rows = [
        said("c1", reply("B", G="wrong option")),
        said("o1", reply("no idea", N="she sighs")),
        said("c1", reply("A", G="n/a"), model="blank"),
        said("o1", "no object", model="blank"),
    ]
    found, tallies, _ = judge_rows(psycheme(tmp_path), rows, judge)
    assert [row["rubric"] for row in found] == ["open_answer"]
    assert sum(tallies[1].spared.values()) == 4
    assert tallies[1].asked == 0


def test_verified_alone_uses_the_open_answer_labels_of_an_earlier_pass(tmp_path: Path) -> None:
    earlier = Judgement(
        item="o1",
        model="m",
        condition="c",
        judge="scripted:judge",
        rubric="open_answer",
        labels={"credit": 1},
        status="ok",
    )
    judge = Judge('{"evidence": "weak", "logic": "acceptable"}')
    rows = [said("o1", reply("rest", N="she sighs"))]
    made = psycheme(tmp_path)
    found, tallies, _ = judge_rows(made, rows, judge, rubrics=["verified"])
    assert found == []
    assert next(iter(tallies[0].spared)).startswith("an open answer without a valid open_answer judgement")
    found, _, _ = judge_rows(made, rows, judge, rubrics=["verified"], earlier=[earlier])
    assert [row["item"] for row in found] == ["o1"]


def test_mmhbench_scores_every_option_of_the_item(tmp_path: Path) -> None:
    explanation = {"key_event": "EVENT", "mechanism": "MECHANISM", "options": {"A": "WHY-A"}}
    made = Made(
        tmp_path,
        MMHBENCH,
        [choice("q", "e", perspective="third")],
        [{"item": "q", "answer": ["A"], "explanation": explanation}],
    )
    points = {"key_event": 4.5, "mechanism": 4, "hallucination": 5}
    full = points | {"options": {"A": 1.25, "B": 1, "C": 0.5, "D": 0}}
    lacking = points | {"options": {"A": 1.25, "B": 1, "C": 0.5}}
    judge = Judge(lambda r: Reply(json.dumps(full if "cannot be used" in r.text else lacking), "ok"))
    found, _, _ = judge_rows(made, [said("q", "She was left alone and is afraid of it again.\nAnswer: A")], judge)
    assert found[0]["labels"] == full
    assert found[0]["first_reason"] == "missing_label"
    for private in ("EVENT", "MECHANISM", "WHY-A"):
        assert private in judge.asked[0].text
    assert 'keys "A", "B", "C", "D", each a number from 0 to 1.25' in judge.asked[0].text


def test_a_bare_answer_has_no_reasoning_to_judge(tmp_path: Path) -> None:
    made = Made(tmp_path, SIVBENCH, [choice("q", "e")], [{"item": "q", "answer": ["A"], "explanation": "They hug."}])
    judge = Judge("{}")
    _, tallies, _ = judge_rows(made, [said("q", "A. option number 1")], judge)
    assert judge.asked == []
    assert tallies[0].spared == {"the reply holds no reasoning beside its answer": 1}


def test_thinking_is_not_judged(tmp_path: Path) -> None:
    judge = Judge(GOOD)
    rows = [said("r0", "<think>SECRET-THOUGHT</think>The cup falls.", condition="rationale")]
    judge_rows(rationales(tmp_path), rows, judge)
    assert "SECRET-THOUGHT" not in judge.asked[0].text


def test_rows_of_other_judges_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "judgements.jsonl"
    base = {"item": "r0", "model": "m", "condition": "rationale", "seed": None, "rubric": "grounded_rationale"}
    labels = {"cue": 1, "link": 1, "faithful": 1}
    old = base | {"judge": "a", "labels": labels, "status": "ok"}
    path.write_text(json.dumps(old) + "\n", encoding="utf-8")
    joined = joined_rows(path, [base | {"judge": "b", "labels": labels, "status": "ok"}])
    assert [row["judge"] for row in joined] == ["a", "b"]
    again = joined_rows(path, [base | {"judge": "a", "labels": None, "status": "error"}])
    assert [row["status"] for row in again] == ["ok"], "an outage takes nothing away"
    path.write_text("".join(json.dumps(row) + "\n" for row in joined), encoding="utf-8")
    assert len([row.record for row in read_rows(path, Judgement)]) == 2


def test_kin_are_warned_of() -> None:
    assert len(kin_warnings("openai:qwen3.8-27b", ["openai:Qwen3.5-9B", "openai:gpt-5", "embedded"])) == 1
    assert kin_warnings("openai:gpt-5", ["anthropic:claude-opus-5"]) == []


def test_an_unknown_rubric_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="grounded_rationale"):
        judge_rows(rationales(tmp_path), wrote(), Judge(GOOD), rubrics=["verified"])
