"""The named cases P01-P21, J01-J04, and each parser's reasons."""

from __future__ import annotations

import json
import math
import random
import re
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker.text import (
    Parsed,
    Rubric,
    Unparsed,
    find_object,
    informative,
    parse_choice,
    parse_intensity,
    parse_judgement,
    parse_matching,
    parse_number,
    parse_official_sivbench,
    parse_psycheme,
    strip_thinking,
)

IDS = ["A", "B", "C", "D"]
TEXTS = ["happy", "unhappy", "angry", "calm"]


def chosen(reply: str, *, ids: list[str] = IDS, texts: list[str] = TEXTS) -> str | None:
    parsed = parse_choice(reply, ids, texts, "one")
    return parsed.value[0] if isinstance(parsed, Parsed) else None


def reason(parsed: Parsed[Any] | Unparsed) -> str | None:
    return parsed.reason if isinstance(parsed, Unparsed) else None


@pytest.mark.parametrize(
    ("case", "reply", "expected"),
    [
        ("P01", "Two people argue, but she forgives him. My choice is (C).", "C"),
        ("P01", "Both smile at the end, hence option D", "D"),
        ("P02", "Answer: cannot decide", None),
        ("P02", "Answer: bad data", None),
        ("P02", "Answer: none", None),
        ("P03", r"\boxed{D}", "D"),
        ("P04", "the answer: hard to say...\nfinal answer: b", "B"),
        ("P06", "The answer is B; A would ignore her tone.", "B"),
        ("P07", "Option B is right. A fails because he frowns, C because she stays.", "B"),
        ("P09", "  \n", None),
        ("P11", "Answer: BD", None),
        ("P12", "She is unhappy", "B"),
        ("P14", "<think>A? B?</think>D", "D"),
        ("P14", "<think>B seems", None),
        ("P14", "perhaps A </think> C", "C"),
        ("P15", "C: angry", "C"),
        ("P17", "A和C都不对，所以选Ｂ。", "B"),
        ("P17", "答案：（D）", "D"),
        ("P21", "B,", "B"),
    ],
)
def test_named_case(case: str, reply: str, expected: str | None) -> None:
    assert chosen(reply) == expected


def test_p16_the_range_of_labels_is_that_of_the_question() -> None:
    for count, expected in ((2, None), (7, "G"), (30, "G")):
        ids = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB", "AC", "AD"][:count]
        assert chosen("G", ids=ids, texts=[f"statement {known}" for known in ids]) == expected


def test_p19_a_thousand_replies_without_a_verdict_give_nothing() -> None:
    source = random.Random(0)
    salad = "the a I man because she is not sure about this clip and it may be so"
    words = re.split(" ", salad)
    replies = [" ".join(source.choices(words, k=12)) + "?" for _ in range(1000)]
    assert sum(chosen(reply) is not None for reply in replies) == 0


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "empty"),
        ("<think>A", "unclosed_thinking"),
        ("<think>A</think> ", "only_thinking"),
        ("Answer: F", "unknown_option"),
        ("A and C", "several_for_one"),
        ("Hard to say", "no_verdict"),
        ('{"answer": null}', "no_answer"),
        ('{"answer": "A", "G": "she tu', "bad_json"),
    ],
)
def test_reason_of_an_unparsed_choice(reply: str, expected: str) -> None:
    assert reason(parse_choice(reply, IDS, TEXTS, "one")) == expected


def test_alternatives_are_no_set() -> None:
    assert reason(parse_choice("A or C", IDS, TEXTS, "all")) == "undecided"


def test_ids_that_differ_in_case_only_are_told_apart() -> None:
    assert chosen("Answer: a", ids=["a", "A"], texts=["x", "y"]) == "a"
    assert chosen("Answer: A", ids=["a", "A"], texts=["x", "y"]) == "A"


def test_thinking_tags() -> None:
    assert strip_thinking("<think>a</think>b") == ("b", False)
    assert strip_thinking("a</think>b") == ("b", False)
    assert strip_thinking("a<think>b") == ("a", True)
    assert strip_thinking('{"G": "a <think> tag"}') == ('{"G": "a <think> tag"}', False)
    assert strip_thinking("`</think>` is text") == ("`</think>` is text", False)


J01 = [
    '```json\n{"credit": 1}\n```',
    '```\n{"credit": 1}\n```',
    'Here it is.\n```json\n{"credit": 1}\n```',
]
J02 = [
    "{'credit': 1}",
    'I judge: {"credit": 1} as said',
    '{"credit": 1,}',
    '{"credit": 1, "explanation": "two\nlines"}',
    '{"credit": 0}\n{"credit": 1}',
    '{"credit": 1}\n{"credit": 7}',
]


@pytest.mark.parametrize("raw", J01 + J02)
def test_j01_j02_repaired_and_marked(raw: str) -> None:
    assert parse_judgement(raw, "open_answer") == Parsed({"credit": 1}, "object", repaired=True)


def test_j02_sound_is_not_marked_and_cut_off_is_no_judgement() -> None:
    assert parse_judgement('{"credit": 1}', "open_answer") == Parsed({"credit": 1}, "object")
    assert reason(parse_judgement('{"credit": 1, "explanation": "th', "open_answer")) == "bad_json"


@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        ("6", False),
        ("-1", False),
        ("4.5", True),
        ('"4"', True),
        ('"four"', False),
        ("true", False),
        ("NaN", False),
        ("Infinity", False),
        ("1e999", False),
        ("12345", False),
        ("null", False),
        ("[4]", False),
        ("0", True),
        ("5", True),
    ],
)
def test_j03_range(value: str, accepted: bool) -> None:
    options = '{"A": 1.25, "B": 0, "C": 1, "D": 0.5}'
    raw = f'{{"key_event": {value}, "mechanism": 1, "options": {options}, "hallucination": 0}}'
    assert isinstance(parse_judgement(raw, "mental_health_reasoning"), Parsed) is accepted


@pytest.mark.parametrize("raw", ["[error 503] try in 5 s", "90", "", '{"credit": 90}', '{"cue": 1}'])
def test_j04_no_credit_from_an_error(raw: str) -> None:
    assert isinstance(parse_judgement(raw, "open_answer"), Unparsed)


@pytest.mark.parametrize(
    ("rubric", "raw", "expected"),
    [
        ("open_answer", '{"credit": 0.25}', "out_of_range"),
        ("verified", '{"evidence": "strong"}', "missing_label"),
        ("verified", '{"evidence": "strong", "logic": "strong"}', "not_a_label"),
        ("grounded_rationale", '{"cue": 1.5, "link": 0, "faithful": 1}', "out_of_range"),
        ("grounded_rationale", '{"cue": 1, "link": 0, "faithful": true}', "not_a_number"),
    ],
)
def test_reason_of_an_unparsed_judgement(rubric: Rubric, raw: str, expected: str) -> None:
    assert reason(parse_judgement(raw, rubric)) == expected


def test_judgement_integers_and_words() -> None:
    raw = '{"cue": 2.0, "link": "1", "faithful": 0, "explanation": "x"}'
    parsed = parse_judgement(raw, "grounded_rationale")
    assert isinstance(parsed, Parsed)
    assert parsed.value == {"cue": 2, "link": 1, "faithful": 0}
    assert all(isinstance(value, int) for value in parsed.value.values())
    words = parse_judgement('{"evidence": "Strong", "logic": " weak"}', "verified")
    assert words == Parsed({"evidence": "strong", "logic": "weak"}, "object")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("72", 72.0),
        ("Score: 72", 72.0),
        ("72/100", 72.0),
        ("72 out of 100", 72.0),
        ("Score (0-100): 72", 72.0),
        ("**72.5**", 72.5),
        ("７２", 72.0),
        ("72%", 72.0),
        ("m1: 72", 72.0),
        ('{"score": 72}', 72.0),
        ("0", 0.0),
        ("100", 100.0),
        ("100/100", 100.0),
        ("72.", 72.0),
        ("072", 72.0),
        ("0.5", 0.5),
        ("<think>30?</think>72", 72.0),
        ("101", "out_of_range"),
        ("-3", "out_of_range"),
        ("60-70", "several_numbers"),
        ("60 70", "several_numbers"),
        ("7/10", "several_numbers"),
        ("1,000", "not_a_number"),
        ("seventy", "no_number"),
        ("I cannot tell.", "no_number"),
        ("", "empty"),
    ],
)
def test_one_number(reply: str, expected: float | str) -> None:
    parsed = parse_number(reply)
    assert (parsed.value if isinstance(parsed, Parsed) else parsed.reason) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"m0": "20", "m1": 75.5}', {"m0": 20.0, "m1": 75.5}),
        ('{"scores": {"m1": 75, "m0": 20}, "note": "x"}', {"m0": 20.0, "m1": 75.0}),
        ("{'m0': 20, 'm1': 75,}", {"m0": 20.0, "m1": 75.0}),
        ('{"m0": 1, "m1": 2}\n{"m0": 20, "m1": 75}', {"m0": 20.0, "m1": 75.0}),
        ('{"m0": 20}', "missing_moment"),
        ("[20, 75]", "no_object"),
        ('{"m0": [20], "m1": 75}', "not_a_number"),
        ('{"m0": true, "m1": 75}', "not_a_number"),
        ('{"m0": NaN, "m1": 75}', "not_a_number"),
        ('{"m0": null, "m1": 75}', "not_a_number"),
        ('{"m0": 100.5, "m1": 75}', "out_of_range"),
        ('{"m0": 20, "m1": 7', "bad_json"),
        ("m0: 20, m1: 75", "no_object"),
    ],
)
def test_intensity(reply: str, expected: dict[str, float] | str) -> None:
    parsed = parse_intensity(reply, ["m0", "m1"])
    assert (parsed.value if isinstance(parsed, Parsed) else parsed.reason) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (None, False),
        ("  ", False),
        ("...", False),
        ("—", False),
        ("?!", False),
        ("N/A.", False),
        ("None", False),
        ("null", False),
        ("她犹豫了", True),
        ("turns away 🙁", True),
        ("none of them speaks", True),
        ("0", True),
    ],
)
def test_informative(field: str | None, expected: bool) -> None:
    assert informative(field) is expected


def test_psycheme_fields() -> None:
    raw = '{"answer": "B", "G": "looks down", "W": null, "N": ["a", "b"], "T": 3}'
    parsed = parse_psycheme(raw, task="choice", option_ids=IDS, option_texts=TEXTS, select="one")
    assert isinstance(parsed, Parsed)
    assert parsed.value.answer == ("B",)
    fields = {"G": "looks down", "N": "a; b", "T": "3"}
    assert parsed.value.fields == dict.fromkeys("GWNTSAMR") | fields


def test_psycheme_without_an_object() -> None:
    parsed = parse_psycheme("Answer: B", task="choice", option_ids=IDS, option_texts=TEXTS)
    assert isinstance(parsed, Parsed)
    assert set(parsed.value.fields.values()) == {None}
    assert reason(parse_psycheme("She wants space.", task="open")) == "no_object"
    assert reason(parse_psycheme('{"answer": 3}', task="open")) == "no_answer"


def test_the_published_rule_keeps_its_faults() -> None:
    first = parse_official_sivbench("Because she smiles, the answer is C", IDS, TEXTS)
    assert first == Parsed(("B",), "first_capital")
    friends = ["They are strangers", "friends"]
    contained = parse_official_sivbench("they are not friends", ["A", "B"], friends)
    assert contained == Parsed(("B",), "nearest_text")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), _JSON, max_size=4), st.sampled_from(["x ", "```json\n", "1. "]))
def test_own_reader_agrees_with_json_on_sound_objects(value: dict[str, Any], before: str) -> None:
    found = find_object(before + json.dumps(value, ensure_ascii=False))
    assert isinstance(found, Parsed)
    assert json.dumps(found.value) == json.dumps(value)


_ENGLISH = ["answer", "is", "not", "and", "or", "so", "happy", "unhappy", "\\boxed{", "a"]
_OTHER = ["<think>", "</think>", "```", "答案", "选", "不", "因此"]
_PIECES = st.sampled_from([*"ABCDE", *":.,()\n {}\"'", *_ENGLISH, *_OTHER])


@settings(max_examples=400)
@given(st.lists(_PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_no_reply_crashes_and_only_options_come_back(reply: str) -> None:
    for select in ("one", "all"):
        parsed = parse_choice(reply, IDS, TEXTS, "one" if select == "one" else "all", near_text=True)
        if isinstance(parsed, Parsed):
            assert parsed.value
            assert list(parsed.value) == [known for known in IDS if known in parsed.value]
            assert select == "all" or len(parsed.value) == 1
    matched = parse_matching(reply, IDS)
    assert isinstance(matched, Unparsed) or matched.value[0] in IDS
    number = parse_number(reply)
    assert isinstance(number, Unparsed) or 0 <= number.value <= 100
    assert isinstance(parse_intensity(reply, ["m0"]), Parsed | Unparsed)
    assert isinstance(parse_judgement(reply, "verified"), Parsed | Unparsed)
    assert isinstance(parse_psycheme(reply, task="open"), Parsed | Unparsed)
    assert isinstance(parse_official_sivbench(reply, IDS, TEXTS), Parsed | Unparsed)


@given(
    st.lists(st.text(st.characters(exclude_categories=("Z", "C")), min_size=1), min_size=1, max_size=4, unique=True),
    st.text(max_size=40),
)
def test_ids_may_be_any_text_without_space(ids: list[str], reply: str) -> None:
    parsed = parse_choice(reply, ids, ["text"] * len(ids), "all")
    assert isinstance(parsed, Unparsed) or set(parsed.value) <= set(ids)


_DECORATED = ["{}", "{}.", "({})", "**{}**", "[{}]", "Answer: {}", "`{}`", "${}$", "\\boxed{{{}}}", "The answer is {}."]


@given(
    st.sampled_from(_DECORATED),
    st.sampled_from(IDS),
    st.lists(st.text(min_size=20, max_size=30).filter(str.strip), min_size=4, max_size=4),
)
def test_a_letter_is_read_whatever_the_texts_of_the_options(form: str, letter: str, texts: list[str]) -> None:
    """Patterns are shared by all questions with the same ids: no text of one may show in the parse of another."""
    reply = form.format(letter)
    alone, again = parse_choice(reply, IDS, texts, "one"), parse_choice(reply, IDS, [""] * 4, "one")
    assert alone == again
    assert isinstance(alone, Parsed)
    assert alone.value == (letter,)


def test_a_chain_of_denials_ends() -> None:
    """Each "not A but" leads to the next; followed one inside the other they exhausted the stack."""
    assert chosen("The answer is " + "not A but " * 20_000 + "B") in (None, "B")
    assert chosen("not A but " * 20_000 + "so B.") == "B"


def test_new_questions_cost_no_new_patterns() -> None:
    """500 questions took 4 CPU-s when each had patterns of its own compiled, and take 0.03."""
    start = time.process_time()
    for number in range(500):
        texts = [f"The person in scene {number} {verb} the other" for verb in ("thanks", "envies", "warns", "copies")]
        assert parse_choice(f"B. {texts[1]}", IDS, texts, "one") == Parsed(("B",), "letter")
        assert parse_choice(texts[2], IDS, texts, "one") == Parsed(("C",), "option_text")
    assert time.process_time() - start < 1


_BRIEF = ["A ", "A, ", "A,\n", "answer is ", "answer A, ", "<answer>", "选", "答", "A和", "so A, ", "not A but "]
_BROKEN = ["{", '{"a":', "<think>", "A. happy\n", '"', "( ", "happy, "]


@pytest.mark.parametrize("first", ["", "Hm. "])
@pytest.mark.parametrize("unit", [*_BRIEF, *_BROKEN])
def test_work_grows_with_the_length_of_the_reply(unit: str, first: str) -> None:
    """Four times the reply may cost at most about four times the work; quadratic work would cost sixteen."""

    def seconds(length: int) -> float:
        reply = first + unit * (length // len(unit))
        best = math.inf
        for _ in range(2):
            start = time.process_time()
            parse_choice(reply, IDS, TEXTS, "one")
            parse_judgement(reply, "verified")
            best = min(best, time.process_time() - start)
        return best

    assert seconds(8_000) < 10 * seconds(2_000) + 0.05


def test_a_reply_of_200_kb_is_read_to_its_end() -> None:
    assert chosen("He waits and A nods (B). " * 8_000 + "\nAnswer: D") == "D"
