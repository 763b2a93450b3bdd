"""Transcripts for a bundle: bad files do not stop it, what is there is kept, episodes.jsonl is written on request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from onlooker.errors import QuotaExhausted, UnreadableMedia
from onlooker.media.bundle_words import transcribe_bundle, write_episodes
from onlooker.media.transcript import Segment, Transcript, read_transcript
from onlooker.records.bundle import Bundle, open_bundle

WORDS = Transcript((Segment(0.0, 1.0, "Hi."),), "en", "ok", "m")


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    folder = tmp_path / "b"
    (folder / "media").mkdir(parents=True)
    (folder / "bundle.yaml").write_text("name: b\nfamily: psycheme\nversion: '1'\n")
    rows = [
        {"id": "one", "media": {"video": "media/1.mp4"}, "extra": 1},
        {"id": "told", "media": {"video": "media/2.mp4", "transcript": "media/2.srt"}},
        {"id": "a/b?", "media": {"video": "media/3.mp4", "audio": "media/3.wav"}},
        {"id": "bad", "media": {"video": "media/4.mp4"}},
        {"id": "gone", "media": {"video": "media/5.mp4"}},
        {"id": "mute", "media": {}},
    ]
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("1.mp4", "2.mp4", "3.mp4", "3.wav", "4.mp4"):
        (folder / "media" / name).write_text("x")
    return open_bundle(folder)


def test_a_bad_file_never_stops_it_and_it_goes_on_where_it_stopped(bundle: Bundle) -> None:
    heard: list[str] = []

    def recognise(path: Path) -> Transcript:
        heard.append(path.name)
        if path.name == "4.mp4":
            raise UnreadableMedia("is damaged", where=path.name)
        return WORDS

    outcomes = list(transcribe_bundle(bundle, recognise))
    assert heard == ["1.mp4", "3.wav", "4.mp4"]
    assert [(o.episode, o.path, o.is_new) for o in outcomes] == [
        ("one", "media/transcripts/one.json", True),
        ("a/b?", "media/transcripts/a%2Fb%3F.json", True),
        ("bad", None, False),
        ("gone", None, False),
    ]
    assert outcomes[2].failure == "4.mp4: is damaged"
    assert "no such file" in (outcomes[3].failure or "")
    assert read_transcript(bundle.path / "media/transcripts/one.json") == WORDS
    again = list(transcribe_bundle(bundle, recognise))
    assert heard == ["1.mp4", "3.wav", "4.mp4", "4.mp4"]
    assert [(o.episode, o.is_new, o.transcript) for o in again[:2]] == [("one", False, WORDS), ("a/b?", False, WORDS)]


def test_the_new_list_of_episodes(bundle: Bundle, tmp_path: Path) -> None:
    before = (bundle.path / "episodes.jsonl").read_text().split("\n")

    def recognise(path: Path) -> Transcript:
        if path.name == "3.wav":
            raise UnreadableMedia("is damaged")
        return WORDS

    assert write_episodes(bundle, transcribe_bundle(bundle, recognise), tmp_path / "new.jsonl") == 2
    after = (tmp_path / "new.jsonl").read_text().split("\n")
    assert (bundle.path / "episodes.jsonl").read_text().split("\n") == before
    assert json.loads(after[0]) == {
        "id": "one",
        "media": {"video": "media/1.mp4", "transcript": "media/transcripts/one.json"},
        "extra": 1,
    }
    assert json.loads(after[3])["media"]["transcript"] == "media/transcripts/bad.json"
    assert [after[i] for i in (1, 2, 4, 5)] == [before[i] for i in (1, 2, 4, 5)]


def test_an_empty_account_stops_it(bundle: Bundle) -> None:
    def recognise(path: Path) -> Transcript:
        raise QuotaExhausted("no money")

    with pytest.raises(QuotaExhausted):
        list(transcribe_bundle(bundle, recognise))


def test_ids_that_no_file_system_takes_have_a_file_each(bundle: Bundle) -> None:
    ids = ["x" * 300, "x" * 299, "\u4e16" * 150, "../../up", "a" * 200]
    rows = [{"id": name, "media": {"video": "media/1.mp4"}} for name in ids]
    (bundle.path / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcomes = list(transcribe_bundle(bundle, lambda _: WORDS))
    assert [o.failure for o in outcomes] == [None] * 5
    written = sorted(bundle.path.glob("media/transcripts/*"))
    assert len(written) == len({o.path for o in outcomes}) == 5
    assert bundle.path / "media/transcripts" / f"{'a' * 200}.json" in written
