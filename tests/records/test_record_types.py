"""Records keep what they do not know, and mean the same after a round trip."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from onlooker.records.private import Rating, Reference
from onlooker.records.public import ITEM, ChoiceItem, Episode, Lineage, Media, Option
from onlooker.records.record import Record
from onlooker.records.results import Judgement, Prediction

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ids = texts.filter(bool)
numbers = st.floats(0, 1e6) | st.integers(0, 10**6)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
extras = st.dictionaries(texts.map(lambda name: f"x-{name}"), anything, max_size=3)
scalars = texts | st.integers() | st.booleans()
labels = st.dictionaries(texts, scalars | st.none() | st.lists(scalars, max_size=3), max_size=3)


def objects(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects with extra fields, in an order of their own."""
    known = st.fixed_dictionaries(required, optional=optional)
    merged = st.tuples(known, extras).map(lambda pair: list({**pair[1], **pair[0]}.items()))
    return merged.flatmap(st.permutations).map(dict)


windows = objects({"start_s": numbers, "end_s": numbers}, {})
option = objects({"id": st.from_regex(r"\A[A-Za-z0-9]+\Z"), "text": texts}, {})
shared = {"labels": labels, "window": windows | st.none(), "perspective": texts | st.none()}
head = {"id": ids, "episode": ids}
rows = {
    "episode": objects(
        {"id": ids},
        {
            "media": objects({}, {"video": texts | st.none(), "audio": texts}),
            "duration_s": st.floats(0.1, 1e6) | st.none(),
            "lineage": objects({}, {"source": texts, "start_s": numbers}),
            "labels": labels,
        },
    ),
    "choice": objects(
        {
            **head,
            "task": st.just("choice"),
            "question": texts,
            "options": st.lists(option, min_size=1, max_size=3),
            "select": st.sampled_from(["one", "all"]),
        },
        {**shared, "history": st.lists(objects({"text": texts}, {"time_s": numbers}), max_size=2)},
    ),
    "rationale": objects({**head, "task": st.just("rationale"), "window": windows}, {}),
    "reference": objects(
        {"item": ids},
        {
            "answer": texts | st.lists(texts, max_size=2) | st.none(),
            "consensus": st.dictionaries(texts, numbers, max_size=2),
            "explanation": texts | objects({}, {"key_event": texts}),
        },
    ),
    "rating": objects(
        {"item": ids, "unit": ids, "rater": ids, "rubric": ids},
        {"value": numbers | texts | st.none(), "opt_out": st.sampled_from(["unclear", None])},
    ),
}
kinds: dict[str, TypeAdapter[Any]] = {
    "episode": TypeAdapter(Episode),
    "choice": ITEM,
    "rationale": ITEM,
    "reference": TypeAdapter(Reference),
    "rating": TypeAdapter(Rating),
}


@pytest.mark.parametrize("name", sorted(rows))
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_round_trip_keeps_meaning_and_order(name: str, data: st.DataObject) -> None:
    row = data.draw(rows[name])
    record = kinds[name].validate_json(json.dumps(row))
    assert isinstance(record, Record)
    again = json.loads(record.to_json())
    assert again == row
    assert kinds[name].validate_json(record.to_json()) == record
    own = [field for field in row if field.startswith("x-")]
    assert list(record.extra) == own
    assert [field for field in again if field.startswith("x-")] == own


def test_numbers_and_text_are_not_mixed_up() -> None:
    for wrong in ('"1"', "true", "NaN", "1e999"):
        with pytest.raises(ValidationError):
            Episode.model_validate_json(f'{{"id": "a", "duration_s": {wrong}}}')
    assert Episode.model_validate_json('{"id": "a", "duration_s": 1}').duration_s == 1.0
    with pytest.raises(ValidationError):
        Rating.model_validate_json('{"item":"a","unit":"a","rater":"r","rubric":"x","value":true}')


def test_records_are_frozen() -> None:
    episode = Episode(id="a")
    with pytest.raises(ValidationError, match="frozen"):
        episode.id = "b"  # type: ignore[misc]


def test_a_record_writes_only_what_was_set() -> None:
    options = (Option(id="A", text="x"), Option(id="B", text="y"))
    item = ChoiceItem(id="q", episode="e", task="choice", question="?", options=options, select="one")
    assert json.loads(item.to_json()) == {
        "id": "q",
        "episode": "e",
        "task": "choice",
        "question": "?",
        "options": [{"id": "A", "text": "x"}, {"id": "B", "text": "y"}],
        "select": "one",
    }
    assert json.loads(Episode(id="e", media=Media(video="v"), lineage=Lineage()).to_json()) == {
        "id": "e",
        "media": {"video": "v"},
        "lineage": {},
    }


def test_results_are_written_with_all_their_fields() -> None:
    row = Prediction(item="q", model="m", condition="full", raw="B", status="ok", batch="b7")
    assert json.loads(row.to_json()) == {
        "item": "q",
        "part": None,
        "model": "m",
        "condition": "full",
        "seed": None,
        "raw": "B",
        "status": "ok",
        "usage": None,
        "cost_usd": None,
        "latency_s": None,
        "served_model": None,
        "prompt_sha256": None,
        "media_sha256": None,
        "batch": "b7",
    }


def test_judgement_labels_may_be_out_of_range_or_absent() -> None:
    """They make the judgement unparsed in scoring; the row itself is sound."""
    for labels_text in ("null", "{}", '{"cue": 7, "options": {"A": -1}}'):
        text = (
            '{"item":"q","model":"m","condition":"c","seed":1,"judge":"j","rubric":"r",'
            f'"labels":{labels_text},"explanation":"","status":"ok","raw":""}}'
        )
        assert Judgement.model_validate_json(text).labels == json.loads(labels_text)
    with pytest.raises(ValidationError):
        Judgement.model_validate_json(text.replace("-1", "NaN"))
