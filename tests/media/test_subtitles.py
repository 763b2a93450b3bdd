"""Subtitle files in the shapes that people have them in, and that what is written is read back."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onlooker.errors import InputError
from onlooker.media.subtitles import Cue, read_srt_or_vtt, write_srt, write_vtt
from onlooker.media.transcript import (
    Segment,
    Transcript,
    clamp_transcript,
    read_transcript,
    translate_transcript,
    write_transcript,
)
from onlooker.media.ttml import read_ttml

HERE = Path("a.srt")
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1).map(
    lambda text: " ".join(text.split())
)
CUES = st.lists(
    st.builds(
        lambda start, length, text, who: Cue(start / 1000, (start + length) / 1000, text, who),
        st.integers(0, 10**8),
        st.integers(0, 10**5),
        WORDS.filter(bool),
        st.none() | WORDS.filter(bool),
    ),
    max_size=6,
)


@given(CUES)
def test_subtitles_are_read_back_as_written(cues: list[Cue]) -> None:
    assert read_srt_or_vtt(write_vtt(cues, "en"), Path("a.vtt")) == cues
    read = read_srt_or_vtt(write_srt(cues), HERE) if cues else []
    assert read == [Cue(c.start_s, c.end_s, c.text, None) for c in cues]


@given(st.integers(0, 10**6), st.sampled_from([Fraction(30000, 1001), Fraction(25), Fraction(60000, 1001)]))
def test_a_frame_time_never_comes_back_one_frame_late(frame: int, fps: Fraction) -> None:
    """Case V22: a cue from one frame's time to another's covers the same frames after a round trip."""
    time_s = float(frame / fps)
    cue = read_srt_or_vtt(write_srt([Cue(time_s, time_s + 1, "x", None)]), HERE)[0]
    first = math.ceil(Fraction(cue.start_s - 1e-6) * fps)
    assert first == frame


def test_a_subrip_text_with_empty_lines_missing_blanks_and_no_hours() -> None:
    text = (
        "1\n00:01,000 --> 00:02\nOne\n\nand still one\n2\n00:00:02.5 --> 00:00:03,250 X1:100\n"
        "{\\an8}<font color=red>1 &lt; 2</font>\n\n3\n00:00:03,000 --> 00:00:04,000\n \n\n"
        "4\n00:00:03,100 --> 00:00:05,000\nANNA: overlaps\n42\n"
    )
    assert read_srt_or_vtt(text, HERE) == [
        Cue(1.0, 2.0, "One and still one", None),
        Cue(2.5, 3.25, "1 < 2", None),
        Cue(3.1, 5.0, "ANNA: overlaps 42", None),
    ]


def test_several_voices_in_one_webvtt_cue() -> None:
    text = (
        "WEBVTT\nLanguage: de\n\n00:01.000 --> 00:02.000\n<v Anna &amp; Bo>Hi</v>\n<v.loud Cy>Ho</v>\n\nNOTE not said\n"
    )
    assert read_srt_or_vtt(text, Path("a.vtt")) == [Cue(1.0, 2.0, "Hi", "Anna & Bo"), Cue(1.0, 2.0, "Ho", "Cy")]


def test_breaks_are_spaces_and_only_tags_are_left_out() -> None:
    text = (
        "1\n00:01,000 --> 00:02,000\nOne<br/>two\\Nthree {\\i1}four{\\i0}\n\n"
        "2\n00:03,000 --> 00:04,000\nif x<y and y>z, I <3 <I>you</I> > me\n"
    )
    assert [cue.text for cue in read_srt_or_vtt(text, HERE)] == ["One two three four", "if x<y and y>z, I <3 you > me"]


def test_a_line_of_spaces_ends_no_webvtt_cue() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n \nwords\n \nmore\n\nNOTE no words\n"
    assert [cue.text for cue in read_srt_or_vtt(text, Path("a.vtt"))] == ["words more"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n00:00:01,000 -> 00:00:02,000\nx\n", "line 2: not a timing line"),
        ("1\n00:00:01,000 --> 00:00:61,000\nx\n", "line 2: not a timing line"),
        ("stray\n\n1\n00:00:01,000 --> 00:00:02,000\nx\n", "line 1: words before the first timing line"),
        ("1\n00:00:01,000 --> 00:00:02,000\nx\n2\n00:00:03,000 --> 00:00:02,000\ny\n", "line 5: a cue ends before"),
    ],
)
def test_a_bad_cue_is_one_error_with_its_line(text: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"a\.srt, {message}"):
        read_srt_or_vtt(text, HERE)


def test_ttml_with_nested_times_rates_agents_and_spans() -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?>
    <tt xmlns="http://www.w3.org/ns/ttml" xmlns:ttp="http://www.w3.org/ns/ttml#parameter"
        xmlns:ttm="http://www.w3.org/ns/ttml#metadata" xml:lang="fr"
        ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001" ttp:tickRate="10000000">
      <head><metadata><ttm:agent xml:id="a1" type="person"><ttm:name type="full">Ann  Lee</ttm:name></ttm:agent>
      </metadata></head>
      <body begin="10s"><div begin="1s" end="20s" ttm:agent="a1">
        <p begin="00:00:00:15" end="30f">frames</p>
        <p begin="5000000t" dur="1s" ttm:agent="b">ticks<br/><!-- c -->two</p>
        <p begin="3s" end="99s">cut <span>by its div</span></p>
        <p><span begin="1s" end="2s">first</span> <span begin="2s" end="3s">second</span></p>
        <p begin="4s" end="5s">  </p>
      </div></body></tt>"""
    cues, language = read_ttml(text, Path("a.ttml"))
    assert language == "fr"
    frame_s = 1001 / 30000
    assert [(c.text, c.speaker) for c in cues] == [
        ("frames", "Ann Lee"),
        ("ticks two", "b"),
        ("cut by its div", "Ann Lee"),
        ("first", "Ann Lee"),
        ("second", "Ann Lee"),
    ]
    assert [(c.start_s, c.end_s) for c in cues] == [
        pytest.approx((11 + 15 * frame_s, 11 + 30 * frame_s)),
        (11.5, 12.5),
        (14.0, 30.0),
        (12.0, 13.0),
        (13.0, 14.0),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<p begin="1s">x</p>', "paragraph 1: a paragraph needs an end"),
        ('<p begin="2s" end="1s">x</p>', "paragraph 1: a cue ends before it starts"),
        ('<p begin="1t" end="2s">x</p>', "needs ttp:tickRate"),
        ('<div timeContainer="seq"><p dur="1s">x</p></div>', "seq"),
        ("<p", "not valid XML"),
    ],
)
def test_ttml_that_cannot_be_read_says_where(body: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_ttml(f"<tt><body>{body}</body></tt>", Path("a.ttml"))


def test_ttml_that_is_nested_too_deep_is_one_error() -> None:
    body = f'<p begin="0s" end="1s">{"<span>" * 5000}x{"</span>" * 5000}</p>'
    with pytest.raises(InputError, match="too deep"):
        read_ttml(f"<tt><body>{body}</body></tt>", Path("a.ttml"))


def test_dfxp_is_ttml_and_says_its_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.dfxp"
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><tt><body><p begin="0s" end="1s">déjà vu</p></body></tt>'
    path.write_bytes(text.encode("latin-1"))
    assert read_transcript(path).segments == (Segment(0.0, 1.0, "déjà vu"),)


def test_latin_1_is_read_where_the_user_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes("1\n00:00:00,000 --> 00:00:02,000\nÉté, garçon!\n".encode("latin-1"))
    assert read_transcript(path, encoding="latin-1").segments[0].text == "Été, garçon!"
    with pytest.raises(InputError, match=r"a\.srt: the bytes are not in the stated encoding, found 'utf-8'"):
        read_transcript(path, encoding="utf-8")
    with pytest.raises(InputError, match="unknown text encoding"):
        read_transcript(path, encoding="klingon")


def test_json_of_whisperx_faster_whisper_and_whisper_cpp(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    words = [
        {"word": "Hi", "start": 0.1, "end": 0.3, "score": 0.9, "speaker": "SPEAKER_00"},
        {"word": "Bo.", "start": 0.4, "end": 0.6, "speaker": "SPEAKER_00"},
        {"word": "2", "speaker": None},
        {"word": "Yes?", "start": 1.0, "end": 1.4, "speaker": "SPEAKER_01"},
    ]
    whisperx = {"segments": [{"start": 0.0, "end": 1.5, "text": " Hi Bo. 2 Yes?", "words": words}], "word_segments": []}
    path.write_text(json.dumps(whisperx))
    assert read_transcript(path).segments == (
        Segment(0.1, 0.6, "Hi Bo. 2", "SPEAKER_00"),
        Segment(1.0, 1.4, "Yes?", "SPEAKER_01"),
    )
    spoken = [{"word": " Hi", "start": 0.0, "end": 0.2}, {"word": " there.", "start": 0.2, "end": 0.5}]
    path.write_text(json.dumps([{"id": 1, "start": 0.0, "end": 0.5, "text": " Hi there.", "words": spoken}]))
    assert read_transcript(path).segments == (Segment(0.0, 0.5, "Hi there."),)
    cpp = {
        "result": {"language": "en"},
        "transcription": [{"timestamps": {}, "offsets": {"from": 0, "to": 2500}, "text": " Hi."}],
    }
    path.write_text(json.dumps(cpp))
    read = read_transcript(path)
    assert (read.segments, read.language) == ((Segment(0.0, 2.5, "Hi."),), "en")
    path.write_text(json.dumps([{"start": 0, "end": 1, "text": "a", "words": [{"start": 0}]}]))
    with pytest.raises(InputError, match=r"a\.json, segment 0, word 0: a word needs its letters"):
        read_transcript(path)


def test_writing_leaves_out_what_is_suspect_and_wants_times(tmp_path: Path) -> None:
    transcript = Transcript(
        (Segment(0.0, 1.0, "a --> b", "Bo"), Segment(1.0, 2.0, "thanks", None, "faint")), "en", "ok", "m"
    )
    for name in ("a.vtt", "a.srt"):
        write_transcript(transcript, tmp_path / name)
        who = "Bo" if name == "a.vtt" else None
        assert read_transcript(tmp_path / name).segments == (Segment(0.0, 1.0, "a --> b", who),)
    assert read_transcript(tmp_path / "a.vtt").language == "en"
    with pytest.raises(InputError, match="subtitles need times"):
        write_transcript(Transcript((Segment(None, None, "x"),), None, "ok", "m"), tmp_path / "b.srt")
    with pytest.raises(InputError, match="not written as this"):
        write_transcript(transcript, tmp_path / "a.docx")


def test_what_is_cut_to_the_medium_is_said(tmp_path: Path) -> None:
    """Case A05."""
    cut = clamp_transcript(Transcript((Segment(28.0, 31.5, "a"),), "en", "ok", "m"), 30.0)
    assert cut.notices == ("segment 0 ends at 31.500 s, the medium at 30.000 s",)
    write_transcript(cut, tmp_path / "a.json")
    assert read_transcript(tmp_path / "a.json") == cut


def test_a_translation_keeps_times_and_is_checked() -> None:
    given_words = Transcript(
        (Segment(0.0, 1.0, "Hallo", "Bo"), Segment(1.0, 2.0, "äh", None, "faint")), "de", "ok", "m"
    )
    english = translate_transcript(given_words, lambda texts: [{"Hallo": "Hello"}[t] for t in texts], "en")
    assert english == Transcript((Segment(0.0, 1.0, "Hello", "Bo"),), "en", "ok", "m, translated")
    with pytest.raises(InputError, match="another number of texts"):
        translate_transcript(given_words, lambda _: [], "en")
    with pytest.raises(InputError, match="is empty, found 'Hallo'"):
        translate_transcript(given_words, lambda texts: ["" for _ in texts], "en")
