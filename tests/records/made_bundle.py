"""A small sound bundle with every task, to be spoilt by one test at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CARD = 'name: small\nfamily: fam\nversion: "1"\nlicense: CC0-1.0\ndescription: made by hand\n'


class MadeBundle:
    """Rows by file; ``write`` puts them on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.card = CARD
        self.episodes: list[dict[str, Any]] = [
            {"id": "e1", "media": {"video": "media/e1.mp4"}, "duration_s": 30.0, "lineage": {}, "labels": {}},
            {"id": "e2", "media": {"stimulus": "media/e2.mp4"}, "duration_s": 20, "note": "an extra field"},
            {"id": "e3", "media": {"video": "media/e3.mp4", "audio": None}, "duration_s": None},
        ]
        options = [{"id": "A", "text": "stay"}, {"id": "B", "text": "go"}]
        window = {"start_s": 1, "end_s": 2.5}
        self.items: list[dict[str, Any]] = [
            {
                "id": "c1",
                "episode": "e1",
                "task": "choice",
                "labels": {"capability": "G"},
                "question": "?",
                "options": options,
                "select": "one",
                "window": {"start_s": 29.0, "end_s": 30.5},
                "history": [{"when": "last week", "text": "They met."}],
            },
            {
                "id": "c2",
                "episode": "e2",
                "task": "choice",
                "question": "?",
                "options": options,
                "select": "all",
            },
            {"id": "o1", "episode": "e1", "task": "open", "question": "?"},
            {
                "id": "i1",
                "episode": "e1",
                "task": "intensity",
                "moments": [{"id": "m1", **window}, {"id": "m2", **window}],
            },
            {
                "id": "m1",
                "episode": "e1",
                "task": "matching",
                "window": window,
                "candidates": [
                    {"id": "A", "episode": "e2", **window},
                    {"id": "B", "episode": "e3", "start_s": 900, "end_s": 903},
                ],
            },
            {"id": "r1", "episode": "e1", "task": "rationale", "window": window},
        ]
        self.references: list[dict[str, Any]] = [
            {"item": "c1", "answer": ["A"], "cues": ["x"], "explanation": "y"},
            {"item": "c2", "answer": ["A", "B"], "explanation": {"key_event": "z"}},
            {"item": "o1", "answer": "She leaves."},
            {"item": "i1", "consensus": {"m1": 1.5, "m2": 2}},
            {"item": "m1", "answer": ["B"]},
            {"item": "r1", "references": ["He laughs at the fall."]},
        ]
        rating = {"item": "i1", "rubric": "intensity", "opt_out": None}
        self.ratings: list[dict[str, Any]] = [
            {**rating, "unit": "m1", "rater": "r1", "value": 2},
            {**rating, "unit": "m1", "rater": "r2", "value": None, "opt_out": "unclear"},
            {**rating, "unit": "i1", "rater": "r1", "value": "usable"},
        ]

    def write(self) -> Path:
        (self.folder / "media").mkdir(parents=True, exist_ok=True)
        for name in ("e1", "e2", "e3"):
            (self.folder / "media" / f"{name}.mp4").touch()
        (self.folder / "bundle.yaml").write_text(self.card, encoding="utf-8")
        for name in ("episodes", "items", "references", "ratings"):
            rows: list[dict[str, Any]] = getattr(self, name)
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (self.folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        return self.folder
