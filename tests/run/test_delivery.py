from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from onlooker.benchmarks.mmhbench.protocol import BENCHMARK as MMHBENCH
from onlooker.benchmarks.sivbench.protocol import BENCHMARK as SIVBENCH
from onlooker.errors import InputError, MediaError
from onlooker.models.request import Modality
from onlooker.records.bundle import Bundle
from onlooker.records.public import Episode
from onlooker.run.delivery import Delivery
from onlooker.run.fitness import check_condition, fitting_conditions
from onlooker.run.plan import Parameters
from tests.media.making import COUNTER_RATE, counted, counter, tone, write

ALL: frozenset[Modality] = frozenset({"text", "image", "sound"})
SRT = "1\n00:00:00,200 --> 00:00:01,000\nFirst words.\n\n2\n00:00:03,000 --> 00:00:04,000\nLast words.\n"


@pytest.fixture
def delivery(tmp_path: Path, bundle: Bundle) -> Delivery:
    return Delivery(bundle, tmp_path / "cache", ALL, Parameters())


def episode(bundle: Bundle, **media: Any) -> Episode:
    """An episode whose picture is a counter of ten pictures a second for five seconds."""
    folder = bundle.path / "media"
    write(folder / "count.mp4", counter(50), rate=COUNTER_RATE, sounds=[tone(440, 5.0)])
    (folder / "count.srt").write_text(SRT, encoding="utf-8")
    return Episode.model_validate({"id": "count", "media": {"video": "media/count.mp4", **media}})


def test_the_frames_are_those_on_screen_at_the_times_that_are_told(bundle: Bundle, delivery: Delivery) -> None:
    given = delivery.deliver(episode(bundle), MMHBENCH.condition("frames_4"), None).given
    assert [counted(image.jpeg) for image in given.frames] == [0, 12, 25, 37]
    assert [image.time_s for image in given.frames] == pytest.approx([0.0, 1.2, 2.5, 3.7])


def test_a_window_bounds_frames_sound_and_words(bundle: Bundle, delivery: Delivery) -> None:
    shown = episode(bundle, transcript="media/count.srt")
    given = delivery.deliver(shown, MMHBENCH.condition("both"), (2.0, 4.5)).given
    assert min(i.time_s for i in given.frames) == pytest.approx(2.0)
    assert max(i.time_s for i in given.frames) < 4.5
    assert given.transcript == "[3.0-4.0] Last words."
    sound = delivery.deliver(shown, SIVBENCH.condition("origin"), (2.0, 4.5)).given.sound
    assert sound is not None
    assert [sound.start_s, sound.end_s] == pytest.approx([2.0, 4.5], abs=0.05)


def test_a_window_after_the_end_is_an_error_whatever_the_condition_gives(bundle: Bundle, delivery: Delivery) -> None:
    shown = episode(bundle, transcript="media/count.srt")
    for condition in (MMHBENCH.condition("both"), MMHBENCH.condition("transcript_only"), SIVBENCH.condition("origin")):
        with pytest.raises(MediaError, match=r"begins after the medium ends \(5\.\d+ s\)"):
            delivery.deliver(shown, condition, (50.0, 60.0))


def test_words_after_the_end_of_the_medium_are_left_out_and_counted(bundle: Bundle, delivery: Delivery) -> None:
    """Case A05: the clip lasts five seconds."""
    shown = episode(bundle, transcript="media/late.srt")
    late = SRT + "\n3\n00:00:04,500 --> 00:01:00,000\nCut.\n\n4\n00:00:50,000 --> 00:00:52,000\nBeyond.\n"
    (bundle.path / "media" / "late.srt").write_text(late, encoding="utf-8")
    delivered = delivery.deliver(shown, MMHBENCH.condition("transcript_only"), None)
    assert delivered.given.transcript == "[0.2-1.0] First words.\n[3.0-4.0] Last words.\n[4.5-5.0] Cut."
    assert delivered.record["transcript"]["left_out"] == 1
    assert [line.partition(" s, the medium")[0] for line in delivered.record["transcript"]["notices"]] == [
        "segment 2 ends at 60.000",
        "segment 3 ends at 52.000",
    ]


def test_an_episode_without_a_picture_gives_its_words_and_says_so(bundle: Bundle, delivery: Delivery) -> None:
    episode(bundle)
    heard = Episode.model_validate({"id": "talk", "media": {"transcript": "media/count.srt"}})
    delivered = delivery.deliver(heard, MMHBENCH.condition("both"), None)
    assert delivered.given.frames == ()
    assert delivered.given.transcript == "[0.2-1.0] First words.\n[3.0-4.0] Last words."
    assert "frames" not in delivered.record
    with pytest.raises(MediaError, match="has no picture, and the condition gives nothing else"):
        delivery.deliver(heard, MMHBENCH.condition("video_only"), None)


def test_a_condition_on_a_medium_that_is_not_there_is_an_error_not_another_medium(
    bundle: Bundle, delivery: Delivery
) -> None:
    with pytest.raises(MediaError, match=r"no medium 'without_text'.*media\.without_text"):
        delivery.deliver(episode(bundle), SIVBENCH.condition("without_text"), None)
    both = episode(bundle, without_text="media/count.mp4")
    assert delivery.deliver(both, SIVBENCH.condition("without_text"), None).record["medium"] == "without_text"


def test_without_ears_no_audio_is_origin_and_is_refused() -> None:
    seeing: frozenset[Modality] = frozenset({"text", "image"})
    with pytest.raises(InputError, match="the same request as origin"):
        check_condition(SIVBENCH, SIVBENCH.condition("no_audio"), seeing, {"video"})
    check_condition(SIVBENCH, SIVBENCH.condition("no_audio"), ALL, {"video"})
    with pytest.raises(InputError, match="shows frames, and this model takes no pictures"):
        check_condition(SIVBENCH, SIVBENCH.condition("origin"), frozenset({"text"}), {"video"})
    check_condition(MMHBENCH, MMHBENCH.condition("frames_0"), seeing, {"video"})
    with pytest.raises(InputError, match="no episode of the bundle has the medium without_text"):
        check_condition(SIVBENCH, SIVBENCH.condition("without_text"), ALL, {"video"})
    check_condition(SIVBENCH, SIVBENCH.condition("without_text"), ALL, {"video", "without_text"})


def test_all_conditions_are_those_that_differ_and_the_rest_has_its_reason() -> None:
    fit, unfit = fitting_conditions(MMHBENCH, ALL, {"video"})
    assert [c.name for c in fit] == [
        *("both", "both_reasoned", "video_only", "transcript_only", "question_only"),
        *("frames_1", "frames_2", "frames_4", "frames_8", "frames_16", "frames_32"),
    ]
    reasons = {condition.name: reason for condition, reason in unfit}
    assert reasons["frames_0"] == "a second name of question_only"
    assert reasons["frames_64"] == "a second name of video_only"
    assert "needs an image-text encoder, and none is given" in reasons["bolt"]
    assert "bolt" in [c.name for c in fitting_conditions(MMHBENCH, ALL, {"video"}, has_encoder=True)[0]]
    deaf, left = fitting_conditions(SIVBENCH, frozenset({"text", "image"}), {"video", "with_subtitles", "without_text"})
    assert "no_audio" not in [c.name for c in deaf]
    assert [c.name for c, _ in left] == ["no_audio", "no_audio_per_video"]


def test_what_a_model_receives_decides_what_is_the_same() -> None:
    """Conditions that differ only in a clock, a cap or an arrangement are other requests."""
    origin = SIVBENCH.condition("origin")
    for change in ({"clock": "hidden"}, {"max_output_tokens": 99}, {"calls": "video"}, {"transcript": True}):
        other = dataclasses.replace(origin, name="other", **change)
        check_condition(dataclasses.replace(SIVBENCH, baseline=None, conditions=(origin, other)), other, ALL, {"video"})
    stands_in = dataclasses.replace(origin, name="other", transcript=True, transcript_stands_in=True)
    both = dataclasses.replace(SIVBENCH, baseline=None, conditions=(origin, stands_in))
    check_condition(both, stands_in, frozenset({"text", "image"}), {"video"})
    with pytest.raises(InputError, match="the same request as origin"):
        check_condition(both, stands_in, ALL, {"video"})


def test_a_video_file_is_for_models_that_take_one() -> None:
    origin = SIVBENCH.condition("origin")
    required = dataclasses.replace(origin, name="other", video="required")
    benchmark = dataclasses.replace(SIVBENCH, baseline=None, conditions=(origin, required))
    with pytest.raises(InputError, match="shows a video file, and this model takes none"):
        check_condition(benchmark, required, ALL, {"video"})
    check_condition(benchmark, required, frozenset({"text", "video"}), {"video"})
