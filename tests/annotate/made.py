"""A bundle with one short clip and questions about it, its study, and the parts of the app over them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from onlooker.annotate import accounts
from onlooker.annotate.cases import gather_cases
from onlooker.annotate.database import Database
from onlooker.annotate.events import StudyClock
from onlooker.annotate.store import Store
from onlooker.annotate.study import read_study
from onlooker.annotate.submitting import Desk
from onlooker.protocol.answer_form import answer_form
from onlooker.protocol.form import Form
from onlooker.records.bundle import open_bundle
from tests.media.making import COUNTER_RATE, counter, write

FORM = answer_form("choice", "open")
NASTY = '<img src=x onerror="document.title=1">'


def make_bundle(folder: Path, items: int = 4, *, media: str = "media/clip.mp4") -> Path:
    """Items q0, q1 ... (choice, every fifth an open one), their references, and one counter clip of four seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bundle.yaml").write_text('name: made\nfamily: psycheme\nversion: "1"\n')
    episode = {"id": "e1", "media": {"video": media}, "duration_s": 4.0}
    (folder / "episodes.jsonl").write_text(json.dumps(episode) + "\n")
    rows, references = [], []
    for n in range(items):
        options = [
            {"id": i, "text": f"{t} {NASTY}", "correct": i == "B"} for i, t in zip("AB", ("no", "yes"), strict=True)
        ]
        row: dict[str, Any] = {"id": f"q{n}", "episode": "e1", "labels": {"capability": "GW"[n % 2]}}
        if n % 5 == 4:
            row |= {"task": "open", "question": f"Why {n}? {NASTY}"}
        else:
            row |= {"task": "choice", "question": f"Is it {n}? {NASTY}", "options": options, "select": "one"}
        rows.append(row)
        answer: Any = ["B"] if row["task"] == "choice" else "SECRET-REFERENCE"
        references.append({"item": row["id"], "answer": answer, "cues": ["SECRET-CUE"]})
    for name, content in (("items", rows), ("references", references)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    return folder


def write_clip(folder: Path) -> None:
    path = folder / "media" / "clip.mp4"
    path.parent.mkdir(exist_ok=True)
    write(path, counter(40), rate=COUNTER_RATE)


def study_file(folder: Path, **settings: Any) -> Path:
    path = folder / "STUDY.yaml"
    path.write_text(yaml.safe_dump({"name": "pilot", "bundle": "made", "form": "answer", "seed": 7, **settings}))
    return path


def make_desk(
    database: Database, folder: Path, *, form: Form = FORM, clock: StudyClock | None = None, **settings: Any
) -> Desk:
    """A desk over ``folder``, the bundle. ``settings``: of the study."""
    study = read_study(study_file(folder.parent, **settings))
    bundle = open_bundle(folder)
    cases = gather_cases(bundle, study, form, folder.parent)
    store = Store(database, clock)
    store.freeze(study, form, cases)
    return Desk(store, study, form, cases)


def join(desk: Desk, role: Any = "rater", name: str = "") -> str:
    """A new rater's pseudonym."""
    token = accounts.invite(desk.store, desk.study, role, name=name)
    return accounts.take_invitation(desk.store, desk.study, desk.cases, token).session.rater.id


class Hands:
    """Clocks that a test turns: ``steady`` runs as a clock of the system does, ``wall`` may jump."""

    def __init__(self) -> None:
        self.steady, self.wall = 100.0, 1_800_000_000.0

    def clock(self) -> StudyClock:
        return StudyClock(monotonic=lambda: self.steady, wall=lambda: self.wall)

    def go(self, seconds: float) -> None:
        self.steady += seconds
        self.wall += seconds


def with_study(desk: Desk, **settings: Any) -> Desk:
    """The desk with other settings of its study."""
    return replace(desk, study=desk.study.model_copy(update=settings))
