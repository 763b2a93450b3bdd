"""Captions that roll up are read once; what only repeats itself stays."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from onlooker.media.rolling import Block, carried_lines
from onlooker.media.subtitles import Cue, read_srt_or_vtt

# The shape that YouTube's automatic captions are downloaded in; ~ is a line of one space.
AUTOMATIC = """WEBVTT
Kind: captions
Language: en

00:00:00.080 --> 00:00:02.389 align:start position:0%
~
hello<00:00:00.400><c> and</c><00:00:00.800><c> welcome</c>

00:00:02.389 --> 00:00:02.399 align:start position:0%
hello and welcome
~

00:00:02.399 --> 00:00:04.000 align:start position:0%
hello and welcome
to<00:00:02.500><c> the</c><c> show</c>

00:00:04.000 --> 00:00:04.010 align:start position:0%
to the show
~

00:00:04.010 --> 00:00:06.000 align:start position:0%
to the show
to<00:00:04.500><c> the show</c>
""".replace("~", " ")
ONCE = [
    Cue(0.08, 2.389, "hello and welcome", None),
    Cue(2.399, 4.0, "to the show", None),
    Cue(4.01, 6.0, "to the show", None),
]


def test_automatic_captions_say_every_line_once() -> None:
    assert read_srt_or_vtt(AUTOMATIC, Path("a.vtt")) == ONCE


def test_the_same_as_subrip() -> None:
    text = AUTOMATIC.partition("en\n\n")[2].replace(" align:start position:0%", "").replace("\n \n", "\n")
    assert read_srt_or_vtt(text, Path("a.srt")) == ONCE


def test_a_song_repeats_its_lines_and_a_pause_ends_the_roll() -> None:
    song = [Block(n, n + 1, ("la la",)) for n in range(5)]
    assert carried_lines(song) == [0] * 5
    verses = [
        Block(0, 1, ("a", "b")),
        Block(1, 2, ("b", "c")),
        Block(2, 3, ("x",)),
        *(Block(n, n + 1, (str(n),)) for n in range(3, 9)),
    ]
    assert carried_lines(verses) == [0] * len(verses)
    rolling = [Block(0, 1, ("a",)), Block(1, 2, ("a", "b")), Block(2, 3, ("b", "c")), Block(9, 10, ("c", "d"))]
    assert carried_lines(rolling) == [0, 1, 1, 0]
    assert carried_lines([]) == []


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=4, max_size=12))
def test_what_is_left_of_rolling_lines_is_what_was_said(said: list[str]) -> None:
    pairs = [(said[0],), *pairwise(said)]
    blocks = [Block(n, n + 1, lines) for n, lines in enumerate(pairs)]
    left = [
        line for block, carried in zip(blocks, carried_lines(blocks), strict=True) for line in block.lines[carried:]
    ]
    # Where one line is said twice running, two equal lines cannot be told from one that stays.
    assert left == said or any(one == other for one, other in pairwise(said))
