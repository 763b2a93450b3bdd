"""Transcripts in every encoding and format that people have them in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.errors import InputError
from onlooker.media.transcript import (
    Segment,
    Transcript,
    clamp_segment,
    clamp_transcript,
    find_transcript,
    read_transcript,
    render_transcript,
    slice_transcript,
    write_transcript,
)

SRT = """1
00:00:00,000 --> 00:00:02,400
你好，<i>世界</i>

2
00:00:02,500 --> 00:00:04,000
Second line
goes on

3
01:00:00,250 --> 01:00:01,5
last & least
"""
CUES = (
    Segment(0.0, 2.4, "你好，世界"),
    Segment(2.5, 4.0, "Second line goes on"),
    Segment(3600.25, 3601.5, "last & least"),
)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("utf8", SRT.encode()),
        ("bom", b"\xef\xbb\xbf" + SRT.encode()),
        ("crlf", SRT.replace("\n", "\r\n").encode()),
        ("mac", SRT.replace("\n", "\r").encode()),
        ("utf16", SRT.encode("utf-16")),
        ("utf16be", b"\xfe\xff" + SRT.encode("utf-16-be")),
        ("gb18030", SRT.encode("gb18030")),
    ],
)
def test_the_same_cues_in_any_encoding(tmp_path: Path, name: str, data: bytes) -> None:
    path = tmp_path / f"{name}.srt"
    path.write_bytes(data)
    assert read_transcript(path).segments == CUES


def test_an_encoding_that_cannot_be_told_names_the_file(tmp_path: Path) -> None:
    latin = "1\n00:00:00,000 --> 00:00:02,000\nÉté, garçon!\n".encode("latin-1")
    for name, data in (
        ("raw16.srt", SRT.encode("utf-16-le")),
        ("bytes.srt", b"\xff\xfe\xfd\x80"),
        ("latin.srt", latin),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(InputError, match=rf"{name}.*(encoding|cue|timing)"):
            read_transcript(path)
    with pytest.raises(InputError, match=r"gone\.srt"):
        read_transcript(tmp_path / "gone.srt")


@pytest.mark.parametrize(
    ("words", "encoding"),
    [
        ("こんにちは、世界。今日は本当に楽しかったです。", "shift_jis"),
        ("東京都知事選挙結果発表", "shift_jis"),
        ("彼女は何も言わなかった", "euc_jp"),
        ("안녕하세요. 오늘 날씨가 정말 좋네요.", "euc_kr"),
        ("네", "euc_kr"),
        ("你好，世界。我今天很高興見到你。", "big5"),
        ("謝謝", "big5"),
        ("Été, garçon! Où êtes-vous?", "cp1252"),
        ("Привет, как дела?", "koi8_r"),
    ],
)
def test_text_of_another_encoding_is_never_read_as_gb18030(tmp_path: Path, words: str, encoding: str) -> None:
    path = tmp_path / "other.srt"
    path.write_bytes(f"1\n00:00:00,000 --> 00:00:02,000\n{words}\n".encode(encoding))
    with pytest.raises(InputError, match=r"other\.srt: the text encoding cannot be told.*save the file as UTF-8"):
        read_transcript(path)


@pytest.mark.parametrize(
    "words",
    [
        "你好",
        "谢谢你",
        "早上好",
        "他没有说话，只是看着窗外的雨。",
        "-好的。 -再见！",
        "繁體中文也能用這個編碼嗎？",
        "Tom: 嗯 - yes",
    ],
)
def test_plain_chinese_in_gb18030_is_read(tmp_path: Path, words: str) -> None:
    path = tmp_path / "gb.txt"
    path.write_bytes(words.encode("gb18030"))
    assert render_transcript(read_transcript(path)) == words


def test_an_encoding_error_names_what_fits(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("こんにちは".encode("shift_jis"))
    with pytest.raises(InputError, match=r"its bytes fit GB18030, Shift_JIS"):
        read_transcript(path)


def test_webvtt(tmp_path: Path) -> None:
    path = tmp_path / "a.vtt"
    path.write_text(
        "WEBVTT - a title\n\nNOTE nothing\n\nintro\n00:01.000 --> 00:02.500 align:start\n"
        "<v.loud Anna Lee>Hi &amp; <00:01.500>welcome</v>\n\n01:00:00.000 --> 01:00:01.000\n- Yes\n"
    )
    assert read_transcript(path).segments == (
        Segment(1.0, 2.5, "Hi & welcome", "Anna Lee"),
        Segment(3600.0, 3601.0, "- Yes"),
    )
    path.write_text("WEBVTT\n")
    assert read_transcript(path).status == "no_speech"


def test_ttml(tmp_path: Path) -> None:
    path = tmp_path / "a.ttml"
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?><tt xmlns="http://www.w3.org/ns/ttml"><body><div>'
        '<p begin="00:00:01.5" end="2.5s">One<br/>two</p><p begin="3s" dur="500ms">three</p>'
        "</div></body></tt>",
        "utf-8",
    )
    assert read_transcript(path).segments == (
        Segment(1.5, 2.5, "One two"),
        Segment(3.0, 3.5, "three"),
    )
    path.write_text('<tt><p begin="10f" end="2s">x</p></tt>')
    with pytest.raises(InputError, match=r"paragraph 1: a time in frames or ticks needs ttp:frameRate"):
        read_transcript(path)
    path.write_text('<tt><p begin="soon" end="2s">x</p></tt>')
    with pytest.raises(InputError, match="clock time"):
        read_transcript(path)
    path.write_text('<!DOCTYPE x [<!ENTITY a "b">]><tt/>')
    with pytest.raises(InputError, match="document type"):
        read_transcript(path)


def test_json_of_whisper_and_our_own_dump(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(
        json.dumps(
            {"text": "x", "language": "en", "segments": [{"id": 0, "start": 0, "end": 1.5, "text": " Hi. "}]}
        )
    )  # fmt: skip
    assert read_transcript(path) == Transcript((Segment(0.0, 1.5, "Hi."),), "en", "ok", "w.json")
    ours = Transcript(
        (Segment(0.0, 1.25, "你好\u2028", "B", None), Segment(2.0, 3.0, "uh", None, "faint")),
        "zh",
        "ok",
        "whisper-tiny-en with faster_whisper 1",
    )
    ours = Transcript((Segment(0.0, 1.25, "你好", "B"), *ours.segments[1:]), "zh", "ok", ours.made_by)
    write_transcript(ours, tmp_path / "ours.json")
    assert read_transcript(tmp_path / "ours.json") == ours
    mute = Transcript((), None, "no_audio", "m")
    write_transcript(mute, tmp_path / "mute.json")
    assert read_transcript(tmp_path / "mute.json") == mute


@pytest.mark.parametrize(
    "document",
    [
        "{",
        "{}",
        '[{"text": 3}]',
        '[{"start": "0", "end": 1, "text": "a"}]',
        '{"segments": [1]}',
        '[{"start": 2, "end": 1, "text": "a"}]',
        '{"segments": [], "status": "odd"}',
        '[{"start": NaN, "end": 1, "text": "a"}]',
        '[{"start": 0, "end": Infinity, "text": "a"}]',
        f'[{{"start": 0, "end": 1{"0" * 400}, "text": "a"}}]',
        "[" * 100_000,
    ],
)
def test_bad_json_is_refused_with_the_place(tmp_path: Path, document: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(document)
    with pytest.raises(InputError, match=r"bad\.json"):
        read_transcript(path)


def test_bad_cues_are_refused_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.srt"
    path.write_text("1\n00:00:02,000 --> 00:00:01,000\nbackwards\n")
    with pytest.raises(InputError, match=r"bad\.srt, line 2: a cue ends before it starts"):
        read_transcript(path)
    (tmp_path / "bad.ttml").write_text('<tt><p begin="1s" end="2s">x</p><p begin="5s" end="2s">y</p></tt>')
    with pytest.raises(InputError, match=r"bad\.ttml, paragraph 2: a cue ends before it starts"):
        read_transcript(tmp_path / "bad.ttml")
    (tmp_path / "nan.json").write_text('[{"text": "a"}, {"start": 0, "end": NaN, "text": "b"}]')
    with pytest.raises(InputError, match=r"nan\.json, segment 1: a segment's time must be a finite number"):
        read_transcript(tmp_path / "nan.json")
    path.write_text(f"1\n{'9' * 5000}:00:02,000 --> 00:00:01,000\nx\n")
    with pytest.raises(InputError, match="not a timing line"):
        read_transcript(path)
    path.write_text("1\n00:00:02,000 --> soon\nx\n")
    with pytest.raises(InputError, match=r"bad\.srt, line 2: not a timing line"):
        read_transcript(path)
    path.write_text("only words\n")
    with pytest.raises(InputError, match="no subtitle cue"):
        read_transcript(path)
    (tmp_path / "a.docx").write_text("x")
    with pytest.raises(InputError, match="unknown kind"):
        read_transcript(tmp_path / "a.docx")


def test_plain_text_has_no_times_and_no_window(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("Hello there.\n\nBye.\n")
    transcript = read_transcript(path)
    assert render_transcript(transcript) == "Hello there.\nBye."
    with pytest.raises(InputError, match="window"):
        slice_transcript(transcript, (0, 1))


def test_slices_keep_what_overlaps() -> None:
    transcript = Transcript(CUES, None, "ok", "t")
    assert slice_transcript(transcript, (2.4, 3.0)).segments == CUES[1:2]
    assert slice_transcript(transcript, (2.39, 2.5)).segments == CUES[:1]
    assert slice_transcript(transcript, (10, 20)) == Transcript((), None, "no_speech", "t")


def test_rendering_leaves_out_what_is_suspect() -> None:
    transcript = Transcript(
        (
            Segment(0.04, 2.36, "Hello.", "ANNA"),
            Segment(3, 4, "Thank you.", None, "probably no speech"),
            Segment(5, 6.5, "Bye."),
        ),
        "en",
        "ok",
        "t",
    )
    assert render_transcript(transcript) == "[0.0-2.4] ANNA: Hello.\n[5.0-6.5] Bye."


def test_times_beyond_the_sound_are_clamped_or_rejected() -> None:
    assert clamp_segment(Segment(28.0, 31.5, "a"), 30.0) == Segment(28.0, 30.0, "a")
    assert clamp_segment(Segment(-0.5, 1.0, "a"), 30.0) == Segment(0.0, 1.0, "a")
    assert clamp_segment(Segment(29.0, 28.0, "a"), 30.0) is None
    assert clamp_segment(Segment(30.0, 31.0, "a"), 30.0) is None


def test_times_below_zero_become_zero(tmp_path: Path) -> None:
    path = tmp_path / "early.json"
    path.write_text(
        json.dumps([{"start": -0.5, "end": 1, "text": "in part"}, {"start": -3, "end": -2, "text": "wholly"}])
    )
    wholly, part = read_transcript(path).segments
    assert part == Segment(0.0, 1.0, "in part")
    assert (wholly.start_s, wholly.end_s, wholly.suspect) == (0.0, 0.0, "lies before the start of the medium")
    assert render_transcript(read_transcript(path)) == "[0.0-1.0] in part"


def test_a_transcript_is_clamped_to_its_medium() -> None:
    given = Transcript(
        (
            Segment(1.0, 2.0, "inside"),
            Segment(28.0, 31.5, "over the end"),
            Segment(30.0, 31.0, "behind"),
            Segment(99.0, 100.0, "far behind", suspect="faint"),
            Segment(None, None, "no time"),
        ),
        "en",
        "ok",
        "t",
    )
    clamped = clamp_transcript(given, 30.0)
    assert clamped.segments == (
        Segment(1.0, 2.0, "inside"),
        Segment(28.0, 30.0, "over the end"),
        Segment(30.0, 30.0, "behind", suspect="begins at 30.000 s, the medium ends at 30.000 s"),
        Segment(30.0, 30.0, "far behind", suspect="faint"),
        Segment(None, None, "no time"),
    )
    assert render_transcript(clamped) == "[1.0-2.0] inside\n[28.0-30.0] over the end\nno time"
    assert clamp_transcript(clamped, 30.0) == clamped
    assert clamp_transcript(given, 200.0) == given
    for bad in (float("nan"), float("inf"), -1.0):
        with pytest.raises(InputError, match="duration"):
            clamp_transcript(given, bad)


def test_the_file_beside_the_video(tmp_path: Path) -> None:
    video = tmp_path / "talk.1.mp4"
    assert find_transcript(video) is None
    (tmp_path / "talk.1.en.srt").touch()
    assert find_transcript(video) == tmp_path / "talk.1.en.srt"
    (tmp_path / "talk.1.vtt").touch()
    assert find_transcript(video) == tmp_path / "talk.1.vtt"


def test_a_mark_where_files_were_joined_is_no_word(tmp_path: Path) -> None:
    path = tmp_path / "a.srt"
    path.write_text("1\n00:00:00,500 --> 00:00:01,000\nA\n\n\ufeff2\n00:00:02,000 --> 00:00:03,000\nB\n", "utf-8")
    assert [segment.text for segment in read_transcript(path).segments] == ["A", "B"]


@pytest.mark.parametrize("encoding", ["idna", "undefined", "rot13", "no\0name", "utf-16-be"])
def test_an_encoding_that_does_not_fit_is_one_error(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes("1\n00:00:00,500 --> 00:00:01,000\nCafé ñ\n".encode("latin-1"))
    with pytest.raises(InputError, match="encoding"):
        read_transcript(path, encoding=encoding)


def test_a_duration_stands_for_an_end(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"text": "hi", "start": 0.5, "duration": 1.25}]')
    assert read_transcript(path).segments == (Segment(0.5, 1.75, "hi"),)
    path.write_text('[{"text": "hi", "start": 0.5, "duration": -1}]')
    with pytest.raises(InputError, match="ends before it starts"):
        read_transcript(path)


def test_half_a_character_in_json_is_an_error_and_a_whole_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(r'[{"text": "a \ud83d\ude00", "start": 0, "end": 1}]')
    assert read_transcript(path).segments[0].text == "a \U0001f600"
    path.write_text(r'[{"text": "a \ud83d", "start": 0, "end": 1}]')
    with pytest.raises(InputError, match="half a character"):
        read_transcript(path)
