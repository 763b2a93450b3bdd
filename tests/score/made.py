"""Small bundles and predictions for tests, written to a folder row by row."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from onlooker.protocol.scoring import Family
from onlooker.records.bundle import Bundle, open_bundle
from onlooker.score.score import ScoreResult, score_bundle

Row = dict[str, Any]


def write_rows(path: Path, rows: Iterable[Row]) -> Path:
    """The rows as JSON lines in ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def choice(item: str, episode: str, *, options: str = "ABCD", select: str = "one", **labels: Any) -> Row:
    """A choice item with lettered options."""
    listed = [{"id": letter, "text": f"option number {ord(letter) - 64}"} for letter in options]
    return {
        "id": item,
        "episode": episode,
        "task": "choice",
        "question": "Which?",
        "options": listed,
        "select": select,
        "labels": labels,
    }


def said(item: str, raw: str, **fields: Any) -> Row:
    """A prediction row; model m, condition c and status ok where nothing else is said."""
    return {
        "item": item,
        "part": None,
        "model": "m",
        "condition": "c",
        "seed": None,
        "raw": raw,
        "status": "ok",
    } | fields


def judged(item: str, rubric: str, labels: Row | None, **fields: Any) -> Row:
    """A judgement row of model m under condition c."""
    row = {"item": item, "model": "m", "condition": "c", "seed": None, "judge": "j", "rubric": rubric}
    return row | {"labels": labels, "status": "ok"} | fields


class Made:
    """A bundle folder and the files beside it."""

    def __init__(
        self,
        folder: Path,
        family: Family,
        items: Sequence[Row],
        references: Sequence[Row],
        *,
        episodes: Sequence[Row] = (),
        ratings: Sequence[Row] = (),
    ) -> None:
        self.folder, self.family = folder, family
        path = folder / "bundle"
        path.mkdir()
        card = f'name: made\nfamily: {family.name}\nversion: "1"\nlicense: CC0-1.0\ndescription: made\n'
        (path / "bundle.yaml").write_text(card, encoding="utf-8")
        own = {episode["id"] for episode in episodes}
        plain = dict.fromkeys(item["episode"] for item in items)
        write_rows(path / "episodes.jsonl", [*episodes, *({"id": e} for e in plain if e not in own)])
        write_rows(path / "items.jsonl", items)
        write_rows(path / "references.jsonl", references)
        if ratings:
            write_rows(path / "ratings.jsonl", ratings)
        self.path = path

    @property
    def bundle(self) -> Bundle:
        """The bundle, opened."""
        return open_bundle(self.path)

    def predictions(self, rows: Iterable[Row], name: str = "predictions.jsonl") -> Path:
        """A predictions file."""
        return write_rows(self.folder / name, rows)

    def judgements(self, rows: Iterable[Row], name: str = "judgements.jsonl") -> Path:
        """A judgements file."""
        return write_rows(self.folder / name, rows)

    def score(self, rows: Iterable[Row], judgements: Iterable[Row] = (), **options: Any) -> ScoreResult:
        """The scores of these rows, with few draws."""
        files = [self.judgements(list(judgements))]
        options = {"draws": 200} | options
        return score_bundle(self.bundle, self.family, [self.predictions(rows)], files, **options)


def metrics_of(result: ScoreResult, model: str = "m", condition: str = "c") -> dict[str, Row]:
    """{metric: row} of one model and condition."""
    found = result.scores["models"][model][condition]["metrics"]
    assert isinstance(found, dict)
    return found


def value_of(result: ScoreResult, metric: str, condition: str = "c") -> float | None:
    """The value of one metric of model m."""
    value = metrics_of(result, "m", condition)[metric]["value"]
    assert value is None or isinstance(value, float)
    return value


def coverage_of(result: ScoreResult, model: str = "m", condition: str = "c") -> Row:
    """The coverage, outcomes that did not occur left out."""
    counts = result.scores["models"][model][condition]["coverage"]
    return {name: n for name, n in counts.items() if n}
