"""Speech recognition with the real model: said words come out, silence and noise give none."""

from __future__ import annotations

from pathlib import Path

import pytest

from onlooker.assets import is_present, locate
from onlooker.errors import InputError, UnreadableMedia
from onlooker.media.sound import read_sound
from onlooker.media.speech import speech_stretches, transcribe
from onlooker.media.transcript import render_transcript
from onlooker.media.word_errors import count_word_errors

from .making import write

pytest.importorskip("faster_whisper")
needs_weights = pytest.mark.skipif(
    not is_present("whisper-tiny-en"), reason="needs: onlooker assets get whisper-tiny-en"
)


def test_no_sound_is_a_status_not_an_error(base: Path) -> None:
    transcript = transcribe(base)
    assert (transcript.status, transcript.segments, transcript.language) == ("no_audio", (), None)


def test_an_unreadable_file_is_named(folder: Path) -> None:
    path = folder / "nothing.mp4"
    path.write_bytes(b"")
    with pytest.raises(UnreadableMedia, match=r"nothing\.mp4"):
        transcribe(path)


@needs_weights
def test_silence_and_noise_give_no_words(silent: Path, noise: Path) -> None:
    quiet = transcribe(silent)
    assert (quiet.status, quiet.segments, quiet.language) == ("no_speech", (), None)
    assert render_transcript(transcribe(noise)) == ""


@needs_weights
def test_an_english_model_refuses_other_languages(silent: Path) -> None:
    with pytest.raises(InputError, match="only English"):
        transcribe(silent, language="zh")


@pytest.mark.skipif(not is_present("whisper-base"), reason="needs: onlooker assets get whisper-base")
def test_a_model_of_many_languages_refuses_what_is_none(silent: Path) -> None:
    assert transcribe(silent, model="whisper-base", language="de").status == "no_speech"
    with pytest.raises(InputError, match=r"does not know the language, found 'english'.* zh"):
        transcribe(silent, model="whisper-base", language="english")


def test_a_folder_without_a_model_is_named(silent: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no Whisper model for CTranslate2 \(no model\.bin\)"):
        transcribe(silent, model=str(tmp_path))


@needs_weights
@pytest.mark.skipif(not is_present("clips-moonshine"), reason="needs: onlooker assets get clips-moonshine")
def test_a_folder_reads_as_its_asset_and_real_anaphora_is_not_suspect(silent: Path) -> None:
    reading = locate("clips-moonshine", "two_cities.wav")
    transcript = transcribe(reading, model=str(locate("whisper-tiny-en")))
    assert transcript.segments == transcribe(reading).segments
    assert [s.suspect for s in transcript.segments] == [None] * len(transcript.segments)
    said = " ".join(s.text for s in transcript.segments)
    opening = "It was the best of times. It was the worst of times. It was the age of wisdom."
    assert count_word_errors(opening, said[: len(opening)]).rate == 0
    heard = speech_stretches(read_sound(reading))
    assert all(begin < end for begin, end in heard)
    assert sum(end - begin for begin, end in heard) > 30
    assert speech_stretches(read_sound(silent)) == []


@needs_weights
@pytest.mark.skipif(not is_present("clips-moonshine"), reason="needs: onlooker assets get clips-moonshine")
def test_words_that_are_said_with_times_inside_the_sound(folder: Path) -> None:
    transcript = transcribe(locate("clips-moonshine", "beckett.wav"))
    assert transcript.status == "ok"
    assert transcript.language == "en"
    words = " ".join(s.text for s in transcript.segments)
    assert words == "Ever tried. Ever failed. No matter. Try again. Fail again. Fail better."
    end_s = read_sound(locate("clips-moonshine", "beckett.wav")).end_s
    for segment in transcript.segments:
        assert segment.start_s is not None
        assert segment.end_s is not None
        assert 0 <= segment.start_s < segment.end_s <= end_s
    # The same words 3 s into a picture are said 3 s later.
    clip = read_sound(locate("clips-moonshine", "beckett.wav"))
    from .making import gray

    later = transcribe(
        write(
            folder / "later.mkv",
            [gray(50)] * 120,
            rate=10,
            sounds=[clip.samples],
            sound_offset_s=3,
            sound_codec="pcm_s16le",
        )
    )
    first, moved = transcript.segments[0].start_s, later.segments[0].start_s
    assert first is not None
    assert moved == pytest.approx(first + 3, abs=0.3)
