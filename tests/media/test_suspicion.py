"""Signs of invented words, on texts whose repetitions can be counted by hand."""

from __future__ import annotations

from onlooker.media.suspicion import decoder_doubt, flag_repetition, flag_silence
from onlooker.media.transcript import Segment


def suspects(*texts: str) -> list[bool]:
    segments = [Segment(float(n), n + 1.0, text) for n, text in enumerate(texts)]
    return [s.suspect is not None for s in flag_repetition(segments)]


def test_a_loop_within_a_segment() -> None:
    assert suspects("So I went home. " + "And that's it. " * 4) == [True]
    flagged = flag_repetition([Segment(0, 1, "a b " * 5)])[0]
    assert flagged.suspect == "repeats a phrase (8 of 10 words)"


def test_a_loop_over_segments_spares_its_first_saying() -> None:
    assert suspects("Hello there.", *["Thanks for watching!"] * 4, "Goodbye.") == [
        False,
        False,
        True,
        True,
        True,
        False,
    ]


def test_scripts_without_spaces_are_counted_by_characters() -> None:
    assert suspects("谢谢观看谢谢观看谢谢观看谢谢观看") == [True]
    assert suspects("谢谢谢谢") == [False]


def test_what_people_do_repeat_is_no_loop() -> None:
    assert suspects("No, no, no, no, no!") == [False]
    assert suspects("Ever tried. Ever failed. No matter. Try again. Fail again. Fail better.") == [False]
    assert suspects(
        "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness,",
        "it was the epoch of belief, it was the epoch of incredulity,",
    ) == [False, False]
    assert suspects("Hello?", "Hello?", "Oh, hello.") == [False] * 3


def test_a_reason_that_is_there_stays() -> None:
    assert flag_repetition([Segment(0, 1, "a b " * 5, suspect="faint")])[0].suspect == "faint"


def test_the_decoders_own_doubt() -> None:
    assert decoder_doubt("Hello.", -1.2, 1.0, 0.0) == "mean log-probability -1.20"
    assert decoder_doubt("Hello.", -0.2, 2.5, 0.0) == "repeats itself (compression ratio 2.5)"
    assert decoder_doubt("Hello.", -0.2, 1.0, 0.7) == "probably no speech (0.70)"
    assert decoder_doubt("Hello.", -0.2, 1.0, 0.1) is None
    # Not reported: computed from the text. 400 bytes of one letter compress to about 13.
    assert (decoder_doubt("a" * 400, None, None, None) or "").startswith("repeats itself")
    assert decoder_doubt("How are you today?", None, None, None) is None


def test_words_where_nobody_was_heard() -> None:
    segments = [
        Segment(0.0, 2.0, "said"),
        Segment(5.0, 6.0, "invented"),
        Segment(9.5, 10.5, "in part"),
        Segment(None, None, "x"),
    ]
    flagged = flag_silence(segments, [(0.5, 3.0), (10.0, 12.0)])
    assert [s.suspect for s in flagged] == [None, "no speech was detected there", None, None]
