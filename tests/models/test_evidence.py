"""What a text model is told of a request with media, and what is left out when it is too much."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import MediaError, MissingAsset, ModelError
from onlooker.models.evidence import Evidence, gather
from onlooker.models.request import Image, Options, Request, Sound, Text

OPTIONS = Options(("A", "B"), ("Ann", "Bob"))
SOUND = Sound(b"wav", 0.0, 2.0, "00")


def frame(time_s: float) -> Image:
    return Image(b"jpeg", time_s, "00")


def see(images: Sequence[Image], /) -> str:
    return "\n".join(f"{image.time_s:.1f} s: a face" for image in images) + "\n"


def hear(sound: Sound, /) -> str:
    return f"hello at {sound.start_s:.0f}"


def words(evidence: Evidence) -> tuple[str, str]:
    return "".join(t.text for t in evidence.before), "".join(t.text for t in evidence.after)


def test_media_become_words_at_their_place_and_labels_of_frames_go_with_them() -> None:
    request = Request(
        (
            Text("Watch:"),
            Text("\n[0.00 s]\n"),
            frame(0.0),
            Text("\n[1.50 s]\n"),
            frame(1.5),
            Text("\nListen:"),
            SOUND,
            Text("Who? [1.50 s]\n"),
            OPTIONS,
            Text("\nOne letter."),
        )
    )
    evidence = gather(request, see, hear)
    assert words(evidence) == (
        (
            "Watch:\nSeen in the video by detectors:\n0.0 s: a face\n1.5 s: a face\n\nListen:"
            "\nHeard in the video by speech recognition:\nhello at 0\nWho? [1.50 s]\n"
        ),
        "\nOne letter.",
    )
    assert evidence.options is OPTIONS
    assert evidence.observations == "0.0 s: a face\n1.5 s: a face"
    assert evidence.transcript == "hello at 0"
    assert evidence.lines == ("0.0 s: a face", "1.5 s: a face", "hello at 0")
    assert evidence.words == 4 + 4 + 3


def test_nothing_seen_and_nothing_heard_is_said() -> None:
    request = Request((frame(0.0), SOUND))
    evidence = gather(request, lambda images: " ", lambda sound: "")
    before, _ = words(evidence)
    assert "the detectors found nothing" in before
    assert "no speech was recognised" in before
    assert (evidence.observations, evidence.transcript) == ("", "")


def test_a_request_of_words_is_left_as_it_is() -> None:
    evidence = gather(Request((Text("Who?\n"), OPTIONS)), None, None)
    assert words(evidence) == ("Who?\n", "")
    assert (evidence.observations, evidence.transcript, evidence.lines) == (None, None, ())


@pytest.mark.parametrize("part", [frame(0.0), SOUND])
def test_media_without_anything_to_put_them_into_words_are_an_error(part: Image | Sound) -> None:
    with pytest.raises(ModelError, match="nothing was given to put"):
        gather(Request((part,)), None, None)


def test_two_sets_of_options_are_an_error() -> None:
    with pytest.raises(ModelError, match="two sets of options"):
        gather(Request((OPTIONS, OPTIONS)), None, None)


def test_a_failed_detector_is_this_requests_error_but_a_missing_one_is_the_runs() -> None:
    def broken(images: Sequence[Image], /) -> str:
        raise MediaError("not a JPEG")

    def absent(images: Sequence[Image], /) -> str:
        raise MissingAsset("mtcnn", "finding faces")

    with pytest.raises(ModelError, match="the detectors failed: not a JPEG"):
        gather(Request((frame(0.0),)), broken, None)
    with pytest.raises(MissingAsset):
        gather(Request((frame(0.0),)), absent, None)


def test_thinning_by_hand() -> None:
    lines = Text("".join(f"line {n}\n" for n in range(10)), material=True)
    evidence = gather(Request((Text("Read:\n"), lines, Text("Who?\n"), OPTIONS)), None, None)
    # Ten lines in four equal stretches of 2.5; the line at the middle of each is kept.
    assert words(evidence.thinned(4))[0] == "Read:\nline 1\nline 3\nline 6\nline 8\nWho?\n"
    assert evidence.thinned(10).lines == evidence.lines
    assert (evidence.words, evidence.thinned(4).words) == (20, 8)


@given(sizes=st.lists(st.integers(0, 8), min_size=1, max_size=4), data=st.data())
def test_thinning_keeps_that_many_whole_lines_in_order_and_all_of_the_question(
    sizes: list[int], data: st.DataObject
) -> None:
    texts = [
        Text("\n".join(f"{block}.{n} said" for n in range(size)), material=True) for block, size in enumerate(sizes)
    ]
    evidence = Evidence((*texts, Text("Who?\n")), OPTIONS, (), None, None)
    if not evidence.lines:
        return
    keep = data.draw(st.integers(1, len(evidence.lines)))
    thinned = evidence.thinned(keep)
    assert len(thinned.lines) == keep
    assert [line for line in evidence.lines if line in thinned.lines] == list(thinned.lines)
    assert thinned.before[-1] == Text("Who?\n")
    # Evenly: no two neighbours kept are further apart than twice the mean distance and one.
    places = [-1, *(evidence.lines.index(line) for line in thinned.lines), len(evidence.lines)]
    assert max(b - a for a, b in pairwise(places)) <= len(evidence.lines) / keep + 1


def test_frames_of_several_views_are_told_apart_and_a_hidden_clock_stays_hidden() -> None:
    """A reaction at 30 s and a candidate at 30 s: their times would tell the match."""

    def perceive(images: Sequence[Image]) -> str:
        return " ".join(f"{image.time_s:.1f}" for image in images)

    request = Request(
        (
            Text("THE REACTION:\n"),
            *(part for t in (30.0, 31.0) for part in (Text("\n"), Image(b"", t, ""))),
            Text("\nSEGMENT A:\n"),
            *(part for t in (30.0, 31.0) for part in (Text("\n"), Image(b"", t, ""))),
            Text("\nSEGMENT B:\n"),
            *(part for t in (7.0,) for part in (Text("\n[7.00 s]\n"), Image(b"", t, ""))),
            Text("\nWhich?"),
        )
    )
    words = "".join(text.text for text in gather(request, perceive, None).before)
    assert "30" not in words
    reaction, first, second = (
        words.index("THE REACTION"),
        words.index("SEGMENT A"),
        words.index("SEGMENT B"),
    )
    assert "0.0 1.0" in words[reaction:first]
    assert "0.0 1.0" in words[first:second]
    assert "7.0" in words[second:], "a frame with its label keeps its time"
    assert "[7.00 s]" not in words
