"""Variations: what they change, what they leave, and the way back from moved options to the item's own."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from hypothesis import given as draws
from hypothesis import strategies as st
from PIL import Image as Picture

from onlooker.benchmarks.sivbench.scoring import FAMILY
from onlooker.catalog import load_benchmark
from onlooker.errors import InputError
from onlooker.models.request import Image
from onlooker.protocol.benchmark import Given
from onlooker.protocol.shown import relabelled
from onlooker.protocol.variation import arrange_variation, parse_variation, sample_of, varied
from onlooker.records.public import ITEM, ChoiceItem, Episode
from tests.score.made import Made, choice, said, value_of

SIV = load_benchmark("sivbench")
ITEMS = [ITEM.validate_python(choice(f"q{n}", f"e{n}", options="ABCDE")) for n in range(3)]
EPISODES = {f"e{n}": Episode(id=f"e{n}") for n in range(3)}


def shown_by(variation: str) -> dict[str, dict[str, str]]:
    return arrange_variation(SIV.condition(f"origin+{variation}"), ITEMS, EPISODES)[1]


def test_rotations_and_the_reverse_by_hand() -> None:
    assert shown_by("options_rotated_1")["q0"] == {"A": "E", "B": "A", "C": "B", "D": "C", "E": "D"}
    assert shown_by("options_rotated_2")["q0"] == {"A": "D", "B": "E", "C": "A", "D": "B", "E": "C"}
    assert shown_by("options_reversed")["q0"] == {"A": "E", "B": "D", "C": "C", "D": "B", "E": "A"}
    shuffled = shown_by("options_shuffled")
    assert len({tuple(order.values()) for order in shuffled.values()}) > 1, "drawn for each item by itself"


def test_options_that_would_not_move_are_not_asked_again() -> None:
    pairs = [ITEM.validate_python(choice(f"q{n}", "e0", options="AB")) for n in range(8)]
    arranged, shown = arrange_variation(SIV.condition("origin+options_rotated_2"), pairs, EPISODES)
    assert (arranged.items, shown) == ({}, {})
    assert set(arranged.left_out.values()) == {"its options stay where they are"}
    _, shown = arrange_variation(SIV.condition("origin+options_shuffled"), pairs, EPISODES)
    assert all(order == {"A": "B", "B": "A"} for order in shown.values())
    assert len(shown) == 8


def test_letters_stay_in_order_and_texts_move() -> None:
    arranged, _ = arrange_variation(SIV.condition("origin+options_rotated_1"), ITEMS, EPISODES)
    item = arranged.items["q0"]
    assert isinstance(item, ChoiceItem)
    assert [(o.id, o.text) for o in item.options][:2] == [("A", "option number 5"), ("B", "option number 1")]


def test_a_reply_to_moved_options_is_mapped_back_before_it_is_scored(tmp_path: Path) -> None:
    made = Made(
        tmp_path, FAMILY, [choice("q", "e"), choice("r", "e")], [{"item": i, "answer": ["A"]} for i in ("q", "r")]
    )
    moved = {"A": "D", "B": "A", "C": "B", "D": "C"}
    rows = [said("q", "B", options_shown=moved), said("r", "B. option number 1", options_shown=moved)]
    assert value_of(made.score(rows), "accuracy") == 1.0
    rows = [said("q", "A", options_shown=moved), said("r", "option number 1", options_shown=moved)]
    assert value_of(made.score(rows), "accuracy") == 0.5, "the text tells the option whatever its letter was"


@draws(st.permutations("ABCDE"))
def test_moving_and_mapping_back_is_the_identity(order: list[str]) -> None:
    shown = dict(zip("ABCDE", order, strict=True))
    item = relabelled(ITEMS[0], shown)
    assert isinstance(item, ChoiceItem)
    texts = {option.id: option.text for option in item.options}
    original = {option.id: option.text for option in getattr(ITEMS[0], "options")}  # noqa: B009 - a union type
    assert {shown[letter]: text for letter, text in texts.items()} == original


def test_a_map_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="options_shown"):
        relabelled(ITEMS[0], {"A": "A", "B": "A"})


def frames(number: int) -> Given:
    found = []
    for n in range(number):
        buffer = io.BytesIO()
        Picture.new("RGB", (8, 4), (n * 10, 0, 0)).save(buffer, "JPEG")
        found.append(Image(buffer.getvalue(), n * 0.5, f"source{n}"))
    return Given(frames=tuple(found))


def test_pictures_change_places_and_times_stay() -> None:
    full = frames(6)
    pictures = [image.jpeg for image in full.frames]
    for name, order in (("frames_reversed", [5, 4, 3, 2, 1, 0]), ("frames_shuffled", None)):
        changed, found = varied(full, SIV.condition(f"origin+{name}"), "e0")
        assert [image.time_s for image in changed.frames] == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]
        assert isinstance(found, list)
        assert [image.jpeg for image in changed.frames] == [pictures[n] for n in found]
        assert sorted(found) == list(range(6))
        assert found != list(range(6))
        assert order is None or found == order
    again, _ = varied(full, SIV.condition("origin+frames_shuffled"), "e0")
    assert again == varied(full, SIV.condition("origin+frames_shuffled"), "e0")[0]


def test_blank_pictures_keep_their_number_size_and_times() -> None:
    changed, _ = varied(frames(3), SIV.condition("origin+frames_blank"), "e0")
    assert [image.time_s for image in changed.frames] == [0.0, 0.5, 1.0]
    for image in changed.frames:
        with Picture.open(io.BytesIO(image.jpeg)) as picture:
            assert picture.size == (8, 4)
            assert picture.convert("RGB").getextrema() == ((128, 128),) * 3


def test_a_wrong_video_is_of_another_recording_and_about_as_long() -> None:
    episodes = {
        name: Episode.model_validate({"id": name, "duration_s": length, "lineage": {"recording": recording}})
        for name, length, recording in (("e0", 10.0, "r"), ("e1", 12.0, "r"), ("e2", 300.0, "s"))
    }
    arranged, shown = arrange_variation(SIV.condition("origin+wrong_video"), ITEMS, episodes)
    assert {item: donor.episode for item, donor in arranged.donors.items()} == {"q0": "e2", "q1": "e2", "q2": "e0"} or {
        item: donor.episode for item, donor in arranged.donors.items()
    } == {"q0": "e2", "q1": "e2", "q2": "e1"}
    assert shown == {}
    alone, _ = arrange_variation(SIV.condition("origin+wrong_video"), ITEMS[:2], episodes)
    assert set(alone.left_out) == {"q0", "q1"}


def test_what_cannot_be_varied_says_why() -> None:
    for name, why in (
        ("text_only+frames_blank", "shows no frames"),
        ("text_only+wrong_video", "shows no video"),
        ("no_audio+no_sound", "no sound beside its picture"),
        ("origin+upside_down", "no such variation"),
        ("origin+options_rotated", "no such variation"),
        ("origin+frames_blank_2", "no such variation"),
        ("origin+paraphrase_9", "no prompt file clip~9.txt"),
        ("nothing+again_1", "no condition of this name"),
        ("origin_per_video+options_reversed", "only where one call asks one item"),
    ):
        with pytest.raises(InputError, match=why):
            SIV.condition(name)


def test_repetitions_are_draws_of_one_request() -> None:
    assert [sample_of(SIV.condition(name)) for name in ("origin", "origin+again_1", "origin+again_2")] == [0, 1, 2]
    assert parse_variation("again_2").says == "asked once more (2)"


@pytest.mark.parametrize("name", ["sivbench", "mmhbench", "psycheme"])
def test_a_paraphrase_says_the_same_in_other_words(name: str) -> None:
    benchmark = load_benchmark(name)
    plain, other = benchmark.default, benchmark.condition(f"{benchmark.default.name}+paraphrase_1")
    assert plain.template != other.template
    assert plain.frames == other.frames


def test_a_wrong_video_is_for_conditions_that_leave_the_items_alone() -> None:
    psycheme = load_benchmark("psycheme")
    for name in ("mismatched", "matched"):
        with pytest.raises(InputError, match="its items are changed already"):
            psycheme.condition(f"{name}+wrong_video")


def test_the_order_of_every_view_is_known() -> None:
    given = Given(views={"reaction": frames(3), "segment A": frames(4)})
    condition = load_benchmark("reactionbench").condition("matching+frames_reversed")
    changed, order = varied(given, condition, "e0")
    assert order == {"reaction": [2, 1, 0], "segment A": [3, 2, 1, 0]}
    assert changed.views["reaction"].frames[0].jpeg == given.views["reaction"].frames[2].jpeg


def test_many_episodes_are_matched_in_time() -> None:
    """The authors' bundle has 2,792 clips."""
    episodes = {f"e{n}": Episode.model_validate({"id": f"e{n}", "duration_s": 10.0 + n % 300}) for n in range(2_800)}
    items = [ITEM.validate_python(choice(f"q{n}", f"e{n}")) for n in range(2_800)]
    began = time.process_time()
    arranged, _ = arrange_variation(SIV.condition("origin+wrong_video"), items, episodes)
    assert len(arranged.donors) == 2_800
    assert time.process_time() - began < 10
