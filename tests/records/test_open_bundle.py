"""A bundle as model-facing code opens it, its media paths, its digest."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from onlooker.errors import InputError
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.records.digest import bundle_sha256
from onlooker.records.private import load_references, read_ratings
from onlooker.records.public import Episode, Media
from tests.records.made_bundle import MadeBundle


def test_open_and_read(made: MadeBundle) -> None:
    bundle = open_bundle(made.write())
    assert (bundle.card.name, bundle.card.version) == ("small", "1")
    assert [episode.id for episode in bundle.episodes()] == ["e1", "e2", "e3"]
    assert bundle.load_episodes()["e2"].extra == {"note": "an extra field"}
    tasks = {name: item.task for name, item in bundle.load_items().items()}
    assert tasks == {
        "c1": "choice",
        "c2": "choice",
        "o1": "open",
        "i1": "intensity",
        "m1": "matching",
        "r1": "rationale",
    }
    assert load_references(bundle)["c2"].answer == ("A", "B")
    assert [row.record.value for row in read_ratings(bundle)] == [2, None, "usable"]


def test_an_id_used_twice_stops_a_load(made: MadeBundle) -> None:
    made.items[1]["id"] = "c1"
    made.references[1]["item"] = "c1"
    bundle = open_bundle(made.write())
    with pytest.raises(InputError, match=r"items.jsonl, line 2, id: id is used twice, found 'c1'"):
        bundle.load_items()
    with pytest.raises(InputError, match=r"references.jsonl, line 2: a second reference"):
        load_references(bundle)


def test_what_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere: no such folder. Remedy: name the folder"):
        open_bundle(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"bundle.yaml: no such file. Remedy: a bundle has"):
        open_bundle(tmp_path)
    (tmp_path / "bundle.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(InputError, match=r"bundle.yaml: not valid YAML: invalid start byte"):
        open_bundle(tmp_path)


@pytest.fixture
def bundle(made: MadeBundle) -> Bundle:
    return open_bundle(made.write())


def test_media_path(bundle: Bundle) -> None:
    episode = Episode(id="e", media=Media(video="media/sub/a b.mp4"))
    assert bundle.media_path(episode, "video") == bundle.path / "media/sub/a b.mp4"
    assert bundle.media_path(episode, "audio") is None


@pytest.mark.parametrize(
    "declared", ["/etc/passwd", "../a", "media/../../a", "..\\a", "C:\\a", "C:a", "\\\\host\\a", "", " ", "a\0b"]
)
def test_media_path_stays_inside(bundle: Bundle, declared: str) -> None:
    with pytest.raises(InputError, match=r"episode 'e', media.video: expected a path"):
        bundle.media_path(Episode(id="e", media=Media(video=declared)), "video")


def test_digest_by_hand(made: MadeBundle) -> None:
    folder = made.write()
    names = ["bundle.yaml", "episodes.jsonl", "items.jsonl", "ratings.jsonl", "references.jsonl"]
    listing = "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    assert bundle_sha256(folder) == hashlib.sha256(listing.encode()).hexdigest()
    whole = bundle_sha256(folder)
    (folder / "media" / "a.mp4").write_text("x")
    assert bundle_sha256(folder) == whole
    with (folder / "items.jsonl").open("a") as file:
        file.write("\n")
    assert bundle_sha256(folder) != whole


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_digest_is_what_the_shell_says(made: MadeBundle) -> None:
    folder = made.write()
    (folder / "ratings.jsonl").unlink()
    command = "sha256sum bundle.yaml episodes.jsonl items.jsonl references.jsonl | sha256sum"
    said = subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True, text=True)
    assert said.stdout.split()[0] == bundle_sha256(folder)
    with pytest.raises(InputError, match="no such file"):
        bundle_sha256(folder / "none")
